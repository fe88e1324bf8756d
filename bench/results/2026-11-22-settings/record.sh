grep Slab: /proc/meminfo
slablab record -o /tmp/g.parquet -- hackbench -g 2 -l 50 -s 100
grep Slab: /proc/meminfo
send g.parquet /tmp/g.parquet
