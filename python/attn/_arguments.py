"""Arguments as what they have to be, or an error that names them."""

import operator
import os

from .errors import ArgumentTypeError, SpecError


def integer(name, value):
    """An int; True and False are none."""
    if isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: expected an integer, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name}: expected an integer, got {value!r}") from None


def number(name, value):
    """A float; text, True and False are none, nor are those of NumPy and PyTorch."""
    is_bool = str(getattr(value, "dtype", type(value).__name__)).endswith("bool")
    if is_bool or isinstance(value, (str, bytes, bytearray)):
        raise ArgumentTypeError(f"{name}: expected a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise SpecError(f"{name}: expected a finite number, got {value!r}") from None
    # A tensor of several elements raises a RuntimeError.
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentTypeError(f"{name}: expected a number, got {value!r}") from None


def text(name, value):
    """Text that C, which ends texts at NUL, takes as it is."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name}: expected text, got {value!r}")
    if "\0" in value:
        raise SpecError(f"{name}: expected text without NUL characters, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SpecError(f"{name}: expected text that UTF-8 can hold, got {value!r}") from None
    return value


def path(name, value):
    """A path as text."""
    try:
        return text(name, os.fsdecode(value))
    except TypeError:
        raise ArgumentTypeError(f"{name}: expected a path, got {value!r}") from None
