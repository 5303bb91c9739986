#!/usr/bin/env python3
"""Times attnc prewarm of a model with one job and with more, each into an empty cache.

Rounds take turns among the numbers of jobs, so that other load on the machine meets all of them. Beside
the time that passes stands the processor's time: jobs that hinder each other take more of it, jobs that
wait for each other leave processors idle. PTX alone unless --cubins is given, which needs ptxas. Exit
code 0 when the speedup of the last number of jobs is at least --limit, else 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

ROOT = Path(__file__).resolve().parents[1]


def prewarm(command, jobs):
    """One run: {"seconds", "processor_seconds", "kernels"}."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        words = [*command, "--jobs", str(jobs), "--cache-dir", folder, "--json"]
        begin = time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        if status:
            errors.seek(0)
            sys.exit(f"bench_prewarm.py: {' '.join(words)}\n{errors.read()}")
    kernels = json.loads(out)["kernels"]
    if not kernels or any(kernel["kept"] for kernel in kernels):
        sys.exit("bench_prewarm.py: expected kernels that are not in the cache yet")
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "kernels": len(kernels),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", default=["llama-3-8b"],
                        help="what to pre-warm, as attnc prewarm takes it (default: llama-3-8b)")
    parser.add_argument("--attnc", type=Path, default=ROOT / "build/release/bin/attnc")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--cubins", action="store_true", help="machine code too")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: 5)")
    parser.add_argument("--limit", type=float, default=1.8, help="least speedup (default: 1.8)")
    parser.add_argument("--out", type=Path, help="file of the results")
    args = parser.parse_args()
    if not os.access(args.attnc, os.X_OK):
        sys.exit(f"bench_prewarm.py: no attnc ({args.attnc}); build one or name it with --attnc")
    if args.rounds < 1 or min(args.jobs) < 1:
        sys.exit("bench_prewarm.py: --rounds and --jobs: expected at least 1")

    command = [str(args.attnc), "prewarm", *args.words, "--target", args.target]
    command += [] if args.cubins else ["--no-cubin"]
    manifest = environment.host_manifest(args.attnc)
    runs = {jobs: [] for jobs in args.jobs}
    for _ in range(args.rounds):
        for jobs in args.jobs:
            runs[jobs].append(prewarm(command, jobs))
    medians = {
        jobs: {key: statistics.median(run[key] for run in of_jobs) for key in of_jobs[0]}
        for jobs, of_jobs in runs.items()
    }
    first = medians[args.jobs[0]]["seconds"]
    print(f"{medians[args.jobs[0]]['kernels']:.0f} kernels: {' '.join(command[1:])}")
    print(f"{'jobs':>4} {'seconds':>10} {'speedup':>10} {'processor s':>12} {'busy':>6}")
    for jobs, row in medians.items():
        row["speedup"] = first / row["seconds"]
        busy = row["processor_seconds"] / row["seconds"]
        print(f"{jobs:>4} {row['seconds']:>10.2f} {row['speedup']:>10.2f}"
              f" {row['processor_seconds']:>12.2f} {busy:>6.2f}")
    speedup = medians[args.jobs[-1]]["speedup"]
    good = speedup >= args.limit
    print(f"speedup {speedup:.2f}, limit {args.limit}: {'held' if good else 'NOT HELD'}")
    if args.out:
        report = {
            "what": "attnc prewarm into an empty cache",
            "manifest": manifest,
            "command": command[1:],
            "limit": args.limit,
            "medians": medians,
            "runs": runs,
        }
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(report, indent=1) + "\n")
        print(f"written: {args.out}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
