"""The extension module. Nothing here is public: use attn.attention, attn.compile and so on."""

from collections.abc import Callable
from typing import Any

version: str
TORCH: int
DLPACK: int
CUDA_INTERFACE: int

def register_type(dtype: Any, name: str) -> None: ...
def canonicalize(spec: str) -> str: ...
def compile(spec: str, target: str) -> tuple[str, str] | None: ...
def explain(spec: str, target: str) -> tuple[str, str]: ...
def set_mode(mode: int) -> None: ...
def mode() -> int: ...
def wait() -> None: ...

class Attention:
    def __init__(
        self,
        mask: int,
        window_left: int,
        window_right: int,
        softcap: float,
        head_major: bool,
        protocol: int,
        /,
    ) -> None: ...
    def run(
        self,
        q: Any,
        k: Any,
        v: Any,
        o: Any,
        lse: Any,
        slopes: Any,
        scale: float | None,
        stream: int,
        threads: int,
        allocate: Callable[[int], tuple[Any, int]] | None,
    ) -> None: ...
    def spec_of(self, q: Any, k: Any, v: Any, o: Any, lse: Any, slopes: Any) -> str: ...
