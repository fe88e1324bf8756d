# SPDX-License-Identifier: MIT OR Apache-2.0
# A storm of processes: 400 at once, of which one in 16 stays.
process=0
random=1
gone=
while [ $process -lt 400 ]; do
	sleep 600 &
	random=$(((random * 1103515245 + 12345) % 2147483648))
	if [ $((random / 65536 % 16)) -ne 0 ]; then
		gone="$gone $!"
	fi
	process=$((process + 1))
done
kill $gone
for process in $gone; do
	wait $process || true
done
sleep 2
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
