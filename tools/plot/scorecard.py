"""Draws `tca scorecard --json`: published figures as dots and the model's as lines, on the axes of the
papers. plot.py calls this when it is given such a file."""

import math

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

NEEDED = {"source", "figure", "config", "use"}
COLORS = (OURS, *THEIRS)

# The panels: title, how the names of their figures begin, and axes. `rate` turns times into bandwidth.
PANELS = (
    {"title": "Ping-pong GPU-GPU, small messages (poster of 2014, figure 2a)", "begins": "ping-pong GPU-GPU", "most": 8192},
    {"title": "Ping-pong GPU-GPU, bandwidth (Odajima et al., figure 4)", "begins": "ping-pong GPU-GPU", "rate": True},
    {"title": "Faces of N³ doubles, block-stride, bandwidth (Nakao)", "begins": "block-stride", "rate": True},
    {"title": "Faces of N³ doubles, three planes (Odajima et al., figure 6)", "begins": "faces, ", "rate": True},
    {"title": "Broadcast, 16 ranks (Odajima et al., figure 13)", "begins": "broadcast", "log": True},
    {"title": "Allgather, 16 ranks (Odajima et al., figure 15)", "begins": "allgather", "log": True},
)
COLLECTIVES = ("broadcast", "allgather")


def recognises(path):
    """Whether any line of the file comes from the scorecard. Its lines are no results and occur in no other
    file."""
    return any(NEEDED <= record.keys() for record in jsonl.objects(path))


def read(paths):
    return jsonl.read(paths, jsonl.having(NEEDED, "the scorecard"))


def size_of(record):
    """Returns 8 for "8 B; ..." and 64 for "n = 64; ...", or None for a figure without sizes."""
    point = record.get("config", "").partition(";")[0].split()
    if point[:2] == ["n", "="]:
        return int(point[2])
    return int(point[0]) if len(point) == 2 and point[1] == "B" else None


def is_number(value):
    return isinstance(value, (int, float))


def usable(record):
    return record["use"] != "unusable" and is_number(record.get("published")) and is_number(record.get("model"))


def drawn(record):
    """Whether a record can be drawn: a point of the model's curve also where the published one cannot be
    read."""
    return usable(record) or (record["use"] == "unusable" and is_number(record.get("model")))


def lines_of(panel, records):
    lines = {}
    for record in records:
        size = size_of(record)
        if not drawn(record) or size is None or not record["figure"].startswith(panel["begins"]):
            continue
        if size <= panel.get("most", math.inf):
            lines.setdefault((record["figure"], record["use"]), []).append((size, record))
    return lines


def bytes_in_words(value, _=None):
    for unit in ("B", "KiB", "MiB"):
        if value < 1024 or unit == "MiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    return ""


def value(panel, size, record, which):
    if not panel.get("rate"):
        return record[which]
    moved = size * size * 8 if record["config"].startswith("n") else size
    return moved / record[which] * 1e-3


def label_sizes(axes, by_edge=False):
    axes.set_xscale("log", base=2)
    axes.set_xlabel("N" if by_edge else "bytes")
    if by_edge:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.4g}"))
    else:
        axes.xaxis.set_major_formatter(FuncFormatter(bytes_in_words))
        low, high = (math.log2(limit) for limit in axes.get_xlim())
        places = [2.0**e for e in range(math.ceil(low), math.floor(high) + 1, 1 + int(high - low) // 8)]
        axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())


def draw_lines(axes, panel, records):
    lines = lines_of(panel, records)
    if not lines:
        axes.set_axis_off()
        return
    for color, ((name, use), points) in zip(COLORS, lines.items()):
        points.sort(key=lambda point: point[0])
        sizes = [size for size, _ in points]
        label = name.removeprefix(panel["begins"]).lstrip(", ")
        model = [value(panel, size, record, "model") for size, record in points]
        axes.plot(sizes, model, color=color, linewidth=1.4, label=label if use == "unusable" else f"{label} ({use})")
        published = [(size, value(panel, size, record, "published")) for size, record in points if usable(record)]
        if published:
            axes.plot(*zip(*published), color=color, marker="o", markersize=4, linestyle="none")
    axes.set_title(panel["title"], fontsize=10)
    label_sizes(axes, any(record["config"].startswith("n") for points in lines.values() for _, record in points))
    axes.set_ylabel("GB/s" if panel.get("rate") else "µs")
    if panel.get("log"):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend(fontsize=6.5, frameon=False)


def draw_relative(axes, records):
    """Draws PEACH2's time as a fraction of MPI's."""
    drawn = False
    for color, kind in zip(COLORS, COLLECTIVES):
        times = {"TCA": {}, "MPI": {}}
        for record in records:
            name, _, rest = record["figure"].partition(", ")
            size = size_of(record)
            if name == kind and size is not None and usable(record) and rest[:3] in times:
                times[rest[:3]][size] = record
        sizes = sorted(times["TCA"].keys() & times["MPI"].keys())
        if not sizes:
            continue
        drawn = True
        model, published = (
            [times["TCA"][size][which] / times["MPI"][size][which] for size in sizes] for which in ("model", "published")
        )
        axes.plot(sizes, model, color=color, linewidth=1.4, label=kind)
        axes.plot(sizes, published, color=color, marker="o", markersize=4, linestyle="none")
    if not drawn:
        axes.set_axis_off()
        return
    axes.axhline(1, color="#999999", linewidth=0.8, linestyle="--")
    axes.set_title("Collectives of 16 ranks: TCA's time over MPI's", fontsize=10)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.3g}"))
    label_sizes(axes)
    axes.set_ylabel("ratio")
    axes.legend(fontsize=8, frameon=False)


def draw_himeno(axes, records):
    """Draws ratios as bars. For some it is published only which side is faster: the side of the line."""
    chosen = [record for record in records if "Himeno" in record["figure"] and record["use"] != "unusable"][::-1]
    if not chosen:
        axes.set_axis_off()
        return
    numbers = [(place, record["published"]) for place, record in enumerate(chosen) if usable(record)]
    models = [record["model"] for record in chosen]
    axes.barh([place - 0.2 for place in range(len(chosen))], models, 0.38, color=OURS, label="model")
    axes.barh([place + 0.2 for place, _ in numbers], [number for _, number in numbers], 0.38, color=THEIRS[0], label="published")
    axes.axvline(1, color="#999999", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(chosen)), [f"{record['source']}: {named(record)}" for record in chosen], fontsize=7)
    axes.set_title("Himeno, ratios of times", fontsize=10)
    axes.legend(fontsize=8, frameon=False)


def named(record):
    return record["figure"].removeprefix("Himeno ").replace(": ", "\n", 1)


def draw_all(axes, records):
    """Draws the model's number over the published one, for every number. Within the band they are at most 10
    % apart, between the lines 30 %."""
    for color, use in zip(COLORS, ("fitted", "predicted")):
        chosen = [record for record in records if usable(record) and record["use"] == use and record["published"] > 0]
        ratios = [record["model"] / record["published"] for record in chosen]
        axes.plot([record["published"] for record in chosen], ratios, ".", color=color, label=f"{use} ({len(chosen)})")
    axes.axhspan(0.9, 1.1, color="#dddddd", alpha=0.6, linewidth=0)
    for limit in (0.7, 1.3):
        axes.axhline(limit, color="#999999", linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.set_ylim(0, 2)
    axes.set_title("All numbers, each in its own unit", fontsize=10)
    axes.set_xlabel("published")
    axes.set_ylabel("model / published")
    axes.legend(fontsize=8, frameon=False)


def draw(paths, output, title):
    records = read(paths)
    figure, rows = plt.subplots(3, 3, figsize=(17, 13), layout="constrained")
    for axes, panel in zip(rows.flat, PANELS):
        draw_lines(axes, panel, records)
    for axes, draw_panel in zip(rows.flat[len(PANELS) :], (draw_relative, draw_himeno, draw_all)):
        draw_panel(axes, records)
    for axes in rows.flat:
        frame(axes)
    figure.suptitle(title or "The model (lines) and what was published (dots)")
    save(figure, output)
