#!/bin/sh
# linux.sh SOURCE OUT: compiles bench.c of this folder with lib/maple_tree.c of a Linux source (6.12 on), as its own tests of
# radix trees do in a process, but optimised and without its checks. Needs liburcu-dev.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$1" && pwd) out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools/testing"
ln -s "$source/lib" "$source/include" "$work/"
ln -s "$source/tools/include" "$source/tools/lib" "$source/tools/arch" "$work/tools/"
cp -r "$source/tools/testing/shared" "$source/tools/testing/radix-tree" "$work/tools/testing/"
cd "$work/tools/testing/radix-tree"
mkdir -p generated
cp ../shared/autoconf.h generated/
echo '#define XA_CHUNK_SHIFT 6' > generated/map-shift.h
echo '#define CONFIG_64BIT 1' > generated/bit-length.h
cat > bench.c <<END
#define CONFIG_MAPLE_SEARCH
#define MAPLE_32BIT (MAPLE_NODE_SLOTS > 31)
#include "shared.h"
#include <stdlib.h>
#include <time.h>
#include "linux/init.h"
#include "../../../lib/maple_tree.c"
_Static_assert(MAPLE_RANGE64_SLOTS == 16, "as in a kernel of 64 bits");
#define LINUX_MAPLE
#include "$here/bench.c"

unsigned long host_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	rcu_register_thread();
	maple_tree_init();
	return tree_main(argc, argv);
}
END
"${CC:-cc}" -O2 -g -w -D_LGPL_SOURCE -DCONFIG_64BIT=1 -I../shared -I. -I../../include -I../../../lib bench.c ../shared/linux.c ../../lib/slab.c \
    ../../lib/find_bit.c ../../lib/bitmap.c ../../lib/hweight.c ../../lib/vsprintf.c -o "$out" -lpthread -lurcu
