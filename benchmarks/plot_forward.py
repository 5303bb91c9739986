#!/usr/bin/env python3
"""Draws the result files of bench_forward.py: TFLOP/s over sequence length, a panel for each type,
head dim and mask, with what cuBLAS reached in the same run as the ceiling.

Needs matplotlib: "$(scripts/venv plot | tail -n 1)" benchmarks/plot_forward.py --help
"""

import argparse
import json
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

COLUMNS = 4
# One colour for a kernel in every panel.
COLOURS = {"FA2": "tab:gray", "cuDNN": "tab:green", "FlexAttention": "tab:orange"}
OWN_COLOURS = ["tab:blue", "tab:cyan", "tab:purple", "tab:pink", "tab:brown"]


def panels(report):
    """(title, dtype) -> kernel -> [(seq, TFLOP/s)]."""
    found = {}
    for result in report["results"]:
        title = re.sub(r" b\d+| h\d+(?=[ /])| n\d+", "", result["label"])
        lines = found.setdefault((title, result["shape"]["dtype"]), {})
        for row in result["rows"]:
            if "tflops" in row:
                points = lines.setdefault(row["implementation"], [])
                points.append((result["shape"]["seq"], row["tflops"]))
    return found


def draw(report, out):
    found = panels(report)
    own = sorted({name for lines in found.values() for name in lines if name not in COLOURS})
    colours = COLOURS | dict(zip(own, OWN_COLOURS * len(own)))
    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, sharey=True
    )
    for axis in axes.flat[len(found):]:
        axis.set_visible(False)
    for axis, ((title, dtype), lines) in zip(axes.flat, found.items()):
        for name, points in lines.items():
            axis.plot(*zip(*sorted(points)), marker="o", color=colours[name], label=name)
        if ceiling := report.get("cublas_tflops", {}).get(dtype):
            axis.axhline(ceiling, color="black", linestyle=":", label="cuBLAS, 8192 cubed")
        axis.set_xscale("log", base=2)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("sequence length")
        axis.grid(alpha=0.3)
    axes[0, 0].set_ylim(bottom=0, top=axes[0, 0].get_ylim()[1])
    for axis in axes[:, 0]:
        axis.set_ylabel("TFLOP/s, median")
    handles = {}
    for axis in axes.flat:
        handles |= {label: line for line, label in zip(*axis.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=len(handles))
    manifest = report["manifest"]
    figure.suptitle(f"Attention forward on {manifest['gpu']}, attn {manifest['commit'][:7]}")
    figure.tight_layout(rect=(0, 0.3 / (3 * rows), 1, 1))
    figure.savefig(out)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("result", type=Path, help="a JSON file of bench_forward.py")
    parser.add_argument("-o", "--out", type=Path, help="SVG or PNG (default: beside the result)")
    arguments = parser.parse_args()
    out = arguments.out or arguments.result.with_suffix(".svg")
    try:
        report = json.loads(arguments.result.read_text())
        if not any("tflops" in row for result in report["results"] for row in result["rows"]):
            sys.exit(f"plot_forward.py: {arguments.result} holds no measurement")
        draw(report, out)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"plot_forward.py: {arguments.result}: {type(error).__name__}: {error}")
    print(out)


if __name__ == "__main__":
    main()
