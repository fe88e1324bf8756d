#!/bin/sh
# Compiles our own C programs against include/linux and the static library, and runs them. Needs gcc.
#   run.sh [BUILD_FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
build=${1:-$root/target/xarray-c}
library=${CARGO_TARGET_DIR:-$root/target}/release/libslablab_xarray.a

"$root/tools/need" gcc libc6-dev
mkdir -p "$build"
(cd "$root" && ${CARGO:-cargo} build --quiet --release -p slablab-xarray --features capi)
cc="gcc -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror"
# As a module sees the headers, and as a program with libc's does.
$cc -nostdinc -D__KERNEL__ -I"$root/include" "$here/misuse.c" "$here/host.c" "$library" -lpthread -o "$build/misuse"
for program in documented threads; do
    $cc -idirafter "$root/include" "$here/$program.c" "$library" -lpthread -o "$build/$program"
done
for program in misuse documented threads; do
    "$build/$program"
done
