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


ATTNC = """#!{python}
import json, sys
# Fails on soft-cap 5, dies at 71 heads, prints nonsense for ALiBi and is content otherwise.
for line in open(sys.argv[sys.argv.index("--batch") + 1]):
    request = json.loads(line)
    if request.get("heads_q") == 71:
        sys.exit("lost")
    if request.get("alibi"):
        print("nonsense", flush=True)
    elif request.get("softcap") == 5:
        print(json.dumps({{"passed": False, "message": "too much"}}), flush=True)
    else:
        print(json.dumps({{"passed": True}}), flush=True)
"""


def test_check_gpu_counts_failures(tmp_path):
    attnc = tmp_path / "attnc"
    attnc.write_text(ATTNC.format(python=sys.executable))
    attnc.chmod(0o755)
    command = [ROOT / "scripts/check-gpu", "--attnc", attnc, "--only", "checks"]
    command += ["--classes", "masks", "groups", "--jobs", 2]
    done = run(*command, "--out", tmp_path / "out")
    assert done.returncode == 1
    report = json.loads((tmp_path / "out" / "checks.json").read_text())
    failed = {}
    for result in report["failures"]:
        assert not result["passed"]
        failed.setdefault(result["failure"], []).append(result["request"])
    assert set(failed) == {
        "too much", "attnc printed no JSON: nonsense", "exit code 1 without an answer: lost"
    }
    assert all(request["softcap"] == 5 for request in failed["too much"])
    # One failure costs no other check.
    count = report["checks"]
    classes = report["classes"]
    assert set(classes) == {"masks", "groups"}
    assert sum(members["checks"] for members in classes.values()) == count
    assert sum(members["passed"] for members in classes.values()) == report["passed"]
    assert report["manifest"]["date"] and report["manifest"]["processor"]
    assert report["passed"] == count - sum(map(len, failed.values()))
    assert f"{report['passed']} of {count} checks passed" in done.stdout


def test_check_gpu_without_compiler(tmp_path):
    done = run(ROOT / "scripts/check-gpu", "--attnc", tmp_path / "none")
    assert done.returncode == 1
    assert "no attnc" in done.stderr


def test_check_gpu_names_existing_files():
    done = run(ROOT / "scripts/check-gpu", "--list")
    files = [word.split("=")[1] for word in done.stdout.split() if word.endswith(".npy")]
    assert files and all(os.path.exists(name) for name in files)
