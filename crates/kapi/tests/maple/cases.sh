#!/bin/sh
# cases.sh SOURCE VERSION WORK [threads]: cases of tools/testing/radix-tree/maple.c of a Linux source, as they are. What
# looks into Linux's own nodes, or counts them, is cut out, by the name of the function: see LEFT-OUT.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$1 version=$2 work=$3 threads=${4:-}
mkdir -p "$work/tools/testing/radix-tree" "$work/tools/testing/shared" "$work/lib"
cp "$source/lib/test_maple_tree.c" "$work/lib/"
: > "$work/tools/testing/radix-tree/test.h"
: > "$work/tools/testing/shared/maple-shim.c"
: > "$work/lib/maple_tree.c"
cut="get_alloc_node_count check_mas_alloc_node_count check_new_node mas_node_walk mas_descend_walk mas_tree_walk
 mas_range_load mas_dfs_preorder check_dfs_preorder get_vacant_height mas_allocated check_prealloc compare_node
 compare_tree check_bulk_rebalance check_erase_rebalance get_last_index test_spanning_store_regression regression_tests
 farmer_tests maple_tree_tests main"
awk -v cut="$cut" 'BEGIN { count = split(cut, names, /[ \n]+/); for (i = 1; i <= count; i++) gone[names[i]] = 1 }
    /^[a-z].*\(/ && !/;$/ && !/=/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); skips = name in gone }
    /^#include <(stdlib|time|linux\/init|pthread)/ { next }
    !skips { print }
    skips && /^}/ { skips = 0 }' \
    "$source/tools/testing/radix-tree/maple.c" > "$work/tools/testing/radix-tree/maple.c"
case $version in
6.12) code=0x060c00 has= ;;
*) code=0x070300 has=-DHAS_HEIGHT ;;
esac
VERSION_CODE=$code "$here/build.sh" cases "$work/cases" $has -DMAPLE_C="\"$work/tools/testing/radix-tree/maple.c\""
exec "$work/cases" $threads
