#!/bin/sh
# Runs the unit, geometry, model and documentation tests under AddressSanitizer. Needs a nightly compiler.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root"
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "SKIPPED: AddressSanitizer needs a nightly compiler (rustup toolchain install nightly)" >&2
    exit 0
fi
target=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/asan"
# A test keeps the memory of its machine for ever, as a kernel would.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"
cargo +nightly test --quiet --target "$target" -p slablab-kmem --lib --test geometry --test model
export RUSTDOCFLAGS="$RUSTFLAGS"
cargo +nightly test --quiet --target "$target" -p slablab-kmem --doc
