"""Specs: everything that a kernel is specialized for, in words."""

from __future__ import annotations

from typing import Any

from . import _arguments, _core
from .errors import ArgumentTypeError, SpecError

__all__ = ["Kernel", "Explanation", "Spec", "compile", "explain"]


def _word(key, value):
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, (tuple, list)):
        value = ",".join(map(str, value))
    text = str(value)
    if not text or any(letter.isspace() for letter in key + text):
        raise SpecError(f"{key}={text!r}: expected a value without spaces")
    return _arguments.text(key, f"{key}={text}")


class Spec:
    """An attention problem without its sizes, in canonical form.

    Made from keywords, from text, or both: Spec("mask=causal", dtype="bf16", head_dim=128,
    heads_q=32, heads_kv=8, window=1024). The keys are those of `attnc compile --help`; a tuple is
    written with commas, as in window=(127, 0). Equal problems are equal specs.

    Raises SpecError for keys and values that attn does not take, ArgumentTypeError for what is no text.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str = "", **keys: Any) -> None:
        words = [*_arguments.text("spec", text).split(), *(_word(k, v) for k, v in keys.items() if v is not None)]
        object.__setattr__(self, "_text", _core.canonicalize(" ".join(words)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Spec does not change: make another")

    def __getattr__(self, name: str) -> str:
        value = None if name.startswith("_") else self.as_dict().get(name)
        if value is None:
            raise AttributeError(f"a spec has no key {name!r}, or this one leaves it out")
        return value

    def as_dict(self) -> dict[str, str]:
        """The keys that are set, with their values as text."""
        return dict(word.split("=", 1) for word in self._text.split())

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"Spec({self._text!r})"

    def __eq__(self, other):
        return self._text == other._text if isinstance(other, Spec) else NotImplemented

    def __hash__(self):
        return hash(self._text)

    def __reduce__(self):
        return Spec, (self._text,)


def _spec(spec, keys):
    if isinstance(spec, Spec) and not keys:
        return spec
    if not isinstance(spec, (Spec, str)):
        raise ArgumentTypeError(f"spec: expected a Spec or its text, got {spec!r}")
    return Spec(str(spec), **keys)


class Kernel:
    """A compiled kernel: `spec`, `target`, and for a GPU its `ptx` and launch `manifest`."""

    def __init__(
        self, spec: Spec, target: str, ptx: str | None, manifest: dict[str, Any] | None
    ) -> None:
        self.spec = spec
        self.target = target
        self.ptx = ptx
        self.manifest = manifest

    def __repr__(self):
        return f"<attn.Kernel for {self.target}: {self.spec}>"


def compile(spec: Spec | str = "", *, target: str = "cpu", **keys: Any) -> Kernel:
    """Compiles a kernel now, so that no later call waits for it.

    Args:
      spec: a Spec, or its text; keywords are added to it.
      target: "cpu", or a GPU target such as "sm_80" or "sm_90a", for which no GPU is needed. The
        kernel goes to the cache that other processes share.

    Returns: a Kernel.

    Raises: SpecError, ArgumentTypeError, CompileError.
    """
    import json

    made = _spec(spec, keys)
    compiled = _core.compile(str(made), _arguments.text("target", target))
    ptx, manifest = compiled if compiled else (None, None)
    return Kernel(made, target, ptx, json.loads(manifest) if manifest else None)


class Explanation:
    """Which kernel a target takes and why: text by str(), numbers by `data`."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text = text
        self.data = data

    def __str__(self):
        return self.text

    __repr__ = __str__


def explain(
    spec: Spec | str = "",
    *,
    target: str,
    batch: int | None = None,
    seq_q: int | None = None,
    seq_kv: int | None = None,
    **keys: Any,
) -> Explanation:
    """Says which schedule a target takes for a spec, what it costs, and why not another.

    Args:
      spec: a Spec, or its text; keywords are added to it.
      target: "cpu", "sm_80", "sm_90a", ...
      batch, seq_q, seq_kv: sizes, for the numbers that depend on them.

    Returns: an Explanation.

    Raises: SpecError, also when the target has no schedule for the spec; ArgumentTypeError.
    """
    import json

    sizes = {"batch": batch, "seq_q": seq_q, "seq_kv": seq_kv}
    words = [_word(key, size) for key, size in sizes.items() if size is not None]
    problem = " ".join([str(_spec(spec, keys)), *words])
    text, data = _core.explain(problem, _arguments.text("target", target))
    return Explanation(text, json.loads(data))
