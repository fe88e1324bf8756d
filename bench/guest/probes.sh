# SPDX-License-Identifier: MIT OR Apache-2.0
# Times of two loads, untraced, recorded without probes, and with them; in a guest that counts instructions.
cat > /tmp/storm.sh <<'L'
i=0; while [ $i -lt 60 ]; do bash -c 'ls / | cat > /dev/null'; i=$((i + 1)); done
L
cat > /tmp/messages.sh <<'L'
hackbench -g 1 -l 60 > /dev/null
L
for l in storm messages; do cat > /tmp/timed-$l.sh <<L
read -r a b < /proc/uptime
sh /tmp/$l.sh
read -r c b < /proc/uptime
echo "\$a \$c" | awk '{printf "%.2f\n", \$2-\$1}' > /tmp/took
L
done
for round in 1 2 3; do for l in storm messages; do for how in none events probes; do
  case $how in
  none) sh /tmp/timed-$l.sh;;
  events) slablab record --no-probes -o /tmp/t.parquet -- sh /tmp/timed-$l.sh > /dev/null 2>&1;;
  probes) slablab record -o /tmp/t.parquet -- sh /tmp/timed-$l.sh > /dev/null 2>&1;;
  esac
  echo "COST $l $how $(cat /tmp/took)"
done; done; done
