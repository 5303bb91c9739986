"""What attn raises. Each class is a built-in one too, so that general handlers work."""

__all__ = [
    "AttnError",
    "ArgumentTypeError",
    "CacheMissError",
    "CaptureError",
    "CompileError",
    "DeviceError",
    "SpecError",
    "UnsupportedError",
]


class AttnError(Exception):
    """The base of all of them."""


class SpecError(AttnError, ValueError):
    """A value, shape or element type is outside of what attn takes; the message says what it takes."""


class ArgumentTypeError(AttnError, TypeError):
    """An argument is of a wrong type: no array, one of another framework than q, no number, no text."""


class UnsupportedError(AttnError, NotImplementedError):
    """A drop-in was asked for something that attn does not have. `feature` names it."""

    feature: str

    def __init__(self, feature: str, hint: str = "") -> None:
        super().__init__(f"attn has no {feature}" + (f"; {hint}" if hint else ""))
        self.feature = feature

    def __reduce__(self):
        return _restore_unsupported, (self.args[0], self.feature)


def _restore_unsupported(message, feature):
    error = UnsupportedError(feature)
    error.args = (message,)
    return error


class CompileError(AttnError, RuntimeError):
    """The compiler failed on input that it should take: a fault of attn."""


class CacheMissError(AttnError, RuntimeError):
    """A kernel would have to be compiled, which the mode "forbid" does not allow."""


class CaptureError(AttnError, RuntimeError):
    """A CUDA graph is captured, and the call would load a kernel or allocate."""


class DeviceError(AttnError, RuntimeError):
    """A device, its driver or its memory is missing, or arrays lie on different devices."""
