//! A small kernel with debug information, and a trace of what its functions allocate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use slablab_trace::{Event, Kind, Meta, NONE, TraceWriter};

const SOURCES: [(&str, &str); 3] = [
    ("init/main.c", "void start_kernel(void) { }\n"),
    ("mm/slab.c", "void *__kmalloc(unsigned long n) { return (void *)n; }\n"),
    (
        "net/sock.c",
        "void *__kmalloc(unsigned long);\n\
         struct later;\n\
         struct page { long words[5]; };\n\
         struct pair { int a, b; };\n\
         struct sock { int type; struct page *page; };\n\
         struct holder { struct { struct sock inner[2]; } in; };\n\
         __attribute__((noinline)) struct sock *sock_open(int n)\n\
         { struct sock *s = __kmalloc(n); s->type = n; return s; }\n\
         __attribute__((noinline)) struct holder *hold(int n)\n\
         { struct holder *h = __kmalloc(n); h->in.inner[1].type = n; return h; }\n\
         __attribute__((noinline)) struct page *page_new(int n)\n\
         { struct page *p = __kmalloc(n); p->words[0] = n; return p; }\n\
         __attribute__((noinline)) struct pair *pair_new(int n)\n\
         { struct pair *p = __kmalloc(n); p->a = n; return p; }\n\
         __attribute__((noinline)) unsigned long *bits_new(int n)\n\
         { unsigned long *b = __kmalloc(n); b[n] = 0; return b; }\n\
         __attribute__((noinline)) struct later *later_new(int n)\n\
         { struct later *l = __kmalloc(n); return l; }\n\
         __attribute__((noinline)) void *untyped_new(int n)\n\
         { void *p = __kmalloc(n); return (char *)p + 1; }\n",
    ),
];

/// Functions that allocate, with the size and the number of their objects.
const ALLOCATES: [(&str, u32, u64); 7] = [
    ("sock_open", 10, 16),
    ("hold", 4, 32),
    ("page_new", 20, 40),
    ("pair_new", 50, 8),
    ("bits_new", 6, 40),
    ("later_new", 3, 64),
    ("untyped_new", 30, 40),
];

/// Writes `typed.parquet` into a folder, and beside it the `vmlinux` of its kernel. Each object lives to the end.
///
/// # Panics
/// Without a C compiler and objdump, which building Rust needs, too.
#[must_use]
pub fn typed_trace(folder: &Path) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let vmlinux = build(folder);
    let trace = folder.join("typed.parquet");
    let mut writer = TraceWriter::create(&trace).unwrap();
    let (mut object, mut time_ns) = (0, 0);
    for (function, objects, bytes) in ALLOCATES {
        let (offset, address) = behind_call(&vmlinux, function);
        let site = writer.site(&format!("{function}+{offset:#x}"), address);
        for _ in 0..objects {
            let (cache, bytes_alloc) = (NONE, bytes.next_power_of_two());
            let kind = Kind::Kmalloc;
            let event = Event {
                time_ns,
                kind,
                object,
                site,
                cache,
                bytes_req: bytes,
                bytes_alloc,
                ..Event::EMPTY
            };
            writer.push(&event).unwrap();
            object += 1;
            time_ns += 1;
        }
    }
    // All live for most of the time.
    let end = Event { time_ns: 1 << 30, kind: Kind::Kfree, object: 0, ..Event::EMPTY };
    writer.push(&end).unwrap();
    let meta = Meta { cpus: 1, nodes: 1, kernel_release: "6.12.1".into(), ..Meta::default() };
    writer.finish(meta).unwrap();
    trace
}

fn build(folder: &Path) -> PathBuf {
    let source = folder.join("linux");
    for (name, text) in SOURCES {
        let path = source.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let out = folder.join("vmlinux");
    let mut cc = Command::new("cc");
    cc.current_dir(&source).args(["-O1", "-fno-pie", "-no-pie", "-nostdlib", "-static"]);
    cc.args(["-fcf-protection=none", "-gdwarf-5", "-Wl,-e,start_kernel", "-o"]).arg(&out);
    let status = cc.args(SOURCES.map(|(name, _)| name)).status().unwrap();
    assert!(status.success());
    out
}

/// Returns the place behind the call of a function, from its begin, and the address.
fn behind_call(vmlinux: &Path, function: &str) -> (u64, u64) {
    let output = Command::new("objdump").arg("-d").arg(vmlinux).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().skip_while(|line| !line.ends_with(&format!("<{function}>:")));
    let number = |text: &str| u64::from_str_radix(text.trim().trim_end_matches(':'), 16).unwrap();
    let begin = number(lines.next().unwrap().split(' ').next().unwrap());
    let mut behind = lines.skip_while(|line| !line.contains("call"));
    let address = number(behind.nth(1).unwrap().split('\t').next().unwrap());
    (address - begin, address)
}
