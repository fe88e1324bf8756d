# SPDX-License-Identifier: MIT OR Apache-2.0
# 6,000 external names of dentries freed by kfree_rcu, in arrays of hundreds; without and with probes.
cat > /tmp/l.pl <<'P'
my $l = "/tmp/".("a" x 60); open(F, ">$l"); close F;
for my $i (1..3000) { rename($l, "/tmp/b") or die; rename("/tmp/b", $l) or die; }
P
for how in --no-probes --buffer=64M; do
slablab record $how -o /tmp/t.parquet -- sh -c 'perl /tmp/l.pl; sleep 7; grep -v " 0 *0$" /sys/kernel/tracing/kprobe_profile' 2>&1 | tail -1
slablab info /tmp/t.parquet > /tmp/x; grep -A8 Quality /tmp/x || true

cat /sys/kernel/tracing/kprobe_profile
done
