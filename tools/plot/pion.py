"""Draws the pion of `tca qcd pion --json`: the correlator and the effective mass, a line for each
measurement. plot.py calls this when it is given such files."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from matplotlib.ticker import MaxNLocator

COLORS = (OURS, *THEIRS)
NEEDED = {"correlator", "effective_mass", "kappa"}
OF_LINKS = ("qcd_generate", "qcd_plaquette")


def recognises(path):
    """Whether the file holds pions of `tca qcd`, possibly with lines about the links on which they were
    measured."""
    return bool(read([path])) and jsonl.are_all(path, lambda r: NEEDED <= r.keys() or r.get("bench") in OF_LINKS)


def read(paths):
    return [record for path in paths for record in jsonl.objects(path) if NEEDED <= record.keys()]


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
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        frame(axes)
        axes.legend(fontsize=8, frameon=False)
    figure.suptitle(title or "The pion at zero momentum")
    save(figure, output)
