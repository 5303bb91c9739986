"""Leaves one op of a pipe, a mailbox or a turn out after the other; attn-verify-pipes must say where.

The programs are those that the pass sees in the pipeline, of rows of the schedule tables.
"""

import re
import subprocess
import sys
import tempfile

# Target and spec; sm_80 fills pipes in the loops that read them, sm_90a in a warp of its own.
PROGRAMS = [
    ("sm_80", "head_dim=128 mask=causal"),
    ("sm_80", "head_dim=128 phase=decode split_kv=2"),
    ("sm_80", "head_dim=32 mask=window window=40,0"),
    ("sm_90a", "head_dim=64"),
    ("sm_90a", "head_dim=64 mask=causal"),
    ("sm_90a", "head_dim=64 mask=causal persistent=dynamic"),
    ("sm_90a", "head_dim=128 mask=causal"),
    ("sm_90a", "head_dim=256"),
    ("sm_90a", "head_dim=128 mask=causal alignment=4"),
]
OP = re.compile(r"^\s*attn\.(pipe_acquire|copy_tile|pipe_commit|pipe_release|turn_wait|turn_pass|"
                r"turns_begin|turns_end|bulk_store_wait|mailbox_put)\b")
LOCATED = re.compile(r"^\S+:\d+:\d+: error: 'attn\.", re.MULTILINE)


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def program(target, spec):
    """What attn-verify-pipes gets: functions, without the dump's headings."""
    problem = run("attnc", "compile", "dtype=bf16", "heads_q=2", "heads_kv=1", *spec.split(),
                  "--target", target, "--emit", "problem").stdout
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(problem)
        file.flush()
        dump = run("attn-opt", file.name, f"--attn-pipeline=target={target}", "-o", "/dev/null",
                   "--mlir-print-ir-before=attn-verify-pipes").stderr
    return [line for line in dump.splitlines() if not line.startswith("// -----//")]


def verify(lines):
    return run("attn-opt", "-", "-attn-verify-pipes", "-o", "/dev/null", text="\n".join(lines))


def main():
    total, faults = 0, []
    for target, spec in PROGRAMS:
        lines = program(target, spec)
        whole = verify(lines)
        if whole.returncode or not any(OP.match(line) for line in lines):
            faults.append(f"{target} {spec}: {whole.stderr or 'no pipes'}")
            continue
        for index, line in enumerate(lines):
            match = OP.match(line)
            if not match:
                continue
            total += 1
            said = verify(lines[:index] + lines[index + 1:])
            if said.returncode != 1 or not LOCATED.search(said.stderr):
                faults.append(f"{target} {spec}: line {index + 1}, {match[1]}: NOT NOTICED "
                              f"{said.stderr}")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{total - len(faults)} of {total} mutants noticed")
    return 1 if faults or not total else 0


if __name__ == "__main__":
    sys.exit(main())
