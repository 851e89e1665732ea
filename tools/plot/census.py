"""Draws a census of `tca mpi --census --json`: the time that ranks spent in each call, and how much of it is in calls that OpenTCA
serves. plot.py calls this when it is given nothing else."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from jsonl import Refused

NEEDED = {"bench", "rank", "call", "calls", "seconds", "run_seconds", "served"}
MOST = 12  # calls in a picture; the others take least


def recognises(path):
    """Whether every line of the file is of a census."""
    return jsonl.are_all(path, lambda r: r.get("bench") == "census" and NEEDED <= r.keys())


def sums(records):
    """The mean time of a rank in each call: in all of it, and in what is served."""
    ranks = len({record["rank"] for record in records})
    calls = {}
    for record in records:
        all_of_it, served = calls.get(record["call"], (0, 0))
        seconds = record["seconds"] / ranks
        calls[record["call"]] = (all_of_it + seconds, served + (seconds if record["served"] else 0))
    return sorted(calls.items(), key=lambda item: item[1][0])[-MOST:]


def draw(paths, output, title):
    if len(paths) > 1:
        raise Refused("a picture of a census shows one; give one file")
    records = jsonl.read(paths, jsonl.having(NEEDED, "a census"))
    shown = sums(records)
    run = max(record["run_seconds"] for record in records)
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.35 * len(shown)), layout="constrained")
    names = [call for call, _ in shown]
    axes.barh(names, [100 * whole / run for _, (whole, _) in shown], color=THEIRS[0], label="left to MPI")
    axes.barh(names, [100 * served / run for _, (_, served) in shown], color=OURS, label="served by OpenTCA")
    axes.set_xlabel("share of the run, mean of the ranks, %")
    frame(axes)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    figure.suptitle(title or f"Census of a run of {run:.3g} s", fontsize=11)
    save(figure, output)
