"""Draws what `tca pic --plot` has collected: the history of a plasma, frames of it, or the spectrum of the field along x.
plot.py calls this when it is given such a file."""

import os

import jsonl
import matplotlib.pyplot as plt
import numpy as np
from frame import OURS, THEIRS, frame, save

KINDS = ("pic_history", "pic_frame", "pic_spectrum")
TIME = "time (1/ωₚ)"
LENGTH = "(c/ωₚ)"


def recognises(path):
    """Whether every line of the file is of one of these kinds."""
    return jsonl.are_all(path, lambda r: r.get("bench") in KINDS)


def draw(paths, output, title):
    records = [record for path in paths for record in jsonl.objects(path)]
    figure = {"pic_history": history, "pic_frame": frames, "pic_spectrum": spectrum}[records[0]["bench"]](records)
    figure.suptitle(title or f"A plasma: {os.path.basename(records[0]['deck'])}")
    save(figure, output)


def history(records):
    (record,) = records
    figure, (energies, wave, gauss) = plt.subplots(1, 3, figsize=(12.6, 3.6), layout="constrained")
    time = np.array(record["time"])
    for key, label, color in (("field_energy", "field", OURS), ("kinetic_energy", "electrons", THEIRS[0])):
        energies.plot(time, record[key], color=color, label=label, linewidth=1)
    energies.set_ylabel("energy (cells of m c² n)")
    amplitude = np.array(record["wave"])
    wave.semilogy(time, np.maximum(amplitude, 1e-300), color=OURS, label="amplitude", linewidth=1)
    most = max(amplitude.max(), 1e-12)
    wave.set_ylim(1e-6 * most, 3 * most)
    wave.set_ylabel("the deck's wave in E")
    if "growth_rate" in record:
        at = np.argmax(amplitude > 0.05 * amplitude.max())
        known = amplitude[at] * np.exp(record["growth_rate"] * (time - time[at]))
        wave.semilogy(time, np.where(known <= amplitude.max(), known, np.nan), "--", color=THEIRS[0], label="as is known of it")
    gauss.semilogy(time, np.maximum(record["off_gauss"], 1e-17), color=OURS, label="|div E - charge|", linewidth=1)
    gauss.set_ylim(1e-17, 1e-11)
    gauss.set_ylabel("of the plasma's charge density")
    for axes in (energies, wave, gauss):
        axes.set_xlabel(TIME)
        frame(axes)
        axes.legend(fontsize=8, frameon=False)
    return figure


def frames(records):
    fields = [("electrons", "electrons (n)", "viridis"), ("ex", "Ex (m c ωₚ/e)", "RdBu_r")]
    if any(np.any(record["ez"]) for record in records):
        fields.append(("ez", "Ez", "RdBu_r"))
    figure, rows = plt.subplots(
        len(records), len(fields), squeeze=False, figsize=(4.6 * len(fields), 1.9 * len(records)), layout="constrained"
    )
    for row, record in zip(rows, records):
        for axes, (key, label, colors) in zip(row, fields):
            plane = np.array(record[key])
            high, wide = plane.shape
            # A few peaks are not to leave the rest in the dark.
            most = max(np.quantile(np.abs(plane), 0.998), 1e-30)
            shown = axes.imshow(
                plane, origin="lower", cmap=colors, aspect="auto", interpolation="none", vmin=0 if key == "electrons" else -most, vmax=most,
                extent=(0, wide * record["cell"], 0, high * record["cell"]),
            )  # fmt: skip
            figure.colorbar(shown, ax=axes, shrink=0.8)
            axes.set_title(f"{label}, t = {record['time']:.1f}", fontsize=8, loc="left")
            axes.tick_params(labelsize=7)
    for axes in rows[-1]:
        axes.set_xlabel(f"x {LENGTH}", fontsize=8)
    for row in rows:
        row[0].set_ylabel(f"y {LENGTH}", fontsize=8)
    return figure


def spectrum(records):
    (record,) = records
    field = np.array(record["ex"])
    steps, cells = field.shape
    # A window in time lets each wave have one frequency.
    power = np.abs(np.fft.fft2(field * np.hanning(steps)[:, None])) ** 2
    half = power[: max(2, steps // 2), : max(2, cells // 2)]
    k_most, omega_most = np.pi / record["cell"], np.pi / record["between"]
    figure, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    floor = half.max() * 1e-6 + 1e-300
    shown = axes.imshow(
        np.log10(half + floor), origin="lower", aspect="auto", interpolation="none", cmap="magma", extent=(0, k_most, 0, omega_most)
    )
    figure.colorbar(shown, ax=axes, label="log of the power of Ex")
    k = np.linspace(0, k_most, 200)
    known = np.sqrt(1 + 3 * (k * record["thermal"]) ** 2)
    axes.plot(k, known, "--", color="white", linewidth=1, label="plasma waves (Bohm and Gross)")
    axes.set_xlim(0, k_most / 2)
    axes.set_ylim(0, min(omega_most, 4))
    axes.set_xlabel("k (ωₚ/c)")
    axes.set_ylabel("ω (ωₚ)")
    axes.legend(fontsize=8, loc="upper right", facecolor="black", edgecolor="none", labelcolor="white")
    return figure
