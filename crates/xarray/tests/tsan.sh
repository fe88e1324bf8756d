#!/bin/sh
# Runs the concurrent tests of the array and the probe tables under ThreadSanitizer.
set -eu
tsan=$(cd "$(dirname "$0")/../../.." && pwd)/tools/tsan
export STRESS_MS="${STRESS_MS:-1500}"
"$tsan" -p slablab-xarray --test stress --test linearizable --test sound
"$tsan" -p slablab-kprobe --test conformance -- readers_are_never_misled
