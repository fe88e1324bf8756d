# SPDX-License-Identifier: GPL-2.0-only
# Loads that a guest runs with busybox alone (busybox sh, -eu). Sourced after lab.sh.

# make_files N: makes N empty files on a tmpfs, in directories of 100, and removes every second one: dentries and inodes
# lie scattered in their slabs, as on a machine that has been running.
make_files() {
	files_at=/tmp/files
	mkdir -p $files_at
	mount -t tmpfs files $files_at
	files_made=0
	while [ $files_made -lt "$1" ]; do
		if [ $((files_made % 100)) = 0 ]; then
			files_dir=$files_at/$((files_made / 100))
			mkdir $files_dir
		fi
		: > $files_dir/$files_made
		files_made=$((files_made + 1))
	done
	for files_dir in $files_at/*; do
		rm $files_dir/*[02468]
	done
}

# fetch_pages N: fetches a page N times over loopback, one TCP connection after another. Each leaves a socket that waits for
# a minute.
fetch_pages() {
	mkdir -p /tmp/pages
	head -c 20000 /dev/zero > /tmp/pages/page
	httpd -f -p 127.0.0.1:80 -h /tmp/pages &
	fetch_server=$!
	idle 0.5
	fetched=0
	while [ $fetched -lt "$1" ]; do
		if ! wget -q -O /dev/null http://127.0.0.1/page; then
			fail "a page could not be fetched over loopback: does this kernel have CONFIG_INET?"
		fi
		fetched=$((fetched + 1))
	done
	kill $fetch_server
}
