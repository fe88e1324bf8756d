# SPDX-License-Identifier: GPL-2.0-only
# A recording by tracefs alone, of a guest whose kernel records from its boot on (trace_event=kmem:...): what slablab
# cannot know from the events is put before their text, in comments that slablab import reads.

# record_sample: says what the slabs are now, and when that is, by the clock of the events.
record_sample() {
	read -r record_at _ < /proc/uptime
	echo "# slablab sample $record_at"
	sed 's/^/# slablab slabs /' /proc/slabinfo
}

# record_samples: says it ten times a second, until /tmp/record_end is there.
record_samples() {
	while [ ! -e /tmp/record_end ]; do
		record_sample
		sleep 0.1
	done
}

# record_page_bytes: the bytes of a page, which is AT_PAGESZ (6) of the auxiliary vector; smaps may not be there.
record_page_bytes() {
	case $(uname -m) in
	*64*) record_word=2 ;;
	*) record_word=1 ;;
	esac
	od -An -v -t d4 /proc/self/auxv | awk -v word=$record_word '
		{ for (i = 1; i <= NF; i++) number[n++] = $i }
		END { for (i = 0; i < n; i += 2 * word) if (number[i] == 6) { print number[i + word]; exit } }'
}

# record_machine: says what was recorded.
record_machine() {
	echo "# slablab release $(uname -r)"
	echo "# slablab arch $(uname -m)"
	echo "# slablab page_bytes $(record_page_bytes)"
	# Those that may come decide the sizes of slabs, as those that are there do not.
	record_possible=$(($(nproc) - 1))
	[ ! -e /sys/devices/system/cpu/possible ] || read -r record_possible < /sys/devices/system/cpu/possible
	echo "# slablab cpus $((${record_possible##*[-,]} + 1))"
	# What is kept beside slabs depends on what the kernel was built for, whether that is on or not.
	if [ -r /proc/kallsyms ]; then
		record_memcg=n
		grep -q ' mem_cgroup_kmem_disabled' /proc/kallsyms && record_memcg=y
		echo "# slablab config CONFIG_MEMCG=$record_memcg"
	fi
	if [ -r /proc/sys/vm/mem_profiling ]; then
		echo "# slablab config CONFIG_MEM_ALLOC_PROFILING=y"
		# A shell reads byte by byte, and the kernel gives such a file in one piece only.
		echo "# slablab config vm.mem_profiling=$(cat /proc/sys/vm/mem_profiling)"
	fi
	if [ -e /proc/slabcaches ]; then
		sed 's/^/# slablab cache /' /proc/slabcaches
	fi
	for record_cache in /sys/kernel/slab/*; do
		if [ -L "$record_cache" ]; then
			record_real=$(readlink "$record_cache")
			echo "# slablab alias ${record_cache##*/} ${record_real##*/}"
		elif [ -d "$record_cache" ]; then
			record_cache "$record_cache"
		fi
	done
}

# record_cache FOLDER: says what decides geometry and behaviour of a cache.
record_cache() {
	record_line="# slablab cache ${1##*/}"
	for record_attribute in align cache_dma cpu_partial destroy_by_rcu hwcache_align min_partial object_size \
		objs_per_slab order poison reclaim_account red_zone sheaf_capacity slab_size store_user trace usersize ctor; do
		if read -r record_value _ 2> /dev/null < "$1/$record_attribute"; then
			record_line="$record_line $record_attribute=$record_value"
		fi
	done
	echo "$record_line"
}

# record_slabs WORD: says what the slabs are, without another process, which would be in them.
record_slabs() {
	while IFS= read -r record_line; do
		echo "# slablab $1 $record_line"
	done < /proc/slabinfo
}

# record_living: says how many objects are alive, when no CPU keeps slabs for itself: these count as full before.
record_living() {
	if [ -e /proc/slabcaches ]; then
		echo 1 > /proc/slabcaches
		record_slabs living
		return
	fi
	# To open a file takes objects, and a CPU keeps the rest of their slabs or sheaves. So /proc/slabinfo is opened before, with
	# its first line, which makes its buffer; and where opening took objects from the caches are shrunk again, by open files.
	exec 3< /proc/slabinfo
	read -r record_line <&3
	echo "# slablab living $record_line"
	for record_file in 4 5 6 7; do
		eval "exec $record_file> /dev/null"
	done
	record_file=4
	for record_cache in names_cache filp seq_file kmalloc-4k; do
		record_cache=/sys/kernel/slab/$record_cache/shrink
		[ ! -w "$record_cache" ] || eval "exec $record_file<> $record_cache"
		record_file=$((record_file + 1))
	done
	for record_cache in /sys/kernel/slab/*/shrink; do
		if [ -w "$record_cache" ] && [ ! -L "${record_cache%/shrink}" ]; then
			# Opened for both, as > would change the file's times, which are an object.
			echo 1 2> /dev/null 1<> "$record_cache" || true
		fi
	done
	for record_file in 7 6 5 4; do
		echo 1 >&$record_file || true
	done 2> /dev/null
	while IFS= read -r record_line; do
		echo "# slablab living $record_line"
	done <&3
}

# record_begin: begins to look at the slabs. What a kernel does not tell of them may come by a module.
record_begin() {
	if [ ! -e /proc/slabcaches ] && [ -e /lib/modules/slabinfo.ko ]; then
		insmod /lib/modules/slabinfo.ko
	fi
	# What record_living looks at has its dentries and inodes now, and not after the end.
	for record_cache in /sys/kernel/slab/*/shrink; do
		[ -w "$record_cache" ] && [ ! -L "${record_cache%/shrink}" ] || true
	done
	: > /tmp/record_slabs
	: > /tmp/slabinfo
	if [ -e /proc/slabinfo ]; then
		record_samples > /tmp/record_slabs &
		record_sampler=$!
	fi
}

# record_end: ends the recording, and sends it as recording.txt, with /proc/slabinfo at its end.
record_end() {
	: > /tmp/record_end
	[ -z "${record_sampler:-}" ] || wait "$record_sampler"
	echo 0 > /sys/kernel/tracing/tracing_on
	if [ -e /proc/slabinfo ]; then
		read -r record_at _ < /proc/uptime
		{
			echo "# slablab sample $record_at"
			record_slabs slabs
		} > /tmp/record_last
		record_living > /tmp/record_living
		cat /tmp/record_last /tmp/record_living >> /tmp/record_slabs
		sed -n 's/^# slablab slabs //p' /tmp/record_last > /tmp/slabinfo
	fi
	record_lost=$(awk '/overrun:|dropped/ { n += $NF } END { print n }' /sys/kernel/tracing/per_cpu/cpu*/stats)
	[ "$record_lost" -eq 0 ] || fail "$record_lost events lost: the trace buffer is too small for this load"
	record_machine > /tmp/record_machine
	cat /sys/kernel/tracing/trace > /tmp/trace
	send slabinfo.txt /tmp/slabinfo
	send recording.txt /tmp/record_machine /tmp/record_slabs /tmp/trace
}
