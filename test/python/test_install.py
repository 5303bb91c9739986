"""A program outside of the tree builds against an install tree and runs."""

import subprocess
from pathlib import Path

from attnc import BUILD

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "host_cpp"


def cached(variable):
    """A variable of the build's own configuration."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        name, _, value = line.partition("=")
        if name.split(":")[0] == variable:
            return f"-D{variable}={value}"
    return f"-D{variable}="


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_host_program(tmp_path):
    run("cmake", "--install", BUILD, "--prefix", tmp_path / "prefix")
    compilers = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS")
    options = [cached(name) for name in (*compilers, "CMAKE_EXE_LINKER_FLAGS")]
    build = tmp_path / "build"
    run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, *options,
        f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}")
    run("cmake", "--build", build)
    assert "largest error against float64" in run(build / "host")
