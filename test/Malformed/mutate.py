"""Runs attn-opt on mutants of good modules: it may accept or refuse each, but not crash or hang.

The mutants are the same in every run. One that fails is kept, with the command that fails on it.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%#!@^]?[A-Za-z_][\w.$-]*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|->|\s+|.')

# What a token is replaced by: limits of numbers, other kinds of attributes, types and names.
SPICE = """
0 1 -1 2 3 7 15 16 17 63 64 65 255 256 257 1024 1025 65536 65537 2147483648 4294967296
9223372036854775807 -9223372036854775808 99999999999999999999 0.0 -1.5 1.0e+39 0x7FC00000
? * x , : ( ) < > [ ] { } -> = "" "x" unit true false i1 i8 i32 i64 index f16 bf16 f32 f64
#attn.none #attn.causal<top_left> #attn.window<?,?> #attn.window<0,0> #attn.dense #attn.schedule<>
#attn.all_of<#attn.none> #attn.any_of<#attn.window<?,?>> #attn.shared<pitch=128,xor_mask=7>
#attn.fragment<acc,warps=4,split=rows> !attn.tile<16x16xf32> !attn.tile<16xf32>
!attn.softmax_state<16> !attn.pipe<!attn.tile<16x16xf16>,stages=2> memref<*xf32> memref<f32>
memref<0x0x0x0xf16> memref<?x?x8x64xf16,3> memref<2x3xf32,affine_map<(d0,d1)->(d0,d1 mod 2)>>
vector<4xf32> tensor<4xf32> none tuple<> ()->() attn.yield attn.forward attn.softcap attn.merge
attn.load_tile attn.tile_mma attn.mask_scores attn.pipe_wait scf.for scf.yield return func.func
""".split()


def mutate(text, donor, rng):
    """Changes one to three tokens of `text`; some of the new ones come from `donor`."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens) if not token.isspace()]
    donated = [token for token in TOKEN.findall(donor) if not token.isspace()]
    alike = lambda pattern, among: [k for k in among if re.fullmatch(pattern, tokens[k])]
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        i = rng.choice(places)
        kind = rng.randrange(11)
        if kind == 0:
            tokens[i] = ""
        elif kind == 1:
            tokens[i] += " " + tokens[i]
        elif kind == 2:
            j = rng.choice(places)
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif kind == 3:
            tokens[i] = rng.choice(donated)
        elif kind == 4:
            line = text.splitlines()[rng.randrange(text.count("\n") or 1)]
            tokens[i] += "\n" + line + "\n"
        # The rest put a token in the place of its like, which reaches deeper than the parser.
        elif kind in (5, 6):
            k = rng.choice(alike(r"-?\d+", places) or places)
            tokens[k] = rng.choice(SPICE[:24])
        elif kind == 7:
            # `2x?x8` is one token of a shape after the first digit.
            k = rng.choice(alike(r"x[\dx]+\w*", places) or places)
            tokens[k] = re.sub(r"\d+", lambda _: rng.choice(SPICE[:20]), tokens[k], count=1)
        elif kind == 8:
            pattern = rng.choice([r"%[\w#]+", r"attn\.\w+", r"(arith|scf|memref|math)\.\w+",
                                  r"x*(f16|bf16|f32|index|i1|i32|i64)", r"[a-z_]\w+"])
            k, j = (rng.choice(alike(pattern, places) or places) for _ in range(2))
            tokens[k] = tokens[j]
        elif kind == 9:
            # A whole line goes, or moves.
            lines = "".join(tokens).splitlines(keepends=True)
            line = lines.pop(rng.randrange(len(lines)))
            if rng.random() < 0.5:
                lines.insert(rng.randrange(len(lines) + 1), line)
            tokens = TOKEN.findall("".join(lines))
            places = [k for k, token in enumerate(tokens) if not token.isspace()] or [0]
        else:
            tokens[i] = rng.choice(SPICE)
    # MLIR's own parser makes room for as many results as `%x#N` asks for.
    return re.sub(r"#\d{5,}", "#7", "".join(tokens))


def functions(text):
    """The module's functions, each as a module of its own, behind its aliases."""
    aliases = "\n".join(line for line in text.splitlines() if re.match(r"[#!]\w+ =", line))
    body = [line for line in text.splitlines() if not re.match(r"module|//|[#!]\w+ =|}$", line)]
    starts = re.split(r"(?m)^(?=\s*func\.func )", "\n".join(body))
    closed = [part if part.rstrip().endswith("}") or "private" in part else part + "\n}"
              for part in starts[1:]]
    return [aliases + "\n" + part + "\n" for part in closed]


def run(attn_opt, arguments, path):
    command = [attn_opt, str(path), *arguments, "-o", os.devnull]
    try:
        code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=10).returncode
    except subprocess.TimeoutExpired:
        code = "timeout"
    return code, " ".join(command)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attn-opt", default="attn-opt")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for mutants")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lower", action="append", default=[],
                        help="options that turn the seeds into more seeds, such as tile programs")
    parser.add_argument("--then", action="append", default=[],
                        help="options to run mutants with, one of these for each mutant")
    parser.add_argument("seeds", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)

    texts = [path.read_text() for path in options.seeds]
    for lowering in options.lower:
        for path in options.seeds:
            lowered = subprocess.run([options.attn_opt, str(path), *lowering.split()],
                                     capture_output=True, text=True, timeout=60)
            if lowered.returncode == 0:
                texts.append(lowered.stdout)
    seeds = [function for text in texts for function in functions(text)]
    if not seeds:
        sys.exit("no functions in the seeds")

    rng = random.Random(options.seed)
    runs = []
    for number in range(options.count):
        path = options.work / f"mutant-{number}.mlir"
        path.write_text(mutate(rng.choice(seeds), rng.choice(seeds), rng))
        runs.append((rng.choice(options.then or [""]).split(), path))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: run(options.attn_opt, *job), runs))
    failures = [f"{code}: {command}" for code, command in results if code not in (0, 1)]
    print("\n".join(failures))
    accepted = sum(code == 0 for code, _ in results)
    print(f"{len(results)} mutants of {len(seeds)} functions: {accepted} accepted, "
          f"{len(results) - accepted - len(failures)} refused, {len(failures)} crashed or hung")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
