"""Compiles a matrix of problems to PTX and assembles each for several chips.

Says which case failed and how to repeat it. Head dims 64 and 128 with their default schedules, and
kernels of wgmma, must not spill registers, and no case may use local memory in its PTX. Descriptors of
wgmma lie in uniform registers: a turn of its loops has at most MOST_MOVES moves there.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from cubin_loops import moves_to_uniform_registers

CHIPS = ("sm_80", "sm_86", "sm_89", "sm_90")
HEADS = "heads_q=8 heads_kv=2"
MOST_MOVES = 5  # R2UR

# Words of the problem, then the chips. All chips where the schedules are shipped for speed; the
# others take turns, so that each chip still assembles every kind of code.
CASES = [
    (f"dtype=bf16 head_dim={dim} {mask}", CHIPS)
    for dim in (64, 128)
    for mask in ("mask=none", "mask=causal lse=true")
] + [
    ("dtype=f16 head_dim=64 mask=causal window=1024", ("sm_80",)),
    ("dtype=f16 head_dim=128 mask=causal window=1024", ("sm_89",)),
    ("dtype=f16 head_dim=32 mask=causal", ("sm_80",)),
    ("dtype=bf16 head_dim=80 mask=none", ("sm_86",)),
    ("dtype=f16 head_dim=96 mask=causal", ("sm_89",)),
    ("dtype=bf16 head_dim=192 mask=causal", ("sm_90",)),
    ("dtype=bf16 head_dim=256 mask=none", ("sm_80",)),
    ("dtype=bf16 head_dim=192 head_dim_v=128 mask=causal", ("sm_80",)),
    ("dtype=f16 head_dim=64 head_dim_v=256 mask=none", ("sm_86",)),
    ("dtype=f32 head_dim=64 mask=causal", ("sm_80",)),
    ("dtype=f32 head_dim=256 mask=none", ("sm_86",)),
    ("dtype=bf16 head_dim=64 mask=causal softcap=50", ("sm_90",)),
    ("dtype=f16 head_dim=64 mask=none alibi=true", ("sm_80",)),
    ("phase=decode dtype=bf16 head_dim=128 mask=none", ("sm_80", "sm_90")),
    ("phase=decode dtype=f16 head_dim=256 mask=none", ("sm_89",)),
    ("dtype=bf16 head_dim=64 split_kv=2 lse=true", ("sm_80",)),
    ("phase=decode dtype=f16 head_dim=64 split_kv=2", ("sm_89",)),
    ("dtype=f16 head_dim=64 algorithm=naive", ("sm_80",)),
    ("dtype=f16 head_dim=64 algorithm=two_pass stages=3 kv_tile=32", ("sm_86",)),
    ("dtype=bf16 head_dim=64 out=f32", ("sm_90",)),
    ("dtype=bf16 head_dim=64 alignment=2", ("sm_80",)),
    ("dtype=f16 head_dim=64 alignment=4", ("sm_86",)),
    ("dtype=bf16 head_dim=64 alignment=8", ("sm_89",)),
    ("dtype=f32 head_dim=64 alignment=4", ("sm_90",)),
    ("dtype=bf16 head_dim=64 mask=causal", ("sm_90a",)),
    ("dtype=bf16 head_dim=128 mask=none", ("sm_90a",)),
    ("dtype=bf16 head_dim=64 mask=causal alignment=4", ("sm_90a",)),
    ("dtype=bf16 head_dim=128 mask=none alignment=8", ("sm_90a",)),
    ("dtype=bf16 head_dim=128 mask=causal alignment=4", ("sm_90a",)),
    ("dtype=bf16 head_dim=128 mask=causal lse=true", ("sm_90a",)),
    ("dtype=bf16 head_dim=128 mask=causal alignment=8 lse=true", ("sm_90a",)),
    ("dtype=bf16 head_dim=192 mask=causal max_seq_len=2048", ("sm_90a",)),
    ("dtype=f16 head_dim=128 mask=causal alignment=2", ("sm_90a",)),
    ("dtype=bf16 head_dim=192 head_dim_v=128 mask=causal alignment=4", ("sm_90a",)),
    ("dtype=bf16 head_dim=256 mask=causal alignment=8", ("sm_90a",)),
    ("dtype=bf16 head_dim=256 mask=none alignment=2", ("sm_90a",)),
] + [
    # Every row of wgmma that tensor maps bring tiles for, under every kind of mask that it takes.
    (f"dtype=bf16 lse=true {dims} {mask}", ("sm_90a",))
    for dims in ("head_dim=64", "head_dim=64 max_seq_len=1024", "head_dim=96",
                 "head_dim=96 max_seq_len=4096", "head_dim=128", "head_dim=128 max_seq_len=4096",
                 "head_dim=64 head_dim_v=256", "head_dim=128 head_dim_v=256",
                 "head_dim=192 head_dim_v=128 max_seq_len=2048", "head_dim=192 head_dim_v=128",
                 "head_dim=192 max_seq_len=2048", "head_dim=192", "head_dim=256")
    for mask in ("mask=none", "mask=causal", "mask=causal window=1024")
]


def must_not_spill(words):
    """True for the default schedules of the head dims that matter most."""
    pinned = re.search(r"algorithm|stages|split_kv|alignment|alibi|softcap|out=|f32|decode", words)
    return not pinned and re.search(r"head_dim=(64|128)\b", words) and "head_dim_v" not in words


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def check(index, words, chip, options):
    """What is wrong with one case; nothing when all is well."""
    ptx = options.work / f"{index}-{chip}.ptx"
    compile_command = ["attnc", "compile", *HEADS.split(), *words.split(), "--target", chip,
                       "--emit", "ptx", "-o", str(ptx)]
    code, output = run(compile_command)
    if code != 0:
        return f"{' '.join(compile_command)}: exit code {code}\n{output}"
    text = ptx.read_text()
    if f".target {chip}" not in text:
        return f"{' '.join(compile_command)}: the PTX is not for {chip}"
    if "st.local" in text or "ld.local" in text:
        return f"{' '.join(compile_command)}: the PTX uses local memory"
    kernels = text.count(".visible .entry")
    expected = 2 if "split_kv" in words else 1
    if kernels != expected:
        return f"{' '.join(compile_command)}: expected {expected} kernels, got {kernels}"
    cubin = ptx.with_suffix(".cubin")
    assemble_command = [options.ptxas, "-v", f"-arch={chip}", str(ptx), "-o", str(cubin)]
    code, output = run(assemble_command)
    if code != 0:
        return f"{' '.join(assemble_command)}: exit code {code}\n{output}"
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", output)]
    if len(spills) != 2 * kernels:
        return f"{' '.join(assemble_command)}: says nothing of spills\n{output}"
    if (chip == "sm_90a" or must_not_spill(words)) and any(spills):
        return f"{' '.join(compile_command)}: spills registers\n{output}"
    # Products that ptxas makes wait for each other, register splits that it ignores.
    if re.search(r"C75\d\d", output):
        return f"{' '.join(compile_command)}: ptxas complains about wgmma\n{output}"
    moves = moves_to_uniform_registers(cubin.read_bytes()) if chip == "sm_90a" else [0]
    if not moves or max(moves) > MOST_MOVES:
        return f"{' '.join(compile_command)}: moves to uniform registers a turn: {moves}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    cells = [(i, words, chip) for i, (words, chips) in enumerate(CASES) for chip in chips]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        faults = [f for f in pool.map(lambda cell: check(*cell, options), cells) if f]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(cells) - len(faults)} of {len(cells)} cases pass")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
