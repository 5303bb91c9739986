#!/usr/bin/env python3
"""Times the emulator: single CTAs, and all that CI runs on it.

Goals: a CTA of a d=128 sm_90a kernel (384 threads, 4 K/V tiles) in 2 s on one core, CI's part in 12
minutes on two.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# One Q tile and four K/V tiles of each kernel.
CTAS = {
    "sm_90a d128 full": ["head_dim=128", "seq_q=128", "seq_kv=512", "--device", "emulate:sm_90a"],
    "sm_90a d128 causal": ["head_dim=128", "mask=causal", "seq_q=128", "seq_kv=512", "--device",
                           "emulate:sm_90a"],
    "sm_90a d64 full": ["head_dim=64", "seq_q=192", "seq_kv=512", "--device", "emulate:sm_90a"],
    "sm_80 d128 full": ["head_dim=128", "seq_q=128", "seq_kv=192", "--device", "emulate:sm_80"],
}
MODES = ["early", "late", "random:1"]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def time_cta(attnc, words, mode):
    """Milliseconds of one emulated launch in a process of its own: median, and with compiling."""
    launches, wholes = [], []
    for _ in range(7):
        begin = time.monotonic()
        done = subprocess.run(
            [attnc, "run", "dtype=bf16", "heads_q=1", "heads_kv=1", *words, "--async", mode,
             "--check", "--json"], capture_output=True, text=True, check=True)
        wholes.append(1e3 * (time.monotonic() - begin))
        answer = json.loads(done.stdout)
        if not answer["passed"]:
            sys.exit(f"bench_emulator.py: {words}: wrong result")
        launches.append(answer["median_ms"])
    return {"launch_ms": statistics.median(launches), "process_ms": statistics.median(wholes)}


def time_command(command, build):
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "ATTN_BUILD_DIR": str(build),
                               "PYTHONDONTWRITEBYTECODE": "1"})
    if done.returncode != 0:
        sys.exit(f"bench_emulator.py: {' '.join(command)}: {done.stdout[-2000:]}{done.stderr}")
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: benchmarks/bench_emulator.py --build build/release --json emulator.json")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--python", default=sys.executable, help="one that has pytest")
    parser.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit")
    parser.add_argument("--no-ci", action="store_true", help="single CTAs alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write results and manifest")
    options = parser.parse_args()
    build = options.build.resolve()
    attnc = str(build / "bin" / "attnc")
    if not Path(attnc).exists():
        sys.exit(f"bench_emulator.py: {attnc} does not exist; build it, or name --build")

    results = {"ctas": {}, "ci_s": {}}
    for name, words in CTAS.items():
        for mode in MODES:
            times = time_cta(attnc, words, mode)
            results["ctas"][f"{name} {mode}"] = times
            print(f"{name} {mode}: {times['launch_ms']:.0f} ms, "
                  f"{times['process_ms']:.0f} ms with its process", flush=True)
    if not options.no_ci:
        commands = {
            "numeric matrix": [options.python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                               "test/python/test_numeric_emulated.py"],
            "instructions and mutants": [options.lit, "-q", str(build / "test" / "Integration")],
        }
        for name, command in commands.items():
            results["ci_s"][name] = time_command(command, build)
            print(f"{name}: {results['ci_s'][name]:.0f} s", flush=True)
        results["ci_s"]["all"] = sum(results["ci_s"].values())
        print(f"CI: {results['ci_s']['all']:.0f} s")
    if options.json:
        commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"],
                                capture_output=True, text=True).stdout.strip()
        manifest = {"commit": commit, "processor": processor(), "cores": os.cpu_count(),
                    "system": platform.platform(), "python": platform.python_version(),
                    "command": " ".join(["benchmarks/bench_emulator.py", *sys.argv[1:]]),
                    "load_before": os.getloadavg()[2]}
        options.json.write_text(json.dumps({"manifest": manifest, **results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
