"""Draws the pion of `tca qcd pion --json`: the correlator and the effective mass, a line for each measurement. plot.py
comes here when it is given such files."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save

COLORS = (OURS, *THEIRS)
NEEDED = {"correlator", "effective_mass", "kappa"}


def recognises(path):
    """Whether the first line of the file is a pion's."""
    return NEEDED <= jsonl.first(path).keys()


def read(paths):
    return [record for record in jsonl.read(paths, jsonl.having(set(), "results")) if "correlator" in record]


def draw(paths, output, title):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for number, record in enumerate(read(paths)):
        color = COLORS[number % len(COLORS)]
        lattice = "x".join(str(extent) for extent in record["extents"])
        label = f"{lattice}, κ = {record['kappa']}"
        left.semilogy(record["correlator"], "o-", color=color, label=label, markersize=4, linewidth=1)
        masses = [(t, mass) for t, mass in enumerate(record["effective_mass"]) if mass is not None]
        if masses:
            right.plot(*zip(*masses), "o", color=color, label=label, markersize=4)
    left.set_ylabel("C(t)")
    right.set_ylabel("effective mass (lattice units)")
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set_xlabel("t")
        frame(axes)
        axes.legend(fontsize=8, frameon=False)
    figure.suptitle(title or "The pion at zero momentum")
    save(figure, output)
