"""What the tests of commands share: an environment and a folder of their own, processes that are known by a mark, terminals.

Standard library only. TCA names the command line under test."""

import os
import pty
import select
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

TCA = os.environ.get("TCA", "tca")
# Beside the command, so that matplotlib lists the machine's fonts once and not for each drawing.
FONTS = os.path.join(os.path.dirname(os.path.abspath(TCA)), os.pardir, "matplotlib")
# Sanitizers and a busy machine slow everything but the launcher's own clock.
PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))
GONE_WITHIN = 2.0


def process_stat(pid):
    """The command of a process, and what /proc/PID/stat says behind it: state, parent and so on, see proc(5)."""
    with open(f"/proc/{pid}/stat") as file:
        before, after = file.read().rsplit(")", 1)
    return before.split("(", 1)[1], after.split()


def processes_with(marker):
    """Every live process that has `marker` in its environment, the test itself excepted."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                marked = marker.encode() in file.read()
            state = process_stat(pid)[1][0]
        except OSError:
            continue
        if marked and state != "Z" and int(pid) != os.getpid():
            found.append(int(pid))
    return found


def cpu_seconds(pid):
    """What a process has computed for so far; 0 when it has ended."""
    try:
        fields = process_stat(pid)[1]
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until(condition, limit=PATIENCE):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    return condition()


def read_terminal(terminal, enough=lambda text: False):
    """What comes until it is enough, or the other side closes."""
    text = ""
    while not enough(text) and select.select([terminal], [], [], PATIENCE)[0]:
        try:
            got = os.read(terminal, 4096)
        except OSError:  # the other side has closed
            break
        if not got:
            break
        text += got.decode()
    return text


class CommandTest(unittest.TestCase):
    """In its environment is nothing of a launcher or of whoever runs the tests, such as a tuning table, but a mark of its own."""

    def setUp(self):
        foreign = ("OPENTCA_", "OMPI_COMM_", "PMI", "SLURM_", "FLUX_", "TORCHELASTIC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_")
        keep = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
        name, self.mark = "TCA_TEST_MARKER", str(uuid.uuid4())
        self.marker = f"{name}={self.mark}"
        self.environment = {**keep, name: self.mark, "XDG_CACHE_HOME": "/nonexistent", "MPLCONFIGDIR": FONTS}
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.addCleanup(self.kill_leftovers)

    def kill_leftovers(self):
        for pid in processes_with(self.marker):
            os.kill(pid, signal.SIGKILL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_nothing_left(self, within=GONE_WITHIN):
        left = wait_until(lambda: not processes_with(self.marker), within)
        self.assertTrue(left, f"still running: {processes_with(self.marker)}")

    def on_terminal(self, *arguments):
        """The process of `tca ARGUMENTS...` on a terminal of its own, and the other end of that."""
        self.environment["TERM"] = "xterm"
        own, terminal = pty.openpty()
        process = subprocess.Popen([TCA, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=self.environment,
                                   start_new_session=True)  # fmt: skip
        os.close(terminal)
        self.addCleanup(os.close, own)
        return process, own

    def assert_interrupted_while(self, busy, *arguments):
        """Ctrl-C ends `tca ARGUMENTS...` at once while its bar shows what it is busy with."""
        process, terminal = self.on_terminal(*arguments)
        said = read_terminal(terminal, lambda text: f"{busy} [" in text)
        self.assertRegex(said, busy + r" \[[#.]*\] +[0-9]+ %")
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(PATIENCE)
        self.assertIn(code, (128 + signal.SIGINT, -signal.SIGINT))
        self.assert_nothing_left()
