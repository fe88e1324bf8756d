#!/bin/sh
# Runs Linux's own tests of its array on ours: lib/test_xarray.c, lib/test_ida.c and those of
# tools/testing/radix-tree; and random histories on both. What is left out, and why: LEFT-OUT.md. Needs gcc and
# the packages linux-source-6.1 and liburcu-dev.
#   run.sh [BUILD_FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
build=${1:-$root/target/xarray-kernel}
tarball=/usr/src/linux-source-6.1.tar.xz
library=${CARGO_TARGET_DIR:-$root/target}/release/libslablab_xarray.a

if ! "$root/tools/need" gcc libc6-dev liburcu-dev linux-source-6.1 tar xz-utils; then
    echo "SKIPPED: Linux's tests come from the package linux-source-6.1, which is not to be had here" >&2
    exit 0
fi
mkdir -p "$build"
source=$build/linux-source-6.1
tests=$source/tools/testing/radix-tree
if [ ! -f "$tests/main.c" ] || [ "$tarball" -nt "$build/stamp" ]; then
    echo "taking Linux's tests out of $tarball"
    tar xJf "$tarball" -C "$build" linux-source-6.1/lib/test_xarray.c linux-source-6.1/lib/test_ida.c \
        linux-source-6.1/tools/testing/radix-tree
    touch "$build/stamp"
fi
(cd "$root" && ${CARGO:-cargo} build --quiet --release -p slablab-xarray --features capi)
cc="gcc -std=gnu11 -g -O1 -nostdinc -I$root/include"

# test_xarray.c as a kernel module sees it, and as the kernel's user-space harness does.
for lane in kernel user; do
    define=
    [ $lane = user ] || define=-D__KERNEL__
    # shellcheck disable=SC2086 # words
    $cc -Wall $define -DTEST_XARRAY="\"$source/lib/test_xarray.c\"" \
        "$here/run.c" "$here/../c/host.c" "$library" -lpthread -o "$build/test_xarray_$lane"
    echo "== lib/test_xarray.c, $lane lane"
    "$build/test_xarray_$lane" >"$build/$lane.log" || { grep -v '^check_' "$build/$lane.log" | head -n 40; exit 1; }
    tail -n 1 "$build/$lane.log"
done

# The programs of tools/testing/radix-tree, in one: they share the helpers of test.c, of which two look inside
# nodes and are replaced (suite.c).
objects=
compile() {
    file=$1
    shift
    # shellcheck disable=SC2086 # words
    $cc -I"$here/harness" -include harness.h "$@" -c "$file" -o "$build/$(basename "$file" .c).o"
    objects="$objects $build/$(basename "$file" .c).o"
}
for program in multiorder iteration_check iteration_check_2 regression1 regression2 regression3 regression4 \
    idr-test tag_check; do
    compile "$tests/$program.c" -w
done
compile "$tests/main.c" -w -Dmain=linux_main
compile "$tests/test.c" -w -Dverify_tag_consistency=linux_verify_tag_consistency \
    -Dtree_verify_min_height=linux_tree_verify_min_height
compile "$here/suite.c" -Wall
compile "$here/../c/host.c" -Wall
# shellcheck disable=SC2086 # words
gcc $objects "$library" -lpthread -o "$build/suite"
for program in main tag_check multiorder iteration_check iteration_check_2 regression1 regression2 regression3 \
    regression4 idr-test test_ida; do
    if timeout 300 "$build/suite" $program >"$build/$program.log" 2>&1; then
        echo "== $program: passed. $(grep 'tests passed' "$build/$program.log" || true)"
    else
        echo "== $program: FAILED" && tail -n 20 "$build/$program.log"
        exit 1
    fi
done

# Random histories on our array and on lib/xarray.c itself: both are to tell the same.
work=$("$root/bench/xarray/peer/prepare.sh" "$build/peer")
gcc -std=gnu11 -g -O1 -w -D_LGPL_SOURCE -I"$work" -I"$work/../../include" -I"$here/beside" "$here/beside/theirs.c" \
    "$work/../../lib/find_bit.c" "$work/bitmap.c" -lurcu-qsbr -lpthread -o "$build/theirs"
gcc -std=gnu11 -g -O1 -Wall -idirafter "$root/include" "$here/beside/ours.c" "$library" -lpthread -o "$build/ours"
histories=4000
for side in theirs ours; do
    timeout 300 "$build/$side" $histories 200 >"$build/$side.log"
done
cmp "$build/theirs.log" "$build/ours.log"
echo "== beside lib/xarray.c: $histories histories, $(wc -l <"$build/ours.log") lines, not one differs"
