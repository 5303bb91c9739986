"""attnc bench: finds the benchmark and its Python, and passes words on."""

import ast
import os
import shutil
import subprocess
import sys

import pytest
from attnc import ATTNC, BUILD, ROOT, attnc

# A Python that has every module and says what it was asked to run.
PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit {modules}
for word in "$@"; do echo "$word"; done
exit 5
"""


def fake_python(folder, modules=0):
    path = folder / "python"
    path.write_text(PYTHON.format(modules=modules))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "words, script, passed",
    [
        ([], "bench_forward.py", []),
        (["--target", "sm_80", "sm_90a,overlap=false", "--seq", "1024"], "bench_forward.py",
         ["--target", "sm_80", "sm_90a,overlap=false", "--seq", "1024"]),
        (["--target", "cpu", "--rounds", "2"], "bench_cpu.py", ["--rounds", "2"]),
        (["--rounds", "2", "--target=cpu"], "bench_cpu.py", ["--rounds", "2"]),
        (["--compile", "--target", "sm_90a"], "bench_compile.py", ["--target", "sm_90a"]),
        (["--compile", "--target", "cpu"], "bench_compile.py", ["--target", "cpu"]),
        (["--target", "cpu", "--", "--help"], "bench_cpu.py", ["--help"]),
    ],
)
def test_words_are_passed_on(tmp_path, words, script, passed):
    done = attnc("bench", "--python", fake_python(tmp_path), *words)
    assert done.returncode == 5, done.stderr
    path, *rest = done.stdout.splitlines()
    assert path.endswith(f"/benchmarks/{script}") and os.path.exists(path)
    assert rest == ["--attnc", str(ATTNC.resolve()), *passed]


def test_what_is_missing_is_named(tmp_path):
    done = attnc("bench", "--python", tmp_path / "none")
    assert done.returncode == 1
    assert f"no Python '{tmp_path / 'none'}'" in done.stderr and "--python" in done.stderr
    for words, message in [([], "bench_forward.py needs torch"),
                           (["--target", "cpu"], "bench_cpu.py needs numpy")]:
        done = attnc("bench", "--python", fake_python(tmp_path, modules=1), *words)
        assert done.returncode == 1
        assert message in done.stderr and "pip install" in done.stderr
    # The compiler's own benchmark needs Python alone.
    done = attnc("bench", "--python", fake_python(tmp_path, modules=1), "--compile")
    assert done.returncode == 5
    # A program that was copied away from its benchmarks.
    (tmp_path / "bin").mkdir()
    program = shutil.copy(ATTNC, tmp_path / "bin" / "attnc")
    done = subprocess.run([program, "bench"], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"not found in {tmp_path}/share/attn/benchmarks" in done.stderr


@pytest.mark.parametrize("kind", [[], ["--target", "cpu"], ["--compile"]])
@pytest.mark.parametrize("words", [["nosuch"], ["--", "nosuch"], ["nosuch", "--rounds", "2"]])
def test_unknown_argument_is_told_before_what_python_lacks(tmp_path, kind, words):
    done = attnc("bench", "--python", fake_python(tmp_path, modules=1), *kind, *words)
    assert done.returncode == 1
    assert "unexpected argument 'nosuch'" in done.stderr and "-- --help" in done.stderr


@pytest.mark.parametrize(
    "kind, words, flag, script",
    [
        ([], ["--nosuch"], "--nosuch", "bench_forward.py"),
        ([], ["--seq", "1024", "--causal=true", "--rounds", "2"], "--causal", "bench_forward.py"),
        # A flag of another program that the script starts, and one of another benchmark.
        ([], ["--cache-dir", "x"], "--cache-dir", "bench_forward.py"),
        (["--target", "cpu"], ["--seq", "1024"], "--seq", "bench_cpu.py"),
        (["--compile"], ["--", "--mask", "full"], "--mask", "bench_compile.py"),
        (["--compile"], ["-x"], "-x", "bench_compile.py"),
    ],
)
def test_unknown_flag_is_told_before_what_python_lacks(tmp_path, kind, words, flag, script):
    done = attnc("bench", "--python", fake_python(tmp_path, modules=1), *kind, *words)
    assert done.returncode == 1
    assert f"{flag}: unknown flag; {script} takes --help, -h, --attnc" in done.stderr


@pytest.mark.parametrize(
    "kind, script",
    [([], "bench_forward.py"), (["--target", "cpu"], "bench_cpu.py"),
     (["--compile"], "bench_compile.py")],
)
def test_every_flag_of_a_benchmark_is_passed_on(tmp_path, kind, script):
    """Whatever way the script is formatted."""
    tree = ast.parse((ROOT / "benchmarks" / script).read_text())
    flags = [node.args[0].value for node in ast.walk(tree)
             if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"]
    assert "--rounds" in flags
    words = [f"{flag}=-1" for flag in flags]
    done = attnc("bench", "--python", fake_python(tmp_path), *kind, "--", *words, "-1")
    assert done.returncode == 5, done.stderr
    assert done.stdout.split()[-len(words) - 1:] == [*words, "-1"]


def test_installed_benchmarks_run(tmp_path):
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "share/attn/benchmarks/results").exists()
    bench = [tmp_path / "bin" / "attnc", "bench", "--python", sys.executable]
    for kind in (["--target", "cpu"], ["--compile"]):
        done = subprocess.run([*bench, *kind, "--", "--help"], capture_output=True, text=True)
        assert done.returncode == 0 and "--rounds" in done.stdout, done.stderr
        # Refused before anything is measured.
        done = subprocess.run([*bench, *kind, "--rounds", "0"], capture_output=True, text=True)
        assert done.returncode == 2 and "--rounds 0: expected at least 1" in done.stderr
