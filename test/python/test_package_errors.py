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
    "scale": (arrays(), {"scale": -1e-9}, errors.SpecError, "scale=-1e-09: expected"),
    "large scale": (arrays(), {"scale": 1e300}, errors.SpecError, "scale=1e\\+300: expected"),
    "huge scale": (arrays(), {"scale": 10**400}, errors.SpecError, "scale: expected a finite number"),
    "mask none": (arrays(), {"mask": "none", "window": 3}, errors.SpecError,
                  "mask=none: contradicts window=3; leave mask out"),
    "scale nan": (arrays(), {"scale": float("nan")}, errors.SpecError, "scale"),
    "layout": (arrays(), {"layout": "sbhd"}, errors.SpecError, "layout: expected 'bshd'"),
    "out type": (arrays(), {"out": np.empty((1, 5, 2, 16), np.float16)}, errors.SpecError,
                 "out=f16: expected f32 as dtype is$"),
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


NOT_A_NUMBER = ["1", b"1", True, np.True_, [1.0], 1j, np.ones(2)]


@pytest.mark.parametrize("name", ["scale", "softcap"])
@pytest.mark.parametrize("value", NOT_A_NUMBER, ids=str)
def test_what_is_no_number(name, value):
    with pytest.raises(errors.ArgumentTypeError, match=f"^{name}: expected a number, got"):
        attn.attention(*arrays(), **{name: value})


@pytest.mark.parametrize("value", ["5", 1.5, 1.0, True, (1.0, 0), (True, 0), [False, 1], ("1", None)], ids=str)
def test_what_is_no_window(value):
    # Equal to what is refused, and kept for later calls.
    for equal in (1, (1, 0), (0, 1)):
        attn.attention(*arrays(), window=equal)
    with pytest.raises(errors.ArgumentTypeError, match="^window: expected an integer, got"):
        attn.attention(*arrays(), window=value)


def test_numbers_of_other_packages():
    q, k, v = arrays()
    want = attn.attention(q, k, v, scale=2.0, softcap=3.0, window=2)
    for kind in (np.float32, np.float64, np.int64, int):
        got = attn.attention(q, k, v, scale=kind(2), softcap=kind(3), window=np.int32(2))
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("place", ["q", "k", "v", "alibi_slopes", "out"])
def test_masked_arrays(place):
    """attn would compute with what their masks hide."""
    values = dict(zip("qkv", arrays()), alibi_slopes=np.ones(2, F), out=np.empty((1, 5, 2, 16), F))
    values[place] = np.ma.masked_array(values[place], mask=values[place] > 0)
    with pytest.raises(errors.ArgumentTypeError, match=f"^{place}: .*MaskedArray; pass its .filled"):
        attn.attention(**values)
    values[place] = values[place].data
    assert np.isfinite(attn.attention(**values)).all()


SURROGATE = "head_dim=64 \ud800"
TEXT_CASES = {
    "spec of 3": (lambda: attn.Spec(3), errors.ArgumentTypeError, "spec: expected text, got 3"),
    "spec, surrogate": (lambda: attn.Spec(SURROGATE), errors.SpecError, "spec: .*UTF-8 can hold"),
    "spec, NUL": (lambda: attn.Spec("head_dim=64 heads_q=4\0 dtype=bf16"), errors.SpecError,
                  "spec: expected text without NUL"),
    "key, NUL": (lambda: attn.Spec(head_dim=64, heads_q=4, mask="causal\0x"), errors.SpecError,
                 "mask: expected text without NUL"),
    "compile of None": (lambda: attn.compile(None), errors.ArgumentTypeError,
                        "spec: expected a Spec or its text, got None"),
    "target of None": (lambda: attn.compile(head_dim=64, heads_q=4, target=None),
                       errors.ArgumentTypeError, "target: expected text, got None"),
    "target, NUL": (lambda: attn.explain(head_dim=64, heads_q=4, target="sm_80\0a"),
                    errors.SpecError, "target: expected text without NUL"),
    "explain of None": (lambda: attn.explain(None, target="cpu"), errors.ArgumentTypeError, "spec:"),
    "record None": (lambda: attn.record(None), errors.ArgumentTypeError, "path: expected a path"),
    "record, NUL": (lambda: attn.record("a\0b"), errors.SpecError, "path: .*NUL"),
    "bundle of 3.0": (lambda: attn.add_bundle(3.0), errors.ArgumentTypeError, "path: expected a path"),
    "bundle, NUL": (lambda: attn.add_bundle(b"a\0b"), errors.SpecError, "path: .*NUL"),
    "bundle, no UTF-8": (lambda: attn.add_bundle(b"\xff"), errors.SpecError, "path: .*UTF-8"),
    "threads 2.5": (lambda: attn.configure(threads=2.5), errors.ArgumentTypeError,
                    "threads: expected an integer, got 2.5"),
    "threads True": (lambda: attn.configure(threads=True), errors.ArgumentTypeError, "threads:"),
    "metrics": (lambda: attn.metrics(3), errors.SpecError, "format: expected 'dict'"),
}


@pytest.mark.parametrize("case", TEXT_CASES)
def test_text_and_settings(case):
    call, kind, message = TEXT_CASES[case]
    with pytest.raises(kind, match=message):
        call()


def test_a_file_that_cannot_be_recorded_to_is_named(tmp_path):
    for path in (tmp_path, str(tmp_path), tmp_path / "no" / "file.jsonl"):
        with pytest.raises(errors.SpecError, match=f"cannot open '{path}'"):
            attn.record(path)


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
