n=0; r=0
for f in /sys/kernel/slab/*/min_partial; do echo 0 > "$f" && n=$((n+1)) || r=$((r+1)); done
echo "RESULT min_partial taken $n refused $r"
n=0; r=0
for f in /sys/kernel/slab/*/cpu_partial; do echo 8 > "$f" 2>/dev/null && n=$((n+1)) || r=$((r+1)); done
echo "RESULT cpu_partial=8 taken $n refused $r"
echo "RESULT orders $(cat /sys/kernel/slab/*/order | sort | uniq -c | tr '\n' ';')"
echo "RESULT $(uname -r) $(cat /proc/cmdline | tr ' ' '\n' | grep -E 'slab|slub' | tr '\n' ' ')"
dmesg | grep -i "unknown kernel command line" | sed 's/^/RESULT /'
awk '/^Slab:/{print "RESULT", $0}' /proc/meminfo
