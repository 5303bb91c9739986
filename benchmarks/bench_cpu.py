#!/usr/bin/env python3
"""Compares attn's forward kernel on the CPU with attention written in NumPy.

The NumPy side is three steps over whole score matrices: S = scale Q K^T (BLAS), softmax, O = P V
(BLAS); BLAS uses all processors. Both sides take turns, so that other load on the machine meets
both; the smallest time of each is the one least disturbed.

Needs NumPy and a build: benchmarks/bench_cpu.py
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import environment

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
        str(attnc), "run", "dtype=f32", f"head_dim={dim}", f"heads_q={heads}", f"seq_q={seq}",
        f"seq_kv={seq}", f"mask={'causal' if causal else 'none'}", "--device", "cpu", "--repeat",
        "3", "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_cpu.py: {' '.join(command)}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return result["median_ms"], result["compile_ms"]


def manifest(attnc):
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return environment.host_manifest(attnc) | {
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attnc", type=Path, default=ROOT / "build/release/bin/attnc")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each side (default: 9)")
    parser.add_argument("--out", type=Path, help="file of the results")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: expected at least 1")
    if not os.access(options.attnc, os.X_OK):
        sys.exit(f"bench_cpu.py: no attnc ({options.attnc}); build one or name it with --attnc")

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
    if options.out:
        text = json.dumps({"manifest": manifest(options.attnc), "rows": rows}, indent=1)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
