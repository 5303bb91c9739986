"""Leaves one synchronization after the other out of the attention tile; the emulator must notice.

Noticed is a report that names a line of the program, under at least one way of timing; a wrong
result alone is not enough. Prints what was said of each.
"""

import argparse
import re
import sys

import attention_tile
import tile_cases
from run_cases import Emulator, compare

MODES = ("early", "late", "random")
LINE = r'tile\.mlir"?:\d+:\d+'
# Without effect on what a launch may do, each with the reason.
HARMLESS = {}


def verdict(options, name):
    """What the emulator says without one synchronization; None when nothing is wrong."""
    cases = [tile_cases.attention(130, 200, kernel=tile_cases.Kernel(name))]
    said = None
    for mode in MODES:
        options.mode = mode
        device = Emulator(options)
        device.load("tile", cases)
        fault, outputs = device.run(cases[0])
        if fault is None:
            fault, _ = compare(cases[0], outputs)
            fault = fault and f"wrong result: {fault}"
        device.unload()
        # A report says more than a wrong result.
        if fault and (said is None or said.startswith("wrong result")):
            said = f"{fault} ({mode})" if fault.startswith("wrong result") else f"{mode}: {fault}"
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--emulate", default="emulate-kernels")
    parser.add_argument("--only", help="the name of one synchronization")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    whole = verdict(options, None)
    if whole:
        print(f"the whole tile: {whole}", file=sys.stderr)
        return 1
    _, names = attention_tile.kernel()
    survivors = 0
    for name in names:
        if options.only not in (None, name):
            continue
        said = verdict(options, name)
        reported = said and not said.startswith("wrong result") and re.search(LINE, said)
        if not reported and name not in HARMLESS:
            survivors += 1
        print(f"{name}: {said or HARMLESS.get(name) or 'NOT NOTICED'}")
    print(f"{len(names) - survivors} of {len(names)} mutants noticed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
