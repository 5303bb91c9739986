"""Every field of a schedule of sm_90a changed alone, in each row of its table: right numbers."""

import itertools
import json

import pytest
from attnc import attnc, run_batch
from emulated_matrix import SM90A

# The value of a field that asks for less at once, and the one that asks for more.
OFF = {
    "overlap": False, "pingpong": False, "integer_max": False, "lazy_rescale": False,
    "kv_order": "ascending", "persistent": "none", "order": "linear", "stages": 1, "q_stages": 1,
    "q_in_registers": False, "q_by_warpgroup": False,
}
ON = {
    "overlap": True, "pingpong": True, "integer_max": True, "lazy_rescale": True,
    "kv_order": "descending", "persistent": "static", "order": "longest_first", "stages": 2,
    "q_stages": 2, "q_in_registers": True, "q_by_warpgroup": True,
}
# What a field takes with it: without lazy rescaling no score is compared with a reference, and
# q_stages counts what q_by_warpgroup says.
TAKES = {"lazy_rescale": {"integer_max"}, "q_by_warpgroup": {"q_stages"}}


def other_values(field, schedule):
    """Pins of a field's other values, each with whether it asks for less."""
    is_on = schedule[field] != OFF[field]
    yield {field: OFF[field] if is_on else ON[field]}, is_on
    if schedule[field] == "dynamic":
        yield {field: "static"}, True


def alternatives(field, schedule):
    """The same, with what a field takes with it."""
    for pins, is_less in other_values(field, schedule):
        if is_less and schedule["q_by_warpgroup"]:
            if field == "q_stages":
                pins = {field: schedule["warps"] // 4}
            elif field == "q_by_warpgroup":
                pins |= {"q_stages": 1}
        yield pins, is_less


def words(keys):
    return [f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in keys.items()]


def explain(keys):
    """What is said of a problem, or None when no row takes it."""
    done = attnc("explain", *words(keys), "--target", "sm_90a", "--json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


def changed(base, other):
    return {field for field in base if base[field] != other[field]}


def cases():
    """What is said of a problem of each row, and the same problem with one field changed.

    A field that asks for more than the row has room for is left out; less must always fit.
    """
    rows = set()
    lengths = [{}, {"max_seq_len": 1024}]
    for (head_dim, head_dim_v), length in itertools.product(SM90A.TILES, lengths):
        for mask in ("none", "causal"):
            spec = {"dtype": "bf16", "head_dim": head_dim, "head_dim_v": head_dim_v, "mask": mask,
                    "heads_q": 2, "heads_kv": 1} | length
            base = explain(spec)
            assert base["row"].startswith("wgmma"), base["row"]
            if base["row"] in rows:
                continue
            rows.add(base["row"])
            for field in OFF:
                for pins, is_less in alternatives(field, base["schedule"]):
                    other = explain(spec | pins)
                    fits = other is not None and other["row"] == base["row"]
                    assert fits or not is_less, spec | pins
                    if not fits:
                        continue
                    difference = changed(base["schedule"], other["schedule"])
                    assert difference - TAKES.get(field, set()) == {field}, (spec | pins, difference)
                    yield base, spec | pins


@pytest.fixture(scope="module")
def problems():
    """Four Q tiles for three CTAs, and three K/V tiles: more than one round of every loop and ring.

    The last tile of either kind is an edge.
    """
    return [
        keys | {"batch": 1, "seq_q": base["schedule"]["q_tile"] + 3,
                "seq_kv": 2 * base["schedule"]["kv_tile"] + 5, "check": True, "repeat": 1}
        for base, keys in cases()
    ]


def test_every_field_is_changed_somewhere(problems):
    for field in OFF:
        assert any(keys.get(field) == OFF[field] for keys in problems), field
    for field in ("pingpong", "persistent", "order"):
        assert any(keys.get(field) == ON[field] for keys in problems), field


@pytest.mark.parametrize("mode", ["late", "random:1"])
def test_one_field_changed_matches_float64(problems, mode):
    answers = run_batch(problems, "--device", "emulate:sm_90a", "--async", mode)
    assert not [
        (keys, answer.get("message") or answer["error"]["failure"])
        for keys, answer in zip(problems, answers)
        if not answer["passed"]
    ]
