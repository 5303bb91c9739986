#!/usr/bin/env python3
"""Compares attn's forward kernel on the CPU with attention written in NumPy.

The NumPy side is three steps over whole score matrices: S = scale Q K^T (BLAS), softmax, O = P V
(BLAS); BLAS uses all processors. Both sides take turns, so that other load on the machine meets
both; the smallest time of each is the one least disturbed.

Needs NumPy and a build: benchmarks/bench_cpu.py --attnc build/bin/attnc
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SHAPES = [(8, 2048, 64, False), (8, 2048, 64, True), (8, 2048, 128, False), (8, 2048, 256, False)]


def numpy_attention(q, k, v, scale, causal):
    s = np.matmul(q, k.transpose(0, 2, 1))
    s *= scale
    if causal:
        s[:, np.triu(np.ones(s.shape[1:], dtype=bool), 1)] = -np.inf
    s -= s.max(axis=-1, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(axis=-1, keepdims=True)
    return np.matmul(s, v)


def time_numpy(heads, seq, dim, causal, rng):
    q, k, v = (rng.uniform(-1, 1, (heads, seq, dim)).astype(np.float32) for _ in range(3))
    start = time.perf_counter()
    numpy_attention(q, k, v, np.float32(dim**-0.5), causal)
    return (time.perf_counter() - start) * 1e3


def time_attn(attnc, heads, seq, dim, causal):
    command = [
        attnc, "run", "dtype=f32", f"head_dim={dim}", f"heads_q={heads}", f"seq_q={seq}",
        f"seq_kv={seq}", f"mask={'causal' if causal else 'none'}", "--device", "cpu", "--repeat",
        "3", "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_cpu.py: {' '.join(command)}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return result["median_ms"], result["compile_ms"]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def manifest(attnc):
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=40"],
        capture_output=True, text=True, check=False,
    )
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "processor": processor(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg(),
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "commit": commit.stdout.strip() or None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attnc", default=str(ROOT / "build" / "bin" / "attnc"))
    parser.add_argument("--rounds", type=int, default=9, help="turns of each side (default: 9)")
    parser.add_argument("--output", type=Path, help="write the results as JSON")
    options = parser.parse_args()

    rng = np.random.default_rng(0)
    rows = []
    print("batch x heads x seq x head_dim   attn ms, min (median)  NumPy ms, min (median)  ratio")
    for heads, seq, dim, causal in SHAPES:
        attn, numpy, compiled = [], [], []
        for _ in range(options.rounds):
            run_ms, compile_ms = time_attn(options.attnc, heads, seq, dim, causal)
            attn.append(run_ms)
            compiled.append(compile_ms)
            numpy.append(time_numpy(heads, seq, dim, causal, rng))
        row = {
            "heads": heads, "seq": seq, "head_dim": dim, "causal": causal,
            "attn_ms": attn, "numpy_ms": numpy, "compile_ms": compiled,
        }
        rows.append(row)
        name = f"1 x {heads} x {seq} x {dim} {'causal' if causal else 'full'}"
        print(
            f"{name:32} {min(attn):8.1f} ({statistics.median(attn):.1f})"
            f"  {min(numpy):12.1f} ({statistics.median(numpy):.1f})"
            f"  {min(numpy) / min(attn):8.2f}   compile {min(compiled):.0f} ms"
        )
    if options.output:
        text = json.dumps({"manifest": manifest(options.attnc), "rows": rows}, indent=1)
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
