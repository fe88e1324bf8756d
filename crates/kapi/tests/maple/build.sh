#!/bin/sh
# build.sh PROGRAM OUT FLAG...: compiles the maple tree's files of the runtime with host.c and PROGRAM.c of this folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../../..
program=$1 out=$2
shift 2
for file in "$root"/crates/kapi/runtime/maple_*.c "$here/$program.c"; do
    "${CC:-cc}" -c -O2 -g -w -ffreestanding -fno-omit-frame-pointer -nostdinc -D__KERNEL__ -DMODULE -DKAPI_RUNTIME \
        -DKBUILD_MODNAME='"kapi"' -DLINUX_VERSION_CODE="${VERSION_CODE:-0x060c00}" -I "$root/include" "$@" "$file" \
        -o "$out.$(basename "$file" .c).o"
done
"${CC:-cc}" -O2 -g -w "$@" "$here/host.c" "$out".*.o -o "$out" -lpthread
rm -f "$out".*.o
