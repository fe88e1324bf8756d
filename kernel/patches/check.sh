#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# check.sh [TREE...]: does every patch apply, without fuzz and in the order of its release's series, and is it clean under
# the tree's own checkpatch.pl? The broken ones each apply on top of the series, and so do the optional ones of a folder,
# one after the other.
# A TREE is an unpacked Linux, for its release alone; without one the files that are needed come out of Debian's
# linux-source-RELEASE, installed or in slablab's cache. A release without a source is said, and left out.
set -eu
patches=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
checked=

complain() {
	echo "check.sh: $1" >&2
	failed=1
}

# archive_of RELEASE: prints the tarball of its source, if there is one.
archive_of() {
	cache=${SLABLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slablab}
	for archive in "/usr/src/linux-source-$1.tar.xz" "$cache"/sources/*/usr/src/"linux-source-$1.tar.xz"; do
		if [ -e "$archive" ]; then
			echo "$archive"
			return
		fi
	done
}

checkpatch() {
	# A patch that adds a file need not touch MAINTAINERS; commits of other trees are unknown here.
	findings=$(perl "$tree/scripts/checkpatch.pl" --no-tree --quiet --terse \
		--ignore FILE_PATH_CHANGES,UNKNOWN_COMMIT_ID "$here/$1") && return
	echo "$findings" >&2
	complain "$1: not clean"
}

# check RELEASE SOURCE: checks the patches of a release against a tree or a tarball.
check() {
	here=$patches/$1
	tree=$work/$1
	source=$2
	mkdir "$tree"
	series=$(sed 's/#.*//' "$here/series")
	optional=$(cd "$here" && find . -path './optional/*' -name '*.patch' | sed 's,^\./,,' | sort)
	broken=$(cd "$here" && find . -path './broken/*' -name '*.patch' | sed 's,^\./,,' | sort)
	extra="$optional $broken"
	named=$(cd "$here" && find . -name '*.patch' ! -path './optional/*' ! -path './broken/*' | wc -l)
	count=$(echo "$series $extra" | wc -w)
	# shellcheck disable=SC2086 # lists of words on purpose, here and below
	set -- $series
	if [ "$named" -ne $# ]; then
		complain "$here/series names $# patches, its folders have $named"
		return
	fi

	# The files that the patches change but do not make, and what checkpatch.pl reads.
	made=$(cd "$here" && sed -n 's,^ create mode [0-9]* ,,p' "$@")
	# shellcheck disable=SC2086
	files=$(cd "$here" && sed -n 's,^--- a/,,p' "$@" $extra | sort -u | grep -vxF "${made:-/}")
	files="$files scripts/checkpatch.pl scripts/spelling.txt scripts/const_structs.checkpatch"
	if [ -d "$source" ]; then
		# shellcheck disable=SC2086
		(cd "$source" && tar -cf - $files) | tar -xf - -C "$tree"
	else
		echo "$files" | tr ' ' '\n' | sed "s,^,linux-source-${here##*/}/," > "$work/wanted"
		tar -xJf "$source" -C "$tree" --strip-components=1 -T "$work/wanted"
	fi

	for name; do
		patch -s -N -t -p1 --fuzz=0 -d "$tree" -i "$here/$name" || complain "$name: does not apply"
		checkpatch "$name"
	done
	for name in $broken; do
		patch -s -N -t -p1 --fuzz=0 --dry-run -d "$tree" -i "$here/$name" || complain "$name: does not apply"
		checkpatch "$name"
	done
	# The patches of a folder come one after the other, by their names.
	for folder in $(echo "$optional" | sed -n 's,/[^/]*$,,p' | sort -u); do
		cp -al "$tree" "$tree.optional"
		for name in $(echo "$optional" | grep "^$folder/"); do
			patch -s -N -t -p1 --fuzz=0 -d "$tree.optional" -i "$here/$name" || complain "$name: does not apply"
			checkpatch "$name"
		done
		rm -rf "$tree.optional"
	done
	checked="$checked, $count of ${here##*/}"
}

# release_of TREE: prints 6.1.
release_of() {
	sed -n 's/^VERSION = //p' "$1/Makefile" | tr '\n' .
	sed -n 's/^PATCHLEVEL = //p' "$1/Makefile"
}

if [ $# -gt 0 ]; then
	for folder; do
		check "$(release_of "$folder")" "$folder"
	done
else
	for series in "$patches"/*/series; do
		release=$(basename "$(dirname "$series")")
		archive=$(archive_of "$release")
		if [ -n "$archive" ]; then
			check "$release" "$archive"
		else
			echo "check.sh: $release: NOT CHECKED, there is no linux-source-$release: slablab kernel build build:$release" >&2
		fi
	done
fi
if [ -z "$checked" ] || [ "$failed" -ne 0 ]; then
	exit 1
fi
echo "check.sh: patches that apply and are clean: ${checked#, }"
