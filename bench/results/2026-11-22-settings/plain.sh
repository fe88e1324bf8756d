for f in /sys/kernel/slab/*/cpu_partial /sys/kernel/slab/*/min_partial; do read v rest < "$f"; echo $v > "$f" || echo "REFUSED $f"; done
b=$(awk '/^Slab:/{print $2}' /proc/meminfo)
hackbench -g 2 -l 50 -s 100 >/dev/null
sleep 1
a=$(awk '/^Slab:/{print $2}' /proc/meminfo)
echo "RESULT plain before $b after $a grew $((a-b))"
