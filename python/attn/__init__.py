"""Attention kernels, compiled when they are needed.

    import attn, numpy as np
    q, k, v = (np.random.rand(1, 128, 8, 64).astype(np.float32) for _ in range(3))
    o = attn.attention(q, k, v, mask="causal")

attn.compat has drop-ins for other libraries' functions.
"""

import atexit
import sys

from . import _core, errors
from ._attention import attention
from ._cache import add_bundle, metrics, record
from ._config import configure
from .errors import *  # noqa: F403
from .spec import Explanation, Kernel, Spec, compile, explain

build_id: str = _core.version
"""Identifies the compiler, as a part of every cache key."""
__version__: str = build_id.split()[1]

__all__ = [
    "Explanation",
    "Kernel",
    "Spec",
    "add_bundle",
    "attention",
    "build_id",
    "compile",
    "configure",
    "errors",
    "explain",
    "metrics",
    "record",
    *errors.__all__,
]

# Known to torch.compile before the first call.
if "torch" in sys.modules:
    from . import torch_ops  # noqa: F401

# A thread that compiles must not outlive the interpreter.
atexit.register(_core.wait)
