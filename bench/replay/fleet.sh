#!/bin/sh
# Many traces and a large one: events a second on one core and on two, and the memory that takes.
# usage: bench/replay/fleet.sh FOLDER [--billion|--smoke]   (after `make build`; needs 1 GB in FOLDER, 8 GB with --billion)
# TRACES and SLABLAB in the environment name the programs, where they are not those of the release profile.
set -eu
folder=$1 size=${2:-}
traces=${TRACES:-cargo run --quiet --release --manifest-path bench/Cargo.toml --bin traces --}
slablab=${SLABLAB:-target/release/slablab}
hosts=200 events=200000 large=20000000 rounds="1 2 3 4 5"
[ "$size" = --smoke ] && hosts=3 events=20000 large=20000 rounds=1
[ -d "$folder/many" ] || $traces "$folder/many" $hosts $events
[ -d "$folder/large" ] || $traces "$folder/large" 1 $large

# Prints what a command took: NAME, EVENTS, then the command.
took() {
    name=$1 events=$2
    shift 2
    for _ in $rounds; do
        /usr/bin/time -f "%e %M" -o "$folder/took" "$@" > /dev/null
        awk -v name="$name" -v events="$events" \
            '{ printf "%-34s %7.2f s %6.1f million events/s %5d MiB\n", name, $1, events / $1 / 1e6, $2 / 1024 }' "$folder/took"
    done
}
took "one large trace, one core" $large taskset -c 0 $slablab replay "$folder/large/host=h000/t.parquet" -a slub --format csv
took "one large trace, two cores" $large taskset -c 0,1 $slablab replay "$folder/large/host=h000/t.parquet" -a slub --format csv
took "$hosts traces replayed, one core" $((hosts * events)) taskset -c 0 $slablab replay "$folder/many" -a slub --format csv
took "$hosts traces replayed, two cores" $((hosts * events)) taskset -c 0,1 $slablab replay "$folder/many" -a slub --format csv
took "$hosts traces advised over, two cores" $((hosts * events)) taskset -c 0,1 $slablab advise "$folder/many" --format csv
[ "$size" = --billion ] || exit 0
[ -d "$folder/billion" ] || $traces "$folder/billion" 10 100000000
/usr/bin/time -f "%e s, %M KiB" $slablab replay "$folder/billion" -a slub
