# SPDX-License-Identifier: MIT OR Apache-2.0
# 60,000 files, made, listed and removed.
mkdir "$PLACE/files"
python3 -c '
import sys
for number in range(60000):
    open(f"{sys.argv[1]}/{number}", "w").close()' "$PLACE/files"
ls -l "$PLACE/files" | wc -l
rm -rf "$PLACE/files"
