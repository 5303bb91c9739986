"""Cases of TMA, bulk copies and reductions, cp.async and atomics."""

import itertools

import numpy as np

from l3 import C, G, MAP, P, S, Buffer, Case, Function, Map, bf16, from_bf16

# Number of the type in a tensor map, numpy's type of its bits.
ELEMENTS = {"u8": (0, np.uint8), "u16": (1, np.uint16), "u32": (2, np.uint32), "s32": (3, np.int32),
            "u64": (4, np.uint64), "f16": (6, np.float16), "f32": (7, np.float32),
            "bf16": (9, np.uint16)}
SPANS = {0: 16, 1: 32, 2: 64, 3: 128}  # Of the map's swizzle.
BARRIER, DATA = 0, 1024


def swizzled(mode, address):
    mask = (0, 1, 3, 7)[mode]
    return address ^ ((address >> 7 & mask) << 4)


def begin_barrier(f, num_bytes, count=1):
    """An mbarrier that expects bytes."""
    first = f.compare("eq", "%thread", 0)

    def init():
        f.line(f"nvvm.mbarrier.init {f.shared(BARRIER)}, {f.const(count)} : {S}, i32")
        f.line("nvvm.fence.mbarrier.init")

    f.when(first, init)
    f.barrier()
    return first, f.shared(BARRIER)


def coordinates(f, rank):
    return ", ".join(f"%c{i}" for i in range(rank))


def to_cluster(f, offset):
    return f.value(f"llvm.inttoptr {f.add('%base', offset)} : i32 to {C}")


KERNELS = {}


def kernel(name, make):
    if name not in KERNELS:
        KERNELS[name] = make(name)
    return KERNELS[name]


def load_kernel(rank):
    def make(name):
        f = Function(name, [("in", G), ("out", G), ("map", MAP), ("bytes", "i32")] +
                     [(f"c{i}", "i32") for i in range(rank)])
        f.start()
        first, barrier = begin_barrier(f, "%bytes")

        def issue():
            f.line(f"attn_nv.mbarrier_arrive {barrier} expect_tx(%bytes) : {S}")
            f.line(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {to_cluster(f, DATA)}, %map, "
                   f"{barrier}, box[{coordinates(f, rank)}] : {C}, {P}")

        f.when(first, issue)
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(0)} : {S}")
        f.copy("%bytes", False, "%out", DATA)
        return f

    return kernel(f"tma_load_{rank}d", make)


def store_kernel(rank, reduction):
    def make(name):
        f = Function(name, [("in", G), ("out", G), ("map", MAP), ("bytes", "i32")] +
                     [(f"c{i}", "i32") for i in range(rank)])
        f.start()
        f.copy("%bytes", True, "%in", DATA)
        f.fence_proxy()
        f.barrier()

        def issue():
            source = f.shared(DATA)
            box = f"%map, {source}, box[{coordinates(f, rank)}]"
            if reduction:
                f.line(f"nvvm.cp.async.bulk.tensor.reduce {box} "
                       f"{{redKind = #nvvm.tma_redux_kind<{reduction}>}} : {P}, {S}")
            else:
                f.line(f"nvvm.cp.async.bulk.tensor.global.shared.cta {box} : {P}, {S}")
            f.line("nvvm.cp.async.bulk.commit.group")
            f.line("nvvm.cp.async.bulk.wait_group 0")

        f.when(f.compare("eq", "%thread", 0), issue)
        return f

    return kernel(f"tma_{reduction or 'store'}_{rank}d", make)


def values(element, shape, seed):
    kind = ELEMENTS[element][1]
    rng = np.random.default_rng(seed)
    small = rng.integers(-20, 20, shape) if element not in ("u8", "u16", "u32", "u64") else (
        rng.integers(0, 200, shape))
    return bf16(small) if element == "bf16" else small.astype(kind)


def combine(element, reduction, old, new):
    if element == "bf16":
        old, new = from_bf16(old), from_bf16(new)
    result = {"add": np.add, "min": np.minimum, "max": np.maximum}[reduction](old, new)
    return bf16(result) if element == "bf16" else result


def tensor(element, sizes, box, first, mode=0, direction="load", padding=0, nan=0, step=1):
    """`sizes` and `box` have dim 0 first; numpy's arrays have it last. Of dim 1 every `step`th
    element of `step` times the box is moved."""
    number, kind = ELEMENTS[element]
    rank, size = len(sizes), np.dtype(kind).itemsize
    pitch = -(-sizes[0] * size // 16) * 16 + padding
    memory = values(element, (*reversed(sizes[1:]), pitch // size), 1)
    strides = tuple(pitch * int(np.prod(sizes[1:i], dtype=int)) for i in range(1, rank))
    num_bytes = int(np.prod(box)) * size
    count = num_bytes // size

    # Where each element of the box lies in shared memory, and its place in the tensor. Stores know
    # the width of a row in units of 16 bytes alone.
    slots = []
    limits = list(sizes)
    if direction != "load":
        limits[0] = -(-sizes[0] * size // 16) * 16 // size
    for index in itertools.product(*(range(b) for b in reversed(box))):
        steps = np.array([step if i == rank - 2 else 1 for i in range(rank)])
        at = first[::-1] + steps * np.array(index)
        linear = int(np.ravel_multi_index(index, tuple(reversed(box)))) * size
        slots.append((swizzled(mode, DATA + linear) - DATA, tuple(at),
                      all(0 <= c < s for c, s in zip(at, reversed(limits)))))
    argument = 0 if direction == "load" else 1
    reach = tuple(b * (step if i == 1 else 1) for i, b in enumerate(box))
    map_ = Map(argument, number, sizes, strides, reach, mode, nan, steps=(1, step, 1, 1, 1))
    name = (f"tma_{direction}_{element}_{'x'.join(map(str, sizes))}_box{'x'.join(map(str, box))}_at"
            f"{'_'.join(map(str, first))}_swizzle{mode}{'_pad' * bool(padding)}{'_nan' * nan}"
            f"{f'_step{step}' * (step > 1)}")
    tail = [num_bytes, *(int(c) for c in first)]
    if direction == "load":
        image = np.zeros(count, kind)
        fill = {"f32": np.uint32(0x7FF77FF7).view(np.float32), "bf16": 0x7FF7,
                "f16": np.uint16(0x7FF7).view(np.float16)}[element] if nan else 0
        for byte, at, inside in slots:
            image[byte // size] = memory[at] if inside else fill
        f = load_kernel(rank)
        buffers = [Buffer(memory), Buffer(np.zeros(count, kind), image)]
    else:
        image = values(element, count, 2)
        after = memory.copy()
        for byte, at, inside in slots:
            if not inside:
                continue
            new = image[byte // size]
            after[at] = new if direction == "store" else combine(element, direction, after[at], new)
        f = store_kernel(rank, None if direction == "store" else direction)
        buffers = [Buffer(image), Buffer(memory, after)]
    return Case(name, f, [*buffers, map_, *tail], shared=DATA + num_bytes)


def tensor_cases():
    at = lambda *c: np.array(c)  # noqa: E731
    for direction in ("load", "store"):
        for element in ELEMENTS:
            yield tensor(element, (64, 20), (16, 8), at(16, 4), direction=direction)
        # Ranks, inside and over every edge.
        for rank in range(1, 6):
            sizes, box = (40, 7, 5, 4, 3)[:rank], (32, 4, 2, 2, 2)[:rank]
            for first in ((0,) * rank, (8, 1, 1, 1, 1)[:rank], (-8, -1, -1, -1, -1)[:rank],
                          (24, 5, 4, 3, 2)[:rank], (40, 7, 5, 4, 3)[:rank]):
                if direction == "load" or min(first) >= 0:  # A GPU refuses other stores.
                    yield tensor("f32", sizes, box, at(*first), direction=direction)
        for mode, span in list(SPANS.items())[1:]:
            for element in ("bf16", "f32", "u8"):
                width = span // np.dtype(ELEMENTS[element][1]).itemsize
                chunk = 16 * width // span
                for first in ((0, 0), (width // 2, 3), (-chunk, -3), (2 * width - chunk, 20)):
                    if direction == "load" or min(first) >= 0:
                        yield tensor(element, (2 * width, 30), (width, 16), at(*first), mode,
                                     direction)
            yield tensor("bf16", (span // 2, 9, 3), (span // 2, 8, 2), at(0, 4, 1), mode, direction)
        yield tensor("bf16", (64, 30), (32, 8), at(0, 8), direction=direction, padding=32)
        yield tensor("bf16", (50, 6, 2), (64, 4, 1), at(0, 4, 1), 3, direction, padding=48)
        yield tensor("bf16", (64, 30, 2), (32, 8, 2), at(0, 3, 0), direction=direction, step=2)
        for width in (34, 37, 41):
            yield tensor("f32", (width, 6), (32, 4), at(8, 1), direction=direction, padding=64)
    for element in ("f32", "bf16", "f16"):
        yield tensor(element, (40, 7), (32, 4), at(16, 5), nan=1)
    for element in ("f32", "bf16", "f16", "s32", "u32"):
        yield tensor(element, (64, 12), (32, 8), at(40, 6), direction="add")
    for reduction in ("min", "max"):
        for element in ("bf16", "f16", "s32", "u32"):
            yield tensor(element, (64, 12), (32, 8), at(0, 2), direction=reduction)
    for rank in (1, 3, 4, 5):
        yield tensor("f32", (40, 7, 5, 4, 3)[:rank], (32, 4, 2, 2, 2)[:rank],
                     at(*(8, 1, 1, 1, 1)[:rank]), direction="add")


def bulk_load(num_bytes):
    def make(name):
        f = Function(name, [("in", G), ("out", G), ("bytes", "i32")])
        f.start()
        first, barrier = begin_barrier(f, "%bytes")

        def issue():
            f.line(f"attn_nv.mbarrier_arrive {barrier} expect_tx(%bytes) : {S}")
            f.line(f"nvvm.cp.async.bulk.shared.cluster.global {to_cluster(f, DATA)}, %in, "
                   f"{barrier}, %bytes : {C}, {G}")

        f.when(first, issue)
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(0)} : {S}")
        f.copy("%bytes", False, "%out", DATA)
        return f

    data = np.arange(num_bytes // 4, dtype=np.uint32) * 7919
    return Case(f"bulk_load_{num_bytes}", kernel("bulk_load", make),
                [Buffer(data), Buffer(np.zeros_like(data), data), num_bytes], DATA + num_bytes)


def bulk_store(num_bytes, element=None):
    """Plain, or a sum of `element`s."""
    def make(name):
        f = Function(name, [("in", G), ("out", G), ("bytes", "i32")])
        f.start()
        f.copy("%bytes", True, "%in", DATA)
        f.fence_proxy()
        f.barrier()

        def issue():
            if element:
                kind = {"s32": "i32"}.get(element, element)
                f.line(f"attn_nv.bulk_reduce %out, {f.shared(DATA)}, %bytes : {kind}, {G}, {S}")
            else:
                f.line(f"nvvm.cp.async.bulk.global.shared.cta %out, {f.shared(DATA)}, %bytes : "
                       f"{G}, {S}")
            f.line("nvvm.cp.async.bulk.commit.group")
            f.line("nvvm.cp.async.bulk.wait_group 0 {read}")
            f.line("nvvm.cp.async.bulk.wait_group 0")

        f.when(f.compare("eq", "%thread", 0), issue)
        return f

    name = f"bulk_{'add_' + element if element else 'store'}"
    kind = ELEMENTS[element or "s32"][1]
    count = num_bytes // np.dtype(kind).itemsize
    before, data = (values(element or "s32", count, seed) for seed in (4, 5))
    after = combine(element, "add", before, data) if element else data
    return Case(f"{name}_{num_bytes}", kernel(name, make),
                [Buffer(data), Buffer(before, after), num_bytes], DATA + num_bytes)


def multicast(tma):
    """CTA 0 of two loads to both; each writes what it got."""
    num_bytes = 2048

    def make(name):
        parameters = [("in", G), ("out", G)] + [("map", MAP)] * tma
        f = Function(name, parameters, cluster=2)
        f.start()
        rank = f.value("nvvm.read.ptx.sreg.cluster.ctarank : i32")
        first, barrier = begin_barrier(f, num_bytes)
        expect = lambda: f.line(  # noqa: E731
            f"attn_nv.mbarrier_arrive {barrier} expect_tx({f.const(num_bytes)}) : {S}")
        f.when(first, expect)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        leader = f.op("and", first, f.compare("eq", rank, 0), "i1")

        def issue():
            mask = f.const(3, "i16")
            target = to_cluster(f, DATA)
            if tma:
                zero = f.const(0)
                f.line(f"nvvm.cp.async.bulk.tensor.shared.cluster.global {target}, %map, "
                       f"{barrier}, box[{zero}, {zero}] multicast_mask = {mask} : {C}, {P}")
            else:
                f.line(f"nvvm.cp.async.bulk.shared.cluster.global {target}, %in, {barrier}, "
                       f"{f.const(num_bytes)} multicast_mask = {mask} : {C}, {G}")

        f.when(leader, issue)
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(0)} cluster : {S}")
        f.copy(num_bytes, False, f.offset("%out", f.mul(rank, num_bytes), G), DATA)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        return f

    data = np.arange(num_bytes // 4, dtype=np.uint32).reshape(32, 16)
    both = np.concatenate([data, data])
    map_ = [Map(0, 2, (16, 32), (64,), (16, 32))] * tma
    name = f"multicast_{'tma' if tma else 'bulk'}"
    return Case(name, kernel(name, make), [Buffer(data), Buffer(np.zeros_like(both), both), *map_],
                DATA + num_bytes, ctas=2)


def neighbour(bulk):
    """Each CTA of two sends its half to the other: a bulk copy, or plain stores and a remote
    arrival of every warp."""
    num_bytes = 2048

    def make(name):
        f = Function(name, [("in", G), ("out", G)], cluster=2)
        f.start()
        rank = f.value("nvvm.read.ptx.sreg.cluster.ctarank : i32")
        other = f.op("xor", rank, 1)
        first, barrier = begin_barrier(f, num_bytes, 1 if bulk else 4)
        source = f.offset("%in", f.mul(rank, num_bytes), G)
        if bulk:
            f.copy(num_bytes, True, source, DATA)
            f.fence_proxy()
            f.when(first, lambda: f.line(
                f"attn_nv.mbarrier_arrive {barrier} expect_tx({f.const(num_bytes)}) : {S}"))
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        there = f.value(f"nvvm.mapa {f.shared(DATA + num_bytes)}, {other} : {S} -> {C}")
        far = f.value(f"nvvm.mapa {barrier}, {other} : {S} -> {C}")
        if bulk:
            address = f.value(f"llvm.ptrtoint {far} : {C} to i32")
            signal = f.value(f"llvm.inttoptr {address} : i32 to {S}")
            f.when(first, lambda: f.line(
                f"nvvm.cp.async.bulk.shared.cluster.shared.cta {there}, {f.shared(DATA)}, "
                f"{signal}, {f.const(num_bytes)} : {C}, {S}"))
        else:
            at = f.mul("%thread", 16)
            vector = "vector<4xi32>"
            f.store(f.load(vector, f.offset(source, at, G)), vector, f.offset(there, at, C), C)
            f.line(f"nvvm.bar.warp.sync {f.const(-1)} : i32")
            lane = f.compare("eq", f.op("and", "%thread", 31), 0)
            f.line(f"attn_nv.mbarrier_arrive {far} predicate({lane}) : {C}")
        f.line(f"attn_nv.mbarrier_wait {barrier}, {f.const(0)} cluster : {S}")
        f.copy(num_bytes, False, f.offset("%out", f.mul(rank, num_bytes), G), DATA + num_bytes)
        f.line("nvvm.cluster.arrive {aligned}")
        f.line("nvvm.cluster.wait {aligned}")
        return f

    data = np.arange(num_bytes // 2, dtype=np.uint32).reshape(2, -1)
    name = f"neighbour_{'bulk' if bulk else 'stores'}"
    return Case(name, kernel(name, make), [Buffer(data), Buffer(np.zeros_like(data), data[::-1])],
                DATA + 2 * num_bytes, ctas=2)


def cp_async(size, given):
    """Thread t copies `given` bytes and fills up with zeros."""
    def make(name):
        f = Function(name, [("in", G), ("out", G), ("given", "i32")])
        f.start()
        at = f.mul("%thread", size)
        cache = "cg" if size == 16 else "ca"
        f.line(f"nvvm.cp.async.shared.global {f.shared(at)}, {f.offset('%in', at, G)}, {size}, "
               f"cache = {cache}, %given : {S}, {G}, i32")
        f.line("nvvm.cp.async.commit.group")
        f.line("nvvm.cp.async.wait.group 0")
        f.barrier()
        f.copy(128 * size, False, "%out")
        return f

    data = (np.arange(128 * size) * 37 % 251).astype(np.uint8).reshape(128, size)
    after = np.where(np.arange(size) < given, data, 0).astype(np.uint8)
    return Case(f"cp_async_{size}_{given}", kernel(f"cp_async_{size}", make),
                [Buffer(data), Buffer(np.zeros_like(after), after), given], 128 * size)


# Counters that start again at a bound, and how one step changes them.
WRAPS = {
    "uinc_wrap": lambda value, bound: 0 if value >= bound else value + 1,
    "udec_wrap": lambda value, bound: bound if value == 0 or value > bound else value - 1,
}


def atomic(operation, kind, shared):
    """All threads on one of eight words; the order must not matter."""
    def make(name):
        f = Function(name, [("in", G), ("out", G)])
        f.start()
        if shared:
            f.copy(8 * size, True, "%out")
            f.barrier()
        mine = f.load(kind, f.offset("%in", f.mul("%thread", size), G))
        at = f.mul(f.op("and", "%thread", 7), size)
        pointer = f.shared(at) if shared else f.offset("%out", at, G)
        scope = "block" if shared else "device"
        f.value(f'llvm.atomicrmw {operation} {pointer}, {mine} syncscope("{scope}") monotonic : '
                f"{S if shared else G}, {kind}")
        if shared:
            f.barrier()
            f.copy(8 * size, False, "%out")
        return f

    dtype = np.dtype({"f32": np.float32, "i32": np.int32, "i64": np.int64}[kind])
    size = dtype.itemsize
    rng = np.random.default_rng(8)
    data, before = rng.integers(-50, 50, 128).astype(dtype), rng.integers(-50, 50, 8).astype(dtype)
    after = before.copy()
    words = np.arange(128) % 8
    if operation in WRAPS:
        # The 16 threads of a word have one bound; some words begin beyond it.
        data = (words + 1).astype(dtype)
        before = (words[:8] * 3 % 11).astype(dtype)
        after = before.copy()
        for word, bound in zip(words, data):
            after[word] = WRAPS[operation](after[word], bound)
    elif operation == "xchg":
        data = (words + 100).astype(dtype)
        after = data[:8].copy()
    else:
        function = {"add": np.add, "fadd": np.add, "max": np.maximum, "min": np.minimum,
                    "umax": np.maximum, "umin": np.minimum, "_and": np.bitwise_and,
                    "_or": np.bitwise_or, "_xor": np.bitwise_xor}[operation]
        unsigned = operation in ("umax", "umin")
        view = (lambda x: x.view(f"u{size}")) if unsigned else (lambda x: x)
        function.at(view(after), words, view(data))
    name = f"atomic_{operation.strip('_')}_{kind}_{'shared' if shared else 'global'}"
    return Case(name, kernel(name, make), [Buffer(data), Buffer(before, after)], 8 * size)


def cases():
    yield from tensor_cases()
    for num_bytes in (16, 48, 4096):
        yield bulk_load(num_bytes)
        yield bulk_store(num_bytes)
    for element in ("f32", "f16", "bf16", "s32"):
        yield bulk_store(1024, element)
    for flag in (False, True):
        yield multicast(flag)
        yield neighbour(flag)
    for size in (4, 8, 16):
        for given in (0, size // 2, size):
            yield cp_async(size, given)
    for shared in (False, True):
        for operation in ("add", "max", "min", "umax", "umin", "_and", "_or", "_xor", "xchg", *WRAPS):
            for kind in ("i32", "i64"):
                yield atomic(operation, kind, shared)
        yield atomic("fadd", "f32", shared)
