#!/usr/bin/env python3
"""How fast traces are made of recordings, by one version of slablab beside another.

usage: bench/record/import.py --old PATH [--new target/release/slablab] [--rounds 5] [--loops 3500] [-o DIR]

Needs root and perf (Debian: linux-perf); where one is missing, or tracefs cannot be had, it says so and ends with status 0.
Each version records the same load, is ended when that has ended, and makes the trace of what it left (`record --recover`)
as often as there are rounds; both import one `perf.data` of a shorter load. Each round runs all in an order drawn anew. A
row has the processor time of all threads and the time that passed. What the new version says of the traces of one recording
(`info --all`, `stat --all`, as JSON) must be equal. Writes raw.jsonl (a row a run) and summary.txt to DIR.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import tracefs as mount

EVENTS = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"]
LOAD = ["perf", "bench", "sched", "messaging", "-g", "5", "-l"]


def timed(command):
    """Runs a command; returns the seconds of all its threads, and those that passed."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    passed = time.monotonic() - begin
    assert status == 0, f"{command} failed"
    return usage.ru_utime + usage.ru_stime, passed


def spool(binary, folder, loops):
    """Records, and ends the recorder when the load has ended; returns the folder that it leaves, and how long the end took."""
    folder.mkdir()
    trace = folder / "spool.parquet"
    command = [binary, "record", "-o", trace, "--", *LOAD, loops]
    recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    left = folder / "spool.parquet.recording"
    while not (left / "tail.json").exists():
        assert recorder.poll() is None, "the recorder ended early"
        time.sleep(0.05)
    asked = time.monotonic()
    recorder.send_signal(signal.SIGTERM)
    recorder.wait()
    return left, time.monotonic() - asked


def recover(binary, folder, left):
    """Makes the trace of a copy of what was left, whose files are linked."""
    trace = folder / "made.parquet"
    shutil.copytree(left, folder / "made.parquet.recording", copy_function=os.link)
    return trace, timed([binary, "record", "--recover", "-o", trace])


def imported(binary, folder, data):
    trace = folder / "made.parquet"
    return trace, timed([binary, "import", data, "-o", trace])


def told(binary, trace):
    """What a trace says, as one version reads it."""
    def ask(question):
        command = [binary, question, trace, "--all", "--format", "json"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    return ask("info"), ask("stat")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", default="target/release/slablab")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loops", type=int, default=3500)
    parser.add_argument("-o", "--output", default="bench/results/import")
    options = parser.parse_args()
    mount.need("bench/record/import.py", "perf")
    results = pathlib.Path(options.output)
    results.mkdir(parents=True, exist_ok=True)
    binaries = {"old": pathlib.Path(options.old).resolve(), "new": pathlib.Path(options.new).resolve()}
    with tempfile.TemporaryDirectory() as directory, open(results / "raw.jsonl", "w") as raw:
        folder = pathlib.Path(directory)
        spools = {version: spool(binary, folder / version, str(options.loops)) for version, binary in binaries.items()}
        waiting = {version: sum(path.stat().st_size for path in left.glob("cpu*")) for version, (left, _) in spools.items()}
        data = folder / "perf.data"
        record = ["perf", "record", "-a", "-R", "-c", "1", "-m", "64M", "-e", ",".join(f"kmem:{event}" for event in EVENTS)]
        load = [*LOAD, str(options.loops // 10)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*record, "-o", data, "--", *load], check=True, **quiet)
        kinds = {"spool": recover, "perf.data": imported}
        source = lambda kind, version: data if kind == "perf.data" else spools[version][0]
        runs = [(kind, version) for kind in kinds for version in binaries]
        rows, said, order = [], {}, random.Random(1)
        for turn in range(options.rounds):
            for kind, version in order.sample(runs, len(runs)):
                of = source(kind, version)
                trace, (cpu_s, passed_s) = kinds[kind](binaries[version], folder, of)
                answer = told(binaries["new"], trace)
                assert said.setdefault(of, answer) == answer, f"the traces of {of} differ"
                events = answer[0]["events"]
                row = {"round": turn, "of": kind, "version": version, "events": events, "cpu_s": round(cpu_s, 3),
                       "passed_s": round(passed_s, 3), "trace_bytes": trace.stat().st_size}
                rows.append(row)
                raw.write(json.dumps(row) + "\n")
                raw.flush()
                trace.unlink()
    lines = [f"machine    {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end",
             f"load       {' '.join(LOAD)} {options.loops} (perf.data: a tenth)",
             f"rounds     {options.rounds}",
             "",
             f"{'of':10} {'version':8} {'events':>11} {'CPU s':>7} {'million events/s of a core':>27}"
             f" {'passed s':>9} {'bytes/event':>12}"]
    median = lambda kind, version, name: statistics.median(
        row[name] for row in rows if (row["of"], row["version"]) == (kind, version))
    for kind, version in runs:
        events, cpu_s = median(kind, version, "events"), median(kind, version, "cpu_s")
        size = median(kind, version, "trace_bytes") / events
        lines.append(f"{kind:10} {version:8} {events:11.0f} {cpu_s:7.2f} {events / cpu_s / 1e6:27.2f}"
                     f" {median(kind, version, 'passed_s'):9.2f} {size:12.2f}")
    lines.append("")
    for version, (_, ended_s) in spools.items():
        size = waiting[version] / median("spool", version, "events")
        lines.append(f"{version}: {size:.1f} bytes an event wait for their trace; SIGTERM ended it within {ended_s:.2f} s")
    lines.append("")
    for kind in kinds:
        for name, what in [("cpu_s", "processor time"), ("passed_s", "time that passed")]:
            of = lambda version: [row[name] / row["events"] for row in rows if (row["of"], row["version"]) == (kind, version)]
            ratios = [old / new for old, new in zip(of("old"), of("new"))]
            lines.append(f"{kind}: {what} an event, old over new, of a round: {statistics.median(ratios):.2f}"
                         f" ({min(ratios):.2f} to {max(ratios):.2f})")
    (results / "summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


main()
