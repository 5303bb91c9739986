"""Checks a Chrome trace: named tracks, slices in order that do not overlap, all kinds there."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]

ends = {}
for event in slices:
    track = event["tid"]
    assert track in names, f"track {track} has no name"
    assert event["dur"] > 0, f"an empty slice: {event}"
    assert event["ts"] >= ends.get(track, 0), f"{event} begins before {ends[track]} on its track"
    assert event["args"]["count"] >= 1 and event["args"]["first"].startswith("l3.mlir:")
    ends[track] = event["ts"] + event["dur"]
for category in sys.argv[2:]:
    assert any(e["cat"] == category for e in slices), f"no slice of category {category}"

warps = [track for track, name in names.items() if name.startswith("warp ")]
copies = [track for track, name in names.items() if name.startswith("async copies")]
assert len(warps) == 4 and copies, f"tracks: {sorted(names.values())}"
for track in warps:
    assert any(e["cat"] == "mma" for e in slices if e["tid"] == track), f"no mma on {names[track]}"
for event in slices:
    # A copy is over when its latency is, and goes on while its issuer works.
    assert event["tid"] not in copies or (event["cat"] == "copy" and event["dur"] >= 400)

# All warps leave a barrier at one time.
leaves = {}
for event in slices:
    if event["name"] in ("barrier0", "barrier"):
        leaves.setdefault(event["tid"], []).append(event["ts"])
assert len({tuple(times) for times in leaves.values()}) == 1, f"barriers: {leaves}"
