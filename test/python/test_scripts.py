"""The scripts explain themselves, refuse what they do not know and report failures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file())


def run(*command, **options):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_help(script):
    done = run(script, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: ")


@pytest.mark.parametrize("script", ["install-deps", "format", "generate-docs", "venv"])
def test_unknown_word(script):
    done = run(ROOT / "scripts" / script, "--nonsense")
    assert done.returncode == 1
    assert "unknown" in done.stderr and "--nonsense" in done.stderr


def test_benchmark_needs_pytorch():
    # -S -E hides installed packages, PyTorch among them.
    done = run(sys.executable, "-S", "-E", ROOT / "benchmarks" / "bench_forward.py")
    assert done.returncode == 1
    assert "needs PyTorch" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def attnc(tmp_path):
    """A compiler that fails on soft-cap 5, prints nonsense for 71 heads and is content otherwise."""
    path = tmp_path / "attnc"
    path.write_text(
        "#!/bin/sh\n"
        'case " $* " in\n'
        "  *' softcap=5 '*) echo 'too much' >&2; exit 1 ;;\n"
        "  *' heads_q=71 '*) echo nonsense ;;\n"
        "  *) echo '{}' ;;\n"
        "esac\n"
    )
    path.chmod(0o755)
    return path


def test_check_gpu_counts_failures(attnc, tmp_path):
    command = [ROOT / "scripts/check-gpu", "--attnc", attnc, "--only", "checks"]
    done = run(*command, "--out", tmp_path / "out")
    assert done.returncode == 1
    results = json.loads((tmp_path / "out" / "checks.json").read_text())
    failed = [result for result in results if not result["passed"]]
    assert {result["message"] for result in failed} == {"too much", "attnc printed no JSON"}
    assert f"{len(results) - len(failed)} of {len(results)} checks passed" in done.stdout


def test_check_gpu_without_compiler(tmp_path):
    done = run(ROOT / "scripts/check-gpu", "--attnc", tmp_path / "none")
    assert done.returncode == 1
    assert "no attnc" in done.stderr


def test_check_gpu_names_existing_files():
    done = run(ROOT / "scripts/check-gpu", "--list")
    files = [word for word in done.stdout.split() if word.endswith(".npy")]
    assert files and all(os.path.exists(name) for name in files)
