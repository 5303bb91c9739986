"""The benchmarks that run without a GPU, once each, and what the others say without one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from attnc import ATTNC

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(name, *arguments, isolated=False, **options):
    # -S -E hides installed packages.
    command = [sys.executable, *(["-S", "-E"] if isolated else []), BENCHMARKS / name, *arguments]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300,
        env=environment, **options
    )


def test_first_kernel_on_the_cpu(tmp_path):
    pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
    out = tmp_path / "results" / "first.json"
    done = run("bench_first_kernel.py", "--device", "cpu", "--rounds", 2, "--attnc", ATTNC, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert report["manifest"]["commit"] and report["problem"]["dtype"] == "f32"
    cold, warm = (report["results"][name] for name in ("attn, cold", "attn, warm"))
    for row in (cold, warm):
        for times in row.values():
            assert len(times["all"]) == 2 and 0 < times["median"] <= times["p95"] == max(times["all"])
    # A kernel that is found takes no part of a compile.
    assert min(cold["first_ms"]["all"]) > max(warm["first_ms"]["all"])


def test_first_kernel_says_what_it_needs():
    done = run("bench_first_kernel.py", "--device", "cpu", isolated=True)
    assert done.returncode == 1 and "needs the package attn" in done.stderr
    pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
    done = run("bench_first_kernel.py", "--device", "cpu", "--rounds", 0)
    assert done.returncode == 1 and "--rounds" in done.stderr


def test_prewarm(tmp_path):
    out = tmp_path / "prewarm.json"
    done = run("bench_prewarm.py", "--attnc", ATTNC, "--rounds", 1, "--limit", 0, "--out", out,
               "bert-base", "dtype=f16", "alignment=16", "--target", "sm_80")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert set(report["medians"]) == {"1", "2"}
    for row in report["medians"].values():
        assert row["kernels"] > 1 and 0 < row["processor_seconds"] < 2 * row["seconds"] + 1
    done = run("bench_prewarm.py", "--attnc", ATTNC, "no-such-model", "--rounds", 1)
    assert done.returncode == 1 and "no-such-model" in done.stderr
    done = run("bench_prewarm.py", "--attnc", tmp_path / "none")
    assert done.returncode == 1 and "no attnc" in done.stderr


def test_first_kernel_prewarms_what_it_calls():
    attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    import first_kernel
    import numpy as np

    shape = (first_kernel.BATCH, first_kernel.SEQ, first_kernel.HEADS, first_kernel.HEAD_DIM)
    options = attn._attention.options_of("causal", None, None, "bshd", attn._core.DLPACK)
    attn._frameworks.framework_of("q", np.empty(0))  # Makes bfloat16 known.
    q, o = (np.empty(shape, ml_dtypes.bfloat16) for _ in range(2))
    asked = attn.Spec(options.spec_of(q, q, q, o, None, None))
    # Pre-warming makes the kernels for calls of any length.
    assert asked == attn.Spec(f"{first_kernel.SPEC} max_seq_len={first_kernel.SEQ}")
