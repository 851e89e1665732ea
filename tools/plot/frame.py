"""The look that all drawings of `tca plot` share."""

import matplotlib.pyplot as plt

OURS = "#1f5fa8"
THEIRS = ("#d9722b", "#3c8d4a", "#9b59a6", "#b8352f", "#7a6a58", "#c79a1c")


def frame(axes):
    """Draws a light grid behind the lines, and no box."""
    axes.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure, output):
    figure.savefig(output, dpi=144)
    plt.close(figure)
