#!/bin/sh
# Lays the kernel's lib/xarray.c out with what it needs to compile in user space. Prints the folder: compile there
# with -I. -I../../include, kxa.c and its two companions.
#   prepare.sh BUILD_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
"$root/tools/need" linux-source-6.1 liburcu-dev tar xz-utils >&2

source=$build/linux-source-6.1
if [ ! -d "$source/tools/testing/radix-tree" ]; then
    tar xJf /usr/src/linux-source-6.1.tar.xz -C "$build" linux-source-6.1/tools/testing/radix-tree \
        linux-source-6.1/tools/include linux-source-6.1/tools/lib linux-source-6.1/tools/arch/x86/include \
        linux-source-6.1/include/linux linux-source-6.1/include/trace/events/maple_tree.h linux-source-6.1/lib/xarray.c
fi
work=$source/tools/testing/kxa
rm -rf "$work"
mkdir -p "$work"
cp -r "$source/tools/testing/radix-tree/linux" "$source/tools/testing/radix-tree/trace" \
    "$source/tools/testing/radix-tree/generated" "$work/"
cp "$source/tools/testing/radix-tree/bitmap.c" "$here/kxa.c" "$work/"
cp "$here"/linux/*.h "$work/linux/"

echo '#define XA_CHUNK_SHIFT 6' >"$work/generated/map-shift.h"
echo '#define CONFIG_64BIT 1' >"$work/generated/bit-length.h"
echo "$work"
