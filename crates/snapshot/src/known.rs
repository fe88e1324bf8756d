//! What is known of caches: who allocates their objects, what makes them grow, and how they shrink.
//!
//! The facts are those of the kernel's source; each line names the file that creates the cache. Whether the kernel gives
//! a cache back follows from a shrinker that frees its objects, or for a cache that is not listed from the name that
//! Linux uses for inodes.

use serde::Serialize;
use slablab_linux::{KmallocCache, KmallocType};

/// Whether the kernel frees objects of a cache when memory is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reclaim {
    /// A shrinker frees those that are unused
    GivenBack,
    /// They stay until their users free them
    Kept,
    /// Nothing is known
    Unknown,
}

/// What is known of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownCache {
    /// Its name, or names that begin so where the last character is a star
    pub name: &'static str,
    /// Whether the kernel gives its objects back
    pub reclaim: Reclaim,
    /// What its objects are, what makes them many, and what makes them few
    pub about: &'static str,
    /// The file of the kernel that creates it
    pub source: &'static str,
}

/// Looks up what is known of a cache.
#[must_use]
pub fn known(name: &str) -> Option<&'static KnownCache> {
    let name = name.split('(').next().unwrap_or(name);
    let is_it = |cache: &&KnownCache| match cache.name.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == cache.name,
    };
    KNOWN.iter().find(is_it)
}

/// Returns whether the kernel gives the objects of a cache back, by its name.
#[must_use]
pub(crate) fn reclaim(name: &str) -> Reclaim {
    if let Some(cache) = known(name) {
        return cache.reclaim;
    }
    let name = name.split('(').next().unwrap_or(name);
    if let Some(cache) = KmallocCache::parse(name) {
        let is_given_back = cache.kind == KmallocType::Reclaim;
        return if is_given_back { Reclaim::GivenBack } else { Reclaim::Kept };
    }
    // Every filesystem's inodes are freed by the superblock's shrinker.
    let is_inode =
        name.ends_with("_inode_cache") || name.ends_with("_inode") || name.ends_with("_inode_info");
    if is_inode { Reclaim::GivenBack } else { Reclaim::Unknown }
}

const fn back(name: &'static str, source: &'static str, about: &'static str) -> KnownCache {
    KnownCache { name, reclaim: Reclaim::GivenBack, about, source }
}

const fn kept(name: &'static str, source: &'static str, about: &'static str) -> KnownCache {
    KnownCache { name, reclaim: Reclaim::Kept, about, source }
}

/// The caches that reports name most.
const KNOWN: [KnownCache; 69] = [
    kept(
        "alloc_slab_obj_exts",
        "mm/slub.c",
        "vectors by which objects of other caches are charged to memory cgroups; they go with the slabs of those caches, also \
         when such a slab is given back",
    ),
    back(
        "dentry",
        "fs/dcache.c",
        "names of files that were looked up, also of files that do not exist; `echo 2 > \
         /proc/sys/vm/drop_caches` frees the unused ones",
    ),
    back(
        "dentry_cache",
        "fs/dcache.c",
        "names of files that were looked up, also of files that do not exist; `echo 2 > \
         /proc/sys/vm/drop_caches` frees the unused ones",
    ),
    back(
        "inode_cache",
        "fs/inode.c",
        "inodes of small filesystems; `echo 2 > /proc/sys/vm/drop_caches` frees the unused ones",
    ),
    kept(
        "shmem_inode_cache",
        "mm/shmem.c",
        "files of tmpfs and shared memory; they go when the files are removed",
    ),
    kept(
        "sock_inode_cache",
        "net/socket.c",
        "one for each open socket; they go when programs close them",
    ),
    kept(
        "mqueue_inode_cache",
        "ipc/mqueue.c",
        "message queues of POSIX; they go when the queues are removed",
    ),
    kept(
        "hugetlbfs_inode_cache",
        "fs/hugetlbfs/inode.c",
        "files of hugetlbfs; they go when the files are removed",
    ),
    kept("rpc_inode_cache", "net/sunrpc/rpc_pipe.c", "pipes between NFS and its daemons"),
    back(
        "proc_inode_cache",
        "fs/proc/inode.c",
        "files of /proc that programs opened; monitoring that reads /proc makes them many",
    ),
    back(
        "ext4_inode_cache",
        "fs/ext4/super.c",
        "inodes of ext4 that were read; walks over many files (backup, find, updatedb) make them many",
    ),
    back(
        "ext3_inode_cache",
        "fs/ext3/super.c",
        "inodes of ext3 that were read; walks over many files make them many",
    ),
    back(
        "xfs_inode",
        "fs/xfs/xfs_super.c",
        "inodes of XFS that were read; walks over many files make them many",
    ),
    back("xfs_ili", "fs/xfs/xfs_super.c", "log items of XFS' inodes; they go with the inodes"),
    back("xfs_buf", "fs/xfs/xfs_buf.c", "metadata buffers of XFS, freed by its own shrinker"),
    back(
        "btrfs_inode",
        "fs/btrfs/inode.c",
        "inodes of Btrfs that were read; walks over many files make them many",
    ),
    kept(
        "btrfs_delayed_node",
        "fs/btrfs/delayed-inode.c",
        "changes of Btrfs' inodes that wait for a commit",
    ),
    back(
        "btrfs_extent_map",
        "fs/btrfs/extent_map.c",
        "where extents of open files lie; freed with the inode, and by a shrinker from 6.10 on",
    ),
    back("nfs_inode_cache", "fs/nfs/inode.c", "inodes of NFS that were read"),
    back(
        "fuse_inode",
        "fs/fuse/inode.c",
        "inodes of FUSE; the server keeps what it was told of until the kernel forgets it",
    ),
    back(
        "ovl_inode",
        "fs/overlayfs/super.c",
        "inodes of overlayfs, which containers use; each keeps one below it",
    ),
    back("squashfs_inode_cache", "fs/squashfs/super.c", "inodes of squashfs (snap packages)"),
    back("cifs_inode_cache", "fs/smb/client/cifsfs.c", "inodes of CIFS"),
    back(
        "zfs_znode_cache",
        "module/os/linux/zfs/zfs_znode_os.c (OpenZFS)",
        "files of ZFS; the ARC's shrinker frees them",
    ),
    back(
        "arc_buf_hdr_t*",
        "module/zfs/arc.c (OpenZFS)",
        "headers of ZFS' cache (ARC); zfs_arc_max limits them",
    ),
    back(
        "dnode_t",
        "module/zfs/dnode.c (OpenZFS)",
        "dnodes of ZFS; the ARC's shrinker frees them, zfs_arc_dnode_limit limits them",
    ),
    back(
        "buffer_head",
        "fs/buffer.c",
        "blocks of files in the page cache; they go with their pages",
    ),
    back(
        "radix_tree_node",
        "lib/radix-tree.c",
        "indexes of the page cache; they go with its pages, and a shrinker frees those of evicted ones",
    ),
    back(
        "kmalloc-rcl-*",
        "mm/slab_common.c",
        "kmalloc with __GFP_RECLAIMABLE: names of long files and the like, freed with their dentries",
    ),
    back(
        "ext4_extent_status",
        "fs/ext4/extents_status.c",
        "where extents of ext4's files lie, freed by its own shrinker",
    ),
    back(
        "ext4_es",
        "fs/ext4/extents_status.c",
        "where extents of ext4's files lie, freed by its own shrinker",
    ),
    back(
        "mb_cache_entry",
        "fs/mbcache.c",
        "extended attributes that files share, freed by its own shrinker",
    ),
    kept(
        "fsnotify_mark_connector",
        "fs/notify/mark.c",
        "where marks of inotify and fanotify are attached; they go with the last mark of an inode",
    ),
    kept(
        "inotify_inode_mark",
        "fs/notify/inotify/inotify_user.c",
        "watches of inotify; they go when the watching program closes them",
    ),
    back(
        "lsm_inode_cache",
        "security/security.c",
        "what security modules keep of an inode; they go with the inodes",
    ),
    kept(
        "fsnotify_mark",
        "fs/notify/mark.c",
        "watches of files; they go when the watching program ends",
    ),
    kept(
        "kernfs_node_cache",
        "fs/kernfs/mount.c",
        "files of sysfs and of cgroups; cgroups and devices that are made and not removed make them many",
    ),
    kept(
        "kernfs_iattrs_cache",
        "fs/kernfs/mount.c",
        "attributes of sysfs' files that were changed",
    ),
    kept("filp", "fs/file_table.c", "open files; they go when programs close them"),
    kept(
        "vm_area_struct",
        "kernel/fork.c",
        "mappings of processes; they go when programs unmap or end",
    ),
    kept(
        "maple_node",
        "lib/maple_tree.c",
        "nodes of the trees of mappings; they go with the mappings",
    ),
    kept(
        "anon_vma",
        "mm/rmap.c",
        "anonymous memory of processes; forks without exec make chains of them",
    ),
    kept("anon_vma_chain", "mm/rmap.c", "links of anon_vma; forks without exec make many of them"),
    kept(
        "kmem_cache",
        "mm/slub.c",
        "caches themselves; before Linux 5.9 each memory cgroup had copies of its own, which a removed cgroup keeps while \
         an object lives",
    ),
    kept("kmem_cache_node", "mm/slub.c", "one for each cache and NUMA node"),
    kept(
        "task_struct",
        "kernel/fork.c",
        "threads; they go when the threads end and are waited for",
    ),
    kept("signal_cache", "kernel/fork.c", "one for each process"),
    kept("sighand_cache", "kernel/fork.c", "one for each process"),
    kept("mm_struct", "kernel/fork.c", "one for each address space"),
    kept("files_cache", "kernel/fork.c", "one table of open files for each process"),
    kept("fs_cache", "kernel/fork.c", "one for each process"),
    kept("cred_jar", "kernel/cred.c", "credentials; open files and tasks keep them"),
    kept(
        "pid",
        "kernel/pid.c",
        "process ids, of processes that ended as long as anything refers to them",
    ),
    kept("pid_namespace", "kernel/pid_namespace.c", "one for each container"),
    kept(
        "net_namespace",
        "net/core/net_namespace.c",
        "one for each container's network; what a namespace has goes after it, by a worker",
    ),
    kept("skbuff_head_cache", "net/core/skbuff.c", "packets that wait in a socket or a queue"),
    kept(
        "skbuff_small_head",
        "net/core/skbuff.c",
        "heads of small packets that wait in a socket or a queue",
    ),
    kept("skbuff_fclone_cache", "net/core/skbuff.c", "packets of TCP that wait to be acknowledged"),
    kept(
        "TCP*",
        "net/ipv4/tcp_ipv4.c",
        "TCP sockets; they go when programs close them and the protocol is done",
    ),
    kept(
        "tw_sock_TCP*",
        "net/ipv4/tcp_ipv4.c",
        "closed TCP connections in TIME_WAIT, which go after a minute; net.ipv4.tcp_max_tw_buckets limits them",
    ),
    kept("UDP*", "net/ipv4/udp.c", "UDP sockets; they go when programs close them"),
    kept("RAW*", "net/ipv4/raw.c", "raw sockets; they go when programs close them"),
    kept(
        "UNIX",
        "net/unix/af_unix.c",
        "Unix sockets, those in flight over other sockets among them",
    ),
    kept(
        "nf_conntrack*",
        "net/netfilter/nf_conntrack_core.c",
        "tracked connections; net.netfilter.nf_conntrack_max limits them",
    ),
    kept(
        "ip_dst_cache",
        "net/ipv4/route.c",
        "routes that packets took; references that are not given back keep them",
    ),
    kept("bio*", "block/bio.c", "requests to disks that are under way"),
    kept(
        "ebitmap_node",
        "security/selinux/ss/ebitmap.c",
        "categories of SELinux' policy and contexts",
    ),
    kept(
        "avc_node",
        "security/selinux/avc.c",
        "decisions that SELinux remembers; avc/cache_threshold limits them",
    ),
    kept("numa_policy", "mm/mempolicy.c", "memory policies of processes"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_known_by_its_name_and_in_a_cgroup() {
        assert_eq!(known("dentry(412:app.service)").unwrap().name, "dentry");
        assert_eq!(known("nf_conntrack_ffff88").unwrap().name, "nf_conntrack*");
        assert_eq!(known("session_ctx"), None);
    }

    #[test]
    fn inodes_are_given_back_but_for_those_that_are_the_files() {
        assert_eq!(reclaim("f2fs_inode_cache"), Reclaim::GivenBack);
        assert_eq!(reclaim("shmem_inode_cache"), Reclaim::Kept);
        assert_eq!(reclaim("session_ctx"), Reclaim::Unknown);
    }

    #[test]
    fn each_cache_is_listed_once() {
        let mut names: Vec<_> = KNOWN.iter().map(|cache| cache.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KNOWN.len());
    }
}
