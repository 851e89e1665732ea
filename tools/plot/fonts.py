"""Chooses where matplotlib keeps its list of fonts."""

import atexit
import os
import shutil
import signal
import tempfile


def can_keep(variable, otherwise):
    folder = os.path.join(os.environ.get(variable) or os.path.expanduser(otherwise), "matplotlib")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def end_interrupted(folder):
    """Removes the folder and ends: by default Ctrl-C ends a program without what is registered with
    atexit."""
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(130)


def have_a_place():
    """Gives a user without a home a folder for this run. Matplotlib would make one as well, but with a
    warning. Must be called before matplotlib is imported."""
    if os.environ.get("MPLCONFIGDIR"):
        return
    if can_keep("XDG_CONFIG_HOME", "~/.config") and can_keep("XDG_CACHE_HOME", "~/.cache"):
        return
    folder = os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="opentca-plot-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, lambda *_: end_interrupted(folder))
