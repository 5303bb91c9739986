"""The problems of the matrix on the first GPU against float64; skipped where there is none."""

import ctypes

import pytest
from attnc import run_batch
from numeric_matrix import CLASSES, problem


def has_gpu():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


pytestmark = pytest.mark.skipif(not has_gpu(), reason="no GPU")

# Schedules that no tensor-core path takes are tested by attn-verify-schedule's own tests.
PINNED = {"q_tile", "kv_tile"}
PROBLEMS = [
    (name, request)
    for name, requests in CLASSES.items()
    for request in requests
    if request.get("layout") != "sparse" and not PINNED & request.keys()
]


def label(case):
    name, request = case
    skipped = {"check", "repeat"}
    return name + ":" + ",".join(f"{k}={v}" for k, v in request.items() if k not in skipped)


@pytest.fixture(scope="module")
def answers():
    return run_batch([request for _, request in PROBLEMS], "--device", "cuda:0")


@pytest.mark.parametrize("index", range(len(PROBLEMS)), ids=[label(case) for case in PROBLEMS])
def test_matches_float64(answers, index):
    answer = answers[index]
    assert answer["passed"], answer.get("message") or answer["error"]["failure"]


def test_bitwise_repeatable():
    request = problem(dtype="bf16", head_dim=64, mask="causal", seq_q=500, seq_kv=500)
    answers = run_batch([request] * 3, "--device", "cuda:0")
    assert len({answer["digest"] for answer in answers}) == 1
