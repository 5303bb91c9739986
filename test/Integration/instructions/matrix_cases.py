"""Cases of wgmma, stmatrix, ldmatrix and mma.sync."""

import numpy as np

from l3 import E4M3, E5M2, G, S, Buffer, Case, Function, bf16, encode_f8, from_bf16

ROWS = 64
# Name in the IR, bytes, bits of an array of exact values.
ELEMENTS = {
    "bf16": (2, bf16),
    "f16": (2, lambda x: np.asarray(x, np.float16).view(np.uint16)),
    "f8E4M3FN": (1, lambda x: encode_f8(x, E4M3)),
    "f8E5M2": (1, lambda x: encode_f8(x, E5M2)),
}
SPANS = {0: 16, 1: 128, 2: 64, 3: 32}  # Of the descriptor's swizzle field.


def swizzled(mode, address):
    mask = {0: 0, 1: 7, 2: 3, 3: 1}[mode]
    return address ^ ((address >> 7 & mask) << 4)


def place(image, base, bits, mode, mn_major, inner=None, k0=0):
    """Puts a matrix (rows x k) into an image of shared memory as wgmma wants it and returns the
    descriptor's fields without the base address. `inner` columns make a line of K-major
    matrices, of which the operand begins at column `k0`."""
    rows, k = bits.shape
    size = bits.dtype.itemsize
    span = SPANS[mode]
    if mn_major:
        per_line = span // size
        lines = -(-rows // per_line)
        if mode:
            leading, stride = 16 * span, 8 * span
        else:
            leading, stride = 128 * lines, 128
        for r in range(rows):
            for i in range(k):
                line, within = divmod(r, per_line)
                across_k, across_mn = (stride, leading) if mode else (leading, stride)
                at = line * across_mn + i // 8 * across_k + i % 8 * span + within * size
                at = swizzled(mode, base + at)
                image[at:at + size] = bits[r, i:i + 1].view(np.uint8)
        return leading, stride, 0
    leading, stride = (128 * (rows // 8), 128) if mode == 0 else (16, 8 * span)
    for r in range(rows):
        for i in range(k):
            byte = (i + k0) * size
            if mode == 0:
                at = r // 8 * stride + r % 8 * 16 + byte // 16 * leading + byte % 16
            else:
                at = r // 8 * stride + r % 8 * span + byte
            at = swizzled(mode, base + at)
            image[at:at + size] = bits[r, i:i + 1].view(np.uint8)
    return leading, stride, k0 * size


def descriptor(base, mode, fields):
    leading, stride, advance = fields
    bits = (base + advance) >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
    return bits - (1 << 64) if bits >> 63 else bits


def accumulators(n):
    """Row and column of value i of thread t, as arrays [128, n / 2]."""
    t, i = np.arange(128)[:, None], np.arange(n // 2)[None, :]
    row = 16 * (t // 32) + t % 32 // 4 + 8 * (i // 2 % 2)
    return row, 8 * (i // 4) + 2 * (t % 4) + i % 2


def fragments(bits):
    """The registers of A, [128, 4] of 32 bits."""
    k, size = bits.shape[1], bits.dtype.itemsize
    data = np.ascontiguousarray(bits).view(np.uint8).reshape(ROWS, k * size)
    out = np.zeros((128, 4), np.uint32)
    for t in range(128):
        for r in range(4):
            row = 16 * (t // 32) + t % 32 // 4 + 8 * (r % 2)
            byte = r // 2 * 16 + t % 4 * 4
            out[t, r] = data[row, byte:byte + 4].copy().view(np.uint32)[0]
    return out


KERNELS = {}


def wgmma_kernel(n, a, b, registers, transpose_a, transpose_b, chain, others):
    """(image, registers of A, out, image bytes, desc A, desc B, scale_d): D = A B, and with
    `chain` D = A B (+ A B where scale_d). `others` more products start before D is waited for."""
    key = (n, a, b, registers, transpose_a, transpose_b, chain, others)
    if key in KERNELS:
        return KERNELS[key]
    f = Function("wgmma_" + "_".join(str(int(x) if isinstance(x, bool) else x) for x in key),
                 [("image", G), ("fragments", G), ("out", G), ("bytes", "i32"), ("desc_a", "i64"),
                  ("desc_b", "i64"), ("scale", "i32")])
    f.start()
    f.copy("%bytes", True, "%image")
    f.fence_proxy()
    f.barrier()
    start = f.value(f"llvm.zext {f.op('lshr', '%base', 4)} : i32 to i64")
    a_desc, b_desc = (f.op("add", d, start, "i64") for d in ("%desc_a", "%desc_b"))
    operand = f"a({a_desc})"
    if registers:
        source = f.offset("%fragments", f.mul("%thread", 16), G)
        loaded = [f.load("i32", f.offset(source, 4 * r, G)) for r in range(4)]
        tied = f.values(4, f"attn_nv.wgmma_fence a_registers({', '.join(loaded)})")
        operand = f"a_registers({', '.join(tied)})"
    else:
        f.line("attn_nv.wgmma_fence")
    head = f"attn_nv.wgmma n = {n}, {operand} b({b_desc})"
    head += " transpose_a" * transpose_a + " transpose_b" * transpose_b
    d = f.values(n // 2, f"{head} : {a}, {b}")
    if chain:
        more = f.compare("ne", "%scale", 0)
        d = f.values(n // 2, f"{head} acc({', '.join(d)}) scale_d({more}) : {a}, {b}")
    if others:
        f.repeat(0, others, 1, lambda i: f.values(n // 2, f"{head} : {a}, {b}"))
    f.line("nvvm.wgmma.commit.group.sync.aligned")
    d = f.values(n // 2, f"attn_nv.wgmma_wait 0 acc({', '.join(d)})")
    target = f.offset("%out", f.mul("%thread", 2 * n), G)
    for i, value in enumerate(d):
        f.store(value, "f32", f.offset(target, 4 * i, G))
    KERNELS[key] = f
    return f


def wgmma(n, a="bf16", b="bf16", mode=1, registers=False, transpose_a=False, transpose_b=False,
          chain=None, random=False, k0=0, others=0):
    rng = np.random.default_rng(n + 7 * mode)
    size = ELEMENTS[a][0]
    k = 32 // size

    def pick(element, shape):
        """Values that the type has exactly: small integers, or of many magnitudes."""
        if not random:
            return rng.integers(-4, 5, shape).astype(np.float32)
        if size == 1:
            table = {"f8E4M3FN": E4M3, "f8E5M2": E5M2}[element]
            small = table[np.isfinite(table) & (np.abs(table) <= 64)]
            return rng.choice(small, shape)
        wide = rng.standard_normal(shape) * 2.0 ** rng.uniform(-5, 5, shape)
        return wide.astype(np.float16).astype(np.float32) if element == "f16" else (
            from_bf16(bf16(wide)))

    left, right = pick(a, (ROWS, k)), pick(b, (n, k))
    bits_a, bits_b = ELEMENTS[a][1](left), ELEMENTS[b][1](right)
    image = np.zeros(65536, np.uint8)
    base_b = 0 if registers else 16384
    fields_b = place(image, base_b, bits_b, mode, transpose_b, k0=k0)
    fields_a = (0, 0, 0) if registers else place(image, 0, bits_a, mode, transpose_a, k0=k0)
    exact = left.astype(np.float64) @ right.astype(np.float64).T
    magnitude = np.abs(left) @ np.abs(right).T
    factor = 1 if not chain else 2
    row, column = accumulators(n)
    expected = (factor * exact)[row, column].astype(np.float32)
    f = wgmma_kernel(n, a, b, registers, transpose_a, transpose_b, chain is not None, others)
    flags = f"{'r' if registers else 's'}{'t' * transpose_a}{'T' * transpose_b}"
    extra = f"_others{others}" * bool(others) + f"_k{k0}" * bool(k0) + "_random" * random + f"_chain{chain}" * (chain is not None)
    bound = 0.0
    if random:
        bound = 2 * (k + 1) * 2.0 ** (-23 if size == 2 else -13)
    return Case(f"wgmma_n{n}_{a}_{b}_{flags}_swizzle{mode}{extra}", f,
                [Buffer(image), Buffer(fragments(bits_a)),
                 Buffer(np.zeros((128, n // 2), np.float32), expected), len(image),
                 ("i64", descriptor(0, mode, fields_a)),
                 ("i64", descriptor(base_b, mode, fields_b)), int(chain or 0)],
                shared=len(image), bound=bound, scale=(factor * magnitude)[row, column])


def wgmma_cases():
    for element in ("bf16", "f16"):
        for n in (8, 64, 136):
            for mode in SPANS:
                for transpose_b in (False, True):
                    for transpose_a in (False, True):
                        yield wgmma(n, element, element, mode, False, transpose_a, transpose_b)
                    yield wgmma(n, element, element, mode, True, False, transpose_b)
    for a in ("f8E4M3FN", "f8E5M2"):
        for b in ("f8E4M3FN", "f8E5M2"):
            for mode in SPANS:
                for registers in (False, True):
                    yield wgmma(64, a, b, mode, registers)
    for n in (16, 24, 80, 128, 176, 256):
        yield wgmma(n)
        yield wgmma(n, registers=True, transpose_b=True)
    # Steps of K within a line of 128 bytes.
    for k0 in (16, 32, 48):
        yield wgmma(64, k0=k0)
    for registers in (False, True):
        for chain in (0, 1):
            yield wgmma(64, registers=registers, chain=chain)
    yield wgmma(8, others=600)
    for element in ELEMENTS:
        for n in (64, 256):
            yield wgmma(n, element, element, random=True)


def matrix_attributes(transposed):
    layout = "col" if transposed else "row"
    return (f"layout = #nvvm.mma_layout<{layout}>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
            "eltType = #nvvm.ld_st_matrix_elt_type<b16>")


def move_matrices(count, transposed, store):
    """One warp: registers [32, count] to an image of count matrices of 8x8, or back."""
    name = f"{'st' if store else 'ld'}matrix_x{count}{'_trans' * transposed}"
    f = Function(name, [("in", G), ("out", G)], threads=32)
    f.start()
    row = f.shared(f.mul(f.op("urem", "%thread", 8 * count), 16))
    mine = f.mul("%thread", 4 * count)
    if store:
        registers = [f.load("i32", f.offset(f.offset("%in", mine, G), 4 * r, G))
                     for r in range(count)]
        f.line(f"nvvm.stmatrix {row}, {', '.join(registers)} {{{matrix_attributes(transposed)}}} : "
               f"{S}, {', '.join(['i32'] * count)}")
        f.barrier()
        f.copy(128 * count, False, "%out")
    else:
        f.copy(128 * count, True, "%in")
        f.barrier()
        kind = "i32" if count == 1 else f"!llvm.struct<({', '.join(['i32'] * count)})>"
        loaded = f.value(f"nvvm.ldmatrix {row} {{num = {count} : i32, "
                         f"{matrix_attributes(transposed)}}} : ({S}) -> {kind}")
        for r in range(count):
            value = loaded if count == 1 else f.value(f"llvm.extractvalue {loaded}[{r}] : {kind}")
            f.store(value, "i32", f.offset(f.offset("%out", mine, G), 4 * r, G))
    # Element (row, column) of matrix m is in half column % 2 of register m of lane
    # 4 row + column / 2.
    matrices = np.arange(64 * count, dtype=np.uint16).reshape(count, 8, 8)
    held = matrices.transpose(0, 2, 1) if transposed else matrices
    registers = np.ascontiguousarray(held.reshape(count, 32, 2).transpose(1, 0, 2))
    before, after = (registers, matrices) if store else (matrices, registers)
    return Case(name, f, [Buffer(before), Buffer(np.zeros_like(after), after)], shared=128 * count)


def mma_sync(element):
    """D = A B + C of one warp, m16n8k16."""
    f = Function(f"mma_sync_{element}", [("a", G), ("b", G), ("c", G), ("out", G)], threads=32)
    f.start()
    kind = "vector<2xf16>" if element == "f16" else "i32"

    def registers(pointer, count, kind):
        base = f.offset(pointer, f.mul("%thread", 4 * count), G)
        return [f.load(kind, f.offset(base, 4 * r, G)) for r in range(count)]

    a, b = registers("%a", 4, kind), registers("%b", 2, kind)
    c = registers("%c", 4, "f32")
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    types = "" if element == "f16" else (
        "multiplicandAPtxType = #nvvm.mma_type<bf16>, "
        "multiplicandBPtxType = #nvvm.mma_type<bf16>, ")
    d = f.value(f"nvvm.mma.sync A[{', '.join(a)}] B[{', '.join(b)}] C[{', '.join(c)}] "
                f"{{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {types}"
                f"shape = #nvvm.shape<m = 16, n = 8, k = 16>}} : ({kind}, {kind}, f32) -> {struct}")
    out = f.offset("%out", f.mul("%thread", 16), G)
    for r in range(4):
        f.store(f.value(f"llvm.extractvalue {d}[{r}] : {struct}"), "f32", f.offset(out, 4 * r, G))
    rng = np.random.default_rng(3)
    left, right = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((16, 16), (8, 16)))
    added = rng.integers(-9, 9, (16, 8)).astype(np.float32)
    encode = ELEMENTS[element][1]
    t = np.arange(32)[:, None]
    i = np.arange(8)[None, :]
    a_bits = encode(left)[t // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (t % 4) + i % 2]
    j = np.arange(4)[None, :]
    b_bits = encode(right)[t // 4, 8 * (j // 2) + 2 * (t % 4) + j % 2]
    c_at = (t // 4 + 8 * (j // 2), 2 * (t % 4) + j % 2)
    expected = (left @ right.T + added)[c_at]
    return Case(f.name, f, [Buffer(a_bits), Buffer(b_bits), Buffer(added[c_at]),
                            Buffer(np.zeros_like(expected), expected)])


def cases():
    yield from wgmma_cases()
    for count in (1, 2, 4):
        for transposed in (False, True):
            for store in (False, True):
                yield move_matrices(count, transposed, store)
    for element in ("f16", "bf16"):
        yield mma_sync(element)
