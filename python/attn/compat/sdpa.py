"""torch.nn.functional.scaled_dot_product_attention."""

from .._attention import attention
from .._frameworks import require_tensors
from ..errors import SpecError, UnsupportedError

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    """As torch.nn.functional.scaled_dot_product_attention, without a backward pass.

    Args:
      query: [batch, heads_q, seq_q, head_dim], or [batch, seq_q, head_dim]; float32, bfloat16 or
        float16.
      key: [batch, heads_kv, seq_kv, head_dim], or without heads as query.
      value: [batch, heads_kv, seq_kv, head_dim_v], or without heads as query.
      attn_mask: must be None.
      dropout_p: must be 0.
      is_causal: query i sees keys 0 to i, also when there are more keys than queries.
      scale: default 1 / sqrt(head_dim).
      enable_gqa: allows heads_q to be a multiple of heads_kv.

    Returns: [batch, heads_q, seq_q, head_dim_v], or without heads as query.

    Raises: UnsupportedError for attn_mask and dropout; what attn.attention raises.
    """
    if attn_mask is not None:
        raise UnsupportedError("attn_mask", "use is_causal, or attn.attention(mask=, window=)")
    if dropout_p != 0:
        raise UnsupportedError("dropout", "pass dropout_p=0")
    require_tensors(query=query, key=key, value=value)
    has_heads = query.dim() != 3
    if not has_heads:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
    elif query.dim() == 4 and key.dim() == 4 and query.shape[1] != key.shape[1] and not enable_gqa:
        raise SpecError(
            f"key: expected {query.shape[1]} heads as query has, got {key.shape[1]}; "
            "pass enable_gqa=True"
        )
    o = attention(
        query,
        key,
        value,
        mask="causal_top_left" if is_causal else None,
        scale=scale,
        layout="bhsd",
    )
    return o if has_heads else o.squeeze(1)
