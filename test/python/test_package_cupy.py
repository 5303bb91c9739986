"""The package attn on CuPy arrays, where there is a CUDA device."""

import numpy as np
import pytest
from reference import attention as reference
from reference import relative_error

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
if not cupy.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-3)])
def test_attention(dtype, tolerance):
    rng = np.random.default_rng(4)
    room = cupy.asarray(rng.standard_normal((2, 70, 3, 4, 64)), dtype)
    q, k, v = (room[:, :, i] for i in range(3))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        o, lse = attn.attention(q, k, v, mask="causal", return_lse=True)
        assert isinstance(o, cupy.ndarray) and o.dtype == dtype
        got = [cupy.asnumpy(array, stream=stream) for array in (o, lse)]
    want = reference(*(cupy.asnumpy(array) for array in (q, k, v)), mask="causal")
    assert relative_error(got[0], want[0]) <= tolerance
    assert relative_error(got[1], want[1]) <= 1e-3
