"""Draws the energies of `tca spin --json`: after each round, and by temperature where replicas exchange theirs. plot.py calls
this when it is given such files."""

import jsonl
import matplotlib.pyplot as plt
from frame import OURS, THEIRS, frame, save
from matplotlib.ticker import MaxNLocator

COLORS = (OURS, *THEIRS)
BENCH = "heisenberg_spin_glass"


def recognises(path):
    """Whether the file holds spin glasses, with their energies."""
    return jsonl.are_all(path, lambda r: r.get("bench") == BENCH and r.keys() & {"energies", "temperatures"})


def lattice(record):
    couplings = "rings" if record["couplings"] == "rings" else "Gaussian couplings"
    return f"{'x'.join(str(extent) for extent in record['extents'])}, {couplings}"


def draw_rounds(axes, energies, rounds, label, color):
    axes.plot([rounds * (i + 1) / len(energies) for i in range(len(energies))], energies, color=color, linewidth=1, label=label)


def draw_record(record, left, right, number):
    if "energies" in record:
        color = COLORS[number % len(COLORS)]
        draw_rounds(left, record["energies"], record["rounds"], f"{lattice(record)}, β = {record['beta']}", color)
        for key, label in (("exact", "exact"), ("energy_by_overlaps", "by the replicas' overlaps")):
            if key in record:
                left.axhline(record[key], color=color, linestyle="--", linewidth=1, label=label)
        return
    shades = plt.get_cmap("plasma")
    for i, one in enumerate(record["temperatures"]):
        part = i / max(1, len(record["temperatures"]) - 1)
        draw_rounds(left, one["energies"], record["rounds"], f"T = {one['temperature']}", shades(0.85 * part))
    draw_temperatures(record, right, COLORS[number % len(COLORS)])


def draw_temperatures(record, axes, color):
    all_of_it = record["temperatures"]
    temperatures = [one["temperature"] for one in all_of_it]
    axes.errorbar(temperatures, [one["energy"] for one in all_of_it], [one["energy_error"] for one in all_of_it],
                  fmt="o", color=color, markersize=4, label=lattice(record))  # fmt: skip
    if all("exact" in one for one in all_of_it):
        axes.plot(temperatures, [one["exact"] for one in all_of_it], "--", color=color, linewidth=1, label="exact")
    for one, next_one in zip(all_of_it, all_of_it[1:]):
        middle = (one["temperature"] + next_one["temperature"]) / 2, (one["energy"] + next_one["energy"]) / 2
        axes.annotate(f"{100 * one['acceptance']:.0f} % change places", middle, (6, -10), textcoords="offset points", fontsize=7, color="#666666")


def draw(paths, output, title):
    records = [record for path in paths for record in jsonl.objects(path)]
    # A peer has simulated the same spins.
    records = [record for record in records if not record.get("peer")] or records
    tempered = any("temperatures" in record for record in records)
    figure, all_axes = plt.subplots(1, 2 if tempered else 1, figsize=(10 if tempered else 6, 4), layout="constrained", squeeze=False)
    left, right = all_axes[0][0], all_axes[0][-1]
    for number, record in enumerate(records):
        draw_record(record, left, right, number)
    left.set_xlabel("round")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_ylabel("energy a site")
    if tempered:
        right.set_xlabel("temperature")
        right.set_ylabel("mean energy a site")
    for axes in all_axes[0]:
        frame(axes)
        axes.legend(fontsize=8, frameon=False, loc="lower right" if tempered and axes is right else "best")
    figure.suptitle(title or "Heisenberg spin glass")
    save(figure, output)
