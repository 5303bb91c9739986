"""Every problem of the matrix on the CPU against float64."""

import pytest
from attnc import run_batch
from numeric_matrix import CLASSES, problem

PROBLEMS = [(name, request) for name, requests in CLASSES.items() for request in requests]


def label(case):
    name, request = case
    skipped = {"check", "repeat"}
    return name + ":" + ",".join(f"{k}={v}" for k, v in request.items() if k not in skipped)


@pytest.fixture(scope="module")
def answers():
    return run_batch([request for _, request in PROBLEMS])


@pytest.mark.parametrize("index", range(len(PROBLEMS)), ids=[label(case) for case in PROBLEMS])
def test_matches_float64(answers, index):
    answer = answers[index]
    assert answer["passed"], answer.get("message") or answer["error"]["failure"]
    assert answer["error"]["checked_rows"] == answer["error"]["total_rows"]


def digests(requests, *flags):
    answers = run_batch(requests, *flags)
    assert all(answer["passed"] for answer in answers), answers
    return [answer["digest"] for answer in answers]


def test_bitwise_repeatable_on_any_number_of_threads():
    request = problem(dtype="bf16", head_dim=64, mask="causal", seq_q=500, seq_kv=500)
    once = digests([request, request], "--threads", "1")
    many = digests([request, request], "--threads", "5")
    assert len({*once, *many}) == 1


def test_bits_do_not_depend_on_the_layout():
    """So NaN in the gaps of a view never reaches the output."""
    layouts = ("dense", "head_major", "packed", "padded", "unaligned", "sparse")
    assert len(set(digests([problem(head_dim=64, layout=layout) for layout in layouts]))) == 1
