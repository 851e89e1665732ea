"""Draws `tca tune --json`: for each kind of put the medians as dots, the table's costs as lines, and the
sizes at which another channel becomes the cheapest. plot.py calls this when it is given such a file."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

COLORS = (OURS, *THEIRS)
NEEDED = {"fabric", "protocol", "layout", "bytes", "median_us", "distance", "run_bytes", "table_us", "puts"}
MOST_PANELS = 24


def recognises(path):
    """Whether every line of the file comes from the tuner."""
    return jsonl.are_all(path, lambda r: r.get("bench") == "tune" and NEEDED <= r.keys())


def read(paths):
    return jsonl.read(paths, jsonl.having(NEEDED, "the tuner"))


def kind_of(record):
    """Returns what a panel shows: runs of one length, at one distance from each other, over all sizes."""
    if record["layout"] == "block":
        return (record["distance"], "block" if record["puts"] == 1 else "pairs of blocks", 0, 0)
    return (record["distance"], record["layout"], record["run_bytes"], record.get("pitch_bytes", 0))


def title_of(kind):
    distance, layout, run, pitch = kind
    return f"{distance}: {layout}" if run == 0 else f"{distance}: {layout}, {run} B every {pitch} B"


def bytes_in_words(value, _=None):
    for unit in ("B", "KiB", "MiB"):
        if value < 1024 or unit == "MiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    return ""


def channels_of(records):
    return sorted({f"{record['fabric']}/{record['protocol']}" for record in records})


def draw_panel(axes, kind, records, colors):
    best = {}
    for channel, color in colors.items():
        points = sorted(
            (record["bytes"] / record["puts"], record["median_us"] / record["puts"], record["table_us"])
            for record in records
            if f"{record['fabric']}/{record['protocol']}" == channel
        )
        if not points:
            continue
        sizes, medians, costs = zip(*points)
        axes.plot(sizes, medians, "o", markersize=3, color=color)
        axes.plot(sizes, costs, linewidth=1.2, color=color)
        for size, _, cost in points:
            if size not in best or cost < best[size][0]:
                best[size] = (cost, channel)
    sizes = sorted(best)
    for before, size in zip(sizes, sizes[1:]):
        if best[before][1] != best[size][1]:
            axes.axvline((before * size) ** 0.5, color=colors[best[size][1]], linewidth=0.9, linestyle="--")
    axes.set_title(title_of(kind), fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(bytes_in_words))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelsize=7)
    frame(axes)


def draw_key(axes, colors, columns):
    """Draws one legend for all panels, since not every panel has every channel."""
    axes.set_axis_off()
    handles = [Line2D([], [], color=color, linewidth=1.2, marker="o", markersize=3) for color in colors.values()]
    axes.legend(handles, list(colors), loc="center", ncol=columns, fontsize=7, frameon=False)


def draw(paths, output, title):
    panels = {}
    records = read(paths)
    for record in records:
        panels.setdefault(kind_of(record), []).append(record)
    # The panels with the most sizes say the most.
    chosen = sorted(panels, key=lambda kind: -len({record["bytes"] for record in panels[kind]}))[:MOST_PANELS]
    chosen.sort()
    colors = dict(zip(channels_of(records), COLORS))
    columns = min(4, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = plt.figure(figsize=(4.2 * columns, 2.9 * rows + 0.9), layout="constrained")
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[0.05] + rows * [1])
    draw_key(figure.add_subplot(grid[0, :]), colors, 3 * columns)
    for number, kind in enumerate(chosen):
        draw_panel(figure.add_subplot(grid[1 + number // columns, number % columns]), kind, panels[kind], colors)
    figure.supylabel("µs a put, beyond the step without the exchange", fontsize=9)
    figure.suptitle(title or "Measured (dots), the tuning table, which leaves the signal out (lines), and where the route changes (dashes)")
    figure.supxlabel(str(records[0].get("hardware", "")), fontsize=8, color="#666666")
    save(figure, output)
