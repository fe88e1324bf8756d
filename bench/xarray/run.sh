#!/bin/bash
# Measures the array and the probe tables beside their peers, and says which promises hold. One command, all of it:
#   bench/xarray/run.sh [RESULTS_FOLDER] [ROUNDS] [ENTRIES]
# BINARIES in the environment names a folder with the programs; with it probes and milliseconds are few, too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
results=${1:-$root/bench/results/$(date +%F)-xarray}
rounds=${2:-3}
entries=${3:-1000000}
mkdir -p "$results"
results=$(cd "$results" && pwd)
cd "$root/bench"
xarray/peer/build.sh target/peer
probes="" brief=""
if [ -n "${BINARIES:-}" ]; then
    probes="--probes 1000" brief="--rounds 1 --ms 1"
else
    cargo build --release --quiet
    BINARIES=target/release
fi
# Large pages for every peer alike: without them the sparse trees are bound by the TLB.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
{
    echo "commit $(git rev-parse --short HEAD), $(rustc --version), $(gcc --version | head -n 1)"
    echo "$(uname -r), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, load $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "command: bench/xarray/run.sh (rounds $rounds, entries $entries)"
} | tee "$results/machine.txt"
"$BINARIES/arrays" --rounds "$rounds" --entries "$entries" --csv "$results/arrays.csv" | tee "$results/arrays.txt"
"$BINARIES/kprobes" --rounds "$rounds" $probes --csv "$results/kprobes.csv" --svg "$results/kprobes-" | tee "$results/kprobes.txt"
"$BINARIES/parallel" $brief | tee "$results/parallel.txt"
"$BINARIES/mixed" $brief | tee "$results/mixed.txt"
