#!/bin/sh
# Builds the kernel's lib/xarray.c as shared libraries, one for each compiler setting.
#   build.sh BUILD_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
"$root/tools/need" gcc libc6-dev libjudy-dev
work=$("$here/prepare.sh" "$1")
build=$(cd "$1" && pwd)

cd "$work"
variant() {
    name=$1
    shift
    gcc -I. -I../../include "$@" -w -D_LGPL_SOURCE -fPIC -shared kxa.c ../../lib/find_bit.c bitmap.c \
        -lurcu-qsbr -lpthread -o "$build/libkxa-$name.so"
}
variant O2 -O2
variant O3 -O3
variant O2-native -O2 -march=native
variant O3-native -O3 -march=native
ls "$build"/libkxa-*.so
