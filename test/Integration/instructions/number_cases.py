"""Cases of conversions and approximate functions, element by element."""

import numpy as np

from l3 import E4M3, E5M2, G, Buffer, Case, Function, bf16

THREADS = 128


def elementwise(name, body, inputs, expected, in_kind, out_kind, bound=0.0, scale=None):
    """out[i] = body(in[i]); `inputs` and `expected` have one row for each element."""
    count = len(inputs)
    f = Function(name, [("in", G), ("out", G)])
    f.start()
    in_bytes, out_bytes = inputs[0].nbytes, expected[0].nbytes

    def one(i):
        index = f.add(i, "%thread")
        value = f.load(in_kind, f.offset("%in", f.mul(index, in_bytes), G))
        f.store(body(f, value), out_kind, f.offset("%out", f.mul(index, out_bytes), G))

    f.repeat(0, count, THREADS, one)
    return Case(name, f, [Buffer(inputs), Buffer(np.zeros_like(expected), expected)], bound=bound,
                scale=scale)


def floats():
    """Ordinary values, ties, tiny and huge ones, zeros, infinities, NaN."""
    rng = np.random.default_rng(11)
    values = np.concatenate([
        rng.standard_normal(1024), rng.standard_normal(512) * 300, 2.0 ** rng.uniform(-30, 20, 448),
        np.arange(-16, 16) / 16, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38],
        [448, 449, 464, 465, 480, -500, 57344, 61440, 65504, 65519, 65520, 65536],
        [2.0 ** -9, 2.0 ** -10, 1.5 * 2.0 ** -10, 2.0 ** -17, 2.0 ** -16, 2.0 ** -24, 2.0 ** -25,
         1.5 * 2.0 ** -25, 0.0146484375, 0.013671875, 1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8],
    ]).astype(np.float32)
    return np.concatenate([values, np.zeros(-len(values) % THREADS, np.float32)])


def round_f8(values, table, largest):
    """Nearest encodings, ties to even, no overflow."""
    finite = table[:128][np.isfinite(table[:128])]
    out = np.zeros(len(values), np.uint8)
    for i, x in enumerate(np.asarray(values, np.float64)):
        if np.isnan(x):
            out[i] = 0x7F
            continue
        magnitude = min(abs(x), largest)
        above = min(int(np.searchsorted(finite, magnitude)), len(finite) - 1)
        below = max(above - 1, 0)
        up, down = finite[above] - magnitude, magnitude - finite[below]
        pick = above if up < down or up == down and above % 2 == 0 else below
        if finite[above] == magnitude:
            pick = above
        out[i] = pick | (0x80 if np.signbit(x) else 0)
    return out


def conversion_cases():
    x = floats()
    pairs = x.reshape(-1, 2)
    pairs = np.concatenate([pairs, np.zeros((-len(pairs) % THREADS, 2), np.float32)])

    def lanes(f, value):
        return [f.value(f"llvm.extractelement {value}[{f.const(i)} : i32] : vector<2xf32>")
                for i in range(2)]

    for name, table, largest in (("f8E4M3FN", E4M3, 448), ("f8E5M2", E5M2, 57344)):
        encoded = round_f8(pairs.reshape(-1), table, largest).reshape(-1, 2)
        for relu in (False, True):
            def encode(f, value, name=name, relu=relu):
                low, high = lanes(f, value)
                flags = "relu = true, " * relu + ("rnd = #nvvm.fp_rnd_mode<rn>, "
                                                  "sat = #nvvm.sat_mode<satfinite>")
                return f.value(f"nvvm.convert.f32x2.to.f8x2 {high}, {low} {{{flags}}} : i16 "
                               f"({name})")

            after = encoded
            if relu:
                after = round_f8(np.where(np.isnan(pairs), pairs, np.maximum(pairs, 0)).reshape(-1),
                                 table, largest).reshape(-1, 2)
            yield elementwise(f"to_{name}{'_relu' * relu}", encode, pairs, after, "vector<2xf32>",
                              "i16")

        def decode(f, value, name=name):
            return f.value(f"nvvm.convert.f8x2.to.f16x2 {value} : vector<2xi8> ({name}) -> "
                           "vector<2xf16>")

        every = np.arange(256, dtype=np.uint8).reshape(-1, 2)
        halves = table[every].astype(np.float16).view(np.uint16)
        halves = np.where(np.isnan(table[every]), 0x7FFF, halves).astype(np.uint16)
        yield elementwise(f"from_{name}", decode, every, halves, "vector<2xi8>", "vector<2xf16>")

    with np.errstate(over="ignore"):
        halves = np.where(np.isnan(pairs), 0x7FFF, pairs.astype(np.float16).view(np.uint16))
    for kind, intrinsic, after in (
            ("bf16", "ff2bf16x2", np.where(np.isnan(pairs), 0x7FFF, bf16(pairs))),
            ("f16", "ff2f16x2", halves)):
        def pack(f, value, kind=kind, intrinsic=intrinsic):
            low, high = lanes(f, value)
            return f.intrinsic(f"llvm.nvvm.{intrinsic}.rn", [high, low], ["f32", "f32"],
                               f"vector<2x{kind}>")

        yield elementwise(f"pack_{kind}", pack, pairs, after.astype(np.uint16), "vector<2xf32>",
                          f"vector<2x{kind}>")


def flushed(x):
    return np.where(np.abs(x) < 2.0 ** -126, np.copysign(0, x), x).astype(np.float32)


# Function, its intrinsic, numpy's, the domain, the bound in PTX's documentation: relative, or for
# lg2 absolute.
FUNCTIONS = (
    ("ex2", "llvm.nvvm.ex2.approx.ftz.f32", np.exp2, (-140, 127), 2.0 ** -22),
    ("lg2", "llvm.nvvm.lg2.approx.ftz.f", np.log2, (1e-30, 1e30), 2.0 ** -21),
    ("rcp", "llvm.nvvm.rcp.approx.ftz.f", lambda x: 1 / x, (1e-30, 1e30), 2.0 ** -23),
    ("sqrt", "llvm.nvvm.sqrt.approx.ftz.f", np.sqrt, (0, 1e30), 2.0 ** -22),
    ("rsqrt", "llvm.nvvm.rsqrt.approx.ftz.f", lambda x: 1 / np.sqrt(x), (1e-30, 1e30), 2.0 ** -22),
    ("tanh", None, np.tanh, (-8, 8), 2.0 ** -11),
)


def approximation_cases():
    rng = np.random.default_rng(13)
    for name, intrinsic, function, (low, high), bound in FUNCTIONS:
        if low > 0:
            x = np.exp(rng.uniform(np.log(low), np.log(high), 2048))
        else:
            x = rng.uniform(low, high, 2048)
        x = flushed(x.astype(np.float32))
        exact = flushed(function(x.astype(np.float64)))

        def apply(f, value, intrinsic=intrinsic):
            if not intrinsic:  # The backend takes tanh.approx for this.
                return f.value(f"llvm.intr.tanh({value}) {{fastmathFlags = #llvm.fastmath<afn>}} : "
                               "(f32) -> f32")
            return f.intrinsic(intrinsic, [value], ["f32"], "f32")

        scale = np.maximum(np.abs(exact), 1) if name == "lg2" else np.abs(exact) + 2.0 ** -120
        yield elementwise(f"{name}_approx", apply, x, exact, "f32", "f32", bound, scale)

        specials = np.resize(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1.0],
                                      np.float32), THREADS)
        if name == "tanh":
            specials = np.resize(specials[:5], THREADS)
        with np.errstate(all="ignore"):
            after = flushed(function(flushed(specials).astype(np.float64)))
        yield elementwise(f"{name}_specials", apply, specials, after, "f32", "f32", 2.0 ** -22,
                          np.ones_like(after))


def cases():
    yield from conversion_cases()
    yield from approximation_cases()
