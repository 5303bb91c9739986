"""Checks that attn-opt refuses each bad module with a located message, and does not crash.

A file of Inputs/ holds cases separated by `// -----`. Each case says in a comment which text its
error contains, and may say which options attn-opt runs it with:

    // ERROR: expected the head dim of q
    // ARGS: --attn-lower-to-tiles
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SEPARATOR = re.compile(r"(?m)^// -----\n")
CRASH = ("PLEASE submit a bug report", "Assertion `", "UNREACHABLE executed", "Stack dump:",
         "AddressSanitizer", "runtime error:")


def cases(path):
    """(first line, text) of each case of a file."""
    line = 1
    for text in SEPARATOR.split(path.read_text()):
        yield line, text
        line += text.count("\n") + 1


def check(attn_opt, work, path, line, text):
    """What is wrong with the answer of attn-opt to one case; nothing when all is well."""
    expected = re.search(r"// ERROR: (.+)", text)
    if not expected:
        return "the case has no '// ERROR:' comment"
    arguments = re.search(r"// ARGS: (.+)", text)
    # Blank lines in front give the case the line numbers of its file.
    source = work / f"{path.stem}-{line}.mlir"
    source.write_text("\n" * (line - 1) + text)
    command = [attn_opt, str(source), *(arguments.group(1).split() if arguments else []),
               "-o", os.devnull]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return "no answer within 30 s"
    output = done.stdout + done.stderr
    errors = re.findall(re.escape(str(source)) + r":\d+:\d+: error: (.*)", output)
    for word in CRASH:
        if word in output:
            return f"crash: {word}"
    if done.returncode != 1:
        return f"expected exit code 1, got {done.returncode}"
    if not errors:
        return f"no error has a place in the file; the output is:\n{output}"
    if not any(expected.group(1) in error for error in errors):
        return f"expected an error with '{expected.group(1)}', got {errors}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attn-opt", default="attn-opt")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for the cases")
    parser.add_argument("--at-least", type=int, default=1, help="number of cases there must be")
    parser.add_argument("inputs", type=pathlib.Path, help="folder with the files of cases")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    jobs = [(path, *case) for path in sorted(options.inputs.glob("*.mlir")) for case in cases(path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda job: check(options.attn_opt, options.work, *job), jobs))
    failed = 0
    for (path, line, _), fault in zip(jobs, faults):
        if fault:
            failed += 1
            print(f"{path}:{line}: {fault}")
    if len(jobs) < options.at_least:
        sys.exit(f"expected at least {options.at_least} cases, got {len(jobs)}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
