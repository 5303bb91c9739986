"""attn.configure."""

from __future__ import annotations

from typing import Any, Literal

from . import _arguments, _attention, _core
from .errors import SpecError

_MODES = ("synchronous", "background", "forbid")


def configure(
    *,
    mode: Literal["synchronous", "background", "forbid"] | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Changes settings of this process; None leaves one as it is.

    Args:
      mode: what happens when a kernel is neither in memory nor in the cache. "synchronous" (the
        default) compiles it while the caller waits; "background" compiles it on a thread while a
        slower path answers, where one is ready (on the CPU: always); "forbid" raises
        CacheMissError, which says how to compile it beforehand, with `attnc prewarm`.
      threads: threads of the CPU target; 0 (the default) is one for each processor.

    Returns: the settings before, as a dictionary that configure(**settings) takes.

    Raises: SpecError; ArgumentTypeError for threads that are no integer.
    """
    before = {"mode": _MODES[_core.mode()], "threads": _attention.threads}
    if mode is not None and mode not in _MODES:
        raise SpecError(f"mode: expected one of {', '.join(_MODES)}, got {mode!r}")
    if threads is not None:
        count = _arguments.integer("threads", threads)
        if not 0 <= count <= 4096:
            raise SpecError(f"threads: expected 0 to 4096, got {count}")
        _attention.threads = count
    if mode is not None:
        _core.set_mode(_MODES.index(mode))
    return before
