# SPDX-License-Identifier: MIT OR Apache-2.0
# A spool: 6,000 files come into a tmpfs, in 20 folders, and one in 16 of them stays, as the numbers of a generator fall.
mkdir /tmp/spool
folder=0
while [ $folder -lt 20 ]; do
	mkdir /tmp/spool/$folder
	folder=$((folder + 1))
done
file=0
while [ $file -lt 6000 ]; do
	: > /tmp/spool/$((file % 20))/$file
	file=$((file + 1))
done
file=0
random=1
gone=
while [ $file -lt 6000 ]; do
	random=$(((random * 1103515245 + 12345) % 2147483648))
	if [ $((random / 65536 % 16)) -ne 0 ]; then
		# A whole folder's worth of names for one rm: 6,000 processes would be a load of their own.
		gone="$gone /tmp/spool/$((file % 20))/$file"
	fi
	file=$((file + 1))
	if [ $((file % 200)) -eq 0 ]; then
		rm $gone
		gone=
	fi
done
sleep 2
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
