"""Draws the latencies of `tca trigger --json`: how long the slowest share of events takes, in the axes of HdrHistogram's own
plots. plot.py calls this when it is given nothing else."""

import jsonl
import matplotlib.pyplot as plt
from frame import DASHES, OURS, THEIRS, frame, save
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

NEEDED = {"bench", "latencies", "start", "ranks", "rate", "deadline_us", "hardware"}
SHARES = ("0", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %")


def read(paths):
    return jsonl.read(paths, jsonl.having(NEEDED, "a trigger"))


def recognises(path):
    """Whether every line of the file is a run of the trigger."""
    return jsonl.are_all(path, lambda r: r.get("bench") == "trigger" and NEEDED <= r.keys())


def label(record):
    ranks = "1 rank" if record["ranks"] == 1 else f"{record['ranks']} ranks"
    who = record.get("peer") or f"OpenTCA, by {record['start']}"
    return f"{who}, {record['fabric']}, {ranks}, {record['rate']:g} events/s, {record['layout']}"


def draw(paths, output, title):
    records = read(paths)
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    colors = (OURS, *THEIRS)
    for number, record in enumerate(records):
        points = [(1 / rest, us) for us, rest in record["latencies"]]
        dash = DASHES[number // len(colors) % len(DASHES)]
        axes.plot(*zip(*points), color=colors[number % len(colors)], linestyle=dash, linewidth=1.5, label=label(record))
    for deadline in sorted({record["deadline_us"] for record in records}):
        axes.axhline(deadline, color="#8c8c8c", linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator([1, 2, *(10**digit for digit in range(1, len(SHARES) - 1))]))
    axes.xaxis.set_major_formatter(FixedFormatter(SHARES))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:g}"))
    axes.set_xlabel("share of events that take no longer")
    axes.set_ylabel("from sending to answer, µs")
    frame(axes)
    axes.legend(fontsize=8, frameon=False)
    figure.suptitle(title or "Latencies of a trigger", fontsize=11)
    save(figure, output)
