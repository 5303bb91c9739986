"""Attention in float64 NumPy: what the package's results are compared with."""

import numpy as np


def attention(
    q, k, v, *, mask=None, window=None, scale=None, softcap=None, slopes=None, layout="bshd"
):
    """(o, lse) of arrays [batch, seq, heads, head_dim]; `window` is (left, right), -1 for all."""
    q, k, v = (np.asarray(array).astype(np.float64) for array in (q, k, v))
    if layout == "bshd":
        q, k, v = (array.transpose(0, 2, 1, 3) for array in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
    seq_q, seq_kv = q.shape[2], k.shape[2]
    scores = q @ k.transpose(0, 1, 3, 2) * (q.shape[3] ** -0.5 if scale is None else scale)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    distance = np.arange(seq_kv)[None] - np.arange(seq_q)[:, None]
    aligned = distance - (seq_kv - seq_q)
    if slopes is not None:
        scores = scores - np.asarray(slopes, np.float64)[:, None, None] * np.abs(aligned)
    if mask is not None and mask.endswith("top_left"):
        aligned = distance
    keep = np.ones((seq_q, seq_kv), bool)
    if mask is not None and mask.startswith("causal"):
        keep &= aligned <= 0
    if window is not None:
        left, right = window
        keep &= aligned >= -left if left >= 0 else True
        keep &= aligned <= right if right >= 0 else True
    scores = np.where(keep, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(np.isneginf(largest), 0, largest)
    weights = np.exp(scores - largest)
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (largest + np.log(total))[..., 0]
    o = weights / np.where(total == 0, 1, total) @ v
    return (o if layout == "bhsd" else o.transpose(0, 2, 1, 3)), lse


def relative_error(got, want):
    """In the Frobenius norm; NaN counts as infinite."""
    got = np.asarray(got).astype(np.float64)
    assert got.shape == want.shape
    error = np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30)
    return float("inf") if np.isnan(error) else error
