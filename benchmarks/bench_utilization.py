#!/usr/bin/env python3
"""How much of the tensor cores' time attn's kernels and cuDNN's use, in cycles of the SMs.

Under load a GPU lowers its clock to stay within its power, so that TFLOP/s tell of the card as much
as of the kernel. Cycles do not:

    utilization = flops / (cycles * multiprocessors * flops of a cycle)

with the 4096 dense 16-bit flops that an SM of compute capability 9.0 does in a cycle, and the flops of
bench_forward.py (a causal mask counts half of all scores). Each kernel runs back to back for about a
second. Into attn's PTX go reads of the clock at the first and the last instructions of a CTA; cycles
are those of the longest CTA, and with a persistent grid those of the kernel. For other kernels a probe
of one warp beside them counts cycles and nanoseconds, and cycles are time * clock. The power is what
the driver reports during the run.
"""

import argparse
import ctypes
import dataclasses
import itertools
import json
import re
import statistics
import sys
import time
from pathlib import Path

try:
    import torch
except ImportError as error:
    sys.exit(f"bench_utilization.py: needs PyTorch with CUDA, 2.5 or later ({error})")

import attn_artifact
import environment
from bench_forward import Attn, head_dims, mask, prepare_checked
from forward_shapes import DTYPES, Shape, Tensors
from peers import PEERS

FLOPS_OF_A_CYCLE = {(9, 0): 4096}
RUN_SECONDS = 1.0
PROBE_SECONDS = 0.6
MAX_CTAS = 1 << 20

# One thread sleeps and wakes until the time is over, then stores how many cycles and nanoseconds
# went by.
PROBE = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 result, .param .u64 nanoseconds) {
  .reg .pred %over;
  .reg .b64 %begin, %now, %wanted, %first, %last, %address;
  ld.param.u64 %address, [result];
  ld.param.u64 %wanted, [nanoseconds];
  mov.u64 %begin, %globaltimer;
  mov.u64 %first, %clock64;
again:
  nanosleep.u32 20000;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.ge.u64 %over, %now, %wanted;
  @!%over bra again;
  mov.u64 %last, %clock64;
  sub.u64 %last, %last, %first;
  st.global.v2.b64 [%address], {%last, %now};
  ret;
}
"""

# The clock at the start of a CTA, which its first thread keeps, and the last one that any thread
# sees: two numbers for each CTA. The second begins at 0, since SMs count for themselves and a CTA of
# the call before may have run on another.
CLOCK_PLACE = """
  .reg .b64 %clock_at, %clock_now;
  .reg .b32 %clock_cta;
  mov.u32 %clock_cta, %ctaid.x;
  ld.param.u64 %clock_at, [attn_clocks];
  mad.wide.u32 %clock_at, %clock_cta, 16, %clock_at;
  mov.u64 %clock_now, %clock64;
"""
CLOCK_START = f"""{{{CLOCK_PLACE}
  .reg .pred %clock_first;
  mov.u32 %clock_cta, %tid.x;
  setp.eq.u32 %clock_first, %clock_cta, 0;
  @%clock_first st.global.v2.u64 [%clock_at], {{%clock_now, 0}};
}}
"""
CLOCK_END = f"""{{{CLOCK_PLACE}
  red.global.max.u64 [%clock_at + 8], %clock_now;
}}
"""


def with_clocks(ptx):
    """The PTX of one kernel that also writes its CTAs' clocks to a further argument."""
    text, entries = re.subn(r"\n\)(?=[^{]*\n\{)", ",\n\t.param .u64 attn_clocks\n)", ptx)
    text, starts = re.subn(r"(%tid\.x;\n)", r"\1" + CLOCK_START, text, count=1)
    text, ends = re.subn(r"(\n\tret;)", "\n" + CLOCK_END + r"\1", text)
    if not (entries == starts == 1 and ends):
        raise RuntimeError("cannot find where the kernel begins and ends in its PTX")
    return text


class ClockedAttn(Attn):
    """attn's kernel, with the clocks of its CTAs."""

    def load(self, artifact, device):
        self.clocks = torch.zeros(MAX_CTAS, 2, dtype=torch.int64, device=f"cuda:{device}")
        payload = with_clocks(artifact.payload.decode()).encode()
        return attn_artifact.Function(
            dataclasses.replace(artifact, payload=payload), device,
            extra=[ctypes.c_uint64(self.clocks.data_ptr())],
        )

    def cycles(self):
        """Of the longest CTA of the last call."""
        spans = self.clocks[:, 1] - self.clocks[:, 0]
        return spans.max().item()


class ClockProbe:
    """Counts the cycles of one SM beside whatever else runs there."""

    def __init__(self):
        self.driver = attn_artifact.Driver()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        image = ctypes.create_string_buffer(PROBE)
        torch.zeros(1, device="cuda")
        self.driver.call("cuModuleLoadData", ctypes.byref(module), image)
        self.driver.call("cuModuleGetFunction", ctypes.byref(self.function), module, b"probe")
        self.stream = torch.cuda.Stream()
        self.result = torch.zeros(2, dtype=torch.int64, device="cuda")

    def start(self):
        cells = [
            ctypes.c_uint64(self.result.data_ptr()), ctypes.c_uint64(int(PROBE_SECONDS * 1e9))
        ]
        pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(cell) for cell in cells))
        self.driver.call(
            "cuLaunchKernel", self.function, 1, 1, 1, 1, 1, 1, 0,
            ctypes.c_void_p(self.stream.cuda_stream), pointers, None,
        )

    def gigahertz(self):
        self.stream.synchronize()
        cycles, nanoseconds = self.result.tolist()
        return cycles / nanoseconds


def seconds_of(graph, replays):
    """Starts the replays; the result waits for them."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(replays):
        graph.replay()
    end.record()
    return lambda: (end.synchronize(), begin.elapsed_time(end) * 1e-3)[1]


def observe(implementation, graph, calls, shape, probe, arguments):
    """One run of about a second, after one that brings card and clock to their steady state."""
    seconds_of(graph, 3)()
    replays = max(5, int(RUN_SECONDS / (seconds_of(graph, 5)() / 5)))
    seconds_of(graph, replays)()
    clocked = isinstance(implementation, ClockedAttn)
    if not clocked:
        probe.start()
    wait = seconds_of(graph, replays)
    time.sleep(RUN_SECONDS / 3)
    state = environment.gpu_state(arguments.device)
    seconds = wait() / replays / calls
    cycles = implementation.cycles() if clocked else seconds * probe.gigahertz() * 1e9
    properties = torch.cuda.get_device_properties(arguments.device)
    peak = FLOPS_OF_A_CYCLE[properties.major, properties.minor] * properties.multi_processor_count
    return {
        "us": seconds * 1e6,
        "tflops": shape.flops / seconds * 1e-12,
        "cycles": cycles,
        "gigahertz": cycles / seconds * 1e-9,
        "power": state.get("power.draw"),
        "utilization": shape.flops / (cycles * peak),
    }


def measure(shape, probe, arguments):
    generator = torch.Generator(device=f"cuda:{arguments.device}").manual_seed(arguments.seed)
    sets = [Tensors(shape, generator) for _ in range(2)]
    makers = {
        f"attn {target}": lambda target=target: ClockedAttn(shape, target, arguments)
        for target in arguments.target
    }
    makers |= {peer: lambda peer=peer: PEERS[peer](shape) for peer in arguments.peer}
    rows, made = [], {}
    for name, make in makers.items():
        try:
            implementation = make()
            made[name] = implementation, prepare_checked(implementation, shape, sets)[0]
        except Exception as error:  # a peer fails by exceptions of its own
            rows.append({"implementation": name, "failure": f"{type(error).__name__}: {error}"})
            print(f"FAILED {shape.label}: {name}: {error}", flush=True)
    runs = {name: [] for name in made}
    for _ in range(arguments.rounds):
        for name, (implementation, graph) in made.items():
            runs[name].append(observe(implementation, graph, len(sets), shape, probe, arguments))
    for name, observed in runs.items():
        keys = ("us", "tflops", "cycles", "gigahertz", "utilization")
        median = {key: statistics.median(run[key] for run in observed) for key in keys}
        rows.append({"implementation": name, **median, "runs": observed})
        print(
            f"{shape.label:32} {name:48} {median['us']:9.1f} us {median['tflops']:7.1f} TFLOP/s "
            f"{median['gigahertz']:6.3f} GHz {observed[-1]['power']:>10} "
            f"{100 * median['utilization']:5.1f} %",
            flush=True,
        )
    return {"label": shape.label, "shape": shape.description(), "flops": shape.flops, "rows": rows}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attnc", type=Path, required=True, help="the compiler")
    parser.add_argument(
        "--target", nargs="+", metavar="TARGET[,KEY=VALUE...]", default=["sm_90a"],
        help="attnc's targets, each with words of its own: sm_90a,kv_tile=160 (default: sm_90a)",
    )
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=["bf16"])
    parser.add_argument("--head-dim", nargs="+", type=head_dims, default=[(128, 128)])
    parser.add_argument("--seq", nargs="+", type=int, default=[4096, 16384])
    parser.add_argument("--mask", nargs="+", type=mask, default=[(False, 0), (True, 0)])
    parser.add_argument("--peer", nargs="*", choices=PEERS, default=["cuDNN"])
    parser.add_argument("--rounds", type=int, default=3, help="runs a kernel (default: 3)")
    parser.add_argument("--device", type=int, default=0, help="CUDA device (default: 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="result file")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("bench_utilization.py: no CUDA device that PyTorch can use")
    if torch.cuda.get_device_capability(arguments.device) not in FLOPS_OF_A_CYCLE:
        sys.exit("bench_utilization.py: the flops of a cycle are known for compute capability 9.0")
    arguments.emit, arguments.spec = "ptx", []
    return arguments


def main():
    arguments = parse_arguments()
    torch.cuda.set_device(arguments.device)
    probe = ClockProbe()
    report = {
        "benchmark": "utilization",
        "command": sys.argv[1:],
        "manifest": environment.manifest(arguments.device, arguments.attnc),
        "results": [],
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    for dtype, (head_dim, head_dim_v), seq, (causal, window) in itertools.product(
        arguments.dtype, arguments.head_dim, arguments.seq, arguments.mask
    ):
        shape = Shape(dtype, head_dim, head_dim_v, 1, seq, causal, window)
        report["results"].append(measure(shape, probe, arguments))
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written: {arguments.out}")


if __name__ == "__main__":
    main()
