"""Bad command lines: exit code 1 and a message that names the value and the limit."""

import json
import os
import subprocess

import numpy as np
import pytest
from attnc import ATTNC, attnc

GOOD = ["dtype=f32", "head_dim=64", "heads_q=8"]
SHAPE = ["seq_q=16"]


def run(*words):
    return ["run", *GOOD, *SHAPE, *words]


def tune(*words):
    return ["tune", *GOOD, *SHAPE, *words]


def spec(*words):
    return ["compile", *words]


# A command line, and texts that its message must hold.
CASES = [
    ([], ["usage: attnc"]),
    (["comple"], ["unknown command 'comple'", "did you mean 'compile'"]),
    (["dance"], ["unknown command 'dance'", "compile, run, trace, explain, tune, prewarm, bench, cache"]),
    # Words of a spec.
    (["compile"], ["no problem given", "head_dim"]),
    (spec("head_dim"), ["'head_dim'", "expected key=value"]),
    (spec("=5"), ["'=5'", "expected key=value"]),
    (spec("head_dim="), ["'head_dim='", "expected a value"]),
    (spec("heads_q=8"), ["missing head_dim"]),
    (spec("head_dim=64"), ["missing heads_q"]),
    (spec("head_dim=100", "heads_q=8"), ["head_dim=100", "multiple of 8", "104"]),
    (spec("head_dim=264", "heads_q=8"), ["head_dim=264", "a multiple of 8 in [8, 256]"]),
    (spec("head_dim=-8", "heads_q=8"), ["head_dim=-8", "[8, 256]"]),
    (spec("head_dim=6.4e1", "heads_q=8"), ["head_dim=6.4e1", "a multiple of 8 in [8, 256]"]),
    (spec("head_dim=99999999999999999999", "heads_q=8"), ["head_dim=99999999999999999999", "256"]),
    (spec("head_dim=64", "head_dim_v=1000", "heads_q=8"), ["head_dim_v=1000", "512"]),
    (spec("head_dim=64", "heads_q=8", "heads_kv=3"), ["heads_q=8", "heads_kv=3", "multiple"]),
    (spec("head_dim=64", "heads_q=0"), ["heads_q=0", "65536"]),
    (spec("head_dim=64", "heads_q=8", "heads_kv=16"), ["heads_q=8", "heads_kv=16"]),
    (spec("headdim=64", "heads_q=8"), ["unknown key 'headdim'", "did you mean 'head_dim'"]),
    (spec(*GOOD, "frobnicate=1"), ["unknown key 'frobnicate'", "known keys are"]),
    (spec(*GOOD, "head_dim=64"), ["'head_dim' is given twice"]),
    (spec(*GOOD, "mask=casual"), ["mask=casual", "did you mean 'causal'"]),
    (spec(*GOOD, "mask=none", "window=64"), ["mask=none", "contradicts"]),
    (spec(*GOOD, "mask=none", "window_left=64"), ["mask=none", "contradicts"]),
    (spec(*GOOD, "mask=window"), ["mask=window", "window=W"]),
    (spec(*GOOD, "mask=window", "window=0"), ["window=0", "at least 1"]),
    (spec(*GOOD, "mask=window", "window=-2,0"), ["window=-2,0", "-1"]),
    (spec(*GOOD, "mask=window", "window=1,2,3"), ["window=1,2,3", "LEFT,RIGHT"]),
    (spec(*GOOD, "mask=causal", "window=4", "window_left=3"), ["window=4", "window_left=3"]),
    (spec(*GOOD, "mask=window", "window_left=-5"), ["window_left=-5", "-1"]),
    (spec("dtype=f64", "head_dim=64", "heads_q=8"), ["dtype=f64", "f32, bf16, f16"]),
    (spec(*GOOD, "out=bf16"), ["out=bf16", "f32"]),
    (spec(*GOOD, "softcap=0"), ["softcap=0", "positive"]),
    (spec(*GOOD, "softcap=1e400"), ["softcap=1e400", "finite"]),
    (spec(*GOOD, "alibi=maybe"), ["alibi=maybe", "true or false"]),
    (spec(*GOOD, "alignment=12"), ["alignment=12", "power of two"]),
    (spec(*GOOD, "kv=paged"), ["kv=paged", "dense"]),
    (spec(*GOOD, "phase=train"), ["phase=train", "prefill, decode"]),
    (spec(*GOOD, "seq_q=16"), ["'seq_q' is an argument of the kernel"]),
    (spec(*GOOD, "q_tile=0"), ["q_tile=0", "[1, 1024]"]),
    (spec(*GOOD, "stages=100"), ["stages=100", "[1, 8]"]),
    (spec(*GOOD, "algorithm=fa3"), ["algorithm=fa3", "naive, two_pass, fa1, fa2"]),
    (spec("head_dim=64", "heads_q=8", "algorithm=fa1"), ["algorithm=fa1", "out=f32"]),
    (spec(*GOOD, "algorithm=fa1", "split_kv=4"), ["split_kv=4", "fa1"]),
    (spec("missing.json"), ["missing.json", "cannot read"]),
    (spec("missing.mlir"), ["missing.mlir", "cannot read"]),
    # Flags.
    (spec(*GOOD, "--emitt", "ptx"), ["--emitt", "did you mean 'emit'"]),
    (spec(*GOOD, "--zzz"), ["--zzz: unknown flag"]),
    (spec(*GOOD, "-x"), ["'-x'", "--name"]),
    (spec(*GOOD, "--emit"), ["--emit: expected a value"]),
    (spec(*GOOD, "--emit", "spirv"), ["--emit spirv", "problem, tiles"]),
    (spec(*GOOD, "--emit", "llvm", "--emit", "ptx"), ["--emit: given twice"]),
    (spec(*GOOD, "--artifact=yes"), ["--artifact: takes no value"]),
    (spec(*GOOD, "--artifact", "--emit", "tiles"), ["--artifact", "tiles"]),
    (spec(*GOOD, "--ptxas", "x", "--emit", "llvm"), ["--ptxas", "cubin", "llvm"]),
    (spec(*GOOD, "--target", "sm_75"), ["sm_75", "sm_80"]),
    (spec(*GOOD, "--target", "cpu", "--emit", "ptx"), ["cpu", "sm_80"]),
    (spec(*GOOD, "--target", "cpu", "--emit", "nvvm"), ["cpu", "problem, tiles or llvm"]),
    (spec(*GOOD, "-o", "/nonexistent/x"), ["/nonexistent/x", "cannot write"]),
    (
        spec(*GOOD, "--target", "sm_80", "--emit", "cubin", "--ptxas", "/nonexistent/ptxas"),
        ["/nonexistent/ptxas", "not an executable"],
    ),
    (
        spec(*GOOD, "--target", "sm_80", "--emit", "cubin", "--ptxas", "/bin/true"),
        ["/bin/true", "--version"],
    ),
    # Running.
    (["run", *GOOD], ["missing seq_q"]),
    (["run", *GOOD, "phase=decode"], ["missing seq_kv"]),
    (["run", *GOOD, "phase=decode", "seq_q=4", "seq_kv=9"], ["seq_q=4", "expected 1"]),
    (["run", *GOOD, "seq_q=-1"], ["seq_q=-1", "[0, 2147483647]"]),
    (["run", *GOOD, "seq_q=2147483647", "batch=2147483647"], ["GB", "smaller batch"]),
    (run("scale=-1"), ["scale=-1", "at least 0"]),
    (run("--device", "gpu"), ["--device gpu", "cuda:N"]),
    (run("--device", "cuda:-1"), ["--device cuda:-1"]),
    (run("--target", "sm_80"), ["sm_80", "--device cpu"]),
    (run("warps=8"), ["warps: 8 is a choice of GPU", "cpu takes: algorithm, q_tile"]),
    (run("lazy_rescale=true"), ["lazy_rescale: true is a choice of GPU kernels alone"]),
    (run("alignment=256", "--layout", "padded"), ["multiples of 256 bytes, the kernel's alignment", "smaller alignment"]),
    (run("--payload", "cubin"), ["--payload cubin", "--device cpu"]),
    (run("--ptxas", "x"), ["--ptxas", "--device cpu"]),
    (run("--threads", "4", "--device", "cuda:0"), ["--threads", "--device cuda:0"]),
    (run("--parent", "1"), ["--parent 1: is not the process that started this one"]),
    (run("--threads", "0"), ["--threads 0", "[1, 4096]"]),
    (run("--repeat", "x"), ["--repeat x"]),
    (run("--inputs", "zeros"), ["--inputs zeros", "random"]),
    (run("--layout", "padded_"), ["--layout padded_", "did you mean 'padded'"]),
    (run("--q", "missing.npy"), ["--q missing.npy", "cannot read"]),
    (run("--q", "/dev/zero"), ["--q /dev/zero", "expected a regular file"]),
    (["run", "--batch", "/dev/zero"], ["--batch /dev/zero", "expected a regular file"]),
    (run("--batch", "missing.jsonl"), ["--batch missing.jsonl", "contradicts"]),
    (["run", "--batch", "missing.jsonl"], ["--batch missing.jsonl", "cannot read"]),
    (["run", "x.mlir"], ["x.mlir", "key=value"]),
    # Tuning.
    (["tune", *GOOD], ["missing seq_q"]),
    (["tune", *GOOD, "seq_q=0"], ["seq_q=0", "at least 1"]),
    (["tune", "x.mlir"], ["x.mlir", "key=value"]),
    (tune("q_tile=32,4096"), ["q_tile=4096", "[1, 1024]"]),
    (tune("q_tile=32,32"), ["q_tile=32,32", "given twice"]),
    (tune("q_tile=32", "q_tile=64"), ["q_tile=64", "make one list"]),
    (tune("q_tile=32,"), ["'q_tile='", "expected a value"]),
    (tune("order=linear,shortest"), ["order=shortest", "longest_first"]),
    (tune("head_dims=64,128"), ["unknown key 'head_dims'"]),
    (tune("--device", "emulate:sm_80"), ["--device emulate:sm_80", "cpu or cuda:N"]),
    (tune("--device", "gpu"), ["--device gpu", "cuda:N"]),
    (tune("--target", "sm_80"), ["--target sm_80", "--device cpu"]),
    (tune("--target", "tpu", "--dry-run"), ["tpu", "sm_80"]),
    (tune("--resume"), ["--resume", "--out FILE"]),
    (tune("--dry-run", "--out", "x.json"), ["--out x.json", "--dry-run"]),
    (tune("warps=1,8"), ["warps: 8 is a choice of GPU", "cpu takes: algorithm, q_tile"]),
    (tune("warps=8"), ["warps: 8 is a choice of GPU", "cpu takes: algorithm, q_tile"]),
    (tune("overlap=true,false"), ["overlap: true is a choice of GPU kernels alone"]),
    (tune("--timeout", "0"), ["--timeout 0", "[1, 86400]"]),
    (tune("--budget", "soon"), ["--budget soon", "integer"]),
    (tune("--min-gain", "100"), ["--min-gain 100", "[0, 99]"]),
    (tune("--out", "missing/x.json"), ["missing/x.json.journal.jsonl: cannot write"]),
    # Schedule files.
    (run("--schedules", "missing.json"), ["--schedules missing.json: cannot read"]),
    (spec(*GOOD, "--schedules", "missing.json"), ["--schedules missing.json: cannot read"]),
    (["explain", *GOOD, "--schedules", "missing.json"], ["missing.json: cannot read"]),
    (tune("--schedules", "missing.json"), ["--schedules missing.json: cannot read"]),
    (["explain", *GOOD, "--device-name", "A100"], ["--device-name A100", "--schedules"]),
    # Explaining and the cache.
    (["explain", *GOOD, "--matrix"], ["--matrix: contradicts 'dtype=f32'"]),
    (["explain", "--matrix", "--target", "tpu"], ["tpu", "sm_80"]),
    (["explain", "--matrix", "--schedules", "x.json"], ["--schedules x.json", "--matrix"]),
    (["explain", "--matrix", "--device-name", "A100"], ["--device-name A100", "--schedules"]),
    (["explain", *GOOD, "--target", "tpu"], ["tpu", "cpu"]),
    (["cache"], ["expected one action"]),
    (["cache", "ls", "stat"], ["expected one action"]),
    (["cache", "lss"], ["unknown action 'lss'", "did you mean 'ls'"]),
    (["cache", "prune", "--max-bytes", "1GB"], ["--max-bytes 1GB"]),
]


@pytest.mark.parametrize("words, texts", CASES, ids=[" ".join(case[0]) for case in CASES])
def test_bad_command_line(words, texts, tmp_path):
    done = attnc(*words, cwd=tmp_path, env=os.environ | {"ATTN_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 1, done.stderr
    for text in texts:
        assert text in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", [[], ["compile"], ["run"], ["explain"], ["tune"], ["prewarm"],
                                     ["bench"], ["cache"]])
def test_help_has_an_example(command):
    done = attnc(*command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: attnc")
    assert "\nexample:\n  attnc " in done.stdout


def write(path, text):
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "not JSON"),
        ("[1, 2]", "expected one JSON object"),
        ('{"head_dim": 64, "head_dim": 64}', "given twice"),
        ('{"head_dim": {}, "heads_q": 1}', "expected a number"),
        ('{"head_dim": 64, "heads_q": 1, "maks": "causal"}', "did you mean 'mask'"),
    ],
)
def test_bad_json(tmp_path, text, message):
    done = attnc("compile", write(tmp_path / "spec.json", text))
    assert done.returncode == 1
    assert "spec.json" in done.stderr or "maks" in done.stderr
    assert message in done.stderr


def test_json_is_the_same_as_words(tmp_path):
    text = json.dumps({"dtype": "f32", "head_dim": 64, "heads_q": 8})
    by_file = attnc("compile", write(tmp_path / "spec.json", text))
    assert by_file.returncode == 0
    assert by_file.stdout == attnc("compile", *GOOD).stdout


FORWARD = (
    "attn.forward ins(%t, %t, %t : !t, !t, !t) outs(%o : !t) scale(%s) "
)
FUNCTION = "!t = memref<?x?x4x8xf16>\nfunc.func @f(%t: !t, %o: !t, %s: f32, %c: i1) {\n"
TWO_PROBLEMS = FUNCTION + FORWARD + FORWARD + "return }"
NESTED_PROBLEM = FUNCTION + "scf.if %c {" + FORWARD + "}\nreturn }"
BAD_WORKSPACE = FUNCTION.replace("%c: i1", "%c: i1 {attn.workspace = [1]}") + FORWARD + "return }"


@pytest.mark.parametrize(
    "text, message",
    [
        ("func.func @f(", "file.mlir:1:"),
        ("func.func @f() { return }", "expected one attn.forward"),
        ("not mlir at all", "file.mlir:1:1"),
        ("", "expected one attn.forward"),
        ("func.func @f() attributes {attn.kernel} { return }", "expected one attn.forward"),
        (TWO_PROBLEMS, "got 2"),
        (NESTED_PROBLEM, "directly in a function"),
        (BAD_WORKSPACE, "attn.workspace"),
    ],
)
def test_bad_mlir(tmp_path, text, message):
    path = write(tmp_path / "file.mlir", text)
    done = attnc("compile", path, "--target", "sm_80", "--emit", "ptx")
    assert done.returncode == 1, done.stderr
    assert message in done.stderr


@pytest.mark.parametrize(
    "array, message",
    [
        (np.zeros((1, 16, 8, 32), np.float32), "expected shape [1, 16, 8, 64]"),
        (np.zeros((1, 16, 8, 64), np.int32), "expected float16, float32 or float64"),
        (np.asfortranarray(np.zeros((1, 16, 8, 64), np.float32)), "row-major"),
    ],
)
def test_bad_npy(tmp_path, array, message):
    path = tmp_path / "q.npy"
    np.save(path, array)
    done = attnc(*run("--q", path))
    assert done.returncode == 1
    assert "--q" in done.stderr and message in done.stderr


def test_truncated_npy(tmp_path):
    path = tmp_path / "q.npy"
    np.save(path, np.zeros((1, 16, 8, 64), np.float32))
    path.write_bytes(path.read_bytes()[:-4])
    done = attnc(*run("--q", path))
    assert done.returncode == 1 and "bytes of data" in done.stderr
    path.write_bytes(b"\x93NUMPY\x01\x00\xff\xff")
    assert attnc(*run("--q", path)).returncode == 1


def test_wrong_expectation_is_exit_code_2(tmp_path):
    path = tmp_path / "o.npy"
    np.save(path, np.ones((1, 16, 8, 64), np.float32))
    done = attnc(*run("--expect", path, "--json"))
    assert done.returncode == 2
    assert json.loads(done.stdout)["expected"]["passed"] is False


def test_batch_answers_every_line(tmp_path):
    lines = [
        '{"dtype": "f32", "head_dim": 8, "heads_q": 1, "seq_q": 4, "check": true}',
        '{"dtype": "f32", "head_dim": 9, "heads_q": 1, "seq_q": 4}',
        "nonsense",
    ]
    done = attnc("run", "--batch", write(tmp_path / "runs.jsonl", "\n".join(lines)))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["passed"] for answer in answers] == [True, False, False]
    assert "head_dim=9" in answers[1]["message"] and answers[1]["exit_code"] == 1
    assert "runs.jsonl:3" in answers[2]["message"]
    assert done.returncode == 1


CUBINLESS = ["compile", *GOOD, "--target", "sm_80", "--emit", "ptx", "-o"]


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["compile", *GOOD, "--emit", "problem"], run("--repeat=1"),
     ["explain", *GOOD, "--target", "sm_80"], ["explain", *GOOD, "--json"], ["cache", "ls", "--json"]],
)
def test_full_output(words, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [str(ATTNC), *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=300,
            env=os.environ | {"ATTN_CACHE_DIR": str(tmp_path)},
        )
    assert done.returncode == 1
    assert done.stderr.endswith("cannot write the output: No space left on device\n")
    assert done.stderr.count("error") == 1


def test_unwritable_cache_is_a_warning(tmp_path):
    blocker = write(tmp_path / "file", "")
    done = attnc(*CUBINLESS, tmp_path / "k.ptx", "--cache-dir", blocker + "/cache")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning") == 1
    assert (tmp_path / "k.ptx").stat().st_size > 0


def test_cache_commands(tmp_path):
    cache = tmp_path / "cache"
    flags = ["--cache-dir", cache]
    for _ in range(2):
        assert attnc(*CUBINLESS, tmp_path / "k.ptx", *flags).returncode == 0
    [entry] = json.loads(attnc("cache", "ls", "--json", *flags).stdout)["entries"]
    assert json.loads(attnc("cache", "stat", "--json", *flags).stdout)["entries"] == 1
    assert attnc("cache", "verify", *flags).returncode == 0

    # A corrupted entry is a warning and is compiled again.
    with open(entry["path"], "r+b") as file:
        file.seek(200)
        file.write(b"\0\0\0\0")
    done = attnc("cache", "verify", *flags)
    assert done.returncode == 2 and entry["path"] in done.stdout
    done = attnc(*CUBINLESS, tmp_path / "again.ptx", *flags)
    assert done.returncode == 0 and done.stderr.count("warning") == 1
    assert (tmp_path / "again.ptx").read_bytes() == (tmp_path / "k.ptx").read_bytes()

    # A folder in the place of an entry is named and left alone, and in nobody's way.
    os.rename(entry["path"], tmp_path / "entry")
    os.makedirs(entry["path"] + "/inner")
    for action in ("prune", "clear"):
        done = attnc("cache", action, *flags)
        assert done.returncode == 2
        assert f"cannot remove {entry['path']}: Is a directory" in done.stdout
    os.removedirs(entry["path"] + "/inner")
    assert attnc(*CUBINLESS, tmp_path / "k.ptx", *flags).returncode == 0

    assert attnc("cache", "prune", "--max-bytes", "0", *flags).returncode == 0
    assert json.loads(attnc("cache", "stat", "--json", *flags).stdout)["entries"] == 0
    assert attnc("cache", "clear", *flags).returncode == 0
