#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# check.sh [TREE]: does every patch of 6.1 apply, without fuzz and in the order of the series, and is it clean
# under the tree's own checkpatch.pl? The optional and the broken ones each apply on top of the series.
# TREE is an unpacked Linux; without it the files that are needed come out of Debian's linux-source-6.1.
set -eu
here=$(cd "$(dirname "$0")/6.1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

series=$(sed 's/#.*//' "$here/series")
extra=$(cd "$here" && find optional broken -name '*.patch' | sort)
named=$(cd "$here" && find . -name '*.patch' ! -path './optional/*' ! -path './broken/*' | wc -l)
# shellcheck disable=SC2086 # lists of words on purpose
set -- "${1:-}" $series
tree=$1
shift
if [ "$named" -ne $# ]; then
	echo "check.sh: $here/series names $# patches, its folders have $named" >&2
	exit 1
fi

# The files that the patches change but do not make, and what checkpatch.pl reads.
made=$(cd "$here" && sed -n 's,^ create mode [0-9]* ,,p' "$@")
# shellcheck disable=SC2086
files=$(cd "$here" && sed -n 's,^--- a/,,p' "$@" $extra | sort -u | grep -vxF "$made")
files="$files scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch"
if [ -n "$tree" ]; then
	# shellcheck disable=SC2086
	(cd "$tree" && tar -cf - $files) | tar -xf - -C "$work"
else
	archive=/usr/src/linux-source-6.1.tar.xz
	if [ ! -e "$archive" ]; then
		echo "check.sh: no $archive. Install linux-source-6.1, or give an unpacked tree" >&2
		exit 1
	fi
	echo "$files" | tr ' ' '\n' | sed 's,^,linux-source-6.1/,' > "$work/wanted"
	tar -xJf "$archive" -C "$work" --strip-components=1 -T "$work/wanted"
fi

failed=0
complain() {
	echo "check.sh: $1" >&2
	failed=1
}

checkpatch() {
	# A patch that adds a file need not touch MAINTAINERS; commits of other trees are unknown here.
	findings=$(perl "$work/scripts/checkpatch.pl" --no-tree --quiet --terse \
		--ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$here/$1") && return
	echo "$findings" >&2
	complain "$1: not clean"
}

for name; do
	patch -s -p1 --fuzz=0 -d "$work" -i "$here/$name" || complain "$name: does not apply"
	checkpatch "$name"
done
for name in $extra; do
	patch -s -p1 --fuzz=0 --dry-run -d "$work" -i "$here/$name" || complain "$name: does not apply"
	checkpatch "$name"
done
[ "$failed" -ne 0 ] || echo "check.sh: $(echo "$series $extra" | wc -w) patches apply and are clean"
exit "$failed"
