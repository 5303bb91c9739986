"""The package attn on JAX arrays, and on arrays as CuPy describes them."""

import os
import subprocess
import sys
import types

import numpy as np
import pytest
from reference import attention as reference
from reference import relative_error

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")
jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy


@pytest.fixture
def cpu():
    """Arrays are made on the CPU, also where JAX has a GPU."""
    try:
        device = jax.devices("cpu")[0]
    except RuntimeError as error:
        pytest.skip(f"JAX has no CPU device: {error}")
    with jax.default_device(device):
        yield device


def make(dtype):
    rng = np.random.default_rng(2)
    shapes = [(2, 21, 4, 16), (2, 30, 2, 16), (2, 30, 2, 16)]
    return [jnp.asarray(rng.standard_normal(shape), dtype) for shape in shapes]


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-3), ("bfloat16", 1e-2)])
def test_attention(dtype, tolerance, cpu):
    arrays = make(dtype)
    o, lse = attn.attention(*arrays, mask="causal", return_lse=True)
    want = reference(*arrays, mask="causal")
    assert isinstance(o, jax.Array) and isinstance(lse, jax.Array) and o.dtype == dtype
    assert o.devices() == lse.devices() == {cpu}
    assert relative_error(o, want[0]) <= tolerance
    assert relative_error(lse, want[1]) <= 1e-3


def test_what_jax_cannot_do(cpu):
    q, k, v = make("float32")
    with pytest.raises(attn.errors.UnsupportedError, match="out for arrays"):
        attn.attention(q, k, v, out=np.empty(q.shape, np.float32))
    with pytest.raises(attn.errors.UnsupportedError, match="jax.jit"):
        jax.jit(attn.attention)(q, k, v)
    with pytest.raises(attn.errors.UnsupportedError, match="jax.jit"):
        jax.grad(lambda q: attn.attention(q, k, v).sum())(q)
    shape = jax.ShapeDtypeStruct(q.shape, q.dtype)
    inside = jax.jit(lambda q, k, v: jax.pure_callback(attn.attention, shape, q, k, v))
    assert relative_error(inside(q, k, v), reference(q, k, v)[0]) <= 1e-5


ON_ANOTHER_DEVICE = """
import attn, jax
there = jax.devices("cpu")[1]
q = jax.device_put(jax.numpy.ones((1, 5, 2, 16)), there)
o, lse = attn.attention(q, q, q, return_lse=True)
assert o.devices() == lse.devices() == {there} != jax.numpy.ones(1).devices()
"""


def test_results_are_where_q_is():
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), JAX_PLATFORMS="cpu",
                       XLA_FLAGS="--xla_force_host_platform_device_count=2")
    done = subprocess.run([sys.executable, "-c", ON_ANOTHER_DEVICE], env=environment,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class DeviceArray:
    """What CuPy shows of an array on device 1."""

    def __init__(self, array, strided=True):
        self.device = types.SimpleNamespace(id=1)
        self.shape, self.dtype = array.shape, array.dtype
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3,
            "data": (array.ctypes.data, False), "strides": array.strides if strided else None,
        }


@pytest.mark.parametrize("strided", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_cuda_array_interface(dtype, strided):
    import ml_dtypes  # noqa: F401

    room = np.zeros((2, 21, 8, 16), np.dtype(dtype))
    array = room[:, :, :4] if strided else room
    described = DeviceArray(array, strided)
    options = attn._core.Attention(0, -1, -1, 0.0, False, attn._core.CUDA_INTERFACE)
    name = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[dtype]
    spec = attn.Spec(options.spec_of(described, described, described, DeviceArray(
        np.empty(array.shape, array.dtype)), None, None))
    assert (spec.dtype, spec.heads_q, spec.head_dim) == (name, str(array.shape[2]), "16")
    with pytest.raises(attn.errors.ArgumentTypeError, match="k: expected an array on a CUDA device"):
        options.spec_of(described, array, described, described, None, None)
