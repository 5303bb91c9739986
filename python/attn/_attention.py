"""attn.attention and the options behind it."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypeVar, Union, overload

from . import _arguments, _core
from ._frameworks import framework_of
from .errors import SpecError, UnsupportedError

_MASKS = {"none": 0, "causal": 1, "causal_top_left": 2, "window": 3, "window_top_left": 4}
_LAYOUTS = {"bshd": False, "bhsd": True}

threads = 0
"""Threads of the CPU target; 0 is one for each processor. Set by attn.configure."""


def _bound(value):
    """A bound of a window: a count of keys, or -1 for all."""
    if value is None:
        return -1
    count = _arguments.integer("window", value)
    if count < -1:
        raise SpecError(f"window: expected counts of at least 0, or -1 or None for all, got {count}")
    return min(count, 2**62)


def _window(mask, window):
    """The mask's number and bounds with a window folded in."""
    top_left = mask.endswith("top_left")
    if isinstance(window, (tuple, list)):
        if len(window) != 2:
            raise SpecError(f"window: expected W or (left, right), got {window!r}")
        left, right = map(_bound, window)
    else:
        left, right = _bound(window) - 1, 0
        if left < 0:
            raise SpecError(f"window: expected at least 1 key, got {window!r}")
    if mask.startswith("causal"):
        if right > 0:
            raise SpecError(f"window: expected no keys right of the diagonal of a causal mask, got {right}")
        right = 0
    return _MASKS["window_top_left" if top_left else "window"], left, right


_options = {}


def options_of(mask, window, softcap, layout, protocol):
    """The compiled form of a call's options, kept for the next call."""
    options = (mask, window, softcap, layout, protocol)
    # 1, 1.0 and True are equal keys, of which the last two are no bounds.
    key = options if window is None and softcap is None else (*options, _types(window), type(softcap))
    try:
        found = _options.get(key)
    except TypeError:  # What cannot be a key: a window that is a list, or no option at all.
        return _make_options(*options)
    if found is None:
        if len(_options) >= 1024:
            _options.clear()
        found = _options[key] = _make_options(*options)
    return found


def _types(value):
    return tuple(map(type, value)) if type(value) is tuple else type(value)


def _make_options(mask, window, softcap, layout, protocol):
    if mask is None:
        mask = "none" if window is None else "window"
    if not isinstance(mask, str) or mask not in _MASKS:
        raise SpecError(f"mask: expected one of {', '.join(_MASKS)} or None, got {mask!r}")
    if not isinstance(layout, str) or layout not in _LAYOUTS:
        raise SpecError(f"layout: expected 'bshd' or 'bhsd', got {layout!r}")
    kind, left, right = _MASKS[mask], -1, -1
    if mask == "none" and window is not None:
        raise SpecError(
            f"mask=none: contradicts window={window!r}; leave mask out for the window alone, or use "
            "mask='causal' for one that ends at the diagonal"
        )
    if window is not None:
        kind, left, right = _window(mask, window)
    elif mask.startswith("window"):
        raise SpecError(f"mask={mask}: expected window=W or window=(left, right) as well")
    cap = 0.0 if softcap is None else _arguments.number("softcap", softcap)
    if softcap is not None and not cap > 0:
        raise SpecError(f"softcap: expected a positive number, or None for none, got {softcap!r}")
    return _core.Attention(kind, left, right, cap, _LAYOUTS[layout], protocol)


def result_shapes(q, v, layout):
    """Shapes of o and lse, or an error where q and v have none."""
    shape_q, shape_v = q.shape, v.shape
    if len(shape_q) != 4 or len(shape_v) != 4:
        name, array = ("q", q) if len(shape_q) != 4 else ("v", v)
        order = "[batch, seq, heads, head_dim]" if layout == "bshd" else "[batch, heads, seq, head_dim]"
        raise SpecError(f"{name}: expected 4 dimensions {order}, got shape {list(array.shape)}")
    batch, first, second, _ = shape_q
    lse = (batch, second, first) if layout == "bshd" else (batch, first, second)
    return (batch, first, second, shape_v[3]), lse


Array = TypeVar("Array")
Mask = Literal["none", "causal", "causal_top_left", "window", "window_top_left"]
Window = Union[int, tuple[Optional[int], Optional[int]]]
Layout = Literal["bshd", "bhsd"]


@overload
def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Mask | None = None,
    window: Window | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    return_lse: Literal[False] = False,
    out: Array | None = None,
    layout: Layout = "bshd",
) -> Array: ...


@overload
def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    mask: Mask | None = None,
    window: Window | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    alibi_slopes: Array | None = None,
    return_lse: Literal[True],
    out: Array | None = None,
    layout: Layout = "bshd",
) -> tuple[Array, Array]: ...


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    mask: Mask | None = None,
    window: Window | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    alibi_slopes: Any = None,
    return_lse: bool = False,
    out: Any = None,
    layout: Layout = "bshd",
) -> Any:
    """Attention: softmax(scale * q k^T) v, softmax over the keys that the mask keeps.

    The first call for a kind of tensors compiles a kernel; lengths and batch sizes are not part of
    the kind. Arrays of NumPy (bfloat16 with ml_dtypes), PyTorch, JAX and CuPy are taken where they
    are, in any strides with a contiguous last dimension; on a GPU the work goes to the current
    stream of the framework.

    Args:
      q: [batch, seq_q, heads_q, head_dim]; float32, bfloat16 or float16.
      k: [batch, seq_kv, heads_kv, head_dim], of q's type; heads_q is a multiple of heads_kv.
      v: [batch, seq_kv, heads_kv, head_dim_v], of q's type.
      mask: None or "none", "causal" (the last query sees all keys), "causal_top_left" (the first
        query sees the first key alone), "window" or "window_top_left" (with `window`, around the
        diagonal of those).
      window: W for exactly W keys that end with the diagonal one, or (left, right): how many keys
        beside the diagonal one, -1 or None for all. Without a mask it means mask="window".
      scale: a number of at least 0; default 1 / sqrt(head_dim).
      softcap: scores become softcap * tanh(score / softcap).
      alibi_slopes: [heads_q], float32: the score of query i and key j falls by
        slope * |i + seq_kv - seq_q - j|.
      return_lse: also return the log-sum-exp of each row (natural logarithm), float32
        [batch, heads_q, seq_q]; -inf for a row that sees no key, whose o is 0.
      out: where to write o: q's shape with head_dim_v columns, of q's type or float32; not for JAX.
      layout: "bshd" as above, or "bhsd": q, k, v and o are [batch, heads, seq, head_dim].

    Returns:
      o, or (o, lse), as arrays of q's framework.

    Raises:
      SpecError: a shape, element type or option is outside of what attn takes.
      ArgumentTypeError: an argument is of a wrong type: no array of q's framework, an array with a
        mask of its own, no number.
      DeviceError, CompileError, CacheMissError, CaptureError: see attn.errors.
      UnsupportedError: gradients are asked for.
    """
    framework = framework_of("q", q)
    if framework.is_traced():
        from . import torch_ops

        return torch_ops.traced(
            q, k, v, mask, window, scale, softcap, alibi_slopes, return_lse, out, layout
        )
    options = options_of(mask, window, softcap, layout, framework.protocol)
    framework.check(q, k, v, alibi_slopes, out)
    if not hasattr(v, "shape"):
        framework_of("v", v)
    shape, lse_shape = result_shapes(q, v, layout)
    if out is not None and not framework.is_writable:
        raise UnsupportedError("out for arrays of this framework", "they cannot be written to")
    o = framework.empty(q, shape, q.dtype) if out is None else out
    lse = framework.empty(q, lse_shape, framework.float32) if return_lse else None
    run_into(framework, options, q, k, v, o, lse, alibi_slopes, scale)
    if out is None:
        o = framework.finish(o, q)
    return (o, framework.finish(lse, q)) if return_lse else o


def run_into(framework, options, q, k, v, o, lse, slopes, scale):
    """Computes into o and lse."""
    if scale is not None and type(scale) is not float:
        scale = _arguments.number("scale", scale)
    options.run(
        q, k, v, o, lse, slopes, scale, framework.stream(q), threads, framework.allocator(q)
    )
