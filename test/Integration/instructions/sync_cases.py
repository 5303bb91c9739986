"""Cases of barriers, votes, shuffles and other exchanges between threads."""

import numpy as np

from l3 import C, G, S, Buffer, Case, Function

THREADS = 128


def per_thread(name, body, expected, threads=THREADS, cluster=1, shared=2048, ctas=1, inputs=None):
    """A kernel whose thread t of CTA c writes body's value to out[c * threads + t]."""
    f = Function(name, [("in", G), ("out", G)], threads, cluster)
    f.start()
    f.line("%cta = nvvm.read.ptx.sreg.ctaid.x : i32")
    value = body(f)
    index = f.add(f.mul("%cta", threads), "%thread")
    f.store(value, "i32", f.offset("%out", f.mul(index, 4), G))
    count = ctas * threads
    expected = np.broadcast_to(np.asarray(expected, np.int64).astype(np.int32), (count,)).copy()
    data = np.arange(count, dtype=np.int32) if inputs is None else np.asarray(inputs, np.int32)
    return Case(name, f, [Buffer(data), Buffer(np.full(count, -7, np.int32), expected)], shared,
                ctas)


def mine(f):
    return f.load("i32", f.offset("%in", f.mul("%thread", 4), G))


def word(f, index, offset=64):
    return f.shared(f.add(f.mul(index, 4), offset))


def flag(f, condition):
    return f.value(f"llvm.zext {condition} : i1 to i32")


def init(f, counts):
    """mbarriers at shared offsets 0, 8, ..."""
    def body():
        for i, count in enumerate(counts):
            f.line(f"nvvm.mbarrier.init {f.shared(8 * i)}, {f.const(count)} : {S}, i32")

    f.when(f.compare("eq", "%thread", 0), body)
    f.barrier()


def reverse_through(f, meet):
    """Writes own value to shared memory, meets, reads that of the opposite thread."""
    f.store("%thread", "i32", word(f, "%thread"), S)
    meet()
    return f.load("i32", word(f, f.op("sub", THREADS - 1, "%thread")), S)


REVERSED = THREADS - 1 - np.arange(THREADS)


def mbarrier_cases():
    def all_arrive(f):
        init(f, [THREADS])

        def meet():
            f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} : {S}")
            f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")

        return reverse_through(f, meet)

    yield per_thread("mbarrier_all_arrive", all_arrive, REVERSED)

    def one_per_warp(f):
        init(f, [4])

        def meet():
            f.line(f"nvvm.bar.warp.sync {f.const(-1)} : i32")
            lane0 = f.compare("eq", f.op("and", "%thread", 31), 0)
            f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} predicate({lane0}) : {S}")
            f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")

        return reverse_through(f, meet)

    yield per_thread("mbarrier_predicate", one_per_warp, REVERSED)

    def phases(f):
        """Five rounds of one barrier; each adds the neighbour's number."""
        init(f, [THREADS])
        f.store("%thread", "i32", word(f, "%thread"), S)
        total = f.const(0)
        for _ in range(5):
            f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} : {S}")
            f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
            read = f.load("i32", word(f, f.op("and", f.add("%thread", 1), THREADS - 1)), S)
            total = f.add(total, read)
            f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} : {S}")
            f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(1)} : {S}")
            f.store(f.add(read, 1), "i32", word(f, "%thread"), S)
        return total

    state, total = np.arange(THREADS), np.zeros(THREADS, int)
    for _ in range(5):
        read = np.roll(state, -1)
        total, state = total + read, read + 1
    yield per_thread("mbarrier_phases", phases, total)

    def transactions(f):
        """An arrival that expects bytes, which ordinary instructions deliver."""
        init(f, [1])

        def expect():
            f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} expect_tx({f.const(48)}) : {S}")
            f.line(f"nvvm.mbarrier.expect_tx {f.shared(0)}, {f.const(16)} : {S}, i32")
            f.line(f"nvvm.mbarrier.complete_tx {f.shared(0)}, {f.const(40)} : {S}, i32")
            f.line(f"nvvm.mbarrier.complete_tx {f.shared(0)}, {f.const(24)} : {S}, i32")

        first = f.compare("eq", "%thread", 0)

        def early():
            f.line(f"nvvm.mbarrier.expect_tx {f.shared(0)}, {f.const(8)} : {S}, i32")
            f.line(f"nvvm.mbarrier.complete_tx {f.shared(0)}, {f.const(8)} : {S}, i32")

        f.when(first, early)
        before = f.value(f"nvvm.mbarrier.test.wait {f.shared(0)}, {f.const(0)} : {S}, i32 -> i1")
        f.barrier()
        f.when(first, expect)
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
        after = f.value(f"nvvm.mbarrier.test.wait {f.shared(0)}, {f.const(0)} : {S}, i32 -> i1")
        return f.add(flag(f, before), f.mul(flag(f, after), 2))

    yield per_thread("mbarrier_transactions", transactions, 2)

    def parities(f):
        """What a fresh barrier says to each parity."""
        init(f, [1])
        bits = [flag(f, f.value(f"nvvm.mbarrier.try_wait {f.shared(0)}, {f.const(parity)} : {S}, "
                                "i32 -> i1")) for parity in (0, 1, 3)]
        return f.add(bits[0], f.add(f.mul(bits[1], 2), f.mul(bits[2], 4)))

    yield per_thread("mbarrier_parities", parities, 6)

    def states(f):
        """A state from an arrival is over once the others have come."""
        init(f, [THREADS])
        state = f.value(f"nvvm.mbarrier.arrive {f.shared(0)} : {S} -> i64")
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
        return flag(f, f.value(f"nvvm.mbarrier.test.wait {f.shared(0)}, {state} : {S}, i64 -> i1"))

    yield per_thread("mbarrier_states", states, 1)

    def counted(f):
        """Half of the threads arrive twice each."""
        init(f, [THREADS])

        def arrive():
            f.value(f"nvvm.mbarrier.arrive {f.shared(0)}, {f.const(2)} : {S} -> i64")

        f.when(f.compare("ult", "%thread", THREADS // 2), arrive)
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
        return f.const(1)

    yield per_thread("mbarrier_counts", counted, 1)

    def copies(f):
        """cp.async whose landing is an arrival."""
        init(f, [THREADS])
        at = f.mul("%thread", 4)
        target = word(f, "%thread")
        f.line(f"nvvm.cp.async.shared.global {target}, {f.offset('%in', at, G)}, 4, cache = ca : "
               f"{S}, {G}")
        f.line(f"nvvm.cp.async.mbarrier.arrive {f.shared(0)} {{noinc = true}} : {S}")
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
        return f.load("i32", word(f, f.op("sub", THREADS - 1, "%thread")), S)

    yield per_thread("mbarrier_cp_async", copies, REVERSED)

    def again(f):
        """A barrier made anew after mbarrier.inval."""
        init(f, [THREADS])
        f.line(f"attn_nv.mbarrier_arrive {f.shared(0)} : {S}")
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} : {S}")
        f.barrier()
        f.when(f.compare("eq", "%thread", 0),
               lambda: f.line(f"nvvm.mbarrier.inval {f.shared(0)} : {S}"))
        f.barrier()
        init(f, [1])
        return flag(f, f.value(f"nvvm.mbarrier.try_wait {f.shared(0)}, {f.const(1)} : {S}, i32 "
                               "-> i1"))

    yield per_thread("mbarrier_inval", again, 1)


def barrier_cases():
    def full(f):
        return reverse_through(f, f.barrier)

    yield per_thread("barrier", full, REVERSED)

    for barrier_id in (1, 7, 15):
        def named(f, barrier_id=barrier_id):
            """Each pair of warps meets at its own barrier."""
            pair = f.op("lshr", "%thread", 6)
            number = f.op("xor", f.const(barrier_id), pair)
            f.store("%thread", "i32", word(f, "%thread"), S)
            f.line(f"nvvm.barrier id = {number} number_of_threads = {f.const(64)}")
            return f.load("i32", word(f, f.op("xor", "%thread", 63)), S)

        yield per_thread(f"barrier_named_{barrier_id}", named, np.arange(THREADS) ^ 63)

    def turns(f):
        """Warps 0 and 1 produce and go on, warps 2 and 3 wait for them."""
        producer = f.compare("ult", "%thread", 64)
        f.store(f.const(0), "i32", word(f, f.op("xor", "%thread", 64)), S)
        f.barrier()

        def produce():
            f.store(f.mul("%thread", 3), "i32", word(f, "%thread"), S)
            f.line(f"attn_nv.barrier_arrive {f.const(2)}, {f.const(128)}")

        f.when(producer, produce)
        f.when(f.compare("uge", "%thread", 64),
               lambda: f.line(f"nvvm.barrier id = {f.const(2)} number_of_threads = {f.const(128)}"))
        other = f.op("and", "%thread", 63)
        consumer = flag(f, f.compare("uge", "%thread", 64))
        mine_ = f.mul(consumer, other)
        f.barrier()
        return f.mul(consumer, f.load("i32", word(f, mine_), S))

    t = np.arange(THREADS)
    yield per_thread("barrier_arrive", turns, np.where(t >= 64, 3 * (t & 63), 0))

    def registers(f):
        f.line("nvvm.setmaxregister decrease 40")
        return "%thread"

    yield per_thread("setmaxregister", registers, t)

    def elect(f):
        return flag(f, f.value("nvvm.elect.sync -> i1"))

    yield per_thread("elect", elect, t % 32 == 0)


def exchange_cases():
    t = np.arange(THREADS)
    lane, first = t % 32, t - t % 32
    sources = {
        "bfly": lambda b: lane ^ b, "idx": lambda b: np.full(THREADS, b),
        "up": lambda b: np.where(lane >= b, lane - b, lane),
        "down": lambda b: np.where(lane + b < 32, lane + b, lane),
    }
    for kind, source in sources.items():
        for distance in (1, 2, 7, 16):
            def shuffle(f, kind=kind, distance=distance):
                clamp = 0 if kind == "up" else 31
                return f.value(f"nvvm.shfl.sync {kind} {f.const(-1)}, {mine(f)}, "
                               f"{f.const(distance)}, {f.const(clamp)} : i32 -> i32")

            yield per_thread(f"shfl_{kind}_{distance}", shuffle, first + source(distance))
    predicate = t * 7 % 5 == 0
    warps = predicate.reshape(4, 32)
    votes = {"any": warps.any(1), "all": warps.all(1), "ballot": None}
    for kind, result in votes.items():
        def vote(f, kind=kind):
            condition = f.compare("eq", f.op("urem", f.mul("%thread", 7), 5), 0)
            type_ = "i32" if kind == "ballot" else "i1"
            value = f.value(f"nvvm.vote.sync {kind} {f.const(-1)}, {condition} -> {type_}")
            return value if kind == "ballot" else flag(f, value)

        if kind == "ballot":
            result = (warps.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1)
        yield per_thread(f"vote_{kind}", vote, np.repeat(result.astype(np.int64), 32))

    def warp_barrier(f):
        f.store("%thread", "i32", word(f, "%thread"), S)
        f.line(f"nvvm.bar.warp.sync {f.const(-1)} : i32")
        return f.load("i32", word(f, f.op("xor", "%thread", 31)), S)

    yield per_thread("warp_barrier", warp_barrier, t ^ 31)


def cluster_cases():
    t = np.arange(2 * THREADS)

    def rank(f):
        return f.value("nvvm.read.ptx.sreg.cluster.ctarank : i32")

    yield per_thread("cluster_rank", rank, t // THREADS, cluster=2, ctas=2)

    def remote_load(f):
        """Reads what the other CTA wrote to its own shared memory."""
        mine_ = rank(f)
        f.store(f.add(f.mul(mine_, 1000), "%thread"), "i32", word(f, "%thread"), S)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        there = f.value(f"nvvm.mapa {word(f, '%thread')}, {f.op('xor', mine_, 1)} : {S} -> {C}")
        value = f.load("i32", there, C)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        return value

    yield per_thread("cluster_remote_load", remote_load, (1 - t // THREADS) * 1000 + t % THREADS,
                     cluster=2, ctas=2)

    def remote_atomic(f):
        """Both CTAs count in CTA 0's shared memory."""
        mine_ = rank(f)
        f.when(f.compare("eq", "%thread", 0), lambda: f.store(f.const(5), "i32", f.shared(0), S))
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        there = f.value(f"nvvm.mapa {f.shared(0)}, {f.const(0)} : {S} -> {C}")
        f.value(f'llvm.atomicrmw add {there}, {f.add(mine_, 1)} syncscope("cluster") monotonic : '
                f"{C}, i32")
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        value = f.load("i32", there, C)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        return value

    yield per_thread("cluster_remote_atomic", remote_atomic, 5 + THREADS + 2 * THREADS, cluster=2,
                     ctas=2)


    def relaxed(f):
        """A relaxed barrier suffices for mbarriers that are fenced; CTA 1 arrives at CTA 0's."""
        def body():
            f.line(f"nvvm.mbarrier.init {f.shared(0)}, {f.const(2 * THREADS)} : {S}, i32")
            f.line("nvvm.fence.mbarrier.init")

        f.when(f.compare("eq", "%thread", 0), body)
        f.line("nvvm.cluster.arrive.relaxed {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        for target in (0, 1):
            there = f.value(f"nvvm.mapa {f.shared(0)}, {f.const(target)} : {S} -> {C}")
            f.line(f"attn_nv.mbarrier_arrive {there} : {C}")
        f.line(f"attn_nv.mbarrier_wait {f.shared(0)}, {f.const(0)} cluster : {S}")
        return rank(f)

    yield per_thread("cluster_relaxed_mbarrier", relaxed, t // THREADS, cluster=2, ctas=2)

    def ended(f):
        """CTA 1 ends without arriving: nobody waits for its threads."""
        def body():
            f.line("nvvm.cluster.arrive {aligned}")
            f.line("nvvm.cluster.wait {aligned}")

        f.when(f.compare("eq", rank(f), 0), body)
        return rank(f)

    yield per_thread("cluster_ended", ended, t // THREADS, cluster=2, ctas=2)



def cases():
    yield from mbarrier_cases()
    yield from barrier_cases()
    yield from exchange_cases()
    yield from cluster_cases()
