"""Programs that use shared memory, barriers or registers too early, too late or too often."""

from broken_cases import (TILE, TILE_BYTES, await_, broken, commit, expect, fill, first, load,
                          product, wait)
from copy_cases import DATA, begin_barrier, to_cluster
from l3 import C, G, P, S, Map

CP_ASYNC_ARRIVE = "nvvm.cp.async.mbarrier.arrive"


def init(f, offset, count):
    f.line(f"nvvm.mbarrier.init {f.shared(offset)}, {f.const(count)} : {S}, i32")


def inval(f, offset):
    f.line(f"nvvm.mbarrier.inval {f.shared(offset)} : {S}")


def cp_async(f):
    """Each thread copies 16 bytes to its place."""
    at = f.mul("%thread", 16)
    f.line(f"nvvm.cp.async.shared.global {f.shared(f.add(at, DATA))}, {f.offset('%in', at, G)}, "
           f"16, cache = cg : {S}, {G}")


def cluster_sync(f, arrive="arrive"):
    f.line(f"nvvm.cluster.{arrive} {{aligned}}")
    f.line("nvvm.cluster.wait {aligned}")


def far(f, offset, rank):
    return f.value(f"nvvm.mapa {f.shared(offset)}, {f.const(rank)} : {S} -> {C}")


def rank_is(f, rank):
    return f.compare("eq", f.value("nvvm.read.ptx.sreg.cluster.ctarank : i32"), rank)


def ends_of_barriers():
    def in_flight(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier), inval(f, 0)))

    yield broken("inval_before_tma", "data in flight.*mbarrier.inval.*cp.async.bulk.tensor",
                 in_flight, maps=[TILE])

    def bulk_in_flight(f):
        one, barrier = begin_barrier(f, 64)
        f.when(one, lambda: (
            expect(f, barrier, 64),
            f.line(f"nvvm.cp.async.bulk.shared.cluster.global {to_cluster(f, DATA)}, %in, "
                   f"{barrier}, {f.const(64)} : {C}, {G}"),
            inval(f, 0)))

    yield broken("inval_before_bulk", "data in flight.*mbarrier.inval.*cp.async.bulk",
                 bulk_in_flight)

    def cp_async_in_flight(f):
        first(f, lambda: init(f, 0, 128))
        f.barrier()
        cp_async(f)
        f.line(f"{CP_ASYNC_ARRIVE} {f.shared(0)} {{noinc = true}} : {S}")
        f.barrier()
        first(f, lambda: inval(f, 0))

    yield broken("inval_before_cp_async", "data in flight.*mbarrier.inval.*nvvm.cp.async",
                 cp_async_in_flight)

    def waited_for(f):
        """The last thread ends a barrier for which the others still wait."""
        first(f, lambda: init(f, 0, 128))
        f.barrier()
        f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} : {S}")
        await_(f, f.shared(0))
        f.when(f.compare("eq", "%thread", 127), lambda: inval(f, 0))

    yield broken("inval_before_waiters", "race.*mbarrier.inval.*mbarrier_(wait|arrive)", waited_for)

    def overwritten(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier, target=0)))

    yield broken("tma_over_mbarrier", "barrier misuse.*cp.async.bulk.tensor.*there is the mbarrier",
                 overwritten, maps=[TILE])

    def stored_over(f):
        first(f, lambda: init(f, 0, 1))
        f.barrier()
        f.line(f"nvvm.stmatrix {f.shared(f.mul('%thread', 16))}, {f.const(0)} "
               "{layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, "
               f"eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : {S}, i32")

    yield broken("stmatrix_over_mbarrier", "barrier misuse.*stmatrix.*there is the mbarrier",
                 stored_over, threads=32)


def ends_of_ctas():
    def tma(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier)))

    ended = "data in flight.*{}.*CTA 0 ends, but nobody"
    yield broken("end_before_tma", ended.format("cp.async.bulk.tensor"), tma, maps=[TILE])

    def bulk(f):
        one, barrier = begin_barrier(f, 64)
        f.when(one, lambda: (
            expect(f, barrier, 64),
            f.line(f"nvvm.cp.async.bulk.shared.cluster.global {to_cluster(f, DATA)}, %in, "
                   f"{barrier}, {f.const(64)} : {C}, {G}")))

    yield broken("end_before_bulk", ended.format("cp.async.bulk.shared"), bulk)

    def committed(f):
        cp_async(f)
        f.line("nvvm.cp.async.commit.group")
        f.line("nvvm.cp.async.wait.group 1")

    yield broken("end_before_cp_async", ended.format("cp.async.shared.global"), committed)

    def signalled(f):
        first(f, lambda: init(f, 0, 128))
        f.barrier()
        cp_async(f)
        f.line(f"{CP_ASYNC_ARRIVE} {f.shared(0)} {{noinc = true}} : {S}")

    yield broken("end_before_cp_async_arrival", ended.format("cp.async.shared.global"), signalled)

    def products(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        product(f)
        commit(f)

    yield broken("end_before_wgmma", ended.format("attn_nv.wgmma"), products)

    def store(f):
        fill(f)
        first(f, lambda: (
            f.line(f"nvvm.cp.async.bulk.global.shared.cta %out, {f.shared(DATA)}, "
                   f"{f.const(64)} : {G}, {S}"),
            f.line("nvvm.cp.async.bulk.commit.group"),
            f.line("nvvm.cp.async.bulk.wait_group 1")))

    yield broken("end_before_bulk_store", ended.format("cp.async.bulk.global"), store)

    def read_after_end(f):
        f.store("%thread", "i32", f.shared(f.mul("%thread", 4)), S)
        cluster_sync(f)
        f.when(rank_is(f, 0), lambda: f.load("i32", far(f, 0, 1), C))

    yield broken("read_of_ended_cta", "access after the end of a CTA.*llvm.load.*CTA 1",
                 read_after_end, cluster=2)

    def arrive_after_end(f):
        first(f, lambda: init(f, 0, 1))
        cluster_sync(f)
        f.when(f.op("and", rank_is(f, 0), f.compare("eq", "%thread", 0), "i1"),
               lambda: f.line(f"attn_nv.mbarrier_arrive {far(f, 0, 1)} : {C}"))

    yield broken("arrival_at_ended_cta", "access after the end of a CTA.*mbarrier_arrive.*CTA 1",
                 arrive_after_end, cluster=2)

    def relaxed(f):
        """The barrier of the cluster that orders nothing."""
        f.store("%thread", "i32", f.shared(f.mul("%thread", 4)), S)
        cluster_sync(f, "arrive.relaxed")
        f.load("i32", far(f, 0, 1), C)
        cluster_sync(f)

    yield broken("cluster_relaxed", "(race|uninitialized).*llvm.load", relaxed, cluster=2)

    def remote_wait(f):
        first(f, lambda: init(f, 0, 1))
        cluster_sync(f)
        address = f.value(f"llvm.ptrtoint {far(f, 0, 1)} : {C} to i32")
        f.when(rank_is(f, 0), lambda: await_(f, f.value(f"llvm.inttoptr {address} : i32 to {S}")))
        cluster_sync(f)

    yield broken("wait_in_another_cta", "bad operand.*mbarrier_wait.*its own CTA", remote_wait,
                 cluster=2)

    def remote_load(f):
        """ld.shared with an address of another CTA, which shared::cluster alone reaches."""
        f.store("%thread", "i32", f.shared(f.mul("%thread", 4)), S)
        cluster_sync(f)
        address = f.value(f"llvm.ptrtoint {far(f, 0, 1)} : {C} to i32")
        f.when(rank_is(f, 0), lambda: f.load("i32", f.value(
            f"llvm.inttoptr {address} : i32 to {S}"), S))
        cluster_sync(f)

    yield broken("load_in_another_cta", "bad operand.*llvm.load.*its own CTA", remote_load,
                 cluster=2)


def fences():
    def only_inits(f):
        fill(f, fenced=False)
        f.line("nvvm.fence.mbarrier.init")
        f.barrier()
        f.line("attn_nv.wgmma_fence")
        product(f)

    yield broken("wgmma_after_mbarrier_fence", "missing proxy fence.*attn_nv.wgmma", only_inits)

    def store(f):
        fill(f, fenced=False)
        f.line("nvvm.fence.mbarrier.init")
        f.barrier()
        first(f, lambda: f.line(
            f"nvvm.cp.async.bulk.global.shared.cta %out, {f.shared(DATA)}, {f.const(64)} : "
            f"{G}, {S}"))

    yield broken("store_after_mbarrier_fence", "missing proxy fence.*cp.async.bulk.global", store)

    def of_another_thread(f):
        """fence.mbarrier_init orders the inits of the thread that executes it."""
        first(f, lambda: init(f, 0, 1))
        f.barrier()
        f.when(f.compare("eq", "%thread", 1), lambda: (
            f.line("nvvm.fence.mbarrier.init"), expect(f, f.shared(0)), load(f, f.shared(0))))

    yield broken("mbarrier_fence_elsewhere", "missing proxy fence.*mbarrier", of_another_thread,
                 maps=[TILE])


def constants():
    def store(f):
        f.store(f.const(1), "i32", f.value(f"llvm.addrspacecast %map : {P} to {G}"))

    yield broken("store_to_parameter",
                 "global memory out of bounds.*llvm.store.*'parameter 2', which is read-only", store,
                 maps=[TILE])


def counts():
    def async_arrivals(f):
        """Two copies arrive at a barrier for one, whose phase bytes keep open."""
        first(f, lambda: (init(f, 0, 1),
                          f.line(f"nvvm.mbarrier.expect_tx {f.shared(0)}, {f.const(16)} : {S}, i32")))
        f.barrier()
        cp_async(f)
        f.line(f"{CP_ASYNC_ARRIVE} {f.shared(0)} {{noinc = true}} : {S}")
        await_(f, f.shared(0))

    yield broken("cp_async_arrives_too_often",
                 "barrier misuse.*cp.async.mbarrier.arrive.*waits for no more arrivals",
                 async_arrivals)

    def tx(kind):
        def body(f):
            first(f, lambda: (
                init(f, 0, 1),
                f.line(f"nvvm.mbarrier.{kind} {f.shared(0)}, {f.const(1 << 20)} : {S}, i32")))
        return body

    yield broken("expects_too_many_bytes", "barrier misuse.*expecting 1048576 bytes",
                 tx("expect_tx"))
    yield broken("delivers_too_many_bytes", "barrier misuse.*delivering 1048576 bytes",
                 tx("complete_tx"))


def registers():
    def many(number, then):
        """A product that nobody ties while many others start."""
        def body(f):
            fill(f)
            f.line("attn_nv.wgmma_fence")
            early = product(f)
            f.repeat(0, number, 1, lambda i: product(f))
            then(f, early)
        return body

    yield broken("tied_too_early_after_many", "in a group that this wait leaves in flight",
                 many(600, lambda f, early: wait(f, 0, early)))
    yield broken("products_without_end", "accumulator in flight.*4096 products were started",
                 many(4200, lambda f, early: (commit(f), wait(f, 0))))

    def accumulated_twice(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        start = product(f)
        acc = f" acc({', '.join(start)})"
        product(f, acc=acc)
        product(f, acc=acc)

    yield broken("accumulated_twice", "accumulator in flight.*registers were given on by "
                 "'attn_nv.wgmma'", accumulated_twice)

    def tied_twice(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        start = product(f)
        commit(f)
        wait(f, 0, start)
        wait(f, 0, start)

    yield broken("tied_twice", "accumulator in flight.*registers of its product were given on",
                 tied_twice)

    def both_ways(f):
        fill(f)
        f.line("attn_nv.wgmma_fence")
        half = f.compare("ult", "%thread", 64)
        f.when(half, lambda: product(f))
        product(f)

    yield broken("wgmma_divergent", "divergent collective.*attn_nv.wgmma", both_ways)

    def increase(f):
        """Nobody gives registers back."""
        f.when(f.compare("uge", "%thread", 128),
               lambda: f.line("nvvm.setmaxregister increase 240"))

    yield broken("setmaxregister_without_decrease",
                 "deadlock.*nvvm.setmaxregister.*9216 registers, of which 0 are free", increase,
                 threads=384)

    def too_many(f):
        producer = f.compare("ult", "%thread", 128)
        f.when(producer, lambda: f.line("nvvm.setmaxregister decrease 40"))
        f.when(f.compare("uge", "%thread", 128),
               lambda: f.line("nvvm.setmaxregister increase 240"))

    yield broken("setmaxregister_too_many", "deadlock.*nvvm.setmaxregister.*registers", too_many,
                 threads=384)
    yield broken("setmaxregister_wrong_way", "bad operand.*would decrease.*to 240.*has 168",
                 lambda f: f.line("nvvm.setmaxregister decrease 240"), threads=384)
    yield broken("setmaxregister_half", "divergent collective.*setmaxregister",
                 lambda f: f.when(f.compare("ult", "%thread", 64), lambda: f.line(
                     "nvvm.setmaxregister decrease 40")))


def maps():
    def refused(name, report, **changes):
        fields = {"argument": 0, "element": 2, "sizes": (16, 32), "strides": (64,),
                  "box": (16, 32), **changes}

        def body(f):
            one, barrier = begin_barrier(f, TILE_BYTES)
            f.when(one, lambda: (expect(f, barrier), load(f, barrier)))

        return broken(f"map_{name}", f"bad descriptor.*the tensor map: {report}", body,
                      maps=[Map(**fields)])

    yield refused("box", "the box of dim 1 is 257, not in .1, 256.", box=(16, 257))
    yield refused("empty_box", "the box of dim 0 is 0", box=(0, 32))
    yield refused("empty", "the size of dim 1 is 0", sizes=(16, 0))
    yield refused("size", "the size of dim 1 is 4294967297", sizes=(16, (1 << 32) + 1))
    yield refused("stride", "the stride of dim 1 is 1099511627776", strides=(1 << 40,))
    yield refused("odd_stride", "the stride of dim 1 is 72 bytes, no multiple of 16", strides=(72,))
    yield refused("negative_stride", "the stride of dim 1 is -64", strides=(-64,))
    yield refused("step", "the step of dim 1 is 9, not in .1, 8.", steps=(1, 9))
    yield refused("no_step", "the step of dim 1 is 0", steps=(1, 0))
    yield refused("wide_swizzle", "the box is 64 bytes wide, more than the 32 of its swizzle",
                  swizzle=1)
    yield refused("element", "its element type or swizzle does not exist", element=77)
    yield refused("start", "the tensor does not start at a multiple of 16", offset=8)
    yield refused("nan", "only floating-point elements", nan=1)


def phases():
    def two_rounds(f, parity):
        """One stage filled twice; the second wait is for `parity`."""
        one, barrier = begin_barrier(f, TILE_BYTES)
        for i in (0, parity):
            f.when(one, lambda: (expect(f, barrier), load(f, barrier)))
            f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(i)} : {S}")
            f.copy(TILE_BYTES, False, "%out", DATA)
            f.barrier()

    yield broken("phase_not_flipped", "(data in flight|race).*(cp.async.bulk.tensor.*llvm.load|"
                 "llvm.load.*cp.async.bulk.tensor)",
                 lambda f: two_rounds(f, 0), maps=[TILE])

    def wrong_phase(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier)))
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(1)} : {S}")
        f.copy(TILE_BYTES, False, "%out", DATA)

    yield broken("wrong_phase", "(data in flight|race|uninitialized).*llvm.load", wrong_phase,
                 maps=[TILE])

    def silent(f):
        """The arrival announces no bytes."""
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (f.line(f"attn_nv.mbarrier_arrive {barrier} : {S}"), load(f, barrier)))
        await_(f, barrier)
        f.copy(TILE_BYTES, False, "%out", DATA)

    yield broken("without_expect_tx", "(data in flight|race).*llvm.load.*cp.async.bulk.tensor",
                 silent, maps=[TILE])

    def too_few(f):
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier, TILE_BYTES // 2), load(f, barrier)))
        await_(f, barrier)

    yield broken("expects_too_few_bytes", "deadlock.*mbarrier_wait.*-1024 bytes are missing",
                 too_few, maps=[TILE])

    def two_barriers(f, wait_for, read):
        """Two tiles, each with a barrier; thread 0 loads both."""
        first(f, lambda: (init(f, 0, 1), init(f, 8, 1), f.line("nvvm.fence.mbarrier.init")))
        f.barrier()
        first(f, lambda: [(expect(f, f.shared(8 * i)),
                           load(f, f.shared(8 * i), DATA + i * TILE_BYTES)) for i in range(2)])
        await_(f, f.shared(wait_for))
        f.copy(TILE_BYTES, False, "%out", read)
        await_(f, f.shared(8 - wait_for))

    yield broken("barriers_swapped", "(data in flight|race).*llvm.load.*cp.async.bulk.tensor",
                 lambda f: two_barriers(f, 0, DATA + TILE_BYTES), maps=[TILE])

    def named(f):
        """Producers arrive at one barrier, consumers wait at another."""
        f.when(f.compare("ult", "%thread", 64),
               lambda: f.line(f"attn_nv.barrier_arrive {f.const(1)}, {f.const(128)}"))
        f.when(f.compare("uge", "%thread", 64),
               lambda: f.line(f"nvvm.barrier id = {f.const(2)} number_of_threads = {f.const(128)}"))

    yield broken("named_barriers_swapped", "deadlock.*barrier 2, where 64 of 128 threads are", named)

    def refilled(f):
        """The stage is filled again while a slow reader reads it."""
        one, barrier = begin_barrier(f, TILE_BYTES)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier)))
        await_(f, barrier)
        f.barrier()
        f.copy(TILE_BYTES, False, "%out", DATA)
        f.when(one, lambda: (expect(f, barrier), load(f, barrier)))
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(1)} : {S}")

    yield broken("refilled_too_early", "(data in flight|race).*(llvm.load|cp.async.bulk.tensor)",
                 refilled, maps=[TILE])

    def group(f):
        """The second store's group is left open when its source is overwritten."""
        fill(f)
        for i in range(2):
            first(f, lambda i=i: (
                f.line(f"nvvm.cp.async.bulk.global.shared.cta %out, "
                       f"{f.shared(DATA + 64 * i)}, {f.const(64)} : {G}, {S}"),
                f.line("nvvm.cp.async.bulk.commit.group")))
        first(f, lambda: f.line("nvvm.cp.async.bulk.wait_group 1"))
        f.barrier()
        f.copy(128, True, "%in", DATA)

    yield broken("store_group_left_open", "data in flight.*llvm.store.*cp.async.bulk.global", group)

    def cluster_twice(f):
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.arrive {aligned}")

    yield broken("cluster_arrives_twice", "barrier misuse.*twice", cluster_twice, cluster=2)
    yield broken("cluster_waits_first", "barrier misuse.*without having arrived",
                 lambda f: f.line("nvvm.cluster.wait {aligned}"), cluster=2)


def cases():
    for family in (ends_of_barriers, ends_of_ctas, fences, constants, counts, registers, maps, phases):
        yield from family()
