"""Runs the built attnc."""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ATTN_BUILD_DIR", ROOT / "build" / "release"))
ATTNC = BUILD / "bin" / "attnc"


def attnc(*words, **options):
    return subprocess.run(
        [str(ATTNC), *map(str, words)], capture_output=True, text=True, timeout=300, **options
    )


def run_batch(requests, *flags, jobs=os.cpu_count()):
    """The answer to each request of `attnc run --batch`, in order.

    Requests of one spec go to one process, which compiles it once.
    """
    shape_keys = {"batch", "seq_q", "seq_kv", "scale", "inputs", "layout", "seed"}
    groups = {}
    for index, request in enumerate(requests):
        spec = json.dumps({k: v for k, v in request.items() if k not in shape_keys}, sort_keys=True)
        groups.setdefault(spec, []).append(index)
    shares = [[] for _ in range(jobs)]
    for group in sorted(groups.values(), key=len, reverse=True):
        min(shares, key=len).extend(group)

    def run_share(share):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps(requests[index]) + "\n" for index in share)
            file.flush()
            done = subprocess.run(
                [str(ATTNC), "run", "--batch", file.name, *flags], capture_output=True, text=True
            )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(share), f"exit code {done.returncode}: {done.stderr}"
        return zip(share, answers)

    answers = [None] * len(requests)
    with ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(run_share, [share for share in shares if share]):
            for index, answer in part:
                answers[index] = answer
    return answers
