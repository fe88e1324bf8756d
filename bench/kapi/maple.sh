#!/bin/sh
# Measures the maple tree beside a BTreeMap of ranges, in rounds that take turns: maple.sh [ROUNDS] [RANGES] [SOURCE]. Prints
# the median of each step in nanoseconds of the processor (walk: of all ranges), and the bytes of nodes that a range takes.
# With the source of a Linux (6.12 on) its own tree is measured, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/../../crates/kapi/tests/maple
rounds=${1:-9} ranges=${2:-100000} source=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tests/build.sh" bench "$work/maple" -DHOST_IS_FAST
"${RUSTC:-rustc}" -O -C target-cpu=x86-64 --edition 2024 "$here/ranges.rs" -o "$work/btree"
[ -z "$source" ] || "$tests/linux.sh" "$source" "$work/linux"
for round in $(seq "$rounds"); do
    "$work/maple" "$ranges" 0 | sed 's/^/maple /'
    "$work/btree" "$ranges" | sed 's/^/btree /'
    "$work/maple" "$ranges" 1 | sed 's/^/gaps /'
    "$work/maple" "$ranges" 3 | sed 's/^/rcu /'
    [ -z "$source" ] || for kind in 0 1 3; do "$work/linux" "$ranges" $kind | sed "s/^/linux$kind /"; done
done > "$work/rows"
sort -k1,2 -k3n "$work/rows" | awk '
    { key = $1 " " $2; rows[key] = rows[key] " " $3 }
    END {
        printf "%-10s", "step"
        heads = split("maple,BTreeMap,with gaps,gaps RCU,Linux,Linux gaps,Linux RCU", head, ",")
        many_kinds = split("maple btree gaps rcu linux0 linux1 linux3", kinds, " ")
        if (!(("linux0 append") in rows)) many_kinds = 4
        for (k = 1; k <= many_kinds; k++) printf " %10s", head[k]
        printf "\n"
        count = split("append load find walk overwrite split erase random bytes", steps, " ")
        for (i = 1; i <= count; i++) {
            printf "%-10s", steps[i]
            for (k = 1; k <= many_kinds; k++) {
                many = split(rows[kinds[k] " " steps[i]], values, " ")
                if (many) printf " %10.1f", values[int((many + 1) / 2)] / 10
                else printf " %10s", "-"
            }
            printf "\n"
        }
    }'
