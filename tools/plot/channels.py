"""Draws what `--sweep-channels` of an application finds: its figure for every combination of the messages' channels, over
the sizes that the files have, with a ring around what the library chooses by itself. plot.py calls this when it is
given nothing else."""

import jsonl
import matplotlib.pyplot as plt
from frame import DASHES, OURS, THEIRS, frame, save
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

NEEDED = {"bench", "channels", "chosen", "median_us", "ranks", "hardware"}
# By bench: what is drawn, its name, and what it is over.
FIGURES = {
    "graph500_bfs": (lambda r: r["teps_harmonic_mean"] * 1e-9, "GTEPS", "scale", lambda r: r["scale"]),
    "npb_cg": (lambda r: r["mops"], "Mop/s", "rows", lambda r: r["n"]),
}
MARKERS = ("o", "s", "^", "D", "v", "P")
COLORS = (OURS, *THEIRS)


def read(paths):
    return jsonl.read(paths, jsonl.having(NEEDED, "a combination of channels"))


def recognises(path):
    """Whether every line of the file is such a combination."""
    return jsonl.are_all(path, lambda r: r.get("bench") in FIGURES and NEEDED <= r.keys() and isinstance(r["channels"], dict))


def label(channels):
    return ", ".join(f"{name} {channel or 'any'}" for name, channel in channels)


def draw_panel(axes, bench, records):
    figure, name, over, size = FIGURES[bench]
    lines = {}
    for record in records:
        lines.setdefault(tuple(record["channels"].items()), {})[size(record)] = record
    sizes = sorted({size(record) for record in records})
    # The best at the largest size comes first, in the legend as in the panel.
    order = sorted(lines, key=lambda line: -max((at, figure(record)) for at, record in lines[line].items())[1])
    for number, line in enumerate(order):
        points = sorted(lines[line].items())
        color = COLORS[number % len(COLORS)]
        axes.plot(
            [at for at, _ in points], [figure(record) for _, record in points], marker=MARKERS[number % len(MARKERS)], markersize=4,
            linewidth=1.5, color=color, linestyle=DASHES[number // len(COLORS) % len(DASHES)], label=label(line),
        )  # fmt: skip
        chosen = [(at, figure(record)) for at, record in points if record["chosen"]]
        axes.plot(*zip(*chosen) if chosen else ([], []), marker="o", markersize=11, fillstyle="none", linestyle="", color="#333333")
    axes.plot([], [], marker="o", markersize=11, fillstyle="none", linestyle="", color="#333333", label="as the library chooses")
    if max(sizes) > 8 * min(sizes):
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:g}"))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(over)
    axes.set_ylabel(name)
    frame(axes)


def draw(paths, output, title):
    panels = {}
    for record in read(paths):
        panels.setdefault((record["bench"], record["ranks"], record.get("layout", ""), record["hardware"]), []).append(record)
    # Room for the longest legend.
    height = max(4, 0.17 * max(len({label(r["channels"].items()) for r in records}) for records in panels.values()))
    figure, rows = plt.subplots(len(panels), 2, squeeze=False, figsize=(9.6, height * len(panels)), layout="constrained")
    for (axes, beside), ((bench, ranks, layout, hardware), records) in zip(rows, panels.items()):
        draw_panel(axes, bench, records)
        axes.set_title(f"{bench} {layout}, {ranks} ranks, {hardware}", fontsize=9, loc="left")
        beside.set_axis_off()
        beside.legend(*axes.get_legend_handles_labels(), loc="center left", fontsize=8, frameon=False)
    figure.suptitle(title or "Channels of an application's messages")
    save(figure, output)
