"""GPU kernels on the emulator against float64: every row of the tables at small shapes."""

import json
import re

import pytest
from attnc import ROOT, attnc, run_batch
from emulated_matrix import PROBLEMS

MODES = ["early", "late", "random:1", "random:2"]
# Keys of a problem that the choice of a kernel does not depend on.
RUN_KEYS = {"batch", "seq_q", "seq_kv", "check", "repeat", "layout"}
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
    rows = set(re.findall(r'(?:mmaRow\(|\.name = )"(\w+)"', source))
    assert len(rows) == {"SM80": 10, "SM90": 7}[table]
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
        (["--device", "emulate:sm_12"], "expected emulate: and a GPU target"),
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
