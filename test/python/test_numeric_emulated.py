"""GPU kernels on the emulator against float64: every row of the tables at small shapes."""

import json
import re

import numpy as np
import pytest
from attnc import ROOT, attnc, run_batch
from emulated_matrix import PROBLEMS

MODES = ["early", "late", "random:1", "random:2"]
# Keys of a problem that the choice of a kernel does not depend on.
RUN_KEYS = {"batch", "seq_q", "seq_kv", "check", "repeat", "layout", "scale", "inputs"}
# Targets with their own tables, and the targets whose problems reach every row.
TABLES = {"SM80": ["sm_80", "sm_86"], "SM90": ["sm_90a"]}


def failures(problems, answers):
    return [
        (request, answer.get("message") or answer["error"]["failure"])
        for request, answer in zip(problems, answers)
        if not answer["passed"]
    ]


@pytest.mark.parametrize("target", PROBLEMS)
@pytest.mark.parametrize("mode", MODES)
def test_matches_float64(target, mode):
    problems = PROBLEMS[target]
    answers = run_batch(problems, "--device", f"emulate:{target}", "--async", mode)
    assert not failures(problems, answers)


@pytest.mark.parametrize("target", PROBLEMS)
def test_ctas_in_turns_match_float64(target):
    problems = [p for p in PROBLEMS[target] if p["heads_q"] > 1][::7]
    answers = run_batch(problems, "--device", f"emulate:{target}", "--async", "random:3",
                        "--interleave", "3")
    assert not failures(problems, answers)


@pytest.mark.parametrize("table", TABLES)
def test_every_row_of_the_table_runs(table):
    source = (ROOT / "lib" / "Target" / f"ScheduleTable{table}.cpp").read_text()
    rows = set(re.findall(r'(?:mmaRow\(|cpAsyncRow\(|\.name = )"(\w+)"', source))
    assert len(rows) == {"SM80": 12, "SM90": 21}[table]
    taken = set()
    for target in TABLES[table]:
        specs = {json.dumps({k: v for k, v in p.items() if k not in RUN_KEYS}, sort_keys=True)
                 for p in PROBLEMS[target]}
        for spec in map(json.loads, sorted(specs)):
            words = [f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in spec.items()]
            said = attnc("explain", *words, "--target", target).stdout
            taken |= set(re.findall(r"^row +(\S+)", said, re.MULTILINE))
    assert rows <= taken, rows - taken


def test_device_and_mode_are_checked():
    words = ["head_dim=64", "heads_q=1", "heads_kv=1", "seq_q=8", "seq_kv=8"]
    for flags, message in [
        (["--device", "emulate:sm_75"], "a GPU target, one of sm_80, sm_86, sm_89, sm_90, sm_90a"),
        (["--device", "emulate:cpu"], "expected emulate: and a GPU target"),
        (["--device", "emulate:sm_80", "--async", "sometimes"], "expected early, late or random"),
        (["--device", "emulate:sm_80", "--threads", "2"], "has no meaning"),
        (["--device", "cpu", "--async", "late"], "--async: has no meaning"),
        (["--device", "cpu", "--l3", "x.mlir"], "--l3: has no meaning"),
        (["--device", "emulate:sm_80", "--l3", "no.mlir"], "--l3 no.mlir: cannot read"),
        (["--device", "emulate:sm_80", "--target", "cpu"], "does not run on"),
    ]:
        done = attnc("run", *words, *flags)
        assert done.returncode == 1 and message in done.stderr, done.stderr


def test_edited_program_runs_in_place_of_the_compiled_one(tmp_path):
    spec = ["head_dim=64", "heads_q=1", "heads_kv=1"]
    flags = ["seq_q=8", "seq_kv=8", "--device", "emulate:sm_80", "--check", "--l3"]
    whole = attnc("compile", *spec, "--target", "sm_80", "--emit", "llvm").stdout
    program = tmp_path / "edited.mlir"
    for text, code, message in [
        (whole, 0, ""),
        (whole.replace("nvvm.barrier0", "", 1), 1, "edited.mlir:"),
        (whole.replace("@attn_forward(", "@other(", 1), 1, "has no kernel 'attn_forward'"),
        ("llvm.fumc", 1, "edited.mlir:1:1: "),
        ("", 1, "has no kernel 'attn_forward'"),
        ("func.func private @f()", 1, "expected llvm.func and llvm.mlir.global"),
    ]:
        program.write_text(text)
        done = attnc("run", *spec, *flags, program)
        assert done.returncode == code and message in done.stderr, (text[:40], done.stderr)


def test_wrong_lse_is_told_to_the_last_digit(tmp_path):
    spec = ["dtype=f32", "head_dim=64", "heads_q=1"]
    whole = attnc("compile", *spec, "--target", "sm_80", "--emit", "llvm").stdout
    ln2 = "llvm.mlir.constant(0.693147182 : f32)"
    assert ln2 in whole
    program = tmp_path / "edited.mlir"
    program.write_text(whole.replace(ln2, "llvm.mlir.constant(0.69317 : f32)"))
    done = attnc("run", *spec, "seq_q=8", "--device", "emulate:sm_80", "--check", "--l3", program)
    assert done.returncode == 2
    told = re.search(r"lse of row \d of head 0: expected (\S+), got (\S+)", done.stderr)
    want, got = map(float, told.groups())
    assert 1e-5 < abs(got - want) < 1e-3, done.stderr


def test_step_limit_is_told(tmp_path):
    done = attnc("run", "head_dim=64", "heads_q=1", "seq_q=8", "--device", "emulate:sm_80",
                 "--max-steps", "1000")
    assert done.returncode == 1
    assert "instruction limit: " in done.stderr
    assert "it never ends, or needs a higher one (--max-steps)" in done.stderr


# Keys whose score is the row's largest share its weight evenly, however large it is.
@pytest.mark.parametrize("device", ["cpu", "emulate:sm_80", "emulate:sm_90a"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("scale", ["1", "3e4", "1e7", "1e30"])
def test_ties_share_the_weight(device, dtype, scale, tmp_path):
    keys, dim = 300, 64
    is_tied = np.arange(keys) % 37 == 5
    q = np.full((1, 70, 1, dim), 64, np.float32)
    k = np.where(is_tied, 8, 7)[None, :, None, None] * np.ones((1, keys, 1, dim), np.float32)
    # Whole numbers, so that their mean over eight keys is exact.
    v = np.random.default_rng(0).integers(-8, 8, (1, keys, 1, dim)).astype(np.float32)
    assert is_tied.sum() == 8
    expected = np.broadcast_to(v[:, is_tied].mean(axis=1, keepdims=True), q.shape)
    flags = []
    for name, array in {"q": q, "k": k, "v": v, "expect": expected}.items():
        np.save(tmp_path / f"{name}.npy", np.ascontiguousarray(array, np.float32))
        flags += [f"--{name}", tmp_path / f"{name}.npy"]
    done = attnc("run", f"dtype={dtype}", f"head_dim={dim}", "heads_q=1", "seq_q=70",
                 f"seq_kv={keys}", f"scale={scale}", "--device", device, "--check", "--repeat", "1",
                 "--json", *flags)
    assert done.returncode == 0, done.stderr
    if float(scale) > 1:
        assert json.loads(done.stdout)["expected"]["max_abs"] == 0
