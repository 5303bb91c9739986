"""The functions of the package flash_attn: [batch, seq, heads, head_dim], masks bottom-right."""

from .. import _arguments
from .._attention import attention
from .._frameworks import framework_of, require_tensors
from ..errors import SpecError, UnsupportedError

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_with_kvcache",
]


def _attend(q, k, v, scale, causal, window_size, softcap, alibi_slopes, return_lse, out=None):
    """One call, with options as flash_attn spells them."""
    if not isinstance(window_size, (tuple, list)) or len(window_size) != 2:
        raise SpecError(f"window_size: expected (left, right), got {window_size!r}")
    left, right = (
        -1 if bound is None else _arguments.integer("window_size", bound) for bound in window_size
    )
    if left < 0 and right < 0:
        window = None
    else:
        window = (max(left, -1), 0 if causal else max(right, -1))
    if alibi_slopes is not None and len(alibi_slopes.shape) != 1:
        raise UnsupportedError("alibi_slopes for each sequence", "pass them as [heads_q]")
    return attention(
        q,
        k,
        v,
        mask="causal" if causal else None,
        window=window,
        scale=scale,
        softcap=softcap if softcap else None,
        alibi_slopes=alibi_slopes,
        return_lse=return_lse,
        out=out,
    )


def _refuse_dropout(dropout_p):
    if dropout_p != 0:
        raise UnsupportedError("dropout", "pass dropout_p=0")


def flash_attn_func(
    q,
    k,
    v,
    dropout_p=0.0,
    softmax_scale=None,
    causal=False,
    window_size=(-1, -1),
    softcap=0.0,
    alibi_slopes=None,
    deterministic=False,
    return_attn_probs=False,
):
    """As flash_attn.flash_attn_func, without a backward pass.

    Args:
      q: [batch, seq_q, heads_q, head_dim]; k, v: [batch, seq_kv, heads_kv, head_dim].
      causal: the last query sees all keys.
      window_size: keys left and right of the diagonal key, -1 for all.
      softcap: 0 for none.
      alibi_slopes: [heads_q], float32.
      deterministic: results always are.
      return_attn_probs: also return lse [batch, heads_q, seq_q], and None for the probabilities,
        which are never there.

    Raises: UnsupportedError for dropout and slopes for each sequence; what attn.attention raises.
    """
    _refuse_dropout(dropout_p)
    result = _attend(
        q, k, v, softmax_scale, causal, window_size, softcap, alibi_slopes, return_attn_probs
    )
    return (*result, None) if return_attn_probs else result


def flash_attn_kvpacked_func(q, kv, *arguments, **keywords):
    """flash_attn_func on kv: [batch, seq_kv, 2, heads_kv, head_dim]."""
    require_tensors(q=q, kv=kv)
    return flash_attn_func(q, kv[:, :, 0], kv[:, :, 1], *arguments, **keywords)


def flash_attn_qkvpacked_func(qkv, *arguments, **keywords):
    """flash_attn_func on qkv: [batch, seq, 3, heads, head_dim]."""
    require_tensors(qkv=qkv)
    return flash_attn_func(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], *arguments, **keywords)


def _host_ints(name, values, feature):
    """A tensor of integers on the CPU as a list: kernels do not read lengths from a device."""
    if getattr(values, "is_cuda", False):
        raise UnsupportedError(feature, f"pass {name} on the CPU")
    return [_arguments.integer(name, value) for value in values]


def _offsets(name, values, total):
    offsets = _host_ints(name, values, "ragged batches with lengths on a device")
    if not offsets or offsets[0] != 0 or offsets[-1] > total or offsets != sorted(offsets):
        raise SpecError(
            f"{name}: expected offsets that rise from 0 to at most {total}, the number of rows, "
            f"got {offsets}"
        )
    return offsets


def flash_attn_varlen_func(
    q,
    k,
    v,
    cu_seqlens_q,
    cu_seqlens_k,
    max_seqlen_q,
    max_seqlen_k,
    dropout_p=0.0,
    softmax_scale=None,
    causal=False,
    window_size=(-1, -1),
    softcap=0.0,
    alibi_slopes=None,
    deterministic=False,
    return_attn_probs=False,
    block_table=None,
):
    """As flash_attn.flash_attn_varlen_func, one call for each sequence.

    Args:
      q: [total_q, heads_q, head_dim]; k, v: [total_k, heads_kv, head_dim].
      cu_seqlens_q, cu_seqlens_k: [batch + 1] integers on the CPU: where sequences begin and end.
      max_seqlen_q, max_seqlen_k: not needed; no sequence may be longer.
      The rest as in flash_attn_func; lse is [heads_q, total_q].

    Raises: UnsupportedError for dropout, block_table and lengths on a device; SpecError.
    """
    _refuse_dropout(dropout_p)
    require_tensors(q=q, k=k, v=v)
    if block_table is not None:
        raise UnsupportedError("block_table: paged K and V", "gather the pages first")
    for name, tensor in [("q", q), ("k", k), ("v", v)]:
        if len(tensor.shape) != 3:
            raise SpecError(
                f"{name}: expected [total, heads, head_dim], got shape {list(tensor.shape)}"
            )
    begins_q = _offsets("cu_seqlens_q", cu_seqlens_q, q.shape[0])
    begins_k = _offsets("cu_seqlens_k", cu_seqlens_k, k.shape[0])
    if len(begins_q) != len(begins_k):
        raise SpecError(
            f"cu_seqlens_k: expected {len(begins_q)} offsets as cu_seqlens_q has, "
            f"got {len(begins_k)}"
        )
    for name, begins, limit in [
        ("max_seqlen_q", begins_q, max_seqlen_q),
        ("max_seqlen_k", begins_k, max_seqlen_k),
    ]:
        longest = max((b - a for a, b in zip(begins, begins[1:])), default=0)
        if longest > limit:
            raise SpecError(f"{name}: expected at least {longest}, the longest sequence, got {limit}")
    o = q.new_zeros((*q.shape[:2], v.shape[2]))
    lse = q.new_full((q.shape[1], q.shape[0]), float("-inf"), dtype=framework_of("q", q).float32)
    for (q0, q1), (k0, k1) in zip(
        zip(begins_q, begins_q[1:]), zip(begins_k, begins_k[1:]), strict=True
    ):
        _, part = _attend(
            q[None, q0:q1], k[None, k0:k1], v[None, k0:k1], softmax_scale, causal, window_size,
            softcap, alibi_slopes, True, out=o[None, q0:q1],
        )
        lse[:, q0:q1] = part[0]
    return (o, lse, None) if return_attn_probs else o


def flash_attn_with_kvcache(
    q,
    k_cache,
    v_cache,
    k=None,
    v=None,
    rotary_cos=None,
    rotary_sin=None,
    cache_seqlens=None,
    cache_batch_idx=None,
    cache_leftpad=None,
    block_table=None,
    softmax_scale=None,
    causal=False,
    window_size=(-1, -1),
    softcap=0.0,
    rotary_interleaved=True,
    alibi_slopes=None,
    num_splits=0,
    return_softmax_lse=False,
):
    """As flash_attn.flash_attn_with_kvcache, on a dense cache.

    Args:
      q: [batch, seq_q, heads_q, head_dim]
      k_cache, v_cache: [batch, seq_cache, heads_kv, head_dim]; k and v are written into them.
      k, v: None, or [batch, seq_new, heads_kv, head_dim]: keys and values to append.
      cache_seqlens: how long the cache of each sequence is before that: one integer, or [batch]
        integers on the CPU (one call for each sequence then); None for all of it, if nothing is
        appended.
      num_splits: must be 0, which leaves the choice to attn.
      The rest as in flash_attn_func; lse is [batch, heads_q, seq_q].

    Raises: UnsupportedError for rotary embeddings, cache_batch_idx, cache_leftpad, block_table,
      num_splits and lengths on a device; SpecError.
    """
    for feature, value, hint in [
        ("rotary embeddings in attention", rotary_cos, "apply them before"),
        ("rotary embeddings in attention", rotary_sin, "apply them before"),
        ("cache_batch_idx", cache_batch_idx, "index the cache first"),
        ("cache_leftpad", cache_leftpad, "slice the cache first"),
        ("block_table: paged K and V", block_table, "gather the pages first"),
        ("num_splits", num_splits or None, "pass 0"),
    ]:
        if value is not None:
            raise UnsupportedError(feature, hint)
    require_tensors(q=q, k_cache=k_cache, v_cache=v_cache)
    if len(k_cache.shape) != 4 or len(v_cache.shape) != 4:
        raise SpecError(
            "k_cache, v_cache: expected [batch, seq_cache, heads_kv, head_dim], got "
            f"{list(k_cache.shape)} and {list(v_cache.shape)}"
        )
    if (k is None) != (v is None):
        raise SpecError("k, v: expected both, or neither")
    if k is not None and cache_seqlens is None:
        raise SpecError("cache_seqlens: expected where to append k and v, got None")
    batch, capacity = k_cache.shape[:2]
    if cache_seqlens is None:
        lengths = [capacity] * batch
    elif isinstance(cache_seqlens, int):
        lengths = [cache_seqlens] * batch
    else:
        lengths = _host_ints("cache_seqlens", cache_seqlens, "caches with lengths on a device")
    added = 0 if k is None else k.shape[1]
    if len(lengths) != batch or any(not 0 <= n <= capacity - added for n in lengths):
        raise SpecError(
            f"cache_seqlens: expected {batch} lengths from 0 to {capacity - added}, where the cache "
            f"of {capacity} ends, got {lengths}"
        )
    if k is not None:
        for index, length in enumerate(lengths):
            k_cache[index, length : length + added] = k[index]
            v_cache[index, length : length + added] = v[index]

    def attend(rows, length):
        return _attend(
            q[rows], k_cache[rows, : length + added], v_cache[rows, : length + added],
            softmax_scale, causal, window_size, softcap, alibi_slopes, True,
        )

    if len(set(lengths)) <= 1:
        o, lse = attend(slice(None), lengths[0] if lengths else 0)
    else:
        parts = [attend(slice(i, i + 1), n) for i, n in enumerate(lengths)]
        o = parts[0][0].new_empty(q.shape[:3] + v_cache.shape[3:])
        lse = parts[0][1].new_empty((batch, q.shape[2], q.shape[1]))
        for index, (o_part, lse_part) in enumerate(parts):
            o[index], lse[index] = o_part[0], lse_part[0]
    return (o, lse) if return_softmax_lse else o
