"""attnc explain --matrix says of each problem what attnc explain and the compiler say of it."""

import itertools
import json
import random

import pytest
from attnc import attnc

RANGES = {"head_dim": range(8, 257, 8), "head_dim_v": range(8, 513, 8)}
VALUES = {
    "phase": ["prefill", "decode"],
    "dtype": ["f32", "f16", "bf16"],
    "mask": ["none", "causal", "window"],
    "max_seq_len": None,  # What the target's rows ask for.
    "alignment": [16, 8, 4, 2],
}
FEATURES = {
    "heads_kv = heads_q / 4": ["heads_kv=2"],
    "heads_kv = 1": ["heads_kv=1"],
    "alibi=true": ["alibi=true"],
    "softcap=50": ["softcap=50"],
    "lse=false": ["lse=false"],
    "out=f32": ["out=f32"],
}


def matrices(*words):
    done = attnc("explain", "--matrix", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["matrices"]


@pytest.fixture(scope="module")
def everything():
    return {target: matrix for matrix in matrices() for target in matrix["targets"]}


def axes(table):
    """The names of a table's axes."""
    return [name for name in (*VALUES, *RANGES) if name in table[0]]


def problems(row, names):
    """All values of the axes that a row holds for."""
    def values(name):
        if name not in RANGES:
            return row[name]
        return [dim for each in row[name] for dim in range(each["min"], each["max"] + 1, 8)]

    return itertools.product(*map(values, names))


def words_of(problem, names):
    words = dict(zip(names, problem)) | {"heads_q": 8}
    if words["mask"] == "window":
        words |= {"window_left": 128, "window_right": 128}
    if words.get("max_seq_len") == "longer":
        del words["max_seq_len"]
    if words["dtype"] == "f32" and words.get("alignment") == 2:
        words["alignment"] = 4
    return [f"{key}={value}" for key, value in words.items()]


def explained(words, target):
    answer = json.loads(attnc("explain", *words, "--target", target, "--json").stdout)
    schedule = answer.get("schedule", {})
    fields = {key: schedule.get(key) for key in ("instruction", "q_tile", "kv_tile", "stages")}
    return {"row": answer.get("row")} | fields


def said(row):
    return {key: row.get(key) for key in ("row", "instruction", "q_tile", "kv_tile", "stages")}


def test_every_target_is_there(everything):
    message = attnc("explain", "--matrix", "--target", "none").stderr
    assert set(everything) == set(message.split("expected one of ")[1].strip().split(", "))


@pytest.mark.parametrize("table", ["equal_head_dims", "any_head_dims"])
def test_each_problem_is_in_one_cell(everything, table):
    for target, matrix in everything.items():
        names = axes(matrix[table])
        seen = [problem for row in matrix[table] for problem in problems(row, names)]
        assert len(seen) == len(set(seen)), target
        expected = 1
        for name in names:
            expected *= len(RANGES.get(name) or VALUES[name]
                            or {value for row in matrix[table] for value in row[name]})
        assert len(seen) == expected, target


@pytest.mark.parametrize("table", ["equal_head_dims", "any_head_dims"])
@pytest.mark.parametrize("target", ["cpu", "sm_80", "sm_86", "sm_90a"])
def test_cells_say_what_explain_says(everything, target, table):
    """At the corners of each cell, where a wrong limit would show."""
    choose = random.Random(0).choice
    rows = everything[target][table]
    names = axes(rows)
    for row in rows:
        for end in ("min", "max"):
            problem = [choose(row[name])[end] if name in RANGES else choose(row[name])
                       for name in names]
            words = words_of(problem, names)
            assert explained(words, target) == said(row), words


@pytest.mark.parametrize("target", ["cpu", "sm_80", "sm_90a"])
def test_features_say_what_explain_says(everything, target):
    plain = everything[target]["equal_head_dims"]
    names = axes(plain)
    rows = {problem: row for row in plain for problem in problems(row, names)}
    choose = random.Random(1).choice
    for entry in everything[target]["features"]:
        if entry["feature"] not in FEATURES:
            continue
        changed = {p: row for row in entry["changed"] for p in problems(row, names)}
        samples = [choose(list(rows))] + ([choose(list(changed))] if changed else [])
        for problem in samples:
            expected = said(changed.get(problem) or rows[problem])
            words = words_of(problem, names) + FEATURES[entry["feature"]]
            assert explained(words, target) == expected, words


def test_numbers_are_numbers(everything):
    rows = everything["sm_90a"]["equal_head_dims"]
    assert {value for row in rows for value in row["max_seq_len"]} == {1024, 2048, 4096, 8192, "longer"}
    assert {value for row in rows for value in row["alignment"]} == {16, 8, 4, 2}


def test_one_target_alone_and_as_text():
    (matrix,) = matrices("--target", "sm_90a")
    assert matrix["targets"] == ["sm_90a"]
    text = attnc("explain", "--matrix", "--target", "sm_90a").stdout
    assert text.startswith("## sm_90a\n")
    assert "| `wgmma_d128` | wgmma |" in text
    assert text.endswith("|\n")
