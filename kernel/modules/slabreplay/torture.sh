# SPDX-License-Identifier: GPL-2.0-only
# What slabreplay does with traces that are none, and when it is unloaded while it replays; its counts are sent as rows. For a
# guest's shell (SLAB: --module slabinfo, too):
#
#   slablab kernel boot build:6.12/slub+debug+kasan --memory 1024 --module slabreplay --script torture.sh

# trace OBJECTS CPUS: a trace of so many objects of three caches; each is freed when 500 others were allocated, by the next CPU.
trace() {
	awk -v objects="$1" -v cpus="$2" '
		function number(n, bytes) {
			for (; bytes > 0; bytes--) { printf "%02x", n % 256; n = int(n / 256) }
		}
		function event(object, is_alloc, cpu) {
			number(object, 4); number(0, 4); number(object % 3 + is_alloc * 32768, 2); number(cpu, 2)
			printf "\n"
		}
		BEGIN {
			printf "534c414252504c31"
			number(cpus, 4); number(3, 4); number(objects, 4); number(2 * objects - 500, 4); printf "\n"
			number(64, 4); number(8, 4); number(0, 4)
			number(192, 4); number(64, 4); number(1 + 4, 4)
			number(1024, 4); number(8, 4); number(8, 4); printf "\n"
			for (i = 0; i < objects; i++) {
				event(i, 1, int(i / 50) % cpus)
				if (i >= 500) event(i - 500, 0, int(i / 50 + 1) % cpus)
			}
		}' | xxd -r -p
}

# refuse WHAT FILE: slabreplay takes no such trace, and says why in one line (twice, as insmod tries two system calls).
refuse() {
	dmesg -c > /dev/null
	if insmod /lib/modules/slabreplay.ko trace="$2" 2> /dev/null; then
		fail "$1: taken"
	fi
	refused=$(dmesg | sed -n 's/.*slabreplay: //p' | sort -u)
	[ -n "$refused" ] && [ "$(echo "$refused" | wc -l)" -eq 1 ] || fail "$1: not one line"
	echo "$1: $refused"
}

trace 20000 "$(nproc)" > /tmp/good
size=$(wc -c < /tmp/good)
: > /tmp/empty
head -c 20 /tmp/good > /tmp/header
head -c $((size / 2)) /tmp/good > /tmp/half
head -c $((size - 1)) /tmp/good > /tmp/cut
{ cat /tmp/good; echo; } > /tmp/long
{ printf 'X'; tail -c +2 /tmp/good; } > /tmp/magic
trace 20000 99 > /tmp/cpus
# The second event is the first once more.
first() { head -c 72 /tmp/good | tail -c 12; }
{ head -c 60 /tmp/good; first; first; tail -c +85 /tmp/good; } > /tmp/twice
head -c 60 /tmp/good > /tmp/far && printf '\377\377\377\177' >> /tmp/far && tail -c +65 /tmp/good >> /tmp/far
# The first module says that it is one from out of the tree.
insmod /lib/modules/slabreplay.ko trace=/tmp/good
rmmod slabreplay
refuse missing /tmp/none
refuse folder /tmp
refuse device /dev/null
for wrong in empty header half cut long magic cpus twice far; do refuse $wrong /tmp/$wrong; done

insmod /lib/modules/slabreplay.ko trace=/tmp/good
echo free > /proc/slabreplay
cat /proc/slabreplay
rmmod slabreplay
read_settled_slab
before=$slab_kb
read_threads
threads_before=$threads
halfway=0
for round in 1 2 3 4 5 6 7 8; do
	insmod /lib/modules/slabreplay.ko trace=/tmp/good
	if [ $((round % 2)) -eq 0 ]; then
		echo free > /proc/slabreplay 2> /dev/null &
	else
		echo 39500 > /proc/slabreplay 2> /dev/null &
	fi
	usleep $((round * round * 3000))
	at=$(sed 's/ .*//' /proc/slabreplay)
	rmmod slabreplay
	wait $! || true
	echo "unloaded at $at"
	[ "$at" = event=39500 ] || halfway=$((halfway + 1))
done
[ $halfway -gt 0 ] || fail "no round was unloaded before its end"
if grep -s '^rp_' /proc/slabinfo; then fail "caches are left"; fi
read_settled_slab
read_threads
left=$((slab_kb - before)) more=$((threads - threads_before))
row "\"kind\":\"left\",\"before_kb\":$before,\"after_kb\":$slab_kb,\"threads\":$more"
# 32 pages are the guest's own, and what its new threads take; one round is 15 MB.
[ $left -le $((128 + 104 * (more > 0 ? more : 0))) ] || fail "$left kB of slabs are left, with $more threads more"
