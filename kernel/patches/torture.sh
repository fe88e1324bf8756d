#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# torture.sh [KERNEL...]: do the allocators of the patches stand torture, and is each planted bug caught?
#
# Each kernel (build:6.1/slmb, build:6.12/slub_dense and build:7.3/slub_dense) goes through the jobs below in QEMU; whatever the
# kernel complains about fails. Then each patch of its release's broken/ is applied to a copy of the kernel, of which make
# compiles what that changes, and slabtorture, meminit or the kernel itself must show it. Takes root, and a quarter of
# an hour for each kernel once that is built. Other kernels go through the jobs as well, but have no bugs planted. One whose
# name ends in +slab_dense is built with 7.3's optional patches and booted with slab_dense; one with +debug gets more memory.
#
#   JOBS          which of them, by name; all
#     torture     slabtorture on 4 CPUs beside hackbench, all shrinkers run twice a second
#     stranding   objects freed on one CPU serve another
#     meminit     Linux's test of init_on_alloc and init_on_free
#     zones       objects of caches that name a zone
#     hotplug     three CPUs of four off and on under hackbench
#     boots       BOOTS boots (20) of 1 to 4 CPUs, of 64 to 256 MiB, with hackbench
#     debug       of a kernel with +debug: slabtorture and hackbench while requests fail, shrinkers, hotplug and stranding
#                 while memory is short, in rounds for DEBUG_SECONDS (900), with free pages unmapped and KFENCE
#     kunit       of a kernel with +debug: slub_kunit, or what it has for a kernel without SLUB_DEBUG
#     broken      the planted bugs
#   APPEND        boot parameters of all guests
#   SECONDS_EACH  how long slabtorture runs; 30
#   OUTPUT        keep the consoles in this folder
#   SLABLAB       the command; target/release/slablab
set -u
patches=$(cd "$(dirname "$0")" && pwd)
slablab=${SLABLAB:-$patches/../../target/release/slablab}
seconds=${SECONDS_EACH:-30}
boots=${BOOTS:-20}
debug_seconds=${DEBUG_SECONDS:-900}
jobs=${JOBS:-torture stranding meminit zones hotplug boots debug kunit broken}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=${OUTPUT:-$work/output}
mkdir -p "$output"
failed=0

# What a kernel prints when something is wrong.
complaints='BUG|WARNING|Oops|KASAN:|INFO: (task|possible|rcu|trying)|general protection|Call Trace|slabtorture: error'
complaints="$complaints|result[= ]FAIL|Objects remaining|failures: [1-9]|not ok "

# boot NAME KERNEL ARGUMENT...: boots and keeps what was said in $output; fails where the guest did or the kernel complained.
boot() {
	log=$output/$(echo "$kernel" | tr /: --).$1
	shift
	# shellcheck disable=SC2086 # words on purpose
	"$slablab" kernel boot $extra --accel tcg --silence 600 --limit 7200 -o "$log" "$@" > "$log.said" 2>&1
	status=$?
	grep -qE "$complaints" "$log/console.log" 2> /dev/null && status=1
	return $status
}

# verdict STATUS NAME: says how the last boot went.
verdict() {
	if [ "$1" -eq 0 ]; then
		echo "torture.sh: $kernel: $2: ok$(summary)"
	else
		failed=1
		echo "torture.sh: $kernel: $2: FAILED" >&2
		grep -E -m3 "$complaints" "$log/console.log" 2> /dev/null >&2 || tail -n 5 "$log.said" >&2
	fi
}

summary() {
	sed -n 's/.*\(slabtorture: result .*\|stranding: .*\|meminit: all .*passed!\|zones: .*\|rounds=.*\|kunit: .*\)/ (\1)/p' \
		"$log/console.log" | tr -d '\r' | tail -n 1
}

# job NAME KERNEL ARGUMENT...: boots and says how that went.
job() {
	boot "$@"
	verdict $? "$1"
}

insmod() {
	echo "insmod /lib/modules/$1.ko"
}

# Under the load, all shrinkers run now and then.
cat > "$work/torture.sh" <<JOB
(while sleep 0.5; do echo 2 > /proc/sys/vm/drop_caches; done) &
hackbench -g 1 -l 2000 -s 100 > /dev/null &
insmod /lib/modules/slabtorture.ko seconds=$seconds threads=2
dmesg | grep slabtorture
JOB
cat > "$work/hotplug.sh" <<'JOB'
(for i in 1 2 3 4 5 6; do hackbench -g 3 -l 100 -s 100 > /dev/null; done; echo done > /tmp/ended) &
rounds=0
while [ ! -e /tmp/ended ]; do
	for cpu in 1 2 3; do echo 0 > /sys/devices/system/cpu/cpu$cpu/online; done
	for cpu in 1 2 3; do echo 1 > /sys/devices/system/cpu/cpu$cpu/online; done
	echo 2 > /proc/sys/vm/drop_caches
	rounds=$((rounds + 1))
done
[ $rounds -gt 0 ]
echo "rounds=$rounds"
JOB

# Requests fail at random: where all may, the shell must not start a process, since none could be, nor open what it cannot do
# without.
cat > "$work/debug.sh" <<JOB
exec 7> /dev/null
fail=/sys/kernel/debug/failslab
mkfifo /tmp/rests
exec 8<> /tmp/rests
rest() { read -r -t \$1 _ <&8 || true; }
failing() { until echo \$1 > \$fail/probability; do :; done 2>&7; }
now() { read -r up _ < /proc/uptime; echo \${up%.*}; }
count() { awk -v name=\$1 '\$1 == name { print \$2 }' /proc/vmstat; }
for pair in probability=0 interval=1 times=-1 ignore-gfp-wait=0 verbose=0 task-filter=N; do
	echo \${pair#*=} > \$fail/\${pair%=*}
done
mkdir -p /short
# Else CPUs' lists of pages take tens of MiB on 7.3, which nobody has when memory is short.
echo 2000 > /proc/sys/vm/percpu_pagelist_high_fraction
rounds=0 switched=0 scanned=0
end=\$((\$(now) + $debug_seconds))
while [ \$(now) -lt \$end ]; do
	rounds=\$((rounds + 1))
	# Everybody's requests fail while slabtorture runs, not while it is loaded.
	(
		rest 4
		failing 5
		n=0
		while [ \$n -lt $seconds ]; do
			echo 2 > /proc/sys/vm/drop_caches || true
			rest 1
			n=\$((n + 1))
		done 2>&7
		failing 0
	) &
	insmod /lib/modules/slabtorture.ko seconds=$((seconds + 8)) threads=2 seed=\$rounds
	wait \$!
	rmmod slabtorture
	# Then hackbench's alone, which gives up in the middle.
	echo Y > \$fail/task-filter
	echo 1 > \$fail/probability
	for i in 1 2 3 4 5; do
		(echo 1 > /proc/self/make-it-fail; exec timeout -s KILL 8 hackbench -g 1 -l 100 -s 100) > /dev/null 2>&1 || true
		killall -q -9 hackbench || true
	done
	echo 0 > \$fail/probability
	echo N > \$fail/task-filter
	# Memory is filled until kswapd runs, 6 MiB above where processes are killed, of which hackbench's unread messages may
	# take 4 (20 sockets of 208 KiB): then it drops inodes and names, which find makes, and empties magazines.
	mount -t tmpfs -o size=100% short /short
	watermark=\$(cat /proc/sys/vm/min_free_kbytes)
	before=\$(count slabs_scanned)
	dd if=/dev/zero of=/short/fill bs=1M count=\$((\$(meminfo MemFree) / 1024 - 32)) 2> /dev/null
	echo 16384 > /proc/sys/vm/min_free_kbytes
	hackbench -g 1 -l 1000 -s 100 > /tmp/hackbench &
	load=\$!
	(while [ -d /proc/\$load ]; do find /proc /sys > /dev/null 2>&1 || true; done) &
	(
		while [ -d /proc/\$load ]; do
			[ \$(meminfo MemFree) -lt 22528 ] || dd if=/dev/zero bs=512k count=2 2> /dev/null >> /short/fill
			rest 0.1
		done
	) &
	for i in 1 2 3 4 5; do
		for cpu in 1 2 3; do echo 0 > /sys/devices/system/cpu/cpu\$cpu/online; done
		for cpu in 1 2 3; do echo 1 > /sys/devices/system/cpu/cpu\$cpu/online; done
		switched=\$((switched + 3))
	done
	wait \$load
	grep -q Time /tmp/hackbench
	wait
	# What stranding fills has to stay above the watermark, whatever lies on CPUs' lists of pages: the raised one is not for it.
	echo \$watermark > /proc/sys/vm/min_free_kbytes
	insmod /lib/modules/stranding.ko percent=40
	rmmod stranding
	scanned=\$((scanned + \$(count slabs_scanned) - before))
	umount /short
	grep -q 'debug_locks: *1' /proc/lockdep_stats
	failed=\$(dmesg | awk '/slabtorture: context/ { sub(".*failed=", ""); n += \$1 } END { print n }')
	steps=\$(dmesg | awk '/slabtorture: context/ { sub(".*steps=", ""); n += \$1 } END { printf "%.0f", n }')
	echo "rounds=\$rounds steps=\$steps failed=\$failed cpus_switched=\$switched scanned=\$scanned" \
		"kfence=\$(sed -n 's/^total allocations: *//p' /sys/kernel/debug/kfence/stats)"
done
JOB
# A kernel without SLUB_DEBUG has nothing that sees damage: what damages nothing.
cat > "$work/kunit.sh" <<'JOB'
filter=/sys/module/kunit/parameters/filter_glob
if [ -e /sys/kernel/slab/kmalloc-64/validate ]; then
	insmod /lib/modules/slubkunit.ko
else
	for tests in '*kfree_rcu*' '*nolock*'; do
		# With a newline it would be part of the name.
		printf %s "slub_test.$tests" > $filter
		insmod /lib/modules/slubkunit.ko
		rmmod slubkunit
	done
fi
echo "kunit: $(dmesg | grep -c '  ok ') passed, of which $(dmesg | grep -c '  ok .*# SKIP') skipped"
dmesg | grep -E '^.{15,}(ok|not ok) [0-9]'
! dmesg | grep -q 'not ok'
JOB
cat > "$work/boots.sh" <<'JOB'
hackbench -g 1 -l 100 -s 100
JOB
cat > "$work/broken.sh" <<'JOB'
insmod /bin/slabtorture.ko seconds=10 threads=2
insmod /bin/meminit.ko
JOB

# In the namespace where slablab builds, or nothing is found again: tree and build folder below /mnt.
inside='mount -t tmpfs slablab /mnt && mkdir /mnt/tree /mnt/build /mnt/module && mount --bind "$1" /mnt/tree &&
	mount --bind "$2" /mnt/build && mount --bind "$3" /mnt/module && shift 3 &&
	exec make -s -C /mnt/tree O=/mnt/build ARCH=x86_64 KBUILD_BUILD_USER=slablab KBUILD_BUILD_HOST=slablab \
		"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970" "$@"'
make_in() {
	unshare --mount --propagation private sh -c "$inside" sh "$@"
}

# planted RELEASE: boots a copy of the kernel as it is, and with each patch of the release's broken/.
planted() {
	here=$patches/$1
	image=$("$slablab" kernel build "$kernel" --format json | sed -n 's/.*"image": "\(.*\)".*/\1/p')
	[ -n "$image" ] || return 1
	tree=$work/tree-$1
	build=$work/build-$1
	cp -a "${image%/arch/x86/boot/bzImage}" "$build" && mkdir "$tree" || return 1
	# What was built is newer than all of the source, patched or not: only what a bug changes is compiled.
	tar -xJf "$(archive_of "$1")" -C "$tree" --strip-components=1 || return 1
	for patch in $(sed 's/#.*//' "$here/series"); do
		patch -s -N -t -p1 --fuzz=0 --no-backup-if-mismatch -d "$tree" -i "$here/$patch" || return 1
	done
	find "$tree" -newer "$image" -type f -exec touch -h -r "$tree/COPYING" {} +
	for module in slabtorture meminit; do
		cp -r "$patches/../modules/$module" "$work/$module-$1"
		make_in "$tree" "$build" "$work/$module-$1" M=/mnt/module modules > "$work/make.log" 2>&1 || return 1
	done
	slabtorture=$work/slabtorture-$1/slabtorture.ko
	meminit=$work/meminit-$1/meminit.ko
	# What is planted must be what is caught: without it the same boot has nothing to say.
	if ! planted_boot unbroken; then
		tail -n 5 "$log.said" >&2
		return 1
	fi
	for bug in "$here"/broken/*.patch; do
		patch -s -N -t -p1 --fuzz=0 --no-backup-if-mismatch -d "$tree" -i "$bug" || return 1
		if planted_boot "$(basename "$bug" .patch)"; then
			failed=1
			echo "torture.sh: $kernel: $name: NOT CAUGHT" >&2
		elif [ -e "$log.said" ]; then
			seen=$(grep -E -m1 "$complaints" "$log/console.log" | tr -d '\r' | cut -c 1-100)
			echo "torture.sh: $kernel: $name: caught: ${seen:-$(tail -n 1 "$log.said")}"
		else
			return 1
		fi
		patch -s -R -t -p1 --fuzz=0 --no-backup-if-mismatch -d "$tree" -i "$bug" || return 1
	done
	rm -rf "$tree" "$build"
}

# planted_boot NAME: compiles what changed in $tree and boots that; nothing is in $log.said when it did not compile.
planted_boot() {
	name=$1
	log=$output/$(echo "$kernel" | tr /: --).$name
	rm -f "$log.said"
	if ! make_in "$tree" "$build" "$work" -j"$(nproc)" bzImage > "$work/make.log" 2>&1; then
		tail -n 5 "$work/make.log" >&2
		return 1
	fi
	boot "$name" "$build/arch/x86/boot/bzImage" --cpus 4 --memory 256 --append init_on_alloc=1 --append init_on_free=1 \
		--with "$slabtorture" --with "$meminit" --script "$work/broken.sh"
}

# whole_boots: boots $boots times, of whatever size, and says how many were whole.
whole_boots() {
	whole=0
	number=0
	while [ $number -lt "$boots" ]; do
		boot "boot$number" "$image" --cpus $((number % 4 + 1)) --memory $(((64 << number % 3) + more)) --with hackbench \
			--script "$work/boots.sh" && whole=$((whole + 1))
		number=$((number + 1))
	done
	[ $whole -eq "$boots" ]
	verdict $? "boots, $whole of $boots"
}

# archive_of RELEASE: prints the tarball of its source.
archive_of() {
	cache=${SLABLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slablab}
	ls "/usr/src/linux-source-$1.tar.xz" "$cache"/sources/*/usr/src/"linux-source-$1.tar.xz" 2>/dev/null | head -n 1
}

has() {
	case " $jobs " in *" $1 "*) return 0 ;; esac
	return 1
}

[ $# -gt 0 ] || set -- build:6.1/slmb build:6.12/slub_dense build:7.3/slub_dense
for kernel; do
	image=${kernel%+slab_dense}
	extra=
	for parameter in ${APPEND:-}; do extra="$extra --append $parameter"; done
	if [ "$image" != "$kernel" ]; then
		extra="$extra --append slab_dense"
		for patch in "$patches"/7.3/optional/slab-dense/*.patch; do extra="$extra --patch $patch"; done
	fi
	more=0
	debug=
	case $kernel in *+debug*)
		more=512
		debug=yes
		;;
	esac
	has torture && job torture "$image" --cpus 4 --memory $((256 + more)) --module slabtorture --with hackbench \
		--script "$work/torture.sh"
	has stranding && job stranding "$image" --cpus 2 --memory $((128 + more)) --module stranding -- "$(insmod stranding)"
	has meminit && job meminit "$image" --cpus 2 --memory $((256 + more)) --append init_on_alloc=1 --append init_on_free=1 \
		--module meminit -- "$(insmod meminit)"
	has zones && job zones "$image" --cpus 2 --memory $((5120 + more)) --module zones -- "$(insmod zones)"
	has hotplug && job hotplug "$image" --cpus 4 --memory $((256 + more)) --with hackbench --script "$work/hotplug.sh"
	has boots && whole_boots
	if [ -n "$debug" ]; then
		has debug && job debug "$image" --cpus 4 --memory 1024 --append debug_pagealloc=on --append kfence.sample_interval=10 \
			--module slabtorture --module stranding --with hackbench --script "$work/debug.sh"
		has kunit && job kunit "$image" --cpus 2 --memory 768 --append kunit.enable=1 --module slubkunit --script "$work/kunit.sh"
	fi
	if has broken; then
		case $kernel in
		build:6.1/slmb | build:*/slub_dense)
			release=${kernel#build:}
			planted "${release%/*}" || {
				failed=1
				echo "torture.sh: $kernel: the planted bugs could not be built, or the kernel fails without one" >&2
			}
			;;
		esac
	fi
done
exit $failed
