#!/bin/bash
# Runs every measurement once with the smallest parameters: whether they still work, not what they measure. Numbers go nowhere.
# usage: bench/smoke.sh SLABLAB
# What cannot run on this machine (no perf, no root, no tracefs, no Debian packages for the peers) is named, and the rest goes on.
# The programs are built without optimization into bench/target, which takes most of the time when it is empty.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
slablab=$(realpath "$1")
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$(dirname "$slablab"):$PATH" PYTHONDONTWRITEBYTECODE=1

# step NAME COMMAND...: runs it, and shows what it printed only if it failed.
failed=""
step() {
    local name=$1 begin=$SECONDS
    shift
    if "$@" > "$work/output" 2>&1; then
        grep 'NOT RUN' "$work/output" || true
        echo "bench-smoke: $name: $((SECONDS - begin)) s"
    else
        echo "bench-smoke: $name FAILED:" >&2
        tail -n 20 "$work/output" >&2
        failed="$failed $name"
    fi
}

build="cargo build --quiet --manifest-path bench/Cargo.toml"
step build $build --bin bench-kmem --bin bench-replay --bin traces --bin machine
[ -z "$failed" ] || exit 1
binaries=$root/bench/target/debug

step kmem "$binaries/bench-kmem" --rounds 1 --only ::64
step kmem-resident "$binaries/bench-kmem" --resident --only hot-pair::64
step replay "$binaries/bench-replay" --rounds 1 --events 20000 --slablab "$slablab" -o "$work/replay"
step fleet env TRACES="$binaries/traces" SLABLAB="$slablab" bench/replay/fleet.sh "$work/fleet" --smoke

step scale bench/scale/run.py "$slablab" "$binaries/machine" "$work/scale" --smoke --traces "$work/scale-traces"

if tools/need gcc libc6-dev libjudy-dev liburcu-dev linux-source-6.1 tar xz-utils; then
    step build-xarray $build
    step xarray env BINARIES="$binaries" bench/xarray/run.sh "$work/xarray" 1 2000
else
    echo "bench-smoke: xarray: NOT RUN: its peers need the packages named above"
fi

step record bench/record/run.py --rounds 1 --loops 5 --slablab "$slablab" -o "$work/record" \
    --recorders untraced,tracefs,slablab,sampled,stacks,site,top,perf
step fit env PROCESSES=100 FILES=100 bench/record/fit.py "$slablab" - "$work/fit" procs files
step sampling bench/record/sampling.py "$slablab" 2 5
step chosen bench/record/chosen.py "$slablab" --rounds 1 --loops 5 -o "$work/chosen"
step hunt-memory bench/record/hunt_memory.py --minutes 0.1 --slablab "$slablab" -o "$work/hunt"
step pages bench/record/pages.py bench/record/storm.py 100

step locality bench/kapi/locality.py "$slablab" 2
mkdir -p "$work/linux/lib"
cp crates/kapi/tests/modules/page_frags.c "$work/linux/lib/page_frags_test.c"
step modules env SLABLAB="$slablab" bench/kapi/modules.sh "$work/linux" 6.1
mv "$work/output" "$work/modules"
step modules-ran grep '^lib/page_frags_test.c|0|' "$work/modules"

# Running a module unpacked the headers.
btf=/sys/kernel/btf/vmlinux
if [ -r $btf ]; then
    step sizes sh -c 'bench/kapi/sizes.py "$(ls -td "$1"/slablab/kapi-*/include | head -n 1)" 6.12 "$2"' sh \
        "${XDG_CACHE_HOME:-$HOME/.cache}" $btf
else
    echo "bench-smoke: sizes: NOT RUN: this kernel has no BTF"
fi

# What runs in guests has to be read by a shell, a compiler or Python at least, and stored rows still make their tables.
step guest-scripts sh -c 'for script in bench/guest/*.sh bench/record/loads/*.sh; do sh -n "$script" || exit 1; done'
step guest-programs sh -c 'cc -Wall -o "$1" bench/guest/fill.c' sh "$work/fill"
step guest-python python3 -c 'import ast, sys; [ast.parse(open(path).read(), path) for path in sys.argv[1:]]' bench/*/*.py
step guest-matrix bench/guest/matrix.py bench/results/*-dense-matrix/7.3-64.jsonl
step guest-peak bench/guest/peak.py bench/results/*-dense-matrix/peak-one.jsonl

[ -z "$failed" ] || { echo "bench-smoke: failed:$failed" >&2; exit 1; }
echo "bench-smoke: all measurements ran, in $SECONDS s"
