"""The attention backend "attn" of Hugging Face transformers.

    import attn.compat.huggingface
    attn.compat.huggingface.register()
    model = AutoModel.from_pretrained(..., attn_implementation="attn")
"""

from .._attention import attention
from ..errors import UnsupportedError

__all__ = ["attention_forward", "attention_mask", "register"]


# What models may pass on besides, and what would be wrong without it.
_REFUSED = {
    "s_aux": "attention sinks",
    "head_mask": "head masks",
    "position_bias": "position biases other than ALiBi",
    "cu_seq_lens_q": "packed sequences",
    "cu_seq_lens_k": "packed sequences",
    "output_attentions": "attention weights as a result",
}


def register(name="attn"):
    """Makes the backend known to transformers (4.53 or later) under a name."""
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface

    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, attention_mask)


def attention_mask(
    *,
    q_length,
    kv_length,
    q_offset=0,
    kv_offset=0,
    attention_mask=None,
    allow_is_causal_skip=True,
    allow_is_bidirectional_skip=False,
    use_vmap=False,
    local_size=None,
    config=None,
    **keywords,
):
    """What transformers asks for before a forward pass: None, since kernels make masks themselves.

    Raises: UnsupportedError for masks that are more than causal, bidirectional or a causal window:
      padding, packed sequences, a static cache that is not full, chunks, functions of the caller.
    """
    if attention_mask is not None:
        attention_mask = attention_mask[:, -kv_length:]
        if attention_mask.shape[1] != kv_length or not bool(attention_mask.all()):
            raise UnsupportedError("padding or attention_mask", "pass sequences of one length")
    is_plain = allow_is_causal_skip or allow_is_bidirectional_skip
    is_window = local_size is None or local_size == getattr(config, "sliding_window", None)
    if use_vmap or not is_plain or not is_window:
        raise UnsupportedError("masks that a model combines", "use another attn_implementation")
    if not allow_is_bidirectional_skip and q_offset + q_length != kv_offset + kv_length:
        raise UnsupportedError("static caches that are not full", "use a dynamic cache")
    return None


def attention_forward(
    module,
    query,
    key,
    value,
    attention_mask,
    dropout=0.0,
    scaling=None,
    sliding_window=None,
    softcap=None,
    is_causal=None,
    **keywords,
):
    """What a model calls: query [batch, heads_q, seq_q, head_dim], key and value alike.

    Returns: ([batch, seq_q, heads_q, head_dim], None).

    Raises: UnsupportedError for padding, masks of any other kind and dropout.
    """
    if attention_mask is not None:
        raise UnsupportedError("padding or attention_mask", "pass sequences of one length")
    if dropout:
        raise UnsupportedError("dropout", "call model.eval()")
    for name, feature in _REFUSED.items():
        if keywords.get(name) is not None and keywords[name] is not False:
            raise UnsupportedError(feature, f"the model passes {name}")
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    if sliding_window is not None and not is_causal:
        raise UnsupportedError("windows of models that are not causal")
    o = attention(
        query,
        key,
        value,
        mask="causal" if is_causal else None,
        window=sliding_window,
        scale=scaling,
        softcap=softcap,
        layout="bhsd",
    )
    return o.transpose(1, 2), None
