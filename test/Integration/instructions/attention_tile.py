"""Prints a warp-specialized attention kernel for sm_90a in the LLVM, NVVM and attn_nv dialects.

A CTA computes 64 rows of O = softmax(scale Q K^T) V at head dim 64 in bf16. Warps 0 to 3 are one
consumer warpgroup, warp 4 is the producer: TMA fills two stages of K and of V, mbarriers say what
is full and what is empty, wgmma multiplies, O leaves through shared memory and a TMA store.

    kernel attention_tile(map of Q, map of K, map of V, map of O, f32 scale * log2(e), i32 keys)
    grid (tiles of 64 rows, heads, batch), 160 threads, 41984 bytes of dynamic shared memory

Maps have dims (head dim, row, head, batch), boxes of 64 x 64 x 1 x 1 and the 128-byte swizzle.

--without NAME leaves one synchronization out, --list prints their names: what the emulator must
notice.
"""

import argparse

from l3 import C, MAP, P, S, Function

HEAD_DIM = ROWS = KEYS = 64
STAGES = 2
TILE_BYTES = KEYS * HEAD_DIM * 2
CONSUMER_WARPS = 4
THREADS = 32 * (CONSUMER_WARPS + 1)
# Shared memory: barriers, Q (later O), then the stages of K and of V.
Q = 1024
K = Q + TILE_BYTES
V = K + STAGES * TILE_BYTES
SHARED_BYTES = V + STAGES * TILE_BYTES
FULL_Q, FULL_K, FULL_V, EMPTY_K, EMPTY_V = 0, 8, 24, 40, 56
# Bytes 16 (LBO, ignored or not), 32 (SBO = 1024) and 62 (128-byte swizzle) of a descriptor.
DESCRIPTOR = 1 << 62 | (1024 >> 4) << 32 | 1 << 16
BARRIER_ID = 1


class Program(Function):
    """The kernel, and the names of its synchronizations."""

    def __init__(self, without):
        super().__init__("attention_tile", [], THREADS)
        self.names, self.without = [], without

    def sync(self, name, text):
        """A synchronization that --without can leave out."""
        self.names.append(name)
        if name != self.without:
            self.line(text)

    def tied(self, name, values, text):
        """One that passes accumulators through, and passes them by when left out."""
        self.names.append(name)
        return values if name == self.without else self.values(len(values), text)

    def mbarrier(self, base, stage=None):
        return self.shared(base if stage is None else self.add(self.mul(stage, 8), base))

    def stage_of(self, iteration):
        stage = self.op("and", iteration, self.const(1))
        phase = self.op("and", self.op("lshr", iteration, self.const(1)), self.const(1))
        return stage, phase

    def tile(self, base, stage):
        return self.add(self.op("mul", stage, self.const(TILE_BYTES)), self.const(base))

    def descriptor(self, offset):
        """Of the tile at a shared offset."""
        address = self.add("%base", offset)
        field = self.op("lshr", self.op("and", address, self.const(0x3FFFF)), self.const(4))
        wide = self.value(f"llvm.zext {field} : i32 to i64")
        return self.op("or", wide, self.const(DESCRIPTOR, "i64"), "i64")

    def advance(self, descriptor, num_bytes):
        if num_bytes == 0:
            return descriptor
        return self.op("add", descriptor, self.const(num_bytes >> 4, "i64"), "i64")

    def load_box(self, map_, offset, barrier, row):
        local = self.add("%base", offset)
        target = self.value(f"llvm.inttoptr {local} : i32 to {C}")
        self.line(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {target}, {map_}, {barrier}, "
                  f"box[{self.const(0)}, {row}, %head, %batch] : {C}, {P}")

    def reduce_quad(self, value, combine):
        """Over the four lanes that share a row."""
        for mask in (1, 2):
            lanes = f"{value}, {self.const(mask)}, {self.const(31)}"
            other = self.value(f"nvvm.shfl.sync bfly {self.const(-1)}, {lanes} : f32 -> f32")
            value = self.value(combine(value, other))
        return value


def maximum(a, b):
    return f"llvm.intr.maxnum({a}, {b}) : (f32, f32) -> f32"


def fadd(a, b):
    return f"llvm.fadd {a}, {b} : f32"


def exp2(p, value):
    return p.value(f'llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"({value}) : (f32) -> f32')


def pack(p, low, high):
    pair = p.value(f'llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"({high}, {low}) : (f32, f32) -> '
                   "vector<2xbf16>")
    return p.value(f"llvm.bitcast {pair} : vector<2xbf16> to i32")


def setup(p):
    p.line("%thread = nvvm.read.ptx.sreg.tid.x : i32")
    p.line(f"%warp = llvm.lshr %thread, {p.const(5)} : i32")
    p.line("%tile = nvvm.read.ptx.sreg.ctaid.x : i32")
    p.line("%head = nvvm.read.ptx.sreg.ctaid.y : i32")
    p.line("%batch = nvvm.read.ptx.sreg.ctaid.z : i32")
    p.line(f"%smem = llvm.mlir.addressof @smem : {S}")
    p.line(f"%base = llvm.ptrtoint %smem : {S} to i32")
    p.line(f"%row0 = llvm.mul %tile, {p.const(ROWS)} : i32")
    tiles = p.op("udiv", p.add("%keys", p.const(KEYS - 1)), p.const(KEYS))
    first = p.value(f'llvm.icmp "eq" %thread, {p.const(0)} : i32')
    p.line(f"llvm.cond_br {first}, ^init, ^start")
    p.block("init")
    for name, offset, number, count in (
            ("init_full_q", FULL_Q, 1, 1), ("init_full_k", FULL_K, STAGES, 1),
            ("init_full_v", FULL_V, STAGES, 1), ("init_empty_k", EMPTY_K, STAGES, CONSUMER_WARPS),
            ("init_empty_v", EMPTY_V, STAGES, CONSUMER_WARPS)):
        for i in range(number):
            p.sync(f"{name}_{i}", f"nvvm.mbarrier.init {p.mbarrier(offset + 8 * i)}, "
                                  f"{p.const(count)} : {S}, i32")
    p.sync("fence_init", "nvvm.fence.mbarrier.init")
    p.line("llvm.br ^start")
    p.block("start")
    p.sync("cta_barrier", "nvvm.barrier")
    producer = p.value(f'llvm.icmp "eq" %warp, {p.const(CONSUMER_WARPS)} : i32')
    p.line(f"llvm.cond_br {producer}, ^producer, ^consumer")
    return tiles


def produce(p, tiles):
    p.block("producer")
    elected = p.value("nvvm.elect.sync -> i1")
    p.line(f"llvm.cond_br {elected}, ^load_q, ^exit")
    p.block("load_q")
    full = p.mbarrier(FULL_Q)
    num_bytes = p.const(TILE_BYTES)
    p.sync("expect_q", f"attn_nv.mbarrier_arrive {full} expect_tx({num_bytes}) : {S}")
    p.load_box("%map_q", p.const(Q), full, "%row0")
    p.line(f"llvm.br ^loads({p.const(0)} : i32)")

    p.lines.append("^loads(%j: i32):")
    more = p.value(f'llvm.icmp "ult" %j, {tiles} : i32')
    p.line(f"llvm.cond_br {more}, ^load_kv, ^exit")
    p.block("load_kv")
    stage, phase = p.stage_of("%j")
    parity = p.op("xor", phase, p.const(1))
    row = p.op("mul", "%j", p.const(KEYS))
    for letter, map_, base, full_base, empty_base in (("k", "%map_k", K, FULL_K, EMPTY_K),
                                                      ("v", "%map_v", V, FULL_V, EMPTY_V)):
        p.sync(f"wait_empty_{letter}",
               f"attn_nv.mbarrier_wait {p.mbarrier(empty_base, stage)}, {parity} : {S}")
        full = p.mbarrier(full_base, stage)
        p.sync(f"expect_{letter}",
               f"attn_nv.mbarrier_arrive {full} expect_tx({num_bytes}) : {S}")
        p.load_box(map_, p.tile(base, stage), full, row)
    next_ = p.add("%j", p.const(1))
    p.line(f"llvm.br ^loads({next_} : i32)")


def products(p, n, operands, acc=None):
    """A chain of wgmmas, one for each 16 of the inner dim."""
    for operand in operands:
        tail = f" acc({', '.join(acc)})" if acc else ""
        acc = p.values(n // 2, f"attn_nv.wgmma n = {n}, {operand}{tail} : bf16, bf16")
    return acc


def consume(p, tiles):
    half = KEYS // 2
    p.block("consumer")
    lane = p.op("and", "%thread", p.const(31))
    lane0 = p.value(f'llvm.icmp "eq" {lane}, {p.const(0)} : i32')
    p.sync("wait_full_q", f"attn_nv.mbarrier_wait {p.mbarrier(FULL_Q)}, {p.const(0)} : {S}")
    column = p.op("mul", p.op("and", lane, p.const(3)), p.const(2))
    descriptor_q = p.descriptor(p.const(Q))
    zero, low = p.const("0.0", "f32"), p.const("-1.0e30", "f32")
    carried = [("%i", "i32")] + [(f"%{x}{r}", "f32") for x in "ml" for r in "01"]
    carried += [(f"%o{i}", "f32") for i in range(half)]
    types = ", ".join(kind for _, kind in carried)

    def branch(values):
        return f"^turn({', '.join(values)} : {types})"

    p.line("llvm.br " + branch([p.const(0)] + [low] * 2 + [zero] * (2 + half)))
    p.lines.append(f"^turn({', '.join(f'{name}: {kind}' for name, kind in carried)}):")
    m, l = ["%m0", "%m1"], ["%l0", "%l1"]
    o = [f"%o{i}" for i in range(half)]
    more = p.value(f'llvm.icmp "ult" %i, {tiles} : i32')
    p.line(f"llvm.cond_br {more}, ^scores, ^finish")

    # S = Q K^T.
    p.block("scores")
    stage, phase = p.stage_of("%i")
    p.sync("wait_full_k", f"attn_nv.mbarrier_wait {p.mbarrier(FULL_K, stage)}, {phase} : {S}")
    descriptor_k = p.descriptor(p.tile(K, stage))
    operands = [f"a({p.advance(descriptor_q, 32 * k)}) b({p.advance(descriptor_k, 32 * k)})"
                for k in range(HEAD_DIM // 16)]
    p.sync("fence_scores", "attn_nv.wgmma_fence")
    s = products(p, KEYS, operands)
    p.sync("commit_scores", "nvvm.wgmma.commit.group.sync.aligned")
    s = p.tied("wait_scores", s, f"attn_nv.wgmma_wait 0 acc({', '.join(s)})")
    p.sync("release_k",
           f"attn_nv.mbarrier_arrive {p.mbarrier(EMPTY_K, stage)} predicate({lane0}) : {S}")

    # Keys past the end count for nothing.
    left = p.op("sub", "%keys", p.add(p.op("mul", "%i", p.const(KEYS)), column))
    minus_inf = p.const("0xFF800000", "f32")
    for i in range(half):
        inside = p.value(f'llvm.icmp "sgt" {left}, {p.const(8 * (i // 4) + i % 2)} : i32')
        s[i] = p.value(f"llvm.select {inside}, {s[i]}, {minus_inf} : i1, f32")

    # m' = max(m, rowmax S), p = exp2((s - m') scale), l' = alpha l + rowsum p, O = alpha O.
    for r in range(2):
        row = [i for i in range(half) if i // 2 % 2 == r]
        peak = m[r]
        for i in row:
            peak = p.value(maximum(peak, s[i]))
        peak = p.reduce_quad(peak, maximum)
        shift = p.op("fmul", peak, "%scale", "f32")
        alpha = exp2(p, p.op("fsub", p.op("fmul", m[r], "%scale", "f32"), shift, "f32"))
        m[r], l[r] = peak, p.op("fmul", l[r], alpha, "f32")
        for i in row:
            s[i] = exp2(p, p.op("fsub", p.op("fmul", s[i], "%scale", "f32"), shift, "f32"))
            l[r] = p.value(fadd(l[r], s[i]))
        for i in row:
            o[i] = p.op("fmul", o[i], alpha, "f32")

    # O += P V.
    packed = [pack(p, s[2 * i], s[2 * i + 1]) for i in range(KEYS // 4)]
    p.sync("wait_full_v", f"attn_nv.mbarrier_wait {p.mbarrier(FULL_V, stage)}, {phase} : {S}")
    descriptor_v = p.descriptor(p.tile(V, stage))
    operands = [f"a_registers({', '.join(packed[4 * k:4 * k + 4])}) "
                f"b({p.advance(descriptor_v, 2048 * k)}) transpose_b" for k in range(KEYS // 16)]
    o = p.tied("fence_output", o, f"attn_nv.wgmma_fence acc({', '.join(o)})")
    o = products(p, HEAD_DIM, operands, o)
    p.sync("commit_output", "nvvm.wgmma.commit.group.sync.aligned")
    o = p.tied("wait_output", o, f"attn_nv.wgmma_wait 0 acc({', '.join(o)})")
    p.sync("release_v",
           f"attn_nv.mbarrier_arrive {p.mbarrier(EMPTY_V, stage)} predicate({lane0}) : {S}")
    p.line("llvm.br " + branch([p.add("%i", p.const(1))] + m + l + o))
    finish(p, lane)


def finish(p, lane):
    """O / l through shared memory, where Q was, to global memory."""
    half = HEAD_DIM // 2
    p.block("finish")
    inverse = []
    for r in range(2):
        total = p.reduce_quad(f"%l{r}", fadd)
        inverse.append(p.op("fdiv", p.const("1.0", "f32"), total, "f32"))
    scaled = [p.op("fmul", f"%o{i}", inverse[i // 2 % 2], "f32") for i in range(half)]
    packed = [pack(p, scaled[2 * i], scaled[2 * i + 1]) for i in range(half // 2)]
    # Lane t gives the address of row t % 8 of matrix t / 8: (rows, rows + 8) x (8 columns, next 8).
    row = p.add(p.op("mul", "%warp", p.const(16)), p.op("and", lane, p.const(15)))
    line = p.add(p.const(Q), p.op("mul", row, p.const(128)))
    chunk0 = p.op("lshr", lane, p.const(4))
    swizzle = p.op("and", row, p.const(7))
    for i in range(HEAD_DIM // 16):
        chunk = p.op("xor", p.add(chunk0, p.const(2 * i)), swizzle)
        target = p.shared(p.add(line, p.op("mul", chunk, p.const(16))))
        p.line(f"nvvm.stmatrix {target}, {', '.join(packed[4 * i:4 * i + 4])} "
               "{layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
               "eltType = #nvvm.ld_st_matrix_elt_type<b16>} : " + f"{S}, i32, i32, i32, i32")
    p.sync("fence_proxy", "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, "
                          "space = #nvvm.shared_space<cta>}")
    p.sync("store_barrier", f"nvvm.barrier id = {p.const(BARRIER_ID)} number_of_threads = "
                            f"{p.const(32 * CONSUMER_WARPS)}")
    first = p.value(f'llvm.icmp "eq" %thread, {p.const(0)} : i32')
    p.line(f"llvm.cond_br {first}, ^store, ^exit")
    p.block("store")
    p.line(f"nvvm.cp.async.bulk.tensor.global.shared.cta %map_o, {p.shared(Q)}, "
           f"box[{p.const(0)}, %row0, %head, %batch] : {P}, {S}")
    p.sync("commit_store", "nvvm.cp.async.bulk.commit.group")
    p.sync("wait_store", "nvvm.cp.async.bulk.wait_group 0")
    p.line("llvm.br ^exit")
    p.block("exit")
    p.line("llvm.return")


def kernel(without=None):
    """(text of the module, names of its synchronizations)."""
    p = Program(without)
    tiles = setup(p)
    produce(p, tiles)
    consume(p, tiles)
    maps = ", ".join(f"%map_{x}: {MAP}" for x in "qkvo")
    head = [
        "llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} "
        ": !llvm.array<0 x i8>",
        f"llvm.func @attention_tile({maps}, %scale: f32, %keys: i32) attributes "
        f"{{nvvm.kernel, nvvm.maxntid = array<i32: {THREADS}>, nvvm.minctasm = 1 : i32}} {{",
    ]
    head += [f"  {name} = {text}" for name, text in p.constants.values()]
    return "\n".join(head + p.lines + ["}", ""]), p.names


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    text, names = kernel(options.without)
    if options.without and options.without not in names:
        parser.error(f"--without {options.without}: expected one of {', '.join(names)}")
    print("\n".join(names) if options.list else text, end="\n" if options.list else "")


if __name__ == "__main__":
    main()
