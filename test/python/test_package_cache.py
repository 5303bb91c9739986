"""attn.add_bundle, attn.record and attn.metrics, each in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("attn._core")

from attnc import attnc

CALL = """
import json, sys
import attn, numpy as np
q = np.ones((1, int(sys.argv[1]), 2, 16), np.float32)
{setup}
attn.attention(q, q, q, mask="causal")
print(json.dumps(attn.metrics()))
"""


def call(setup, tmp_path, length=5):
    """What attn.metrics says after a call in a new process with an empty cache."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path),
                       ATTN_CACHE_DIR=str(tmp_path / "empty"))
    done = subprocess.run([sys.executable, "-c", CALL.format(setup=setup), str(length)],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_recorded_kernels_are_served_from_a_bundle(tmp_path):
    recording, bundle = tmp_path / "asked.jsonl", tmp_path / "kernels.attnb"
    cold = call(f"attn.record({str(recording)!r})", tmp_path)
    assert cold["compile"]["count"] == 1 and cold["fast_path"] == 1
    assert len(recording.read_text().splitlines()) == 1
    done = attnc("prewarm", recording, "--bundle", bundle, "--cache-dir", tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    # What the first process left in its cache would do as well.
    (tmp_path / "empty").rename(tmp_path / "away")
    setup = f"attn.add_bundle({str(bundle)!r}); attn.configure(mode='forbid')"
    for length in (2, 5, 90):
        warm = call(setup, tmp_path, length)
        assert warm["compile"]["count"] == 0 and warm["cache"]["disk_hits"] == 1


def test_what_cannot_be_used_is_an_error(tmp_path):
    import attn

    with pytest.raises(attn.errors.SpecError, match="no bundle"):
        attn.add_bundle(tmp_path / "missing.attnb")
    with pytest.raises(attn.errors.AttnError, match="cannot open"):
        attn.record(tmp_path / "no" / "folder.jsonl")
    with pytest.raises(ValueError, match="expected 'dict' or 'prometheus'"):
        attn.metrics("xml")
    assert "# TYPE attn_compiles_total counter" in attn.metrics("prometheus")
