"""Draws the pictures of docs/tutorial-python.md, with matplotlib: python pictures.py FOLDER"""

import sys
from pathlib import Path

import matplotlib
from peach2 import RANKS, WAYS, times
from plate import CELLS, STEPS, plate

matplotlib.use("svg")
matplotlib.rcParams |= {"svg.hashsalt": "opentca", "font.size": 9}
from matplotlib import pyplot  # noqa: E402: after the choice of what draws


def draw_ranks(file):
    """The plate, whose rows four ranks share, and what goes from each into the ghosts of the next."""
    figure, (whole, parts) = pyplot.subplots(1, 2, figsize=(7.5, 3.4), gridspec_kw={"width_ratios": (1, 1.1)})
    shown = whole.imshow(plate()[1:-1, 1:-1], cmap="inferno", vmin=0, vmax=100)
    figure.colorbar(shown, ax=whole, fraction=0.046, label="degrees")
    whole.set(title=f"after {STEPS} steps", xticks=(), yticks=())
    rows = CELLS // 4
    for rank in range(4):
        if rank:
            whole.axhline(rank * rows - 0.5, color="white", linewidth=1)
        whole.text(2, rank * rows + rows / 2, f"rank {rank}", color="white", va="center")
        top = -6 * rank
        for row in range(4):
            ghost = (row == 0 and rank > 0) or (row == 3 and rank < 3)
            edge = row == 0 and rank == 0
            color = "tab:red" if edge else "0.85" if ghost else "white"
            parts.add_patch(pyplot.Rectangle((0, top - row), 8, 1, facecolor=color, edgecolor="0.4"))
        parts.text(-0.4, top - 1, f"rank {rank}", ha="right", va="center")
        if rank < 3:
            arrow = {"arrowstyle": "->", "color": "tab:blue", "linewidth": 1.5}
            parts.annotate("", (2.5, top - 5.5), (2.5, top - 1.6), arrowprops=arrow)
            parts.annotate("", (5.5, top - 2.5), (5.5, top - 6.6), arrowprops=arrow)
    parts.set(title="first and last rows (white) into ghosts (grey)", xlim=(-2.6, 8.2), ylim=(-22.5, 1.5), aspect="auto")
    parts.axis("off")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def draw_times(file, cells):
    figure, axes = pyplot.subplots(figsize=(6.5, 3.6))
    names = {"tca": "PEACH2", "mpi": "MPI over InfiniBand"}
    for channel, overlaps in WAYS:
        how = "overlapped" if overlaps else "waited for first"
        axes.plot(
            RANKS, list(times(cells, channel, overlaps)), "--o" if overlaps else "-o", markersize=4,
            color={"tca": "tab:blue", "mpi": "tab:orange"}[channel], label=f"{names[channel]}, {how}",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set(title=f"{cells} x {cells} cells on HA-PACS/TCA", xlabel="ranks", ylabel="µs a step", ylim=(0, 100))
    axes.set_xticks(RANKS, [str(ranks) for ranks in RANKS])
    axes.legend(frameon=False, loc="upper right")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_ranks(folder / "heat-ranks.svg")
    draw_times(folder / "heat-peach2.svg", 1024)
