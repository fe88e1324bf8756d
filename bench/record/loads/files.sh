# SPDX-License-Identifier: MIT OR Apache-2.0
# 60,000 files, or as many as FILES says: made, listed and removed.
mkdir "$PLACE/files"
python3 -c '
import sys
for number in range(int(sys.argv[2])):
    open(f"{sys.argv[1]}/{number}", "w").close()' "$PLACE/files" "${FILES:-60000}"
ls -l "$PLACE/files" | wc -l
rm -rf "$PLACE/files"
