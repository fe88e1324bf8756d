#!/bin/sh
# Runs the unit, geometry, model and documentation tests under AddressSanitizer.
set -eu
asan=$(cd "$(dirname "$0")/../../.." && pwd)/tools/asan
# A test keeps the memory of its machine for ever, as a kernel would.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}"
"$asan" -p slablab-kmem --lib --test geometry --test model
"$asan" -p slablab-kmem --doc
