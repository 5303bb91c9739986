"""Programs with one mistake each, and what the emulator must say of it. Not for a GPU."""

import numpy as np

from copy_cases import DATA, begin_barrier, to_cluster
from l3 import C, G, MAP, P, S, Buffer, Case, Function, Map

SHARED = 8192
# Of an 8-row operand in lines of 128 bytes.
DESCRIPTOR = 1 << 62 | 1024 >> 4 << 32 | 1 << 16
TILE = Map(0, 2, (16, 32), (64,), (16, 32))
TILE_BYTES = 2048


def broken(name, report, body, threads=128, cluster=1, maps=()):
    f = Function(name, [("in", G), ("out", G)] + [("map", MAP)] * len(maps), threads, cluster)
    f.start()
    body(f)
    data = np.arange(TILE_BYTES // 4, dtype=np.uint32)
    return Case(name, f, [Buffer(data), Buffer(np.zeros(1024, np.uint32)), *maps], SHARED,
                ctas=cluster, report=report)


def first(f, body):
    f.when(f.compare("eq", "%thread", 0), body)


def fill(f, fenced=True):
    """Shared memory from DATA on has been written, and may be read by the async proxy."""
    f.copy(TILE_BYTES, True, "%in", DATA)
    if fenced:
        f.fence_proxy()
    f.barrier()


def product(f, offset=DATA, acc=""):
    start = f.value(f"llvm.zext {f.op('lshr', f.add('%base', offset), 4)} : i32 to i64")
    d = f.op("add", start, f.const(DESCRIPTOR, "i64"), "i64")
    registers = ", ".join([f.const(0)] * 4)
    return f.values(4, f"attn_nv.wgmma n = 8, a_registers({registers}) b({d}){acc} : bf16, bf16")


def commit(f):
    f.line("nvvm.wgmma.commit.group.sync.aligned")


def wait(f, pending, acc=()):
    tail = f" acc({', '.join(acc)})" if acc else ""
    return f.values(len(acc), f"attn_nv.wgmma_wait {pending}{tail}") if acc else (
        f.line(f"attn_nv.wgmma_wait {pending}"))


def wgmma_cases():
    def no_fence(f):
        fill(f)
        product(f)
        commit(f)
        wait(f, 0)

    yield broken("wgmma_without_fence", "missing wgmma.*attn_nv.wgmma.*no wgmma.fence", no_fence)

    def no_fence_again(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f)
        commit(f)
        wait(f, 0)
        product(f)

    yield broken("wgmma_without_second_fence", "no wgmma.fence", no_fence_again)

    def no_proxy_fence(f):
        fill(f, fenced=False)
        f.line("attn_nv.wgmma_fence")
        product(f)

    yield broken("wgmma_without_proxy_fence", "missing proxy fence", no_proxy_fence)

    def outside(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f, SHARED)

    yield broken("wgmma_outside", "bad descriptor.*the descriptor of B reaches", outside)

    def base_offset(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        d = f.const(DESCRIPTOR | 1 << 49 | 1 << 7, "i64")
        f.values(4, f"attn_nv.wgmma n = 8, a({d}) b({d}) : bf16, bf16")

    yield broken("wgmma_base_offset", "bad descriptor.*base offset", base_offset)

    def tied_too_early(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f)
        commit(f)
        second = product(f)
        commit(f)
        wait(f, 1, second)

    yield broken("wgmma_tied_too_early", "in a group that this wait leaves in flight",
                 tied_too_early)

    def not_committed(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        wait(f, 0, product(f))

    yield broken("wgmma_not_committed", "in a group that this wait leaves in flight", not_committed)

    def overwritten(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f)
        commit(f)
        f.copy(TILE_BYTES, True, "%in", DATA)

    yield broken("wgmma_operand_overwritten", "(in flight|race).*llvm.store.*attn_nv.wgmma",
                 overwritten)

    def uninitialized(f):
        f.line("attn_nv.wgmma_fence")
        product(f)

    yield broken("wgmma_uninitialized", "uninitialized", uninitialized)

    def half(f):
        fill(f)

        def some():
            f.line("attn_nv.wgmma_fence")

        f.when(f.compare("ult", "%thread", 64), some)

    yield broken("wgmma_half", "divergent collective", half)

    def different(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f, f.add(DATA, f.mul(f.op("and", "%thread", 1), 1024)))

    yield broken("wgmma_descriptors_differ", "the descriptor of B is not that of thread 0",
                 different)


def load(f, barrier, target=DATA, mask="", at=(0, 0)):
    f.line(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {to_cluster(f, target)}, %map, "
           f"{barrier}, box[{f.const(at[0])}, {f.const(at[1])}]{mask} : {C}, {P}")


def expect(f, barrier, num_bytes=TILE_BYTES):
    f.line(f"attn_nv.mbarrier_arrive {barrier} expect_tx({f.const(num_bytes)}) : {S}")


def await_(f, barrier):
    f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(0)} : {S}")


def copy_cases():
    def loading(f, then, num_bytes=TILE_BYTES, arrives=True):
        one, barrier = begin_barrier(f, num_bytes)

        def issue():
            if arrives:
                expect(f, barrier, num_bytes)
            load(f, barrier)

        f.when(one, issue)
        then(barrier)

    read = lambda f: f.copy(TILE_BYTES, False, "%out", DATA)  # noqa: E731

    yield broken("tma_read_too_early", "(in flight|race).*llvm.load.*cp.async.bulk.tensor",
                 lambda f: loading(f, lambda barrier: (f.barrier(), read(f))), maps=[TILE])
    yield broken("tma_too_few_bytes", "deadlock.*attn_nv.mbarrier_wait.*phase 0.*mbarrier",
                 lambda f: loading(f, lambda b: await_(f, b), TILE_BYTES + 16), maps=[TILE])
    yield broken("tma_without_arrival", "deadlock.*mbarrier_wait",
                 lambda f: loading(f, lambda b: await_(f, b), arrives=False), maps=[TILE])
    outside = Map(0, 2, (16, 64), (64,), (16, 64))
    yield broken("tma_map_too_large", "outside.*argument 0|out of bounds.*argument 0",
                 lambda f: loading(f, lambda b: await_(f, b)), maps=[outside])
    narrow = Map(0, 2, (16, 32), (64,), (3, 8))
    yield broken("tma_narrow_box", "bad descriptor.*12 bytes wide, no multiple",
                 lambda f: loading(f, lambda b: await_(f, b)), maps=[narrow])
    flat = Map(0, 2, (512,), (), (64,))
    yield broken("tma_wrong_rank", "bad descriptor.*rank 1 and the copy 2 coordinates",
                 lambda f: loading(f, lambda b: await_(f, b)), maps=[flat])

    def at(column, row):
        def body(f):
            one, barrier = begin_barrier(f, TILE_BYTES)
            f.when(one, lambda: (expect(f, barrier), load(f, barrier, at=(column, row))))
        return body

    yield broken("tma_load_between_chunks", "bad operand.*starts 8 bytes", at(2, 0), maps=[TILE])

    def misaligned(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier, DATA + 64)))

    yield broken("tma_misaligned", "misaligned", misaligned, maps=[TILE])

    def unfenced_init(f):
        first(f, lambda: f.line(f"nvvm.mbarrier.init {f.shared(0)}, {f.const(1)} : {S}, i32"))
        f.barrier()
        first(f, lambda: (expect(f, f.shared(0)), load(f, f.shared(0))))

    yield broken("tma_unfenced_mbarrier", "missing proxy fence.*mbarrier", unfenced_init,
                 maps=[TILE])

    def alone(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: load(f, barrier, mask=f" multicast_mask = {f.const(2, 'i16')}"))

    yield broken("tma_multicast_to_nobody", "multicast to mask 2 in a cluster of 1", alone,
                 maps=[TILE])

    def store(f, then=None, fenced=True, row=0):
        fill(f, fenced)

        def issue():
            f.line(f"nvvm.cp.async.bulk.tensor.global.shared.cta %map, {f.shared(DATA)}, "
                   f"box[{f.const(0)}, {f.const(row)}] : {P}, {S}")
            f.line("nvvm.cp.async.bulk.commit.group")

        first(f, issue)
        if then:
            then()

    yield broken("tma_store_unfenced", "missing proxy fence.*cp.async.bulk.tensor.global",
                 lambda f: store(f, fenced=False), maps=[TILE])
    yield broken("tma_store_overwritten", "(in flight|race).*llvm.store",
                 lambda f: store(f, lambda: f.copy(TILE_BYTES, True, "%in", DATA)), maps=[TILE])

    yield broken("tma_store_before_the_tensor", "bad operand.*coordinate 1 is -1",
                 lambda f: store(f, row=-1), maps=[TILE])
    yield broken("tma_store_not_awaited", "data in flight.*CTA 0 ends", store, maps=[TILE])

    def bulk(num_bytes, source):
        def body(f):
            one, barrier = begin_barrier(f, num_bytes)
            there = f.offset("%in", source, G)
            f.when(one, lambda: f.line(
                f"nvvm.cp.async.bulk.shared.cluster.global {to_cluster(f, DATA)}, {there}, "
                f"{barrier}, {f.const(num_bytes)} : {C}, {G}"))
        return body

    yield broken("bulk_odd_size", "a bulk copy of 24 bytes", bulk(24, 0))
    yield broken("bulk_misaligned", "misaligned", bulk(32, 8))
    yield broken("bulk_outside", "argument 0", bulk(64, TILE_BYTES - 32))


def barrier_cases():
    def never(f):
        first(f, lambda: f.line(f"nvvm.mbarrier.init {f.shared(8)}, {f.const(2)} : {S}, i32"))
        f.barrier()
        first(f, lambda: f.line(f"attn_nv.mbarrier_arrive {f.shared(8)} : {S}"))
        await_(f, f.shared(8))

    yield broken("mbarrier_never", "deadlock.*mbarrier_wait.*1 of 2 arrivals", never)
    yield broken("mbarrier_absent", "barrier misuse.*no mbarrier is initialized",
                 lambda f: await_(f, f.shared(8)))

    def too_many(f):
        first(f, lambda: f.line(f"nvvm.mbarrier.init {f.shared(8)}, {f.const(4)} : {S}, i32"))
        f.barrier()
        f.value(f"nvvm.mbarrier.arrive {f.shared(8)}, {f.const(5)} : {S} -> i64")

    yield broken("mbarrier_too_many", "barrier misuse.*5 arrivals", too_many)

    def twice(f):
        init = f"nvvm.mbarrier.init {f.shared(8)}, {f.const(4)} : {S}, i32"
        first(f, lambda: (f.line(init), f.line(init)))

    yield broken("mbarrier_twice", "barrier misuse.*initialization of an mbarrier.*there is the mbarrier", twice)

    def unordered(f):
        first(f, lambda: f.line(f"nvvm.mbarrier.init {f.shared(8)}, {f.const(128)} : {S}, i32"))
        f.line(f"attn_nv.mbarrier_arrive {f.shared(8)} : {S}")

    yield broken("mbarrier_unordered_init", "race|no mbarrier is initialized", unordered)

    def overwritten(f):
        first(f, lambda: (f.line(f"nvvm.mbarrier.init {f.shared(8)}, {f.const(4)} : {S}, i32"),
                          f.store(f.const(0), "i32", f.shared(8), S)))

    yield broken("mbarrier_overwritten", "barrier misuse.*there is the mbarrier", overwritten)

    def number(f):
        f.line(f"attn_nv.barrier_arrive {f.add(f.op('and', '%thread', 0), 16)}, {f.const(128)}")

    yield broken("barrier_number", "barrier misuse.*barrier 16", number)

    def counts(f):
        few = f.compare("ult", "%thread", 64)
        f.when(few, lambda: f.line(f"attn_nv.barrier_arrive {f.const(1)}, {f.const(128)}"))
        f.when(f.compare("uge", "%thread", 64),
               lambda: f.line(f"nvvm.barrier id = {f.const(1)} number_of_threads = {f.const(96)}"))

    yield broken("barrier_counts", "barrier misuse.*(96 threads|for 96)", counts)

    def rank(f):
        f.value(f"nvvm.mapa {f.shared(0)}, {f.const(2)} : {S} -> {C}")

    yield broken("mapa_rank", "CTA 2 of a cluster of 2", rank, cluster=2)

    def row(f):
        f.line(f"nvvm.stmatrix {f.shared(f.mul('%thread', 8))}, {f.const(0)} "
               "{layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
               f"eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : {S}, i32")

    yield broken("stmatrix_misaligned", "misaligned", row, threads=32)


def cases():
    yield from wgmma_cases()
    yield from copy_cases()
    yield from barrier_cases()
