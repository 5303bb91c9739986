"""How the arrays of each framework are read, made and ordered with other work."""

from . import _core
from .errors import ArgumentTypeError, UnsupportedError


class NumPy:
    """NumPy arrays, bfloat16 ones through ml_dtypes."""

    protocol = _core.DLPACK
    is_writable = True

    def __init__(self):
        import numpy

        self.module = numpy
        self.float32 = numpy.dtype("float32")
        self.masked = numpy.ma.MaskedArray
        try:
            import ml_dtypes
        except ImportError:
            return
        _core.register_type(numpy.dtype(ml_dtypes.bfloat16), "bf16")

    def empty(self, like, shape, dtype):
        return self.module.empty(shape, dtype)

    def stream(self, array):
        """The stream on which work on the array has to be."""
        return 0

    def allocator(self, array):
        """On a device: a function from bytes to scratch memory, which its allocator orders with
        other work on the stream, and the memory's address."""
        return None

    def finish(self, array, like):
        """A result as the caller gets it, where `like` lies."""
        return array

    def is_traced(self):
        """Whether a compiler of the framework runs the call on stand-ins for arrays."""
        return False

    def check(self, q, k, v, slopes, out):
        """Refuses arrays that attn would give wrong results on."""
        for name, array in (
            ("q", q), ("k", k), ("v", v), ("alibi_slopes", slopes), ("out", out)
        ):
            if isinstance(array, self.masked):
                raise ArgumentTypeError(
                    f"{name}: expected an array without a mask, got a numpy.ma.MaskedArray; pass its "
                    ".filled(value), or .data to leave the mask out"
                )


class Torch(NumPy):
    """PyTorch tensors, on the CPU or a CUDA device."""

    protocol = _core.TORCH

    def __init__(self):
        import torch

        self.module = torch
        self.float32 = torch.float32
        for name, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16)]:
            _core.register_type(dtype, name)

    def empty(self, like, shape, dtype):
        return like.new_empty(shape, dtype=dtype)

    def stream(self, array):
        if not array.is_cuda:
            return 0
        return self.module.cuda.current_stream(array.device).cuda_stream

    def allocator(self, array):
        if not array.is_cuda:
            return None

        def allocate(size):
            memory = self.module.empty(size, dtype=self.module.uint8, device=array.device)
            return memory, memory.data_ptr()

        return allocate

    def is_traced(self):
        return self.module.compiler.is_compiling()

    def check(self, q, k, v, slopes, out):
        try:
            wanted = q.requires_grad or k.requires_grad or v.requires_grad
            wanted = wanted or slopes is not None and slopes.requires_grad
        except AttributeError:
            return  # One is no tensor, which is found when they are read.
        if wanted and self.module.is_grad_enabled():
            raise UnsupportedError(
                "backward pass", "call it under torch.no_grad(), or on detached tensors"
            )


class Jax(NumPy):
    """JAX arrays on the CPU. They cannot be written to, so that results are made with NumPy."""

    is_writable = False

    def __init__(self):
        super().__init__()
        import jax

        self.jax = jax

    def finish(self, array, like):
        # JAX's default device may be another, such as a GPU.
        return self.jax.device_put(array, next(iter(like.devices())))

    def check(self, q, k, v, slopes, out):
        super().check(q, k, v, slopes, out)
        for array in (q, k, v, slopes):
            if isinstance(array, self.jax.core.Tracer):
                raise UnsupportedError(
                    "call inside of jax.jit", "call it outside, or through jax.pure_callback"
                )
            if isinstance(array, self.jax.Array) and any(
                device.platform != "cpu" for device in array.devices()
            ):
                raise UnsupportedError("JAX arrays on a GPU", "pass them to torch through DLPack")


class CuPy(NumPy):
    """CuPy arrays, on the current stream of CuPy."""

    protocol = _core.CUDA_INTERFACE

    def __init__(self):
        super().__init__()
        import cupy

        self.module = cupy

    def stream(self, array):
        return self.module.cuda.get_current_stream().ptr

    def allocator(self, array):
        def allocate(size):
            memory = self.module.empty(size, self.module.uint8)
            return memory, memory.data.ptr

        return allocate


_KINDS = {"numpy": NumPy, "torch": Torch, "jax": Jax, "jaxlib": Jax, "cupy": CuPy}
_made = {}
_by_type = {}


def framework_of(name, array):
    """The framework that an array belongs to; ArgumentTypeError for what is none."""
    found = _by_type.get(type(array))
    return found if found is not None else _find(name, array)


def require_tensors(**arrays):
    """Refuses what is no PyTorch tensor, for functions that call its methods."""
    for name, array in arrays.items():
        if not isinstance(framework_of(name, array), Torch):
            raise ArgumentTypeError(f"{name}: expected a torch.Tensor, got {type(array).__name__}")


def _find(name, array):
    for base in type(array).__mro__:
        kind = _KINDS.get(base.__module__.partition(".")[0])
        if kind is None or not hasattr(array, "shape"):
            continue
        if kind not in _made:
            _made[kind] = kind()
        _by_type[type(array)] = _made[kind]
        return _made[kind]
    raise ArgumentTypeError(
        f"{name}: expected an array of NumPy, PyTorch, JAX or CuPy, got "
        f"{type(array).__module__}.{type(array).__qualname__}"
    )
