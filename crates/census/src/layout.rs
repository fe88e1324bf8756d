//! Where the fields of SLUB's structures are on this kernel.
//!
//! How it works: BTF tells. A structure that a generation of SLUB lacks (CPU slabs from 7.0 on, sheaves before 6.18) is absent
//! here; one that is there without a field that is read is refused by its name.
//!
//! Linux counterpart: `mm/slab.h` and `mm/slub.c` @ 6.12 to 7.3.

use slablab_bpf::Btf;

use crate::error::Error;

/// Offsets in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) cache: CacheFields,
    pub(crate) cpu: Option<CpuFields>,
    pub(crate) slab: SlabFields,
    pub(crate) node: NodeFields,
    pub(crate) sheaves: Option<SheafFields>,
    /// Where a map of CPUs has the place of its entries
    pub(crate) places: u64,
}

/// `struct kmem_cache`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CacheFields {
    pub(crate) size: u64,
    pub(crate) name: u64,
    /// The link in the list of all caches
    pub(crate) list: u64,
    pub(crate) order_objects: u64,
    pub(crate) link: u64,
    /// What links of free objects are mixed with, where the kernel does so
    pub(crate) random: Option<u64>,
    pub(crate) nodes: NodesFields,
}

/// What a cache has for each node: a pointer, and from 7.1 on a structure of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodesFields {
    /// Where in the cache the first is
    pub(crate) first: u64,
    pub(crate) bytes_each: u64,
    /// The pointer to `struct kmem_cache_node`, and the one to the barn where it is not in that structure
    pub(crate) node: u64,
    pub(crate) barn: Option<u64>,
}

/// `struct kmem_cache_cpu`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CpuFields {
    pub(crate) of_cache: u64,
    pub(crate) freelist: u64,
    pub(crate) slab: u64,
    /// The list of partial slabs, and the link in a slab
    pub(crate) partial: Option<(u64, u64)>,
}

/// `struct slab`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlabFields {
    pub(crate) cache: u64,
    pub(crate) list: u64,
    /// Objects in use, 16 bits, and behind them 15 bits with the number of all
    pub(crate) in_use: u64,
}

/// `struct kmem_cache_node`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFields {
    pub(crate) partial: u64,
    pub(crate) partial_count: u64,
    pub(crate) slabs: u64,
    pub(crate) objects: u64,
}

/// `struct slub_percpu_sheaves`, `slab_sheaf` and `node_barn`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SheafFields {
    pub(crate) of_cache: u64,
    pub(crate) main: u64,
    pub(crate) spare: u64,
    pub(crate) rcu_free: u64,
    pub(crate) objects: u64,
    pub(crate) barn_link: u64,
    /// The barn in `struct kmem_cache_node`, where it is not beside the pointer to that
    pub(crate) barn_of_node: Option<u64>,
    pub(crate) full: u64,
    pub(crate) full_count: u64,
    pub(crate) empty_count: u64,
}

impl Layout {
    /// Finds the fields on a kernel.
    pub(crate) fn of(btf: &Btf) -> Result<Self, Error> {
        let at =
            |structure: &str, field: &str| Ok::<u64, Error>(btf.offset(structure, field)? as u64);
        let if_any =
            |structure: &str, field: &str| btf.offset(structure, field).ok().map(|at| at as u64);
        let cache = CacheFields {
            size: at("kmem_cache", "size")?,
            name: at("kmem_cache", "name")?,
            list: at("kmem_cache", "list")?,
            order_objects: at("kmem_cache", "oo")?,
            link: at("kmem_cache", "offset")?,
            random: if_any("kmem_cache", "random"),
            nodes: match if_any("kmem_cache", "per_node") {
                Some(first) => NodesFields {
                    first,
                    bytes_each: 16,
                    node: at("kmem_cache_per_node_ptrs", "node")?,
                    barn: Some(at("kmem_cache_per_node_ptrs", "barn")?),
                },
                None => NodesFields {
                    first: at("kmem_cache", "node")?,
                    bytes_each: 8,
                    node: 0,
                    barn: None,
                },
            },
        };
        let cpu = match if_any("kmem_cache", "cpu_slab") {
            None => None,
            Some(of_cache) => Some(CpuFields {
                of_cache,
                freelist: at("kmem_cache_cpu", "freelist")?,
                slab: at("kmem_cache_cpu", "slab")?,
                partial: match if_any("kmem_cache_cpu", "partial") {
                    None => None,
                    Some(first) => Some((first, at("slab", "next")?)),
                },
            }),
        };
        let sheaves = match if_any("kmem_cache", "cpu_sheaves") {
            None => None,
            Some(of_cache) => Some(SheafFields {
                of_cache,
                main: at("slub_percpu_sheaves", "main")?,
                spare: at("slub_percpu_sheaves", "spare")?,
                rcu_free: at("slub_percpu_sheaves", "rcu_free")?,
                objects: at("slab_sheaf", "size")?,
                barn_link: at("slab_sheaf", "barn_list")?,
                barn_of_node: match cache.nodes.barn {
                    Some(_) => None,
                    None => Some(at("kmem_cache_node", "barn")?),
                },
                full: at("node_barn", "sheaves_full")?,
                full_count: at("node_barn", "nr_full")?,
                empty_count: at("node_barn", "nr_empty")?,
            }),
        };
        let is_beside = |at: u64| at < cache.nodes.bytes_each && at.is_multiple_of(8);
        if !is_beside(cache.nodes.node) || !cache.nodes.barn.is_none_or(is_beside) {
            return Err(Error::Form("struct kmem_cache_per_node_ptrs".to_owned()));
        }
        if at("slab", "inuse")? + 2 != at("slab", "objects")? {
            return Err(Error::Form("struct slab".to_owned()));
        }
        Ok(Self {
            cache,
            cpu,
            slab: SlabFields {
                cache: at("slab", "slab_cache")?,
                list: at("slab", "slab_list")?,
                in_use: at("slab", "inuse")?,
            },
            node: NodeFields {
                partial: at("kmem_cache_node", "partial")?,
                partial_count: at("kmem_cache_node", "nr_partial")?,
                slabs: at("kmem_cache_node", "nr_slabs")?,
                objects: at("kmem_cache_node", "total_objects")?,
            },
            sheaves,
            places: at("bpf_array", "pptrs")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_slub_s_fields_is_refused_by_name() {
        // The header of BTF without a type.
        let header = [0x0001_eb9f_u32, 24, 0, 0, 0, 1];
        let bytes: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).chain([0]).collect();
        let error = Layout::of(&Btf::parse(&bytes).unwrap()).unwrap_err().to_string();
        assert!(error.contains("no struct kmem_cache with a field size"), "{error}");
    }
}
