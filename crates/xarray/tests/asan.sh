#!/bin/sh
# Runs the stress, model and history tests of the array and the probe tables under AddressSanitizer, with leaks looked for.
set -eu
asan=$(cd "$(dirname "$0")/../../.." && pwd)/tools/asan
export STRESS_MS="${STRESS_MS:-1500}" PROPTEST_CASES="${PROPTEST_CASES:-64}"
"$asan" -p slablab-xarray -p slablab-kprobe --tests
