"""Runs the instruction cases on the emulator or on a GPU and compares with what must come out.

    run_cases.py --device emulate [--async late] [--filter REGEX]
    run_cases.py --device cuda:0 --ptx FOLDER
    run_cases.py --write-ptx FOLDER

Programs and inputs are the same on both devices. --write-ptx makes the PTX with attn-translate, so
that the GPU's machine needs no compiler. --record FILE writes the largest error of each case.
--save FILE keeps all outputs; --against FILE counts the elements that differ from those of another
run.
"""

import argparse
import contextlib
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import l3

FAMILIES = ("matrix", "copy", "sync", "number", "tile")
EMULATED_FAMILIES = (*FAMILIES, "broken", "lifetime")


def families(names):
    for name in names:
        yield name, list(importlib.import_module(f"{name}_cases").cases())


def module_text(cases):
    kernels = {case.kernel.name: case.kernel.text() for case in cases}
    return l3.SHARED + "\n".join(kernels.values())


def compare(case, outputs):
    """(what is wrong or None, largest error relative to the scale)."""
    worst = 0.0
    for index, argument in enumerate(case.arguments):
        if not isinstance(argument, l3.Buffer) or argument.expected is None:
            continue
        want, got = argument.expected.reshape(-1), outputs[index]
        if case.bound == 0:
            bits = np.dtype(f"u{want.dtype.itemsize}")
            wrong = want.view(bits) != got.view(bits)
        else:
            if want.dtype == np.uint16:
                want, got = l3.from_bf16(want), l3.from_bf16(got)
            scale = case.scale if case.scale is not None else np.abs(want).max()
            scale = np.broadcast_to(scale, argument.expected.shape).reshape(-1)
            with np.errstate(invalid="ignore"):
                error = np.abs(got.astype(np.float64) - want.astype(np.float64)) / scale
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            error = np.where(same, 0, error)
            wrong = ~(error <= case.bound)
            worst = max(worst, float(np.nanmax(error, initial=0)))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            return (f"{int(wrong.sum())} of {wrong.size} elements differ; element {at} of argument "
                    f"{index} is {got[at]}, expected {want[at]}"), worst
    return None, worst


class Emulator:
    """The program emulate-kernels, one process for each module."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.TemporaryDirectory(prefix="instructions")
        self.work = pathlib.Path(self.folder.name)

    def load(self, family, cases):
        source = self.work / f"{family}.mlir"
        source.write_text(module_text(cases))
        self.errors = (self.work / "errors").open("w")
        self.process = subprocess.Popen([self.options.emulate, str(source)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors)

    def run(self, case):
        """(error or None, outputs by argument)."""
        arguments, files = [], {}
        for index, argument in enumerate(case.arguments):
            if isinstance(argument, l3.Buffer):
                path = self.work / f"{index}.bin"
                path.write_bytes(np.ascontiguousarray(argument.data).tobytes())
                output = argument.expected is not None
                arguments.append({"file": str(path), "output": output, "passed": argument.passed})
                if output:
                    files[index] = path, argument.expected.dtype
            elif isinstance(argument, l3.Map):
                arguments.append({"map": {
                    "arg": argument.argument, "offset": argument.offset, "nan": argument.nan,
                    "element": argument.element, "sizes": list(argument.sizes),
                    "strides": [int(s) for s in argument.strides], "box": list(argument.box),
                    "steps": list(argument.steps), "swizzle": argument.swizzle}})
            elif isinstance(argument, tuple):
                arguments.append({argument[0]: argument[1]})
            else:
                arguments.append({"i32": int(argument)})
        grid = case.ctas if isinstance(case.ctas, tuple) else (case.ctas, 1, 1)
        request = {"kernel": case.kernel.name, "grid": grid, "block": [case.kernel.threads, 1, 1],
                   "shared": case.shared, "async": self.options.mode, "seed": self.options.seed,
                   "args": arguments}
        line = ""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if not line:
            said = (self.work / "errors").read_text().strip()
            return f"emulate-kernels ended with code {self.process.wait()}: {said}", None
        answer = json.loads(line)
        if "error" in answer:
            return answer["error"], None
        return None, {index: np.fromfile(path, dtype) for index, (path, dtype) in files.items()}

    def unload(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def make_device(options):
    if options.device == "emulate":
        return Emulator(options)
    from cuda_device import Cuda  # Only where there is a GPU.
    return Cuda(options)


def write_ptx(options, names):
    folder = pathlib.Path(options.write_ptx)
    folder.mkdir(parents=True, exist_ok=True)
    for name, cases in families(names):
        source = folder / f"{name}.mlir"
        source.write_text(module_text(cases))
        subprocess.run([options.translate, str(source), "--mlir-to-ptx", "--chip=sm_90a", "-o",
                        str(folder / f"{name}.ptx")], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="emulate", help="emulate or cuda:N")
    parser.add_argument("--family", action="append", choices=EMULATED_FAMILIES)
    parser.add_argument("--filter", default="")
    parser.add_argument("--async", dest="mode", default="early",
                        choices=("early", "late", "random"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ptx", type=pathlib.Path)
    parser.add_argument("--write-ptx")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--emulate", default="emulate-kernels")
    parser.add_argument("--translate", default="attn-translate")
    options = parser.parse_args()
    names = options.family or (EMULATED_FAMILIES if options.device == "emulate" else FAMILIES)
    if options.write_ptx:
        write_ptx(options, options.family or FAMILIES)
        return 0
    device = make_device(options)
    faults, total, record, saved = [], 0, {}, {}
    other = np.load(options.against) if options.against else {}
    for name, cases in families(names):
        device.load(name, cases)
        for case in cases:
            if not re.search(options.filter, case.name):
                continue
            total += 1
            fault, outputs = device.run(case)
            worst = 0.0
            if case.report:
                said, fault = fault, None
                if not re.search(case.report, said or "", re.DOTALL):
                    fault = f"expected a report of '{case.report}', got {said or 'none'}"
            elif fault is None:
                fault, worst = compare(case, outputs)
            record[case.name] = {"bound": case.bound, "error": worst, "fault": fault}
            for index, values in (outputs or {}).items():
                key = f"{case.name}/{index}"
                saved[key] = values
                if key in other:
                    bits = np.dtype(f"u{values.dtype.itemsize}")
                    differ = int((values.view(bits) != other[key].view(bits)).sum())
                    record[case.name].update(elements=values.size, differ=differ)
            if fault is not None:
                faults.append(f"{case.name}: {fault}")
                print(faults[-1], file=sys.stderr)
        device.unload()
    if options.save:
        np.savez_compressed(options.save, **saved)
    if options.record:
        options.record.write_text(json.dumps(
            {"device": options.device, "passed": total - len(faults), "total": total,
             "cases": record}, indent=1) + "\n")
    print(f"{total - len(faults)} of {total} cases pass")
    return 1 if faults or not total else 0


if __name__ == "__main__":
    sys.exit(main())
