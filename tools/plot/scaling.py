"""Draws conjugate gradients of `tca qcd invert --json` against the number of ranks: how long an iteration
takes as the same lattice is cut into more parts. plot.py calls this when it is given nothing else."""

import statistics

import jsonl
import matplotlib.pyplot as plt
from frame import frame, name_and_color, save
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

NEEDED = {"bench", "n", "ranks", "start", "median_us"}
DASHES = {"kernel": "-", "graph": "--", "host": ":"}


def read(paths):
    return jsonl.read(paths, jsonl.having(NEEDED, "such a solve"))


def recognises(path):
    """Whether every line of the file is such a solve."""
    return jsonl.are_all(path, lambda r: r.get("bench") == "qcd_cg" and NEEDED <= r.keys())


def by_ranks(records):
    groups = {}
    for record in records:
        groups.setdefault(record["ranks"], []).append(record["median_us"])
    return {ranks: statistics.median(times) for ranks, times in sorted(groups.items())}


def draw_lattice(axes, extent, records):
    lines = sorted({(r.get("peer") or "", r["start"]) for r in records})
    for peer, start in lines:
        name, color = name_and_color(peer)
        of_line = [r for r in records if (r.get("peer") or "", r["start"]) == (peer, start)]
        points = by_ranks(of_line)
        axes.plot(
            points.keys(), points.values(), marker="s" if peer else "o", markersize=5, linewidth=1.5,
            color=color, linestyle=DASHES.get(start, "-."), label=f"{name}, by {start}",
        )  # fmt: skip
    alone = [r["median_us"] for r in records if r["ranks"] == 1 and not r.get("peer")]
    ranks = sorted({r["ranks"] for r in records})
    if alone:
        axes.plot(ranks, [min(alone) / n for n in ranks], color="#aaaaaa", linewidth=1, label="OpenTCA's best on one, divided")
    axes.set_title(f"{extent}⁴", fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ranks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("ranks")
    frame(axes)


def draw(paths, output, title):
    records = read(paths)
    extents = sorted({record["n"] for record in records})
    figure, row = plt.subplots(
        1, len(extents) + 1, figsize=(4.2 * len(extents) + 2.6, 4), layout="constrained",
        gridspec_kw={"width_ratios": [*(4.2 for _ in extents), 2.6]},
    )  # fmt: skip
    by_label = {}
    for axes, extent in zip(row, extents):
        draw_lattice(axes, extent, [record for record in records if record["n"] == extent])
        handles, labels = axes.get_legend_handles_labels()
        by_label |= dict(zip(labels, handles))
    row[0].set_ylabel("µs an iteration")
    row[-1].set_axis_off()
    row[-1].legend(by_label.values(), by_label.keys(), loc="center left", fontsize=9, frameon=False)
    figure.suptitle(title or "Conjugate gradients: the same lattice on more ranks")
    save(figure, output)
