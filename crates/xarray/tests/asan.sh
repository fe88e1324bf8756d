#!/bin/sh
# Runs the stress, model and history tests under AddressSanitizer, with leaks looked for. Needs a nightly compiler.
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
export STRESS_MS="${STRESS_MS:-1500}" PROPTEST_CASES="${PROPTEST_CASES:-64}"
cargo +nightly test --quiet --target "$target" -p slablab-xarray -p slablab-kprobe --tests
