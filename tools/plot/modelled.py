"""Draws what bench/scaling.sh models: each application against the number of GPUs, hybrid and by the network alone, for one
problem on more GPUs (strong) and for a problem that grows with them (weak). plot.py calls this when it is given nothing
else."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

NEEDED = {"bench", "scaling", "protocol", "ranks", "mean_us"}
WAYS = {"hybrid": ("hybrid", OURS), "mpi": ("network alone", THEIRS[0])}
KINDS = {"strong": "-", "weak": "--"}
NAMES = {"himeno": "Himeno", "cg": "CG", "qcd": "Lattice QCD", "fft": "FFT"}


def recognises(path):
    """Whether every line of the file is such a point."""
    return jsonl.are_all(path, lambda r: NEEDED <= r.keys())


def draw_program(axes, program, records):
    for kind, dashes in KINDS.items():
        for way, (name, color) in WAYS.items():
            points = sorted((r["ranks"], r["mean_us"]) for r in records if r["scaling"] == kind and r["protocol"] == way)
            if points:
                axes.plot(*zip(*points), marker="o", markersize=5, linewidth=1.5, color=color, linestyle=dashes, label=f"{name}, {kind}")
    axes.set_title(NAMES.get(program, program), fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted({r["ranks"] for r in records}))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("GPUs")
    frame(axes)


def draw(paths, output, title):
    records = jsonl.read(paths, jsonl.having(NEEDED, "modelled scaling"))
    programs = list(dict.fromkeys(record["bench"] for record in records))
    figure, row = plt.subplots(
        1, len(programs) + 1, figsize=(3.2 * len(programs) + 2, 3.8), layout="constrained",
        gridspec_kw={"width_ratios": [*(3.2 for _ in programs), 2]},
    )  # fmt: skip
    for axes, program in zip(row, programs):
        draw_program(axes, program, [r for r in records if r["bench"] == program and r["scaling"] in KINDS])
    row[0].set_ylabel("µs an iteration or transform, modelled")
    row[-1].set_axis_off()
    row[-1].legend(*row[0].get_legend_handles_labels(), loc="center left", fontsize=9, frameon=False)
    figure.suptitle(title or "Modelled scaling of boxes of eight GPUs")
    save(figure, output)
