"""The real activations are what examples/data/README.md says."""

from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "examples" / "data"
SHAPES = {"paragraph": (1, 129, 12, 32), "pair": (2, 15, 12, 32)}


@pytest.mark.parametrize("batch", SHAPES)
@pytest.mark.parametrize("layer", [0, 5])
def test_output_is_attention_of_the_operands(batch, layer):
    q, k, v, o = (np.load(DATA / f"{batch}_layer{layer}_{name}.npy") for name in "qkvo")
    for array in (q, k, v, o):
        assert array.shape == SHAPES[batch]
        assert array.dtype == np.float32 and array.flags.c_contiguous
        assert np.isfinite(array).all() and array.std() > 0.01
    scores = np.einsum("bihd,bjhd->bhij", q, k, dtype=np.float64) / np.sqrt(32)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    want = np.einsum("bhij,bjhd->bihd", weights, v)
    assert np.linalg.norm(o - want) <= 1e-7 * np.linalg.norm(want)


def test_total_size():
    assert sum(path.stat().st_size for path in DATA.iterdir() if path.is_file()) < 2e6
