#!/bin/sh
# Runs Linux's own lib/test_xarray.c on our array: see LEFT-OUT.md. Needs gcc and the linux-source-6.1 package.
#   run.sh [BUILD_FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
build=${1:-$root/target/xarray-kernel}
tarball=/usr/src/linux-source-6.1.tar.xz
library=${CARGO_TARGET_DIR:-$root/target}/release/libslablab_xarray.a

if ! "$root/tools/need" gcc libc6-dev linux-source-6.1; then
    echo "SKIPPED: lib/test_xarray.c comes from the package linux-source-6.1, which is not to be had here" >&2
    exit 0
fi
mkdir -p "$build"
test_file=$build/linux-source-6.1/lib/test_xarray.c
if [ ! -f "$test_file" ] || [ "$tarball" -nt "$build/stamp" ]; then
    echo "taking lib/test_xarray.c out of $tarball"
    tar xJf "$tarball" -C "$build" linux-source-6.1/lib/test_xarray.c
    touch "$build/stamp"
fi
(cd "$root" && ${CARGO:-cargo} build --quiet --release -p slablab-xarray --features capi)

# As a kernel module sees the file, and as the kernel's user-space harness does.
for lane in kernel user; do
    define=
    [ $lane = user ] || define=-D__KERNEL__
    # shellcheck disable=SC2086 # empty or one word
    gcc -std=gnu11 -g -O1 -Wall -nostdinc -I"$root/include" $define -DTEST_XARRAY="\"$test_file\"" \
        "$here/run.c" "$here/../c/host.c" "$library" -lpthread -o "$build/test_xarray_$lane"
    echo "== lib/test_xarray.c, $lane lane"
    "$build/test_xarray_$lane" >"$build/$lane.log" || { grep -v '^check_' "$build/$lane.log" | head -n 40; exit 1; }
    tail -n 1 "$build/$lane.log"
done
