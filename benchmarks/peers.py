"""The kernels that attn's are compared with: what PyTorch offers on the device.

Each takes `Tensors` of forward_shapes and is asked for a function that computes one call.
"""

import functools

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel


def head_major(tensors):
    return (t.transpose(1, 2) for t in (tensors.q, tensors.k, tensors.v))


class Sdpa:
    """scaled_dot_product_attention held to one backend."""

    def __init__(self, backend, shape):
        if shape.window:
            raise RuntimeError("scaled_dot_product_attention has no windows")
        self.backend = backend
        self.shape = shape

    def prepare(self, tensors):
        q, k, v = head_major(tensors)

        def run():
            with sdpa_kernel(self.backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=self.shape.causal, enable_gqa=self.shape.group > 1
                )

        return run

    def results(self, tensors, returned):
        return returned.transpose(1, 2), None

    def details(self):
        return {}


class Flex:
    """FlexAttention, compiled for the shape, with the block mask of its own making."""

    def __init__(self, shape):
        from torch.nn.attention import flex_attention

        def visible(batch, head, i, j):
            inside = j <= i
            return inside & (i - j < shape.window) if shape.window else inside

        self.group = shape.group
        self.mask = None
        if shape.causal:
            self.mask = flex_attention.create_block_mask(
                visible, None, None, shape.seq, shape.seq, device="cuda"
            )
        self.compiled = torch.compile(flex_attention.flex_attention, dynamic=False)

    def prepare(self, tensors):
        q, k, v = head_major(tensors)
        return lambda: self.compiled(
            q, k, v, block_mask=self.mask, enable_gqa=self.group > 1
        )

    def results(self, tensors, returned):
        return returned.transpose(1, 2), None

    def details(self):
        return {}


PEERS = {
    "FA2": functools.partial(Sdpa, SDPBackend.FLASH_ATTENTION),
    "cuDNN": functools.partial(Sdpa, SDPBackend.CUDNN_ATTENTION),
    "FlexAttention": Flex,
}
