"""torch.ops.attn.attention: attention as an operator that torch.compile and torch.export know.

`attn.attention` on tensors runs without it; inside of a compiled function it becomes this operator.
Import this module before compiling, or import torch before attn.
"""

from typing import Optional, Sequence, Tuple

import torch
from torch import Tensor

from . import _arguments, _attention
from ._frameworks import framework_of
from .errors import UnsupportedError

__all__ = ["attention"]


@torch.library.custom_op("attn::attention", mutates_args=())
def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Optional[str] = None,
    window: Optional[Sequence[int]] = None,
    scale: Optional[float] = None,
    softcap: Optional[float] = None,
    alibi_slopes: Optional[Tensor] = None,
    return_lse: bool = False,
    layout: str = "bshd",
) -> Tuple[Tensor, Tensor]:
    """attn.attention as an operator: (o, lse), where lse has no elements unless asked for."""
    window = None if window is None else tuple(window)
    options = _attention.options_of(mask, window, softcap, layout, framework_of("q", q).protocol)
    o, lse = _empty_results(q, v, return_lse, layout)
    _attention.run_into(
        framework_of("q", q), options, q, k, v, o, lse if return_lse else None, alibi_slopes, scale
    )
    return o, lse


def _empty_results(q, v, return_lse, layout):
    shape, lse_shape = _attention.result_shapes(q, v, layout)
    return q.new_empty(shape), q.new_empty(lse_shape if return_lse else (0,), dtype=torch.float32)


@attention.register_fake
def _(
    q, k, v, mask=None, window=None, scale=None, softcap=None, alibi_slopes=None, return_lse=False,
    layout="bshd",
):
    return _empty_results(q, v, return_lse, layout)


def traced(q, k, v, mask, window, scale, softcap, alibi_slopes, return_lse, out, layout):
    """attn.attention inside of a function that is being compiled."""
    if out is not None:
        raise UnsupportedError("out inside of a compiled function", "assign the result")
    if isinstance(window, (tuple, list)):
        window = [-1 if bound is None else bound for bound in window]
    elif window is not None:
        window = (_arguments.integer("window", window) - 1, 0)
    o, lse = torch.ops.attn.attention(
        q, k, v, mask, window, scale, softcap, alibi_slopes, return_lse, layout
    )
    return (o, lse) if return_lse else o
