"""Assembles a module with every attn_nv op in every mode.

Each case is one kernel. ptxas must accept all of them, and must not say that it reordered products
and waits (C7510 to C7519).
"""

import argparse
import pathlib
import re
import subprocess
import sys

FLOATS16 = ("f16", "bf16")
FLOATS8 = ("f8E4M3FN", "f8E5M2")
EVERY_N = range(8, 257, 8)
SOME_N = (8, 64, 256)


def values(name, count):
    return ", ".join(f"{name}#{i}" for i in range(count)) if count > 1 else name


def product(n, types, registers=False, transposes="", scale=False):
    """Two chained products, of which the first has no accumulators."""
    a = "a_registers(%r, %r, %r, %r)" if registers else "a(%x)"
    head = f"attn_nv.wgmma n = {n}, {a} b(%x) {transposes}"
    count = n // 2
    extra = " scale_d(%p)" if scale else ""
    stores = "\n".join(
        f"  llvm.store volatile %d#{i}, %g : f32, !llvm.ptr<1>" for i in (0, count - 1))
    return f"""
  attn_nv.wgmma_fence
  %a:{count} = {head} : {types}
  %b:{count} = {head} acc({values("%a", count)}){extra} : {types}
  nvvm.wgmma.commit.group.sync.aligned
  %d:{count} = attn_nv.wgmma_wait 0 acc({values("%b", count)})
{stores}"""


def cases():
    """(name, body) of every kernel."""
    for element in FLOATS16:
        for n in EVERY_N:
            for registers in (False, True):
                yield f"{element}_n{n}_{registers}", product(
                    n, f"{element}, {element}", registers, "transpose_b", n in SOME_N)
        for n in SOME_N:
            for transposes in ("", "transpose_a", "transpose_b", "transpose_a transpose_b"):
                yield f"{element}_n{n}_{transposes}", product(
                    n, f"{element}, {element}", False, transposes)
            yield f"{element}_n{n}_plain", product(n, f"{element}, {element}", True)
    for a in FLOATS8:
        for b in FLOATS8:
            for n in EVERY_N:
                for registers in (False, True):
                    yield f"{a}_{b}_n{n}_{registers}", product(n, f"{a}, {b}", registers)
    for pending in range(8):
        yield f"wait_{pending}", f"  attn_nv.wgmma_wait {pending}"
    for pointer in ("%bar : !llvm.ptr<3>", "%far : !llvm.ptr<7>"):
        barrier, kind = pointer.split(" ", 1)
        for bytes_ in ("", " expect_tx(%r)"):
            for predicate in ("", " predicate(%p)"):
                yield f"arrive_{barrier}_{bytes_}_{predicate}", (
                    "  %far = nvvm.mapa %bar, %r : !llvm.ptr<3> -> !llvm.ptr<7>\n"
                    f"  attn_nv.mbarrier_arrive {barrier}{bytes_}{predicate} {kind}")
    for scope in ("", " cluster"):
        # Two in one kernel: each has its own label.
        wait = f"  attn_nv.mbarrier_wait %bar, %r{scope} : !llvm.ptr<3>\n"
        yield f"mbarrier_wait{scope}", wait + wait
    yield "barrier_arrive", "  attn_nv.barrier_arrive %r, %threads"
    for element in ("f32", "f16", "bf16", "i32"):
        yield f"bulk_reduce_{element}", (
            f"  attn_nv.bulk_reduce %g, %bar, %r : {element}, !llvm.ptr<1>, !llvm.ptr<3>")


def module():
    yield "llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>"
    for name, body in cases():
        symbol = re.sub(r"\W", "_", name)
        yield (f"llvm.func @{symbol}(%x: i64, %r: i32, %p: i1, %g: !llvm.ptr<1>) "
               "attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {\n"
               "  %bar = llvm.mlir.addressof @smem : !llvm.ptr<3>\n"
               "  %threads = llvm.mlir.constant(128 : i32) : i32\n"
               f"{body}\n  llvm.return\n}}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    source, ptx = options.work / "all.mlir", options.work / "all.ptx"
    source.write_text("\n".join(module()) + "\n")
    for command in (["attn-translate", str(source), "--mlir-to-ptx", "--chip=sm_90a",
                     "-o", str(ptx)],
                    [options.ptxas, "-arch=sm_90a", "-O1", str(ptx), "-o", "/dev/null"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        output = done.stdout + done.stderr
        if done.returncode != 0 or re.search(r"C751\d", output):
            print(f"{' '.join(command)}: exit code {done.returncode}\n{output}", file=sys.stderr)
            return 1
    print(f"{len(list(cases()))} kernels assembled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
