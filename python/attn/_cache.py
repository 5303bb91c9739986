"""Kernels compiled beforehand, and counters."""

import json

from . import _arguments, _core
from .errors import SpecError


def add_bundle(path):
    """Reads kernels from a file that `attnc prewarm --bundle` wrote, after the cache directory.

    Args:
      path: the file. It stays open; replacing it does not change this process.

    Raises: SpecError when the file is missing, damaged, of another version, or could have been
      written by another user; ArgumentTypeError for what is no path.
    """
    _core.add_bundle(_arguments.path("path", path))


def record(path):
    """From now on appends each kernel that is asked for to a file, for `attnc prewarm FILE`.

    Args:
      path: a file that ends in .jsonl. Several processes may write to it; each kernel of a process
        is written once.

    Raises: SpecError when it cannot be written, as a directory; ArgumentTypeError for what is no path.
    """
    _core.record(_arguments.path("path", path))


def metrics(format="dict"):
    """Counters of this process.

    Args:
      format: "dict" or "prometheus" (text to be scraped).

    Returns: {"cache": {"memory_hits", "disk_hits", "misses", "waits", "read_bytes",
      "written_bytes"}, "compile": {"count", "ms"}, "fast_path": count, "fallbacks": {reason:
      count}, "other": {name: count}}, or the same as text. Calls of a kernel that the process
      has used before are not counted.

    Raises: SpecError for another format.
    """
    if format == "prometheus":
        return _core.metrics(1)
    if format != "dict":
        raise SpecError(f"format: expected 'dict' or 'prometheus', got {format!r}")
    return json.loads(_core.metrics(0))
