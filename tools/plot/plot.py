#!/usr/bin/env python3
"""Draws OpenTCA's results (docs/results.md): time, bandwidth and ratio to a peer against bytes, a row for each bench
and layout; solves of QCD against the number of ranks; the channels of an application's messages; the scorecard of the
model; a tuning; a pion; energies of spins; a plasma; the latencies of a trigger; or a census of MPI calls. `tca plot` calls this."""

import sys

try:
    import signal
except KeyboardInterrupt:
    sys.exit(130)

# Ctrl-C ends this program at once and without a traceback, even while the following modules are loaded.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse  # noqa: E402
import collections  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import os  # noqa: E402
import statistics  # noqa: E402
import textwrap  # noqa: E402

import fonts  # noqa: E402

fonts.have_a_place()
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import census  # noqa: E402  (after the choice of Agg)
import channels  # noqa: E402
import jsonl  # noqa: E402
import latency  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import modelled  # noqa: E402
import pion  # noqa: E402
import plasma  # noqa: E402
import scaling  # noqa: E402
import scorecard  # noqa: E402
import spin  # noqa: E402
import tune  # noqa: E402
from frame import DASHES, frame, name_and_color, save  # noqa: E402
from jsonl import Refused  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator  # noqa: E402

FORMATS = (".svg", ".png", ".pdf")
NEEDED = {"bench": str, "layout": str, "bytes": (int, float), "median_us": (int, float)}
# Benchmarks whose time is that of moving bytes, so that there is a bandwidth to draw.
MOVING = ("pingpong", "halo", "put", "bcast", "allgather", "allreduce", "reduce_scatter", "alltoall", "tune")
# Benchmarks in which each contender computes for as long as its own exchange takes, so that times of steps do
# not compare.
INCOMPARABLE = ("overlap",)
# What tells one line of a panel from another. The legend names the traits that differ.
TRAITS = (
    *("peer", "fabric", "start", "scope", "guarded", "overlap", "progress", "points", "row_bytes", "fidelity"),
    *("ranks", "hardware", "commit"),
)
YES_OR_NO = {"guarded": ("unguarded", "guarded"), "overlap": ("not overlapped", "overlapped")}
COUNTED = {"ranks": "{} ranks", "points": "{} points", "row_bytes": "rows of {} B"}
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {"linewidth": 1.5, "markersize": 4}


def check(record, where):
    if not isinstance(record, dict):
        raise Refused(f"{where}: not a JSON object")
    for key, kind in NEEDED.items():
        if key not in record:
            raise Refused(f"{where}: `{key}` is missing")
        if not isinstance(record[key], kind) or isinstance(record[key], bool):
            raise Refused(f"{where}: `{key}` is {json.dumps(record[key])}")


def is_drawn(record):
    """Whether there is a time to draw: a cost beyond something else may come out as nothing, or below the noise,
    of which there is no bandwidth either."""
    lost = record["bench"] in MOVING and "placement" in record and record.get("gbps") is None
    return record["bytes"] > 0 and record["median_us"] > 0 and not lost


def read(paths):
    records = jsonl.read(paths, check)
    drawn = [record for record in records if is_drawn(record)]
    if len(drawn) < len(records):
        print(f"tca plot: left out {len(records) - len(drawn)} results without bytes, or with a time below the noise", file=sys.stderr)
    if not drawn:
        raise Refused("there is nothing to draw in " + ", ".join(paths))
    return drawn


def grouped(records, key):
    groups = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def traits(record, names):
    return tuple(str(record.get(name)) if record.get(name) is not None else "" for name in names)


def traits_that_matter(records):
    """Returns what tells lines apart. The protocol may change with size along a line, unless one size has
    several protocols: then each has a line of its own."""
    same_point = grouped(records, lambda r: traits(r, TRAITS) + (r["bytes"],))
    several = any(len({r.get("protocol") for r in group}) > 1 for group in same_point.values())
    return TRAITS + ("protocol",) if several else TRAITS


def ratio_of(group):
    """Returns the peer's ratio, its low and its high: medians over lines, None where a line lacks them, and NaN
    where a line says that there is none, its cost being below the noise."""
    if not all("ratio" in r for r in group):
        return None
    ratio, low, high = ([r.get(key, r["ratio"]) for r in group] for key in ("ratio", "ratio_low", "ratio_high"))
    if None in ratio:
        return (math.nan, math.nan, math.nan)
    return tuple(statistics.median(values) for values in (ratio, low, high))


class Line:
    """One contender over all sizes. A size that was measured more than once appears as its median."""

    def __init__(self, records):
        self.first = records[0]
        self.is_ours = self.first.get("peer") is None
        points = sorted(grouped(records, lambda r: r["bytes"]).items())
        self.bytes = [size for size, _ in points]
        self.time = [statistics.median(r["median_us"] for r in group) for _, group in points]
        self.p99 = [max(r.get("p99_us") or r["median_us"] for r in group) for _, group in points]
        self.ratio = [ratio_of(group) for _, group in points]
        self.bandwidth = [size / time / 1e3 for size, time in zip(self.bytes, self.time)]

    def label(self, differing):
        peer = self.first.get("peer")
        name, _ = name_and_color(peer)
        words = []
        for trait in differing:
            value = self.first.get(trait)
            if trait == "peer" or value in (None, "", peer):
                continue
            if trait in YES_OR_NO:
                words.append(YES_OR_NO[trait][bool(value)])
            else:
                text = COUNTED.get(trait, "{}").format(value)
                words.append(textwrap.shorten(text, 32, placeholder="…"))
        return name + (f" ({', '.join(words)})" if words else "")


def make_lines(records):
    names = traits_that_matter(records)
    lines = [Line(group) for group in grouped(records, lambda r: traits(r, names)).values()]
    lines.sort(key=lambda line: not line.is_ours)
    # A peer's fabric or protocol does not matter to others: the legend names only what differs among lines of
    # the same name.
    by_name = grouped([line.first for line in lines], lambda r: str(r.get("peer")))
    differing = {
        name: [t for t in names if len({str(r.get(t)) for r in group}) > 1] for name, group in by_name.items()
    }
    same_color = collections.Counter()
    for number, line in enumerate(lines):
        line.text = line.label(differing[str(line.first.get("peer"))])
        _, line.color = name_and_color(line.first.get("peer"))
        dashes = DASHES[same_color[line.color] % len(DASHES)]
        line.style = {"color": line.color, "linestyle": dashes, "marker": MARKERS[number % len(MARKERS)], **STYLE}
        same_color[line.color] += 1
    return lines


def comparable(line, lines):
    """Returns OpenTCA's lines to compare with: same number of ranks, same machine, and guarded alike if there
    are such lines."""
    same = ("ranks", "hardware", "overlap", "row_bytes")
    ours = [o for o in lines if o.is_ours and all(o.first.get(t) == line.first.get(t) for t in same)]
    return [o for o in ours if o.first.get("guarded") == line.first.get("guarded")] or ours


def ratios(lines):
    """Yields for each line of a peer its time over OpenTCA's, and how far that spreads: as measured round by
    round, otherwise over OpenTCA's fastest median. What is below the noise has none."""
    for line in lines:
        if line.is_ours or line.first["bench"] in INCOMPARABLE:
            continue
        fastest = {}
        for ours in comparable(line, lines):
            for size, time in zip(ours.bytes, ours.time):
                fastest[size] = min(time, fastest.get(size, time))
        shared = [
            (size, (time / fastest[size],) * 3 if ratio is None else ratio)
            for size, time, ratio in zip(line.bytes, line.time, line.ratio)
            if ratio is not None or size in fastest
        ]
        shared = [(size, ratio) for size, ratio in shared if not math.isnan(ratio[0])]
        if shared:
            yield line, [size for size, _ in shared], [ratio for _, ratio in shared]


def bytes_in_words(value, _=None):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    return ""


def plain_number(value, _=None):
    return f"{value:.6g}"


def set_up(axes, title, log_y=True):
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("bytes")
    axes.xaxis.set_major_formatter(FuncFormatter(bytes_in_words))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", labelsize=8)
    frame(axes)
    if log_y:
        axes.set_yscale("log")


def finish(axes, log_y=True):
    """Labels the axes with numbers instead of powers of ten, with 2 and 5 in between where an axis spans
    little."""
    axes.margins(x=0.06)
    low, high = axes.get_xlim()
    if high / low < 4:  # one size only: room around it
        low, high = low / 2, high * 2
        axes.set_xlim(low, high)
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(first, last + 1, 1 + (last - first) // 8)]))
    if not log_y:
        return
    low, high = axes.get_ylim()
    if high / low < 4:
        middle = (low * high) ** 0.5
        low, high = min(low, middle / 2.5), max(high, middle * 2.5)
        axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if high / low < 2000 else (1,), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(plain_number))
    axes.yaxis.set_minor_locator(NullLocator())


def add_legend(axes):
    """No corner has room for many entries, so these have it above all lines."""
    many = len(axes.get_legend_handles_labels()[0]) > 3
    if many:
        below = 1 - 0.03 - 0.065 * len(axes.get_legend_handles_labels()[0])
        low, high = axes.transScale.transform([(1, y) for y in axes.get_ylim()])[:, 1]
        top = axes.transScale.inverted().transform([(1, low + (high - low) / below)])[0, 1]
        axes.set_ylim(top=top)
    axes.legend(fontsize=8, frameon=False, loc="upper left" if many else "best")


def draw_p99(axes, line):
    """Of several lines of one contender only the first has a band: more would hide each other."""
    if line.style["linestyle"] != DASHES[0]:
        return
    if len(line.bytes) > 1:
        axes.fill_between(line.bytes, line.time, line.p99, color=line.color, alpha=0.15, linewidth=0)
    else:
        above = [max(0, p99 - time) for time, p99 in zip(line.time, line.p99)]
        axes.errorbar(line.bytes, line.time, yerr=[[0], above], color=line.color, alpha=0.4, capsize=3)


def draw_time(axes, name, lines):
    set_up(axes, f"{name}: time")
    axes.set_ylabel("µs, median (band: to p99)")
    for line in lines:
        draw_p99(axes, line)
        axes.plot(line.bytes, line.time, label=line.text, **line.style)
    add_legend(axes)
    finish(axes)


def draw_bandwidth(axes, name, lines):
    set_up(axes, f"{name}: bandwidth")
    axes.set_ylabel("GB/s (10⁹ bytes/s)")
    for line in lines:
        axes.plot(line.bytes, line.bandwidth, **line.style)
    finish(axes)


def draw_ratio(axes, name, all_ratios):
    values = [ratio for _, _, of_line in all_ratios for ratio, _, _ in of_line]
    if not values:
        axes.set_axis_off()
        return
    log_y = max(values) / min(values) > 10
    set_up(axes, f"{name}: peer / OpenTCA", log_y)
    axes.set_ylabel("ratio of times, spread\n(> 1: OpenTCA is faster)")
    axes.axhline(1, color="#555555", linewidth=1, linestyle="--")
    for line, sizes, of_line in all_ratios:
        middle, low, high = zip(*of_line)
        axes.plot(sizes, middle, label=line.text, **line.style)
        color = line.style["color"]
        if len(sizes) > 1:
            axes.fill_between(sizes, low, high, color=color, alpha=0.15, linewidth=0)
        else:
            around = [[max(0, middle[0] - low[0])], [max(0, high[0] - middle[0])]]
            axes.errorbar(sizes, middle, yerr=around, color=color, alpha=0.4, capsize=3)
    if not log_y:
        highest = max(high for _, _, of_line in all_ratios for _, _, high in of_line)
        axes.set_ylim(0, max(1.2, 1.1 * min(highest, 2 * max(values))))
    add_legend(axes)
    finish(axes, log_y)


def source(records):
    """Returns the hardware and commit of the records, as far as all of them agree."""
    words = []
    for key in ("hardware", "commit"):
        values = {str(r[key]) for r in records if r.get(key)}
        if len(values) == 1:
            words.append(("commit " if key == "commit" else "") + values.pop())
    return ", ".join(words)


def draw(records, output, title):
    panels = grouped(records, lambda r: (r["bench"], r["layout"]))
    with_bandwidth = any(bench in MOVING for bench, _ in panels)
    with_ratio = any(list(ratios(make_lines(group))) for group in panels.values())
    columns = 1 + with_bandwidth + with_ratio
    figure, rows = plt.subplots(
        len(panels), columns, squeeze=False, figsize=(4.8 * columns, 3.4 * len(panels) + 0.5), layout="constrained"
    )
    for row, ((bench, layout), group) in zip(rows, panels.items()):
        name, lines = f"{bench} {layout}".strip(), make_lines(group)
        draw_time(row[0], name, lines)
        if bench in MOVING:
            draw_bandwidth(row[1], name, lines)
        elif with_bandwidth:
            row[1].set_axis_off()
        if with_ratio:
            draw_ratio(row[-1], name, list(ratios(lines)))
    figure.get_layout_engine().set(h_pad=0.1, w_pad=0.08)  # inches; panels have titles and names of axes of their own
    if title:
        figure.suptitle(title)
    figure.supxlabel(source(records), fontsize=8, color="#666666")
    save(figure, output)


def main():
    parser = argparse.ArgumentParser(prog="tca plot", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", default="results.svg")
    parser.add_argument("--title")
    arguments = parser.parse_args()
    if os.path.splitext(arguments.output)[1].lower() not in FORMATS:
        print(f"tca plot: {arguments.output}: the name must end in .svg, .png or .pdf", file=sys.stderr)
        return 2
    try:
        if all(scorecard.recognises(file) for file in arguments.files):
            scorecard.draw(arguments.files, arguments.output, arguments.title)
        elif all(pion.recognises(file) for file in arguments.files):
            pion.draw(arguments.files, arguments.output, arguments.title)
        elif all(modelled.recognises(file) for file in arguments.files):
            modelled.draw(arguments.files, arguments.output, arguments.title)
        elif all(plasma.recognises(file) for file in arguments.files):
            plasma.draw(arguments.files, arguments.output, arguments.title)
        elif all(spin.recognises(file) for file in arguments.files):
            spin.draw(arguments.files, arguments.output, arguments.title)
        elif all(scaling.recognises(file) for file in arguments.files):
            scaling.draw(arguments.files, arguments.output, arguments.title)
        elif all(latency.recognises(file) for file in arguments.files):
            latency.draw(arguments.files, arguments.output, arguments.title)
        elif all(channels.recognises(file) for file in arguments.files):
            channels.draw(arguments.files, arguments.output, arguments.title)
        elif all(census.recognises(file) for file in arguments.files):
            census.draw(arguments.files, arguments.output, arguments.title)
        elif all(tune.recognises(file) for file in arguments.files):
            tune.draw(arguments.files, arguments.output, arguments.title)
        else:
            draw(read(arguments.files), arguments.output, arguments.title)
    except Refused as refusal:
        print(f"tca plot: {refusal}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"tca plot: {error.filename or arguments.output}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
