"""Where matplotlib keeps its list of fonts."""

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
    """Ctrl-C ends a program by default without what it has registered for its end."""
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(130)


def have_a_place():
    """For those without a home it is a folder for this run, which matplotlib would make as well, but with a warning. To be
    called before matplotlib is imported."""
    if os.environ.get("MPLCONFIGDIR"):
        return
    if can_keep("XDG_CONFIG_HOME", "~/.config") and can_keep("XDG_CACHE_HOME", "~/.cache"):
        return
    folder = os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="opentca-plot-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, lambda *_: end_interrupted(folder))
