"""Text of kernels in the LLVM, NVVM and attn_nv dialects, and the cases that run them."""

import dataclasses
import typing

import numpy as np

P, G, S, C = "!llvm.ptr", "!llvm.ptr<1>", "!llvm.ptr<3>", "!llvm.ptr<7>"
MAP = f"{P} {{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}}"
SHARED = ("llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} "
          ": !llvm.array<0 x i8>\n")


class Function:
    """A kernel, line by line; every value gets a fresh name, constants live in the entry block."""

    def __init__(self, name, parameters, threads=128, cluster=1):
        self.name, self.parameters, self.threads, self.cluster = name, parameters, threads, cluster
        self.lines, self.count, self.constants = [], 0, {}

    def line(self, text):
        self.lines.append("  " + text)

    def value(self, text):
        self.count += 1
        self.line(f"%{self.count} = {text}")
        return f"%{self.count}"

    def values(self, number, text):
        self.count += 1
        self.line(f"%{self.count}:{number} = {text}")
        return [f"%{self.count}#{i}" for i in range(number)] if number > 1 else [f"%{self.count}"]

    def block(self, label):
        self.lines.append(f"^{label}:")

    def const(self, value, kind="i32"):
        key = (value, kind)
        if key not in self.constants:
            suffix = str(value).replace("-", "m").replace(".", "_")
            self.constants[key] = (f"%c{suffix}_{kind}",
                                   f"llvm.mlir.constant({value} : {kind}) : {kind}")
        return self.constants[key][0]

    def operand(self, value, kind="i32"):
        return self.const(value, kind) if isinstance(value, (int, float)) else value

    def op(self, name, a, b, kind="i32"):
        return self.value(f"llvm.{name} {self.operand(a, kind)}, {self.operand(b, kind)} : {kind}")

    def add(self, a, b):
        return self.op("add", a, b)

    def mul(self, a, b):
        return self.op("mul", a, b)

    def compare(self, predicate, a, b):
        return self.value(f'llvm.icmp "{predicate}" {self.operand(a)}, {self.operand(b)} : i32')

    def offset(self, pointer, num_bytes, space):
        return self.value(f"llvm.getelementptr {pointer}[{self.operand(num_bytes)}] : "
                          f"({space}, i32) -> {space}, i8")

    def shared(self, num_bytes):
        return self.offset("%smem", num_bytes, S)

    def load(self, kind, pointer, space=G):
        return self.value(f"llvm.load {pointer} : {space} -> {kind}")

    def store(self, value, kind, pointer, space=G):
        self.line(f"llvm.store {value}, {pointer} : {kind}, {space}")

    def intrinsic(self, name, arguments, kinds, result):
        return self.value(f'llvm.call_intrinsic "{name}"({", ".join(arguments)}) : '
                          f'({", ".join(kinds)}) -> {result}')

    def start(self):
        """What most kernels begin with: %smem, %base (its address) and %thread."""
        self.line(f"%smem = llvm.mlir.addressof @smem : {S}")
        self.line(f"%base = llvm.ptrtoint %smem : {S} to i32")
        self.line("%thread = nvvm.read.ptx.sreg.tid.x : i32")

    def barrier(self):
        self.line("nvvm.barrier")

    def fence_proxy(self):
        self.line("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
                  "space = #nvvm.shared_space<cta>}")

    def when(self, condition, body):
        """body() where the condition holds; threads meet again after it."""
        self.count += 1
        label = f"b{self.count}"
        self.line(f"llvm.cond_br {condition}, ^{label}_then, ^{label}_end")
        self.block(f"{label}_then")
        body()
        self.line(f"llvm.br ^{label}_end")
        self.block(f"{label}_end")

    def repeat(self, begin, end, step, body):
        """body(i) for i from begin below end."""
        self.count += 1
        label = f"l{self.count}"
        self.line(f"llvm.br ^{label}({self.operand(begin)} : i32)")
        self.lines.append(f"^{label}(%{label}: i32):")
        more = self.compare("ult", f"%{label}", end)
        self.line(f"llvm.cond_br {more}, ^{label}_body, ^{label}_end")
        self.block(f"{label}_body")
        body(f"%{label}")
        self.line(f"llvm.br ^{label}({self.add(f'%{label}', step)} : i32)")
        self.block(f"{label}_end")

    def copy(self, num_bytes, to_shared, pointer, shared_offset=0):
        """All threads move bytes between shared and global memory, 16 at a time."""
        vector = "vector<4xi32>"

        def move(at):
            shared = self.shared(self.add(at, shared_offset))
            there = self.offset(pointer, at, G)
            if to_shared:
                self.store(self.load(vector, there), vector, shared, S)
            else:
                self.store(self.load(vector, shared, S), vector, there)

        self.repeat(self.mul("%thread", 16), num_bytes, 16 * self.threads, move)

    def text(self):
        parameters = ", ".join(f"%{name}: {kind}" for name, kind in self.parameters)
        cluster = ""
        if self.cluster > 1:
            cluster = f", nvvm.cluster_dim = array<i32: {self.cluster}, 1, 1>"
        head = (f"llvm.func @{self.name}({parameters}) attributes {{nvvm.kernel, "
                f"nvvm.maxntid = array<i32: {self.threads}>{cluster}}} {{")
        constants = [f"  {name} = {text}" for name, text in self.constants.values()]
        return "\n".join([head, *constants, *self.lines, "  llvm.return", "}", ""])


@dataclasses.dataclass
class Buffer:
    """A pointer argument: what memory holds before, and for outputs must hold after. One that is
    not passed is there for tensor maps alone. 16-bit integers are bits of bf16 where a case has a
    bound."""

    data: np.ndarray
    expected: typing.Optional[np.ndarray] = None
    passed: bool = True


@dataclasses.dataclass
class Map:
    """A tensor map of the buffer of an argument; strides in bytes, of dims 1 and up."""

    argument: int
    element: int  # As CUtensorMapDataType.
    sizes: tuple
    strides: tuple
    box: tuple
    swizzle: int = 0
    nan: int = 0
    offset: int = 0
    steps: tuple = (1, 1, 1, 1, 1)  # Every so manieth element of the box is moved.


@dataclasses.dataclass
class Case:
    """One launch of a kernel. `bound` is what outputs may differ by, relative to `scale` (their
    largest magnitude where none is given); 0 asks for equal bits."""

    name: str
    kernel: Function
    arguments: list
    shared: int = 0
    ctas: int = 1
    bound: float = 0.0
    scale: typing.Optional[np.ndarray] = None
    report: typing.Optional[str] = None  # What the emulator must say (a regular expression).


def bf16(values):
    """Bits of the nearest bf16 values."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits, np.uint32) << 16).view(np.float32)


def f8_table(mantissa_bits):
    """The 256 values of E4M3 (3) or E5M2 (2)."""
    values = []
    for bits in range(256):
        exponent_bits = 7 - mantissa_bits
        mantissa = bits & ((1 << mantissa_bits) - 1)
        exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
        bias = (1 << (exponent_bits - 1)) - 1
        if exponent:
            mantissa |= 1 << mantissa_bits
        value = mantissa * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
        top = exponent == (1 << exponent_bits) - 1
        fraction = bits & ((1 << mantissa_bits) - 1)
        if mantissa_bits == 3 and bits & 0x7F == 0x7F or mantissa_bits == 2 and top and fraction:
            value = np.nan
        elif mantissa_bits == 2 and top:
            value = np.inf
        values.append(-value if bits & 0x80 else value)
    return np.array(values, np.float32)


E4M3, E5M2 = f8_table(3), f8_table(2)


def encode_f8(values, table):
    """Encodings of values that the format has exactly."""
    table = np.where(np.isnan(table), np.inf, table)
    order = np.argsort(table[:128])
    magnitude = np.abs(np.asarray(values, np.float32))
    index = np.searchsorted(table[:128][order], magnitude)
    bits = order[index].astype(np.uint8)
    assert np.array_equal(table[bits], magnitude), "a value is not representable"
    return bits | np.where(np.signbit(values), 0x80, 0).astype(np.uint8)
