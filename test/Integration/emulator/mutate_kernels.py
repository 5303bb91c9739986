"""Leaves one synchronization of a shipped kernel out after the other; the emulator must notice.

    mutate_kernels.py [--kernel REGEX] [--only REGEX] [--jobs N]

A mutant is the L3 program of a problem without one wait, fence, arrive, commit or barrier, with
a wait that leaves one group more on its way, or with an arrive that announces no bytes. Noticed is a report or a wrong result, for one of the
kernel's shapes under one way of timing. A survivor that HARMLESS does not explain fails, and so
does an explanation of what is noticed.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

MODES = ("late", "early", "random:1")
# How reports begin; anything else says that a mutant is no program.
NOTICED = re.compile(
    r"(race|data in flight|missing proxy fence|missing wgmma fence|"
    r"accumulator in flight|uninitialized read|shared memory out of bounds|misaligned address|"
    r"global memory out of bounds|barrier misuse|divergent collective|deadlock|instruction limit|"
    r"bad operand|kernel '\S+' left its tile counter|bad descriptor|access after the end of a CTA|"
    r"\S+ (accumulator read before its wait|missing wgmma fence))", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    target: str
    row: str  # Of the target's schedule table.
    spec: dict
    shapes: tuple  # Tried in turn.


# The first shape runs each loop for more rounds than it has stages, where there are so many; the
# second has CTAs without a key. Persistent kernels have more tiles than the emulator has CTAs.
KERNELS = [
    Kernel("d64", "sm_80", "mma_d64", {"head_dim": 64, "mask": "causal"},
           ({"seq_q": 70, "seq_kv": 450}, {"seq_q": 200, "seq_kv": 20})),
    Kernel("d128", "sm_80", "mma_d128", {"head_dim": 128, "mask": "causal"},
           ({"seq_q": 70, "seq_kv": 350}, {"seq_q": 200, "seq_kv": 20})),
    Kernel("decode", "sm_80", "decode_d128",
           {"head_dim": 128, "phase": "decode", "mask": "window", "window": "400,0"},
           ({"seq_kv": 600}, {"seq_kv": 0})),
    Kernel("split decode", "sm_80", "decode_d128",
           {"head_dim": 128, "phase": "decode", "split_kv": 2}, ({"seq_kv": 600}, {"seq_kv": 20})),
    Kernel("wgmma d64 full", "sm_90a", "wgmma_d64", {"head_dim": 64, "heads_q": 5},
           ({"seq_q": 200, "seq_kv": 600}, {"seq_q": 200, "seq_kv": 0})),
    Kernel("wgmma d64", "sm_90a", "wgmma_d64", {"head_dim": 64, "heads_q": 5, "mask": "causal"},
           ({"seq_q": 200, "seq_kv": 700}, {"seq_q": 500, "seq_kv": 20})),
    Kernel("wgmma d128 full", "sm_90a", "wgmma_d128_short_full",
           {"head_dim": 128, "heads_q": 5, "max_seq_len": 4096},
           ({"seq_q": 130, "seq_kv": 600}, {"seq_q": 200, "seq_kv": 0})),
    Kernel("wgmma d128", "sm_90a", "wgmma_d128_short",
           {"head_dim": 128, "heads_q": 5, "mask": "causal", "max_seq_len": 8192},
           ({"seq_q": 200, "seq_kv": 700}, {"seq_q": 200, "seq_kv": 20})),
    Kernel("wgmma in turns", "sm_90a", "wgmma_d128_short",
           {"head_dim": 128, "heads_q": 5, "mask": "causal", "pingpong": "true",
            "q_in_registers": "false", "max_seq_len": 8192},
           ({"seq_q": 200, "seq_kv": 700}, {"seq_q": 200, "seq_kv": 20})),
    Kernel("wgmma by warpgroup", "sm_90a", "wgmma_d128", {"head_dim": 128, "heads_q": 5},
           ({"seq_q": 200, "seq_kv": 800}, {"seq_q": 200, "seq_kv": 0})),
    Kernel("cp_async d64", "sm_90a", "wgmma_d64_cp_async",
           {"head_dim": 64, "heads_q": 5, "mask": "causal", "alignment": 8},
           ({"seq_q": 200, "seq_kv": 700}, {"seq_q": 200, "seq_kv": 20})),
    Kernel("cp_async d128 full", "sm_90a", "wgmma_d128_cp_async",
           {"head_dim": 128, "heads_q": 5, "alignment": 4},
           ({"seq_q": 130, "seq_kv": 600}, {"seq_q": 200, "seq_kv": 0})),
    Kernel("element copies d128", "sm_90a", "wgmma_d128_cp_async",
           {"head_dim": 128, "heads_q": 5, "mask": "causal", "alignment": 2},
           ({"seq_q": 200, "seq_kv": 700}, {"seq_q": 200, "seq_kv": 20})),
]

LAST_COMMIT = "the loop over tiles at the edge has one round for one query: nobody waits any more"
STATISTICS_BARRIER = ("each warp's sums lie over keys, last read before the barrier of the last "
                      "values; the barrier after them frees the rest")
LAST_TURN = "it takes back the turn that nobody waits for any more"
FIRST_ROUND = "the loop at the diagonal has so few rounds that they fill the ring for the first time"
EARLIER_WAIT = ("the wait for a Q buffer says that the tile before the last is done, that for the "
                "last V buffer says it of K of the last tile")
WARP_TOGETHER = "it tells ptxas alone that the lanes of a warp, which read one message, stand together"
# By kernel and mutant: why every launch without it is right.
HARMLESS = {
    "decode": {
        "nvvm.barrier0 7 removed": STATISTICS_BARRIER,
        "nvvm.cp.async.commit.group 10 removed": LAST_COMMIT,
    },
    "split decode": {
        "nvvm.barrier0 5 removed": STATISTICS_BARRIER,
        "nvvm.cp.async.commit.group 8 removed": LAST_COMMIT,
    },
    "wgmma d64 full": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "attn_nv.mbarrier_wait 10 removed": EARLIER_WAIT,
    },
    "wgmma d64": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "attn_nv.mbarrier_wait 12 removed": FIRST_ROUND,
    },
    "wgmma d128 full": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "attn_nv.mbarrier_wait 10 removed": EARLIER_WAIT,
    },
    "wgmma by warpgroup": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "attn_nv.mbarrier_wait 10 removed": EARLIER_WAIT,
    },
    "wgmma d128": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "attn_nv.mbarrier_wait 12 removed": FIRST_ROUND,
    },
    "wgmma in turns": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
        "nvvm.barrier 4 removed": LAST_TURN,
        "attn_nv.mbarrier_wait 12 removed": FIRST_ROUND,
    },
    "cp_async d64": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
    },
    "cp_async d128 full": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
    },
    "element copies d128": {
        "nvvm.bar.warp.sync 1 removed": WARP_TOGETHER,
    },
}

# Ops with their results, and those that order threads, copies or products.
OP = re.compile(r"^\s*(?:(%\w+)(?::\d+)? = )?((?:nvvm|attn_nv)\.[\w.]+)(.*)$")
SYNC = re.compile(r"barrier0|\.barrier$|barrier[._]arrive|bar\.warp|fence|commit|wait|"
                  r"cluster\.arrive")
COUNTED = re.compile(r"(wait[._]group|wgmma_wait) (\d+)")
BYTES = re.compile(r" expect_tx\([^)]*\)")


def without(lines, index, result, op, operands):
    """The program without a line. Values that it passes on stay, a wait that answers says yes."""
    before, after = lines[:index], lines[index + 1:]
    uses = re.compile(rf"{result}(?:#(\d+))?(?![\w#])")
    if not result or not any(uses.search(line) for line in after):
        return before + after
    if operands.endswith("i1"):
        return [*before, f"{result} = llvm.mlir.constant(true) : i1\n", *after]
    tied = [value.strip() for group in re.findall(r"(?:acc|a_registers)\(([^)]*)\)", operands)
            for value in group.split(",")]
    if not tied:
        raise ValueError(f"line {index + 1}: no rule for the results of {op}")
    return before + [uses.sub(lambda use: tied[int(use[1] or 0)], line) for line in after]


def mutants(text):
    """(name, program) of each."""
    lines = text.splitlines(keepends=True)
    seen = {}
    for index, line in enumerate(lines):
        match = OP.match(line.rstrip("\n"))
        if not match or not SYNC.search(match[2]):
            continue
        op = match[2]
        seen[op] = seen.get(op, 0) + 1
        name = f"{op} {seen[op]}"
        yield f"{name} removed", "".join(without(lines, index, *match.groups()))
        if COUNTED.search(line):
            weaker = COUNTED.sub(lambda m: f"{m[1]} {int(m[2]) + 1}", line)
            yield f"{name} weakened", "".join([*lines[:index], weaker, *lines[index + 1:]])
        if BYTES.search(line):
            silent = BYTES.sub("", line)
            yield f"{name} without bytes", "".join([*lines[:index], silent, *lines[index + 1:]])


def spec_of(kernel):
    return {"dtype": "bf16", "heads_q": 1, "heads_kv": 1, "batch": 1, **kernel.spec}


def call(options, *arguments):
    return subprocess.run([options.attnc, *arguments], capture_output=True, text=True)


def fault_of(answer):
    """What an answer of `attnc run --batch` complains about; None for a right result."""
    if answer["passed"]:
        return None
    said = answer.get("message")
    if said is None:
        return f"wrong result: {answer['error']['failure']}"
    said = said.splitlines()[0]
    if not NOTICED.match(said):
        raise RuntimeError(f"no program, or no launch: {said}")
    return said


def run_batch(options, kernel, folder, mode, requests):
    """The answers to requests, which go to one process."""
    if not requests:
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", dir=folder) as file:
        file.writelines(json.dumps(request) + "\n" for request in requests)
        file.flush()
        done = call(options, "run", "--batch", file.name, "--check", "--device",
                    f"emulate:{kernel.target}", "--async", mode)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(requests):
        raise RuntimeError(f"attnc ended with code {done.returncode}: {done.stderr}")
    return answers


def verdicts(options, kernel, folder, programs):
    """What is noticed of each program, by name; nothing is said of those that are right."""
    files = {name: folder / f"{index}.mlir" for index, name in enumerate(programs)}
    for name, text in programs.items():
        files[name].write_text(text)
    said = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for mode, shape in [(mode, shape) for mode in MODES for shape in kernel.shapes]:
            left = [name for name in programs if name not in said]
            shares = [left[job::options.jobs] for job in range(options.jobs)]
            requests = [[{**spec_of(kernel), **shape, "l3": str(files[name])} for name in share]
                        for share in shares]
            answers = pool.map(lambda share: run_batch(options, kernel, folder, mode, share),
                               requests)
            for name, answer in zip(sum(shares, []), sum(answers, [])):
                fault = fault_of(answer)
                if fault:
                    said[name] = f"{mode}: {fault}".replace(f"{folder}/", "")
    return said


def check(options, kernel, folder):
    """(mutants, those noticed, what is wrong)."""
    words = [f"{key}={value}" for key, value in spec_of(kernel).items() if key != "batch"]
    explained = call(options, "explain", *words, "--target", kernel.target).stdout
    row = re.search(r"^row +(\S+)", explained, re.MULTILINE)
    if not row or row[1] != kernel.row:
        return 0, 0, [f"{kernel.name}: the problem takes row {row and row[1]}"]
    compiled = call(options, "compile", *words, "--target", kernel.target, "--emit", "llvm")
    if compiled.returncode:
        return 0, 0, [f"{kernel.name}: {compiled.stderr.strip()}"]
    whole = verdicts(options, kernel, folder, {"whole": compiled.stdout})
    if whole:
        return 0, 0, [f"{kernel.name}: whole: {whole['whole']}"]
    chosen = {name: text for name, text in mutants(compiled.stdout)
              if re.search(options.only, name)}
    said = verdicts(options, kernel, folder, chosen)
    harmless = HARMLESS.get(kernel.name, {})
    faults = []
    for name in chosen:
        if name not in said and name not in harmless:
            faults.append(f"{kernel.name}: {name}: NOT NOTICED")
        elif name in said and name in harmless:
            faults.append(f"{kernel.name}: {name}: listed as harmless, but {said[name]}")
        reason = harmless.get(name)
        other = f"harmless: {reason}" if reason else "NOT NOTICED"
        print(f"{kernel.name}: {name}: {said.get(name, other)}")
    if not options.only:
        faults += [f"{kernel.name}: {name}: listed as harmless, but there is no such mutant"
                   for name in harmless if name not in chosen]
    return len(chosen), len(said), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default="", help="names of kernels, a regular expression")
    parser.add_argument("--only", default="", help="names of mutants, a regular expression")
    parser.add_argument("--attnc", default="attnc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--at-least", type=float, default=95,
                        help="per cent to be noticed, harmless ones counted as not")
    options = parser.parse_args()
    total, noticed, faults = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        for kernel in KERNELS:
            if not re.search(options.kernel, kernel.name):
                continue
            begin = time.monotonic()
            counts = check(options, kernel, pathlib.Path(folder))
            print(f"{kernel.name}: {counts[1]} of {counts[0]} mutants noticed, "
                  f"{time.monotonic() - begin:.1f} s")
            total, noticed, faults = total + counts[0], noticed + counts[1], faults + counts[2]
    if not total:
        faults.append("no mutants")
    elif 100 * noticed < options.at_least * total:
        faults.append(f"fewer than {options.at_least:g} % of the mutants are noticed")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{noticed} of {total} mutants noticed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
