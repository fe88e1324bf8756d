#!/bin/sh
# Measures the array and the probe tables beside their peers, and says which promises hold. One command, all of it:
#   bench/xarray/run.sh [RESULTS_FOLDER] [ROUNDS] [ENTRIES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
results=${1:-$root/bench/results/$(date +%F)-xarray}
rounds=${2:-3}
entries=${3:-1000000}
mkdir -p "$results"
results=$(cd "$results" && pwd)
cd "$here"
peer/build.sh target/peer
cargo build --release --quiet
# Large pages for every peer alike: without them the sparse trees are bound by the TLB.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
{
    echo "commit $(git rev-parse --short HEAD), $(rustc --version), $(gcc --version | head -n 1)"
    echo "$(uname -r), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "command: bench/xarray/run.sh (rounds $rounds, entries $entries)"
} | tee "$results/machine.txt"
target/release/arrays --rounds "$rounds" --entries "$entries" --csv "$results/arrays.csv" | tee "$results/arrays.txt"
target/release/kprobes --rounds "$rounds" --csv "$results/kprobes.csv" --svg "$results/kprobes-" | tee "$results/kprobes.txt"
target/release/parallel | tee "$results/parallel.txt"
