"""The attention tile, at lengths around its tile edges."""

import numpy as np

import attention_tile
from l3 import Buffer, Case, Map, bf16, from_bf16

BF16, SWIZZLE_128 = 9, 3


class Kernel:
    """The tile as a kernel of the cases."""

    name, threads = "attention_tile", attention_tile.THREADS

    def __init__(self, without=None):
        self.without = without

    def text(self):
        text, _ = attention_tile.kernel(self.without)
        return text.split("\n", 1)[1]  # Without its declaration of shared memory.


def attention(queries, keys, heads=1, batch=1, kernel=None):
    rng = np.random.default_rng(queries * 1000 + keys)
    d = attention_tile.HEAD_DIM
    q, k, v = (bf16(rng.standard_normal((batch, rows, heads, d))) for rows in (queries, keys, keys))
    scores = np.einsum("bihd,bjhd->bhij", from_bf16(q).astype(np.float64), from_bf16(k))
    scores /= np.sqrt(d)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    out = np.einsum("bhij,bjhd->bihd", p / p.sum(-1, keepdims=True), from_bf16(v))
    maps = []
    for index, rows in enumerate((queries, keys, keys, queries)):
        pitch = 2 * d * heads
        maps.append(Map(index, BF16, (d, rows, heads, batch), (pitch, 2 * d, pitch * rows),
                        (d, 64, 1, 1), SWIZZLE_128))
    tiles = -(-queries // attention_tile.ROWS)
    expected = out.astype(np.float32)
    return Case(f"attention_tile_{queries}x{keys}_h{heads}_b{batch}", kernel or Kernel(),
                [Buffer(q, passed=False), Buffer(k, passed=False), Buffer(v, passed=False),
                 Buffer(np.zeros_like(q), bf16(expected), passed=False), *maps,
                 ("f32", float(np.log2(np.e) / np.sqrt(d))), keys],
                shared=attention_tile.SHARED_BYTES, ctas=(tiles, heads, batch), bound=1e-2)


def cases():
    for queries, keys in ((64, 64), (64, 256), (64, 1), (1, 63), (70, 65), (130, 200)):
        yield attention(queries, keys)
    yield attention(100, 150, heads=2, batch=2)
