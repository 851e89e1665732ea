"""The look that all drawings of `tca plot` share: who has which colour, the frame, and files of a small size."""

import contextlib
import io
import os
import re
import shutil
import signal

import matplotlib.pyplot as plt

OURS = "#1f5fa8"
# Each contender has one name and one colour in all drawings, by the `peer` of its results. Where it has several lines,
# dashes tell them apart.
CONTENDERS = {
    "mpi": ("MPI", "#d9722b"),
    "nccl": ("NCCL", "#3c8d4a"),
    "nvshmem": ("NVSHMEM", "#9b59a6"),
    "mscclpp": ("MSCCL++", "#b8352f"),
    "quda": ("QUDA", "#c79a1c"),
    "ns3": ("ns-3", "#4aa3a2"),
    "flag": ("a flag", "#8c8c8c"),
    "memcpy": ("memcpy", "#7a6a58"),
    "copy": ("copy engine", "#7a6a58"),
    "hand-direct": ("by hand, direct", "#7a6a58"),
    "hand-pull": ("by hand, pull", "#7a6a58"),
    "hand-staged": ("by hand, staged", "#7a6a58"),
}
OTHERS = "#d48fb0"
# For what is no contender: kinds of things within one drawing.
THEIRS = ("#d9722b", "#3c8d4a", "#9b59a6", "#b8352f", "#7a6a58", "#c79a1c")
DASHES = ("-", "--", ":", "-.")

plt.rcParams.update(
    {
        "svg.fonttype": "none",  # text is text, not the outlines of every letter
        "svg.hashsalt": "opentca",  # the same drawing is the same file
    }
)


def name_and_color(peer):
    """Of a contender; the `peer` of OpenTCA's own results is null."""
    return CONTENDERS.get(str(peer), (str(peer), OTHERS)) if peer else ("OpenTCA", OURS)


def frame(axes):
    """Draws a light grid behind the lines, and no box."""
    axes.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def shrunk(svg):
    """Returns the same drawing without what nobody sees (comments, metadata, names of groups, digits below a hundredth
    of a point), and with each style said once."""
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\d+\.\d{3,}", rounded, tag[0]), svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg.replace('\n"', '"'))
    svg = re.sub(r'(?<=<g) id="[^"]*"| transform="rotate\(-0 [^"]*"', "", svg)
    names = {}
    svg = re.sub(r' style="([^"]*)"', lambda style: f' class="{names.setdefault(style[1], f"s{len(names)}")}"', svg)
    return svg.replace("</style>", "".join(f"\n.{name}{{{style}}}" for style, name in names.items()) + "</style>", 1)


def rounded(number):
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def save(figure, output):
    ending = output.lower().rsplit(".", 1)[-1]
    data = io.BytesIO()
    if ending == "svg":
        figure.savefig(data, format="svg", metadata={"Date": None})
        drawing = shrunk(data.getvalue().decode()).encode()
    else:
        figure.savefig(data, format=ending, dpi=144)
        drawing = data.getvalue()
    plt.close(figure)
    # Ctrl-C leaves no half of a file, nor does a full disk.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    replace(output, drawing)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def replace(output, data):
    """Writes a draft beside the file, and renames it."""
    path = os.path.realpath(output)
    draft = path + ".unfinished"
    try:
        with open(draft, "wb") as file:
            file.write(data)
        if os.path.exists(path):
            shutil.copymode(path, draft)
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise OSError(error.errno, error.strerror, output) from error
