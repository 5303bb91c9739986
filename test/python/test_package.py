"""The package attn on NumPy arrays: results, layouts, options, settings."""

import multiprocessing
import pickle
import threading

import numpy as np
import pytest
from reference import attention as reference
from reference import relative_error

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = {
    "float32": (np.float32, 1e-5),
    "float16": (np.float16, 2e-3),
    "bfloat16": (ml_dtypes.bfloat16, 1e-2),
}


def make(batch=2, seq_q=33, seq_kv=47, heads_q=4, heads_kv=2, dim=16, dim_v=None, dtype=np.float32):
    rng = np.random.default_rng(7)
    shapes = [
        (batch, seq_q, heads_q, dim), (batch, seq_kv, heads_kv, dim),
        (batch, seq_kv, heads_kv, dim_v or dim),
    ]
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def check(arrays, *, tolerance=1e-5, slopes=None, window=None, **options):
    given = (window - 1, 0) if isinstance(window, int) else window
    o, lse = attn.attention(
        *arrays, return_lse=True, window=window, alibi_slopes=slopes, **options
    )
    want_o, want_lse = reference(*arrays, window=given, slopes=slopes, **options)
    assert o.dtype == arrays[0].dtype and lse.dtype == np.float32
    assert relative_error(o, want_o) <= tolerance
    finite = np.isfinite(want_lse)
    assert (np.isneginf(lse) == ~finite).all()
    np.testing.assert_allclose(lse[finite], want_lse[finite], rtol=0, atol=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask", [None, "causal", "causal_top_left"])
def test_types_and_masks(dtype, mask):
    kind, tolerance = DTYPES[dtype]
    check(make(dtype=kind), tolerance=tolerance, mask=mask)


@pytest.mark.parametrize(
    "options",
    [
        {"window": 5},
        {"window": (3, 4)},
        {"window": (-1, 2)},
        {"mask": "causal", "window": 7},
        {"mask": "window_top_left", "window": (9, 1)},
        {"softcap": 3.0, "mask": "causal"},
        {"scale": 0.7},
        {"slopes": np.array([0.5, 0.25, 0.125, 0.0625], np.float32), "mask": "causal"},
    ],
    ids=str,
)
@pytest.mark.parametrize("lengths", [(33, 47), (47, 33), (1, 40)])
def test_options(options, lengths):
    check(make(seq_q=lengths[0], seq_kv=lengths[1]), **options)


def test_head_dims_and_groups():
    check(make(heads_q=5, heads_kv=1, dim=40, dim_v=24))


def test_head_major_layout():
    arrays = [np.ascontiguousarray(array.transpose(0, 2, 1, 3)) for array in make()]
    check(arrays, layout="bhsd", mask="causal")


def test_views_are_read_where_they_are():
    packed = np.random.default_rng(3).standard_normal((2, 30, 3, 4, 16)).astype(np.float32)
    views = [packed[:, :, i] for i in range(3)]
    check(views)
    # Expanded, reversed and unaligned.
    q, k, v = make(batch=2)
    check([q, np.broadcast_to(k[:1], k.shape), v[:, ::-1]])
    room = np.zeros(q.size + 1, np.float32)
    room[1:] = q.ravel()
    check([room[1:].reshape(q.shape), k, v])
    frozen = q.copy()
    frozen.flags.writeable = False
    check([frozen, k, v])


def test_out():
    q, k, v = make()
    room = np.full((2, 4, 33, 16), np.nan, np.float32)
    out = room.transpose(0, 2, 1, 3)
    assert attn.attention(q, k, v, out=out) is out
    assert relative_error(out, reference(q, k, v)[0]) <= 1e-5
    wide = np.empty(q.shape, np.float32)
    halves = [array.astype(np.float16) for array in (q, k, v)]
    attn.attention(*halves, out=wide)
    assert relative_error(wide, reference(*halves)[0]) <= 1e-3


def test_empty_tensors():
    q, k, v = make(seq_kv=0)
    o, lse = attn.attention(q, k, v, return_lse=True)
    assert (o == 0).all() and np.isneginf(lse).all()
    q, k, v = make(seq_q=0)
    assert attn.attention(q, k, v).shape == (2, 0, 4, 16)
    q, k, v = make(batch=0)
    assert attn.attention(q, k, v).shape == (0, 33, 4, 16)


def test_rows_that_see_nothing():
    q, k, v = make(seq_q=9, seq_kv=4)
    o, lse = attn.attention(q, k, v, mask="causal", return_lse=True)
    assert (o[:, :5] == 0).all() and np.isneginf(lse[:, :, :5]).all()


def test_calls_from_threads():
    q, k, v = make(heads_q=6, heads_kv=3)
    want = reference(q, k, v)[0]
    errors = []

    def work():
        for _ in range(5):
            errors.append(relative_error(attn.attention(q, k, v), want))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 20 and max(errors) <= 1e-5


def _in_child(queue):
    q, k, v = make(heads_q=3, heads_kv=3)
    seen = relative_error(attn.attention(q, k, v), reference(q, k, v)[0])
    q, k, v = make(dim=56)
    queue.put(max(seen, relative_error(attn.attention(q, k, v), reference(q, k, v)[0])))


def test_a_forked_child_goes_on():
    # The parent has used its threads.
    attn.attention(*make(heads_q=3, heads_kv=3))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) <= 1e-5
    child.join(60)
    assert child.exitcode == 0


@pytest.fixture
def settings():
    before = attn.configure()
    yield
    attn.configure(**before)


def test_forbid_and_compile(settings):
    q, k, v = make(dim=72)
    attn.configure(mode="forbid")
    with pytest.raises(attn.errors.CacheMissError, match="head_dim=72.*forbidden"):
        attn.attention(q, k, v)
    attn.compile(dtype="f32", head_dim=72, heads_q=4, heads_kv=2, lse=False)
    assert relative_error(attn.attention(q, k, v), reference(q, k, v)[0]) <= 1e-5


def test_background(settings):
    q, k, v = make(dim=88)
    attn.configure(mode="background")
    for _ in range(3):
        assert relative_error(attn.attention(q, k, v), reference(q, k, v)[0]) <= 1e-5
        attn._core.wait()


def test_threads(settings):
    assert attn.configure(threads=1)["threads"] == 0
    check(make())
    with pytest.raises(attn.errors.SpecError, match="threads: expected 0 to 4096"):
        attn.configure(threads=-1)
    with pytest.raises(attn.errors.SpecError, match="mode: expected one of synchronous"):
        attn.configure(mode="fast")


def test_specs():
    spec = attn.Spec("mask=causal", dtype="bf16", head_dim=128, heads_q=32, heads_kv=8, window=1024)
    assert spec == attn.Spec(head_dim=128, heads_q=32, heads_kv=8, mask="window", window=(1023, 0))
    assert spec.window_left == "1023" and spec.as_dict()["heads_kv"] == "8"
    assert pickle.loads(pickle.dumps(spec)) == spec and len({spec, attn.Spec(str(spec))}) == 1
    with pytest.raises(attn.errors.SpecError, match="did you mean 'head_dim'"):
        attn.Spec(head_dm=128, heads_q=1)
    with pytest.raises(attn.errors.SpecError, match="pad the tensors to 104 columns"):
        attn.Spec(head_dim=100, heads_q=1)
    with pytest.raises(AttributeError, match="softcap"):
        spec.softcap
    with pytest.raises(AttributeError):
        spec.mask = "none"


def test_compile_for_a_gpu_needs_none():
    kernel = attn.compile("mask=causal", head_dim=64, heads_q=4, target="sm_90a")
    assert ".target sm_90a" in kernel.ptx and kernel.manifest["chip"] == "sm_90a"
    assert kernel.spec.mask == "causal"
    with pytest.raises(attn.errors.SpecError, match="unknown target 'sm_1'"):
        attn.compile(head_dim=64, heads_q=4, target="sm_1")


def test_explain():
    explanation = attn.explain(head_dim=64, heads_q=4, target="sm_80", seq_q=512)
    assert "schedule" in str(explanation) and explanation.data["target"] == "sm_80"
