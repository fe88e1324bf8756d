#!/bin/sh
# Many traces and a large one: events a second on one core and on two, and the memory that takes.
# usage: bench/replay/fleet.sh FOLDER [--billion]      (after `make build`; needs 1 GB in FOLDER, 8 GB with --billion)
set -eu
folder=$1
traces="cargo run --quiet --release --manifest-path bench/replay/Cargo.toml --bin traces --"
slablab=target/release/slablab
[ -d "$folder/many" ] || $traces "$folder/many" 200 200000
[ -d "$folder/large" ] || $traces "$folder/large" 1 20000000

# Prints what a command took: NAME, EVENTS, then the command.
took() {
    name=$1 events=$2
    shift 2
    for _ in 1 2 3 4 5; do
        /usr/bin/time -f "%e %M" -o "$folder/took" "$@" > /dev/null
        awk -v name="$name" -v events="$events" \
            '{ printf "%-34s %7.2f s %6.1f million events/s %5d MiB\n", name, $1, events / $1 / 1e6, $2 / 1024 }' "$folder/took"
    done
}
took "one large trace, one core" 20000000 taskset -c 0 $slablab replay "$folder/large/host=h000/t.parquet" -a slub --format csv
took "one large trace, two cores" 20000000 taskset -c 0,1 $slablab replay "$folder/large/host=h000/t.parquet" -a slub --format csv
took "200 traces replayed, one core" 40000000 taskset -c 0 $slablab replay "$folder/many" -a slub --format csv
took "200 traces replayed, two cores" 40000000 taskset -c 0,1 $slablab replay "$folder/many" -a slub --format csv
took "200 traces advised over, two cores" 40000000 taskset -c 0,1 $slablab advise "$folder/many" --format csv
[ "${2:-}" = --billion ] || exit 0
[ -d "$folder/billion" ] || $traces "$folder/billion" 10 100000000
/usr/bin/time -f "%e s, %M KiB" $slablab replay "$folder/billion" -a slub
