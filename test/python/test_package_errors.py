"""What callers get wrong: an exception of attn.errors each time, and the process lives on."""

import numpy as np
import pytest

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
errors = attn.errors


def arrays(heads=2, dim=16, dtype=np.float32):
    return [np.ones((1, 5, heads, dim), dtype) for _ in range(3)]


def with_array(index, array):
    values = arrays()
    values[index] = array
    return values


F = np.float32
CASES = {
    "list": (with_array(0, [1.0]), {}, errors.ArgumentTypeError, "q: expected an array of NumPy"),
    "list of k": (with_array(1, [1.0]), {}, errors.ArgumentTypeError, "k: expected an array"),
    "None": (with_array(2, None), {}, errors.ArgumentTypeError, "v: expected an array"),
    "scalar": (with_array(0, np.float32(1)), {}, errors.SpecError, "q: expected 4 dimensions"),
    "rank 3": (with_array(0, np.ones((5, 2, 16), F)), {}, errors.SpecError, "got shape \\[5, 2, 16"),
    "rank 5": (with_array(1, np.ones((1, 1, 5, 2, 16), F)), {}, errors.SpecError, "k: expected 4"),
    "float64": (arrays(dtype=np.float64), {}, errors.SpecError, "q: expected elements.*float64"),
    "int": (arrays(dtype=np.int32), {}, errors.SpecError, "got int32"),
    "complex": (arrays(dtype=np.complex64), {}, errors.SpecError, "got complex64"),
    "object": (arrays(dtype=object), {}, errors.SpecError, "got object"),
    "text": (arrays(dtype="U4"), {}, errors.SpecError, "got <U4"),
    "big endian": (arrays(dtype=">f4"), {}, errors.SpecError, "got >f4"),
    "mixed types": (with_array(1, np.ones((1, 5, 2, 16), np.float16)), {}, errors.SpecError,
                    "k: expected element type f32 as q has, got f16"),
    "batch": (with_array(1, np.ones((2, 5, 2, 16), F)), {}, errors.SpecError, "k: expected batch 1"),
    "seq": (with_array(2, np.ones((1, 4, 2, 16), F)), {}, errors.SpecError, "v: expected seq 5"),
    "heads of v": (with_array(2, np.ones((1, 5, 1, 16), F)), {}, errors.SpecError,
                   "v: expected heads 2 as k has, got 1"),
    "heads of q": (with_array(0, np.ones((1, 5, 3, 16), F)), {}, errors.SpecError,
                   "heads_q to be a multiple of heads_kv"),
    "no heads": (arrays(heads=0), {}, errors.SpecError, "heads_q=0"),
    "head_dim": (with_array(1, np.ones((1, 5, 2, 8), F)), {}, errors.SpecError,
                 "k: expected head_dim 16 as q has, got 8"),
    "odd head_dim": (arrays(dim=20), {}, errors.SpecError, "multiple of 8"),
    "large head_dim": (arrays(dim=264), {}, errors.SpecError, "\\[8, 256\\]"),
    "strided": (with_array(0, np.ones((1, 5, 2, 32), F)[..., ::2]), {}, errors.SpecError,
                "contiguous last dimension"),
    "column": (with_array(0, np.asfortranarray(np.ones((1, 5, 2, 16), F))), {}, errors.SpecError,
               "contiguous last dimension"),
    "mask": (arrays(), {"mask": "casual"}, errors.SpecError, "mask: expected one of none, causal"),
    "bool mask": (arrays(), {"mask": np.ones((5, 5), bool)}, errors.SpecError, "mask: expected one"),
    "window of nothing": (arrays(), {"mask": "window"}, errors.SpecError, "window=W"),
    "window 0": (arrays(), {"window": 0}, errors.SpecError, "at least 1 key"),
    "window -2": (arrays(), {"window": (-2, 0)}, errors.SpecError, "counts of at least 0"),
    "three bounds": (arrays(), {"window": (1, 2, 3)}, errors.SpecError, "\\(left, right\\)"),
    "window right": (arrays(), {"mask": "causal", "window": (3, 2)}, errors.SpecError,
                     "no keys right of the diagonal"),
    "softcap": (arrays(), {"softcap": -1.0}, errors.SpecError, "softcap"),
    "softcap nan": (arrays(), {"softcap": float("nan")}, errors.SpecError, "softcap"),
    "softcap inf": (arrays(), {"softcap": float("inf")}, errors.SpecError, "softcap"),
    "scale": (arrays(), {"scale": -1.0}, errors.SpecError, "scale"),
    "scale nan": (arrays(), {"scale": float("nan")}, errors.SpecError, "scale"),
    "layout": (arrays(), {"layout": "sbhd"}, errors.SpecError, "layout: expected 'bshd'"),
    "out type": (arrays(), {"out": np.empty((1, 5, 2, 16), np.float16)}, errors.SpecError, "out"),
    "out shape": (arrays(), {"out": np.empty((1, 5, 2, 8), F)}, errors.SpecError,
                  "o: expected head_dim 16"),
    "out list": (arrays(), {"out": [0.0]}, errors.ArgumentTypeError, "o: expected an array"),
    "slopes shape": (arrays(), {"alibi_slopes": np.ones(3, F)}, errors.SpecError, "slopes"),
    "slopes type": (arrays(), {"alibi_slopes": np.ones(2)}, errors.SpecError, "alibi_slopes"),
    "slopes list": (arrays(), {"alibi_slopes": [1.0, 2.0]}, errors.ArgumentTypeError, "alibi"),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    values, options, kind, message = CASES[case]
    with pytest.raises(kind, match=message):
        attn.attention(*values, **options)


def test_read_only_out():
    out = np.empty((1, 5, 2, 16), F)
    out.flags.writeable = False
    with pytest.raises(errors.SpecError, match="o: expected an array that may be written"):
        attn.attention(*arrays(), out=out)


def test_out_that_is_an_input():
    q, k, v = arrays()
    with pytest.raises(errors.SpecError, match="memory of its own, got that of k"):
        attn.attention(q, k, v, out=k)


def test_classes_are_built_in_ones_too():
    assert issubclass(errors.SpecError, ValueError)
    assert issubclass(errors.ArgumentTypeError, TypeError)
    assert issubclass(errors.UnsupportedError, NotImplementedError)
    for name in ("CompileError", "CacheMissError", "CaptureError", "DeviceError"):
        assert issubclass(getattr(errors, name), RuntimeError)


def test_wrong_types_of_options():
    for options in ({"window": "3"}, {"window": 1.5}, {"scale": "x"}, {"softcap": "x"}):
        with pytest.raises((TypeError, ValueError)):
            attn.attention(*arrays(), **options)


def test_random_misfits_are_errors_or_results():
    """Whatever the shapes, strides and types: an exception or a finite result."""
    rng = np.random.default_rng(11)

    def mostly(usual, *others):
        return others[rng.integers(len(others))] if rng.random() < 0.08 else usual

    def tensor(seq, heads):
        shape = [mostly(2, 0, 1), mostly(seq, 0, 7), mostly(heads, 0, 1, 3), mostly(8, 16, 12)]
        array = np.ones(shape[: mostly(4, 3)], mostly(F, np.float16, np.float64))
        array = array.swapaxes(*mostly((0, 0), (0, 1), (0, -1), (1, -1)))
        return array[:, :: mostly(1, -1, 2)]

    outcomes = {"result": 0, "error": 0}
    for _ in range(300):
        seq_kv = mostly(3, 1, 5)
        try:
            o = attn.attention(tensor(5, 4), tensor(seq_kv, 2), tensor(seq_kv, 2), mask="causal")
        except errors.AttnError:
            outcomes["error"] += 1
        else:
            assert np.isfinite(o).all()
            outcomes["result"] += 1
    assert min(outcomes.values()) > 20
