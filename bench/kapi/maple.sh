#!/bin/sh
# Measures the maple tree beside a BTreeMap of ranges, in rounds that take turns: maple.sh [ROUNDS] [RANGES]. Prints the
# median of each step in nanoseconds (walk: of all ranges), and the bytes of nodes that a range takes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/../../crates/kapi/tests/maple
rounds=${1:-9} ranges=${2:-100000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tests/build.sh" bench "$work/maple" -DHOST_IS_FAST
"${RUSTC:-rustc}" -O -C target-cpu=x86-64 --edition 2024 "$here/ranges.rs" -o "$work/btree"
for round in $(seq "$rounds"); do
    "$work/maple" "$ranges" 0 | sed 's/^/maple /'
    "$work/btree" "$ranges" | sed 's/^/btree /'
    "$work/maple" "$ranges" 1 | sed 's/^/gaps /'
    "$work/maple" "$ranges" 3 | sed 's/^/rcu /'
done > "$work/rows"
sort -k1,2 -k3n "$work/rows" | awk '
    { key = $1 " " $2; rows[key] = rows[key] " " $3 }
    END {
        printf "%-10s %10s %10s %10s %10s\n", "step", "maple", "BTreeMap", "with gaps", "gaps, RCU"
        count = split("append load find walk overwrite split erase random bytes", steps, " ")
        for (i = 1; i <= count; i++) {
            printf "%-10s", steps[i]
            split("maple btree gaps rcu", kinds, " ")
            for (k = 1; k <= 4; k++) {
                many = split(rows[kinds[k] " " steps[i]], values, " ")
                if (many) printf " %10.1f", values[int((many + 1) / 2)] / 10
                else printf " %10s", "-"
            }
            printf "\n"
        }
    }'
