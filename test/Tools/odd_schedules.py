"""Gives attn-opt odd schedules: each compiles, or is refused at its place with code 1."""

import concurrent.futures
import os
import subprocess
import sys

SM80 = [
    "q_tile = 8", "kv_tile = 8", "q_tile = 24", "kv_tile = 24", "kv_tile = 48", "q_tile = 80",
    "q_tile = 1", "kv_tile = 1", "q_tile = 65536", "kv_tile = 65536", "stages = 8", "stages = 100",
    "warps = 1", "warps = 3", "warps = 5, q_tile = 80", "warps = 32", "warps = 64",
    "warps = 32, q_tile = 512", "warp_split = keys", "warp_split = keys, q_tile = 16, warps = 3",
    "warp_split = keys, q_tile = 16, warps = 8, kv_tile = 128", "algorithm = fa1",
    "algorithm = naive, stages = 3", "algorithm = two_pass, warp_split = keys, q_tile = 16",
    "split_kv = 100000", "split_kv = 2, algorithm = naive", "instruction = fma",
    "instruction = fma, q_in_registers = true", "instruction = fma, warp_split = keys",
    "instruction = fma, q_tile = 256, kv_tile = 256", "instruction = fma, stages = 3",
]

SM90 = ["kv_order = descending", "overlap = true", "q_stages = 2", "integer_max = true"] + [
    f"instruction = wgmma, {fields}" for fields in [
        "q_tile = 64", "q_tile = 0", "q_tile = 80, warps = 5", "q_tile = 192, warps = 12",
        "q_tile = 256, warps = 16", "q_tile = 448, warps = 28", "q_tile = 128, warps = 0",
        "q_tile = 64, kv_tile = 0", "q_tile = 64, kv_tile = 8", "q_tile = 64, kv_tile = 24",
        "q_tile = 64, kv_tile = 256", "q_tile = 64, kv_tile = 264", "q_tile = 64, stages = 0",
        "q_tile = 64, stages = 8", "q_tile = 64, q_stages = 0",
        "q_tile = 64, kv_tile = 16, q_stages = 8", "q_tile = 64, overlap = true, pingpong = true",
        "q_tile = 192, warps = 12, kv_tile = 32, pingpong = true",
        "q_tile = 64, warp_split = keys", "q_tile = 64, q_in_registers = true",
        "q_tile = 64, split_kv = 3, kv_tile = 32, overlap = true, persistent = static",
        "q_tile = 64, split_kv = 100000", "q_tile = 64, algorithm = fa1",
        "q_tile = 128, warps = 8, algorithm = naive, persistent = static, kv_order = descending",
        "q_tile = 128, warps = 8, algorithm = two_pass, pingpong = true, q_stages = 2",
        "q_tile = 128, warps = 8, kv_tile = 16, overlap = true, order = longest_first",
        "q_tile = 128, warps = 8, persistent = dynamic",
        "q_tile = 128, warps = 8, producer_registers = 24",
        "q_tile = 128, warps = 8, producer_registers = 256, consumer_registers = 256",
        "q_tile = 64, integer_max = true, lazy_rescale = false",
    ]
]

# (element, head dim of q and k, head dim of v)
TENSORS = [("bf16", 64, 64), ("f16", 8, 24), ("bf16", 256, 256), ("f32", 64, 64)]

PROGRAM = """func.func @f(%q: {q}, %k: {q}, %v: {v}, %o: {v}, %s: f32) {{
  attn.forward ins(%q, %k, %v : {q}, {q}, {v}) outs(%o : {v}) scale(%s)
               mask(#attn.causal<bottom_right>) alignment(16) schedule(<{schedule}>)
  return
}}
"""


def check(case):
    """What is wrong with the answer to one case; nothing when all is well."""
    target, schedule, (element, dim_qk, dim_v) = case
    q, v = f"memref<?x?x8x{dim_qk}x{element}>", f"memref<?x?x8x{dim_v}x{element}>"
    done = subprocess.run(
        ["attn-opt", "-", f"--attn-pipeline=target={target}", "-o", os.devnull],
        input=PROGRAM.format(q=q, v=v, schedule=schedule),
        capture_output=True, text=True, timeout=300)
    located = done.stderr.startswith("<stdin>:") and "error: " in done.stderr
    if done.returncode == 0 or (done.returncode == 1 and located):
        return None
    return (f"{target} {schedule} {element} {dim_qk}/{dim_v}: exit code {done.returncode}\n"
            f"{done.stderr}")


def main():
    schedules = {"sm_80": SM80, "sm_90a": SM90}
    cases = [(target, schedule, tensors)
             for target in schedules for schedule in schedules[target] for tensors in TENSORS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(filter(None, pool.map(check, cases)))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
