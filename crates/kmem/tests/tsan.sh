#!/bin/sh
# Runs the tests in which threads share a machine under ThreadSanitizer.
set -eu
"$(cd "$(dirname "$0")/../../.." && pwd)/tools/tsan" -p slablab-kmem --lib -- pool:: tests::threads tests::pages
