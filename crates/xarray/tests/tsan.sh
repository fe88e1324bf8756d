#!/bin/sh
# Runs the concurrent tests of the array and the probe tables under ThreadSanitizer.
set -eu
tsan=$(cd "$(dirname "$0")/../../.." && pwd)/tools/tsan
export STRESS_MS="${STRESS_MS:-1500}" PROPTEST_CASES="${PROPTEST_CASES:-16}"
"$tsan" -p slablab-xarray -p slablab-kprobe --test stress --test linearizable --test sound --test conformance
