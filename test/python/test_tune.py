"""Searching for schedules, on the CPU, and the files that a search writes."""

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from attnc import ATTNC, ROOT, attnc

SPEC = ["dtype=f32", "head_dim=32", "heads_q=2"]
SHAPE = ["seq_q=128"]
QUICK = ["--repeat", "2", "--budget", "120"]


@pytest.fixture
def slow(tmp_path):
    """A schedule file that makes a bad default of tiles of one row and one key."""
    path = tmp_path / "slow.json"
    row = {"name": "slow", "target": "cpu", "schedule": {"q_tile": 1, "kv_tile": 1}}
    path.write_text(json.dumps({"attn_schedules": 1, "rows": [row]}))
    return path


def tune(*words, **options):
    return attnc("tune", *SPEC, *SHAPE, *words, **options)


def rows(path):
    file = json.loads(path.read_text())
    assert file["attn_schedules"] == 1
    return file["rows"]


def journal_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


#
# What is tried
#


def test_a_dry_run_lists_candidates_and_reasons():
    done = tune("q_tile=32,64", "kv_tile=64", "split_kv=1,2", "order=linear", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "default    row cpu_d128: algorithm = fa2, q_tile = 128" in done.stdout
    # Nor has the CPU what warps that copy are told.
    assert "producer" not in done.stdout
    assert "candidate  q_tile = 32 " in done.stdout
    assert "then       split_kv, around the best of these\ncandidate  split_kv = 2" in done.stdout
    assert "then       order" not in done.stdout
    assert "3 to try, 0 rejected" in done.stdout


def test_a_dry_run_needs_no_gpu_and_asks_the_budgets(tmp_path):
    spec = ["dtype=bf16", "head_dim=128", "heads_q=32", "heads_kv=8", "mask=causal"]
    shape = ["batch=4", "seq_q=4096"]
    done = attnc("tune", *spec, *shape, "--target", "sm_90a", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["default"]["row"] == "wgmma_d128"
    kinds = {entry["reason"].split(":")[0] for entry in plan["rejected"]}
    assert {"q_tile", "warps", "registers", "shared memory"} <= kinds
    fields = {entry["field"] for entry in plan["then"]}
    assert fields >= {"split_kv", "order", "overlap", "pingpong", "persistent", "registers"}
    schedules = [entry["schedule"] for entry in plan["candidates"]]
    assert {"mma", "wgmma"} == {schedule["instruction"] for schedule in schedules}
    assert len({json.dumps(schedule) for schedule in schedules}) == len(schedules)
    # What is listed is what dispatch takes, and nothing else.
    path = tmp_path / "row.json"
    rejected = [entry["schedule"] for entry in plan["rejected"]]
    for schedule, row in [
        *((schedule, "candidate") for schedule in schedules[:: len(schedules) // 5]),
        *((schedule, "wgmma_d128") for schedule in rejected[:: len(rejected) // 5]),
    ]:
        entry = {"name": "candidate", "target": "sm_90a", "schedule": schedule}
        path.write_text(json.dumps({"attn_schedules": 1, "rows": [entry]}))
        explained = attnc(
            "explain", *spec, "--target", "sm_90a", "--schedules", path, "--json"
        )
        assert json.loads(explained.stdout)["row"] == row, schedule


def test_estimates_rule_out_what_wastes_most_of_its_work():
    decode = ["phase=decode", "seq_kv=1000", "q_tile=8,16,64", "kv_tile=64", "split_kv=1"]
    done = attnc("tune", *SPEC, *decode, "order=linear", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "candidate  q_tile = 16, kv_tile = 64" in done.stdout
    assert "rejected   q_tile = 64, kv_tile = 64: estimate: " in done.stdout
    assert "is more than 4 times the least" in done.stdout


def test_nothing_to_try_is_said():
    done = attnc("tune", *SPEC, *SHAPE, "q_tile=128", "kv_tile=64", "split_kv=1", "order=linear")
    assert done.returncode == 1
    assert "nothing to try: 0 schedules rejected, the default is the only one left" in done.stderr


def test_text_of_a_large_space_is_short():
    done = attnc(
        "tune", "dtype=f16", "head_dim=64", "heads_q=8", "seq_q=2048", "--target", "sm_80", "--dry-run"
    )
    assert done.returncode == 0
    rejected = [line for line in done.stdout.splitlines() if line.startswith("rejected")]
    assert len(rejected) < 150
    assert "more by q_tile; --json lists them" in done.stdout


#
# What is found
#


def test_a_winner_is_written_and_taken(tmp_path, slow):
    out = tmp_path / "out.json"
    other = {"name": "other", "target": "sm_80", "schedule": {"q_tile": 32}}
    out.write_text(json.dumps({"attn_schedules": 1, "rows": [other]}))
    done = tune(
        "q_tile=32,64", "kv_tile=64", "split_kv=1", "order=linear",
        "--schedules", slow, "--out", out, "--json", *QUICK,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["improved"] and answer["tried"] == {"passed": 2}
    assert answer["default_row"] == f"slow (from {slow})"
    assert answer["gain"] > 0.5
    assert answer["best"]["schedule"]["q_tile"] in (32, 64)
    # A line for each schedule, since stderr is no terminal.
    assert "attnc tune: 1/2 q_tile = 32, kv_tile = 64: " in done.stderr
    assert "measuring the best 2 and the default again" in done.stderr

    new, kept = rows(out)
    assert kept["name"] == "other"
    assert new["name"] == answer["row"] and new["name"].endswith("_f32_d32_full_prefill")
    assert new["schedule"] == answer["best"]["schedule"]
    assert new["device"] == answer["device_name"]
    assert (new["elements"], new["head_dim"], new["masks"]) == (["f32"], [32, 32], ["full"])
    provenance = new["provenance"]
    assert provenance["median_us"] == answer["best"]["median_us"]
    assert provenance["default_us"] == answer["default"]["median_us"]
    assert provenance["second_best_us"] == answer["second_best"]["median_us"]
    assert provenance["problem"].startswith("phase=prefill dtype=f32")
    assert provenance["attn"].startswith("attn ") and provenance["date"].endswith("UTC")

    explained = attnc("explain", *SPEC, "--target", "cpu", "--schedules", out)
    assert f"row           {new['name']} (from {out})\n" in explained.stdout
    ran = attnc("run", *SPEC, *SHAPE, "--schedules", out, "--check")
    assert ran.returncode == 0, ran.stderr
    # On another problem the table has its say.
    explained = attnc("explain", *SPEC, "mask=causal", "--target", "cpu", "--schedules", out)
    assert "row           cpu_d128\n" in explained.stdout
    assert f"{new['name']} (from {out}): mask: takes full, the problem has causal" in explained.stdout

    # The same search again replaces its row.
    done = tune("q_tile=32", "kv_tile=64", "split_kv=1", "order=linear",
                "--schedules", slow, "--out", out, *QUICK)  # fmt: skip
    assert f"row        {new['name']} written to {out}" in done.stdout
    assert [row["name"] for row in rows(out)] == [new["name"], "other"]
    assert rows(out)[0]["schedule"]["q_tile"] == 32


def test_without_a_file_the_row_is_printed_and_a_terminal_gets_a_bar(slow):
    terminal, stderr = pty.openpty()
    done = subprocess.run(
        list(map(str, [ATTNC, "tune", *SPEC, *SHAPE, "q_tile=64", "kv_tile=64", "split_kv=1",
                       "order=linear", "--schedules", slow, *QUICK])),
        stdout=subprocess.PIPE, stderr=stderr, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    assert "not written; --out FILE writes it" in done.stdout
    assert json.loads(done.stdout[done.stdout.index("{") :])["rows"][0]["target"] == "cpu"
    shown = os.read(terminal, 10000).decode()
    assert "[########################] 1/1  best " in shown
    assert "s left\r\033[Kattnc tune: measuring the best 1" in shown


def test_the_default_stays_when_nothing_beats_it(tmp_path):
    out = tmp_path / "out.json"
    done = tune("q_tile=1,2", "kv_tile=1", "split_kv=1", "order=linear", "--out", out, *QUICK)
    assert done.returncode == 0, done.stderr
    assert "the default stays" in done.stdout
    assert not out.exists()


def test_the_file_in_the_docs_is_one(tmp_path):
    text = (ROOT / "docs" / "tuning.md").read_text()
    path = tmp_path / "docs.json"
    path.write_text(re.search("```json\n(.*?)```", text, re.S).group(1))
    spec = ["dtype=bf16", "head_dim=128", "heads_q=32", "heads_kv=8", "mask=causal"]
    explained = attnc(
        "explain", *spec, "--target", "sm_90a", "--schedules", path, "--device-name", "NVIDIA H200"
    )
    assert "row           sm_90a_nvidia_h200_bf16_d128_causal_prefill (from" in explained.stdout


def test_a_bad_file_is_found_before_the_search(tmp_path):
    out = tmp_path / "out.json"
    out.write_text("{}")
    done = tune("--out", out)
    assert done.returncode == 1
    assert f"--out {out}: expected a schedule file" in done.stderr
    assert out.read_text() == "{}"


#
# Failing candidates
#


def test_a_candidate_that_takes_too_long_costs_itself_alone(tmp_path):
    # One query in tiles of 1024: a thousand times as long as the default takes, on one thread.
    out = tmp_path / "out.json"
    done = attnc(
        "tune", "dtype=f32", "head_dim=8", "heads_q=1", "phase=decode", "seq_kv=400000",
        "q_tile=1024", "kv_tile=1", "split_kv=1", "order=linear", "--timeout", "6",
        "--out", out, "--json", *QUICK,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["tried"] == {"timed_out": 1}
    assert answer["best"] is None and not answer["improved"]
    assert "timed_out: not done after 6 s" in done.stderr
    line = journal_lines(out.with_name("out.json.journal.jsonl"))[1]
    assert (line["status"], line["detail"]) == ("timed_out", "not done after 6 s")


def test_a_default_that_takes_too_long_is_said():
    begin = time.monotonic()
    done = attnc("tune", *SPEC, "seq_q=200000", "q_tile=64", "--timeout", "1", *QUICK)
    assert done.returncode == 1
    assert "row 'cpu_d128', is not done after 1 s; raise --timeout" in done.stderr
    assert time.monotonic() - begin < 60


def test_the_budget_ends_a_search():
    done = tune("kv_tile=16,32,64", "--repeat", "2", "--budget", "3", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["out_of_time"]
    assert sum(answer["tried"].values()) < 18


def test_a_budget_for_the_default_alone_says_so():
    done = tune("kv_tile=16,32,64", "--repeat", "100000", "--budget", "1")
    assert done.returncode == 0, done.stderr
    assert "tried      0; the budget ran out before the rest" in done.stdout
    assert "measuring it took the budget, so nothing else was tried; raise --budget" in done.stdout
    assert "best 0" not in done.stderr


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_trial_ends_with_a_search_that_is_killed(tmp_path):
    """The search has no say in how SIGKILL ends it."""
    process = subprocess.Popen(
        [str(word) for word in (ATTNC, "tune", *SPEC, "seq_q=20000", "q_tile=64", "--timeout", "100")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 60
    # Until the trial has read its flags, it is its parent's to end.
    while not (trials := children(process.pid)) or len(list(Path(f"/proc/{trials[0]}/task").iterdir())) < 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    while is_running(trials[0]):
        assert time.monotonic() < deadline, "the trial outlived the search"
        time.sleep(0.02)


#
# Resuming
#


def interrupted(out, how):
    """A search that was ended by a signal after two measurements; its journal's lines."""
    words = [ATTNC, "tune", *SPEC, *SHAPE, "--out", out, *SEARCH, *QUICK]
    process = subprocess.Popen(
        list(map(str, words)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TMPDIR": str(out.parent)},
    )
    journal = out.with_name(out.name + ".journal.jsonl")
    deadline = time.monotonic() + 100
    while not journal.exists() or journal.read_text().count("\n") < 3:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    assert process.wait(60) != 0
    return journal, journal_lines(journal)


SEARCH = ["q_tile=16,64", "kv_tile=32,64", "split_kv=1", "order=linear"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_search_goes_on_where_it_was_ended(tmp_path, how):
    out = tmp_path / "out.json"
    journal, before = interrupted(out, how)
    assert before[0]["attn_tune_journal"] == 1
    assert all(line["status"] == "passed" for line in before[1:])
    # As a kill in the middle of a write leaves it.
    with journal.open("a") as file:
        file.write('{"median_us":12.5,"sched')
    done = tune("--out", out, "--resume", *SEARCH, *QUICK)
    assert done.returncode == 0, done.stderr
    assert f"{journal}: going on after {len(before) - 1} measurements" in done.stderr
    after = journal_lines(journal)
    assert after[: len(before)] == before
    schedules = [json.dumps(line["schedule"], sort_keys=True) for line in after[1:]]
    assert len(schedules) == len(set(schedules)) == 4
    # Once more: nothing is left to measure.
    done = tune("--out", out, "--resume", *SEARCH, *QUICK)
    assert "going on after 4 measurements" in done.stderr
    assert journal_lines(journal) == after


def test_a_journal_of_something_else_starts_over(tmp_path):
    out = tmp_path / "out.json"
    few = ["q_tile=64", "kv_tile=64", "split_kv=1", "order=linear", "--out", out, *QUICK]
    journal = out.with_name("out.json.journal.jsonl")
    done = tune(*few, "--resume")
    assert f"--resume: there is no journal {journal} yet, so the search starts" in done.stderr
    assert "starting over" not in done.stderr
    journal.write_text("nothing of ours\n")
    done = tune(*few, "--resume")
    assert f"{journal}: starting over: it is no journal of this version" in done.stderr
    before = journal_lines(journal)
    done = attnc("tune", *SPEC, "seq_q=100", *few, "--resume")
    assert done.returncode == 0, done.stderr
    assert "starting over: its shape is 'batch=1 seq_q=128" in done.stderr
    other = [before[0] | {"build": "attn 0.0"}, *before[1:]]
    journal.write_text("".join(json.dumps(line) + "\n" for line in other))
    done = tune(*few, "--resume")
    assert "starting over: its build is 'attn 0.0', now it is 'attn " in done.stderr
    # Without --resume it is begun anew, without a word.
    done = tune(*few)
    assert "starting over" not in done.stderr
    assert len(journal_lines(journal)) == 2
