"""attnc prewarm: manifests, bundles, and processes that may not compile."""

import json
import os
import re
import subprocess

import pytest
from attnc import ATTNC, BUILD, ROOT, attnc

MODELS = sorted(path.stem for path in (ROOT / "models").glob("*.json"))
SMALL = "dtype=f32 head_dim=16 heads_q=2"


def listed(*words, **options):
    done = attnc("prewarm", *words, "--dry-run", "--json", **options)
    assert done.returncode == 0, done.stderr
    return [(k["target"], k["spec"]) for k in json.loads(done.stdout)["kernels"]]


def values(kernels, key):
    return {re.search(rf"\b{key}=(\S+)", spec)[1] for _, spec in kernels}


def manifest(path, **content):
    path.write_text(json.dumps(content))
    return path


def test_every_model_is_listed():
    assert attnc("prewarm", "--models").stdout.split() == MODELS
    assert {"llama-3-8b", "gemma-2-9b", "whisper-large", "gpt-oss-20b", "bert-base"} <= set(MODELS)


def test_a_model_is_all_that_dispatch_asks_for():
    kernels = listed("llama-3-8b", "--target", "sm_90a")
    # Aligned prefill has a row for short sequences and one for long ones.
    assert len(kernels) == 2 * 2 * 4 + 2
    assert values(kernels, "phase") == {"prefill", "decode"}
    assert values(kernels, "lse") == {"true", "false"}
    assert values(kernels, "alignment") == {"16", "8", "4", "2"}
    assert values(kernels, "heads_kv") == {"8"}
    # An alignment below an element's size cannot be asked for.
    assert values(listed("llama-3-8b", "dtype=f32", "--target", "cpu"), "alignment") == {"16", "8", "4"}


def test_models_as_json():
    assert json.loads(attnc("prewarm", "--models", "--json").stdout)["models"] == MODELS


def test_yaml_manifests(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("targets: [cpu]\nspecs:\n  - {head_dim: 64, heads_q: 2, mask: [none, causal]}\n")
    same = manifest(tmp_path / "m.json", targets=["cpu"],
                    specs=[{"head_dim": 64, "heads_q": 2, "mask": ["none", "causal"]}])
    assert listed(path) == listed(same) != []
    path.write_text("targets: [cpu]\nspecs:\n  - head_dim: [64\n")
    done = attnc("prewarm", path, "--dry-run")
    assert done.returncode == 1 and f"{path}:" in done.stderr and "not YAML" in done.stderr


def test_one_kernel_is_no_plural():
    done = attnc("prewarm", *SMALL.split(), "--target", "cpu", "--dry-run")
    assert done.stdout.endswith("\n1 kernel\n")


def test_words_narrow_models():
    kernels = listed("llama-3-8b", "dtype=bf16,f16", "phase=decode", "lse=false", "alignment=16",
                     "tensor_parallel=2,16", "--target", "sm_80")
    assert len(kernels) == 4
    assert values(kernels, "heads_q") == {"16", "2"}
    assert values(kernels, "heads_kv") == {"4", "1"}


def test_layers_features_models_and_words(tmp_path):
    path = manifest(
        tmp_path / "m.json", targets=["cpu", "sm_80"],
        features={"dtype": "f16", "alignment": 16, "lse": True},
        models=["gpt2", {"model": "gemma-2-2b", "phase": "prefill"}],
        specs=[{"head_dim": [32, 64], "heads_q": 4, "mask": ["none", "causal"], "dtype": "bf16"},
               "dtype=f32 head_dim=8 heads_q=1 alignment=4"])
    kernels = listed(path)
    one = [spec for target, spec in kernels if target == "cpu"]
    assert len(kernels) == 2 * len(one)
    assert sum("heads_q=12" in spec for spec in one) == 2  # gpt2: f16 alone, two phases
    assert sum("softcap=50" in spec for spec in one) == 2  # gemma-2: two masks
    assert sum("dtype=bf16" in spec for spec in one) == 2 * 2 * 2  # its own dtype, two phases
    assert sum("dtype=f32" in spec for spec in one) == 1
    assert len(one) == 2 + 2 + 8 + 1
    assert {target for target, _ in listed(path, "--target", "sm_90a")} == {"sm_90a"}


@pytest.mark.parametrize(
    "content, message",
    [
        ("nonsense", "m.json: not JSON"),
        ("[]", "expected one object with"),
        ('{"specs": [], "specs": ["head_dim=8 heads_q=1"]}', "'specs' is given twice"),
        ('{"spec": []}', "unknown key 'spec'.*did you mean 'specs'"),
        ('{"specs": {}}', "'specs': expected a list"),
        ('{"specs": [7]}', r"specs\[0\]: expected an object or a string"),
        ('{"specs": [{"head_dim": 63, "heads_q": 1}]}', r"specs\[0\]: head_dim=63.*64 columns"),
        ('{"specs": [{"head_dim": [], "heads_q": 1}]}', "'head_dim': expected a number"),
        ('{"specs": [{"head_dim": 64, "heads_q": 1, "batch": 2}]}', "argument of the kernel"),
        ('{"specs": ["model.json"]}', "expected key=value"),
        ('{"models": ["llama-3-8"]}', r"models\[0\]: unknown model.*did you mean 'llama-3-8b'"),
        ('{"models": [3]}', "expected a model's name"),
        ('{"features": [], "specs": []}', "'features': expected an object"),
        ('{"specs": []}', "names no kernel"),
        ('{"targets": [], "specs": ["head_dim=8 heads_q=1"]}', "'targets': expected"),
        ('{"targets": ["sm_1"], "specs": ["head_dim=8 heads_q=1"]}', "sm_1"),
        ('{"models": [{"model": "llama-3-8b", "tensor_parallel": 3}]}', "tensor_parallel=3"),
    ],
)
def test_bad_manifests_say_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "m.json"
    path.write_text(content)
    target = () if "targets" in content else ("--target", "cpu")
    done = attnc("prewarm", path, *target, "--dry-run")
    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr


def test_bad_command_lines():
    for words, message in [
        ((), "nothing to compile"),
        (("llama-3-8b",), "names no target"),
        (("no-such-model", "--target", "cpu"), "unknown model"),
        (("/usr", "--target", "cpu"), "'/usr': is a folder; expected a manifest (.json, .yaml)"),
        (("models/gpt2", "--target", "cpu"), "'models/gpt2': there is no such file"),
        (("/etc/passwd", "--target", "cpu"), "'/etc/passwd': has none of the endings"),
        (("missing.yaml", "--target", "cpu"), "missing.yaml: cannot read"),
        (("gpt2", "dtype=", "--target", "cpu"), "'dtype=': expected a value, got none"),
        (("gpt2", "dtype=bf16,,f16", "--target", "cpu"), "'dtype=bf16,,f16': expected a value before"),
        (("gpt2", "dtype=f16", "dtype=f32", "--target", "cpu"), "'dtype' is given twice; make one list"),
        (("gpt2", "--target", "cpu,"), "--target cpu,: expected a value"),
        (("--models", "gpt2"), "--models: contradicts 'gpt2'"),
        (("--models", "--verify", "x"), "--models: contradicts --verify x"),
        (("missing.json", "--target", "cpu"), "cannot read"),
        (("--verify", "/nowhere/b.attnb"), "no bundle"),
        (("--verify", "/etc"), "holds no kernel"),
        (("head_dim=8", "--verify", "x"), "contradicts"),
    ]:
        done = attnc("prewarm", *words)
        assert done.returncode == 1, words
        assert message in done.stderr + done.stdout, done.stderr


def test_a_cache_that_keeps_nothing_is_a_failure():
    words = ["prewarm", "head_dim=64", "heads_q=2", "--target", "cpu", "--cache-dir", "/dev/null"]
    done = attnc(*words)
    assert done.returncode == 1 and "cache directory '/dev/null'" in done.stderr, done.stderr


def test_a_bundle_replaces_nothing_but_bundles(tmp_path):
    notes, pipe = tmp_path / "notes.txt", tmp_path / "pipe"
    notes.write_text("precious")
    os.mkfifo(pipe)
    for path, message in [
        (notes, "is there and no bundle"),
        (pipe, "no regular file"),
        (tmp_path, "no regular file"),
        (tmp_path / "none" / "b.attnb", "there is no folder"),
    ]:
        done = attnc("prewarm", "head_dim=64", "heads_q=2", "--target", "cpu", "--bundle", path)
        assert done.returncode == 1 and message in done.stderr, done.stderr
        # It is said before anything is compiled.
        assert "1/1" not in done.stderr
    assert notes.read_text() == "precious" and pipe.is_fifo()


# Compiling


def prewarm(*words):
    done = attnc("prewarm", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["kernels"]


def test_what_is_there_is_kept(tmp_path):
    words = (*SMALL.split(), "--target", "sm_80", "--no-cubin", "--cache-dir", tmp_path / "cache")
    bundle = tmp_path / "b.attnb"
    first, = prewarm(*words)
    assert not first["kept"] and first["bytes"] > 1000 and first["shared_bytes"] > 0
    again, = prewarm(*words, "--bundle", bundle)
    assert again["kept"] and again["bytes"] == first["bytes"]
    # The bundle alone is enough as well.
    elsewhere = (*words[:-1], tmp_path / "other")
    kept, = prewarm(*elsewhere, "--bundle", bundle)
    assert kept["kept"]
    done = attnc("prewarm", *words)
    assert "0 compiled, 1 kept, 0 failed" in done.stdout
    assert re.search("1/1 kept .* sm_80 phase=prefill", done.stderr)


def test_killed_runs_are_resumed(tmp_path):
    path = manifest(tmp_path / "m.json", specs=[
        {"dtype": "f32", "head_dim": [8, 16, 24, 32], "heads_q": 2, "lse": True, "alignment": 16}])
    words = ["prewarm", path, "--target", "sm_80", "--no-cubin", "--cache-dir", tmp_path / "cache",
             "--bundle", tmp_path / "b.attnb", "--jobs", "1"]
    process = subprocess.Popen([ATTNC, *map(str, words)], stderr=subprocess.PIPE, text=True)
    process.stderr.readline()
    process.stderr.readline()
    process.kill()
    process.wait()
    assert not (tmp_path / "b.attnb").exists()
    done = attnc(*words, "--json")
    kernels = json.loads(done.stdout)["kernels"]
    assert len(kernels) == 8 and 2 <= sum(kernel["kept"] for kernel in kernels) < 8
    assert attnc("prewarm", "--verify", tmp_path / "b.attnb").stdout == "8 good, 0 bad\n"


def test_verify_names_what_is_broken(tmp_path):
    bundle, cache = tmp_path / "b.attnb", tmp_path / "cache"
    prewarm(*SMALL.split(), "--target", "sm_80", "--no-cubin", "--cache-dir", cache,
            "--bundle", bundle)
    for good in (bundle, cache):
        done = attnc("prewarm", "--verify", good)
        assert (done.returncode, done.stdout) == (0, "1 good, 0 bad\n")
    data = bytearray(bundle.read_bytes())
    data[-100] ^= 1
    bundle.write_bytes(data)
    done = attnc("prewarm", "--verify", bundle)
    assert done.returncode == 1
    assert "head_dim=16" in done.stdout and "digest" in done.stdout and "0 good, 1 bad" in done.stdout
    entry, = cache.rglob("*.attn")
    entry.write_bytes(b"x")
    done = attnc("prewarm", "--verify", cache)
    assert done.returncode == 1 and str(entry) in done.stdout
    # A bundle that cannot be used is an error for who asked for it.
    bundle.write_bytes(b"x")
    done = attnc("compile", *SMALL.split(), "--target", "sm_80", "--emit", "ptx", "--bundle", bundle)
    assert done.returncode == 1 and "b.attnb" in done.stderr


def test_failed_kernels_leave_the_old_bundle(tmp_path):
    bundle = tmp_path / "b.attnb"
    common = ("--target", "sm_80", "--no-cubin", "--cache-dir", tmp_path / "cache", "--bundle", bundle)
    prewarm(*SMALL.split(), *common)
    before = bundle.read_bytes()
    done = attnc("prewarm", *SMALL.split(), "stages=8", "kv_tile=1024", *common)
    assert done.returncode == 1
    assert "not written" in done.stderr and "1 failed" in done.stdout
    assert bundle.read_bytes() == before


# Processes that may not compile


LENGTHS = [(1, 1), (1, 200), (7, 7), (64, 300), (129, 129)]


def run(*words, **options):
    return attnc("run", *words, "--repeat", "1", "--json", **options)


def test_llama_runs_without_compiling(tmp_path):
    """Llama-3-8B's attention on the CPU from a bundle alone: prefill and decode at any length."""
    bundle, empty = tmp_path / "llama.attnb", tmp_path / "empty"
    kernels = prewarm("llama-3-8b", "--target", "cpu", "--bundle", bundle,
                      "--cache-dir", tmp_path / "cache")
    assert len(kernels) == 16
    base = "dtype=bf16 head_dim=128 heads_q=32 heads_kv=8 mask=causal".split()
    for seq_q, seq_kv in LENGTHS:
        phase = "decode" if seq_q == 1 else "prefill"
        words = [*base, f"phase={phase}", f"seq_q={seq_q}", f"seq_kv={seq_kv}", "--check", "--log",
                 "--no-compile", "--cache-dir", empty]
        done = run(*words, "--bundle", bundle)
        assert done.returncode == 0, done.stderr
        assert "hit on disk" in done.stderr and "compiled in" not in done.stderr
        assert json.loads(done.stdout)["error"]["passed"]
        done = run(*words)
        assert done.returncode == 1
        assert "compiling is forbidden" in done.stderr and "attnc prewarm" in done.stderr


def test_llama_for_hopper_compiles_nothing_twice(tmp_path):
    """The same for sm_90a, whose kernels do not run here: every spec is in the bundle."""
    bundle = tmp_path / "llama.attnb"
    words = ("llama-3-8b", "lse=true", "alignment=16", "--target", "sm_90a")
    prewarm(*words, "--no-cubin", "--bundle", bundle, "--cache-dir", tmp_path / "cache")
    for target, spec in listed(*words):
        compile = ("compile", *spec.split(), "--target", target, "--emit", "ptx", "--no-compile",
                   "--cache-dir", tmp_path / "empty")
        done = attnc(*compile, "--bundle", bundle)
        assert done.returncode == 0 and ".target sm_90a" in done.stdout, done.stderr
        assert attnc(*compile).returncode == 1


def test_recordings_are_manifests(tmp_path):
    recording, cache = tmp_path / "asked.jsonl", tmp_path / "cache"
    words = [*SMALL.split(), "--record", recording, "--cache-dir", cache]
    processes = [
        subprocess.Popen([ATTNC, "run", *map(str, words), f"seq_q={length}", "--repeat", "1",
                          f"lse={lse}"], stdout=subprocess.DEVNULL)
        for length in (3, 9) for lse in ("true", "false")]
    assert all(process.wait() == 0 for process in processes)
    with open(recording, "a") as file:
        file.write('{"spec": "dtype=f3')
    assert run(*words, "seq_q=5", "mask=causal").returncode == 0
    done = attnc("prewarm", recording, "--dry-run")
    assert "skipping a line that was not finished" in done.stderr
    assert len(done.stdout.splitlines()) == 3 + 1
    assert len(prewarm(recording, "--cache-dir", cache)) == 3


# Deployments


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_runtime_alone_reads_bundles(tmp_path):
    """A program without LLVM finds a kernel by its spec; it is small."""
    from test_install import cached

    bundle = tmp_path / "b.attnb"
    prewarm(*SMALL.split(), "--target", "sm_80", "--no-cubin", "--bundle", bundle,
            "--cache-dir", tmp_path / "cache")
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    command("cmake", "--install", BUILD, "--prefix", prefix)
    options = [cached(name) for name in
               ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_EXE_LINKER_FLAGS")]
    # Where LLVM is not found, it cannot be linked.
    command("cmake", "-G", "Ninja", "-S", ROOT / "examples" / "bundle", "-B", build, *options,
            f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
    command("cmake", "--build", build)
    (target, spec), = listed(*SMALL.split(), "--target", "sm_80")
    assert command(build / "bundle", bundle) == f"sm_80 ptx {spec}\n"
    text = command(build / "bundle", bundle, target, spec)
    assert "chip      sm_80" in text and re.search(r"kernel    \w+: \d+ threads", text)
    libraries = command("ldd", build / "bundle")
    assert not re.search("LLVM|MLIR", libraries), libraries
    assert (build / "bundle").stat().st_size < 1.5e6
