"""What the forward benchmark computes: shapes, tensors, the float64 reference."""

import itertools
import math
from dataclasses import dataclass

import torch

TOKENS = 16384  # batch * seq, where seq is not longer
HIDDEN = 2048  # about heads * head_dim, of queries
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Shape:
    """Self-attention of `seq` tokens; `window` keys up to and with the diagonal one (causal)."""

    dtype: str
    head_dim: int
    head_dim_v: int
    group: int  # query heads of a key/value head
    seq: int
    causal: bool
    window: int = 0

    @property
    def batch(self):
        return max(1, TOKENS // self.seq)

    @property
    def heads_kv(self):
        return max(1, HIDDEN // max(self.head_dim, self.head_dim_v) // self.group)

    @property
    def heads(self):
        return self.heads_kv * self.group

    @property
    def scores(self):
        """Scores of a head that count: of a causal mask half of all, as is the custom."""
        if self.window and self.window < self.seq:
            return self.window * (self.seq - self.window) + self.window**2 / 2
        return self.seq**2 / 2 if self.causal else self.seq**2

    @property
    def flops(self):
        return 2 * self.batch * self.heads * self.scores * (self.head_dim + self.head_dim_v)

    @property
    def mask(self):
        return f"window:{self.window}" if self.window else "causal" if self.causal else "full"

    @property
    def label(self):
        heads = f"h{self.heads}" + (f"/{self.heads_kv}" if self.group > 1 else "")
        dims = f"d{self.head_dim}" + (
            f"/{self.head_dim_v}" if self.head_dim_v != self.head_dim else ""
        )
        return f"{self.dtype} b{self.batch} {heads} n{self.seq} {dims} {self.mask}"

    def spec(self):
        """The problem in attnc's words. Lengths are arguments of the kernel; max_seq_len only says
        which schedule to choose, as calls from a program do."""
        words = [
            "phase=prefill", f"dtype={self.dtype}", f"head_dim={self.head_dim}",
            f"heads_q={self.heads}", f"heads_kv={self.heads_kv}",
            f"mask={'causal' if self.causal else 'none'}", f"max_seq_len={self.seq}",
        ]
        if self.head_dim_v != self.head_dim:
            words.append(f"head_dim_v={self.head_dim_v}")
        if self.window:
            words.append(f"window={self.window}")
        return words

    def description(self):
        return {
            "dtype": self.dtype, "batch": self.batch, "heads": self.heads,
            "heads_kv": self.heads_kv, "seq": self.seq, "head_dim": self.head_dim,
            "head_dim_v": self.head_dim_v, "causal": self.causal, "window": self.window,
            "layout": "bshd",
        }


class Tensors:
    """One set of operands and results, [batch, seq, heads, head_dim]."""

    def __init__(self, shape, generator):
        def random(heads, head_dim):
            size = (shape.batch, shape.seq, heads, head_dim)
            drawn = torch.randn(
                size, generator=generator, device=generator.device, dtype=torch.float32
            )
            return drawn.to(DTYPES[shape.dtype])

        self.q = random(shape.heads, shape.head_dim)
        self.k = random(shape.heads_kv, shape.head_dim)
        self.v = random(shape.heads_kv, shape.head_dim_v)
        self.o = torch.zeros(
            (*self.q.shape[:3], shape.head_dim_v), device=self.q.device, dtype=self.q.dtype
        )
        rows = (shape.batch, shape.heads, shape.seq)
        self.lse = torch.zeros(rows, device=generator.device, dtype=torch.float32)

    def bytes(self):
        tensors = (self.q, self.k, self.v, self.o)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def reference_error(shape, tensors, o, lse=None):
    """Largest relative error of `o` over 2048 rows of a head against float64, for all heads.

    With `lse`, its largest absolute error counts as well.
    """
    errors = []
    j = torch.arange(shape.seq, device=o.device)
    for b, h in itertools.product(range(shape.batch), range(shape.heads)):
        q, got = (t[b, :, h].double() for t in (tensors.q, o))
        k, v = (t[b, :, h // shape.group].double() for t in (tensors.k, tensors.v))
        # Rows in blocks: the scores of 16k rows at once would take 2 GB.
        for begin in range(0, shape.seq, 2048):
            rows = slice(begin, min(begin + 2048, shape.seq))
            scores = q[rows] @ k.T / math.sqrt(shape.head_dim)
            if shape.causal:
                scores.masked_fill_(j > j[rows, None], -math.inf)
            if shape.window:
                scores.masked_fill_(j <= j[rows, None] - shape.window, -math.inf)
            want = torch.softmax(scores, dim=-1) @ v
            errors.append((got[rows] - want).norm() / want.norm())
            if lse is not None:
                errors.append((lse[b, h, rows] - scores.logsumexp(dim=-1)).abs().max())
    # The largest of numbers with a NaN among them is NaN, which passes no limit.
    return torch.stack(errors).max().item()
