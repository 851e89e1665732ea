"""What the fault tests share: worlds whose ranks die, hang, disagree or meet what is not theirs.

Standard library only. TCA names the command line, RANK_PROGRAM the program that plays the ranks, RANK_PROGRAM_OTHER
the same of a build that shares memory in another way, MPIRUN mpirun, TCA_HAS_CUDA whether the fabric cuda is built;
the last three may be empty."""

import os
import re
import struct
import subprocess
import threading

from commands import GONE_WITHIN, PATIENCE, TCA, CommandTest, wait_until

PROGRAM = os.environ.get("RANK_PROGRAM", "rank_program")
OTHER = os.environ.get("RANK_PROGRAM_OTHER", "")
MPIRUN = os.environ.get("MPIRUN", "")
CUDA = bool(os.environ.get("TCA_HAS_CUDA", ""))
PROTOCOLS = ("direct", "pull", "staged")

# Open MPI refuses root and more ranks than cores unless told otherwise.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}

USAGE, TIMED_OUT, RANK_LOST, OUT_OF_MEMORY, INCOMPATIBLE, DEVICE_FAILED = 2, 4, 5, 6, 7, 8


class Process:
    """A started program whose output is read as it comes."""

    def __init__(self, command, environment, **options):
        self.lines = []
        self.popen = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, **options,
        )  # fmt: skip
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.popen.stdout:
            self.lines.append(line.rstrip("\n"))

    def says(self, pattern):
        """Waits for a line that matches; the match."""
        found = wait_until(lambda: next(filter(None, (re.search(pattern, line) for line in self.lines)), None))
        if not found:
            raise AssertionError(f"no line matches {pattern!r} in {self.lines}")
        return found

    def end(self, limit=PATIENCE):
        code = self.popen.wait(timeout=limit)
        self.reader.join(timeout=limit)
        return code

    def text(self):
        return "\n".join(self.lines)

    def close(self):
        self.popen.kill()
        self.popen.wait()
        self.reader.join(timeout=PATIENCE)
        self.popen.stdout.close()


class WorldTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.job = f"tcatest-{self.mark}"
        self.segments = self.named_segments()

    @staticmethod
    def named_segments():
        return {name for name in os.listdir("/dev/shm") if name.startswith("opentca")}

    def start(self, command, **environment):
        process = Process(command, {**self.environment, **environment})
        self.addCleanup(process.close)
        return process

    def tca_run(self, ranks, *command, options=(), **environment):
        return self.start([TCA, "run", "-n", str(ranks), *options, "--", *command], **environment)

    def mpirun(self, size, *arguments, **environment):
        return self.start([MPIRUN, "-n", str(size), PROGRAM, *arguments], **ALLOWED, **environment)

    def launcher_memory(self):
        """In which the ranks of a launch meet: its descriptor, and its name for them (OPENTCA_CONTROL)."""
        memory = os.memfd_create("control")
        self.addCleanup(os.close, memory)
        return memory, f"/proc/{os.getpid()}/fd/{memory}"

    def await_rank_0(self, memory, process):
        """Until it sits in the rendezvous there: its seat begins behind the header, with its process."""
        seat = struct.pack("i", process.popen.pid)
        self.assertTrue(wait_until(lambda: os.pread(memory, 4, 256) == seat))

    def ranks(self, size, *arguments, programs=None, **environment):
        """Every rank on its own, with the test as the launcher, so that each exit code can be seen."""
        _, path = self.launcher_memory()
        return [
            self.start(
                [programs[rank] if programs else PROGRAM, *arguments],
                **{"OPENTCA_RANK": str(rank), "OPENTCA_SIZE": str(size), "OPENTCA_CONTROL": path, **environment},
            )
            for rank in range(size)
        ]

    def assert_ends(self, process, code, *patterns):
        self.assertEqual(process.end(), code, process.text())
        for pattern in patterns:
            self.assertRegex(process.text(), pattern)

    def assert_no_names_left(self):
        # Those of tests that run beside this one come and go.
        left = wait_until(lambda: self.named_segments() <= self.segments)
        self.assertTrue(left, f"left in /dev/shm: {self.named_segments() - self.segments}")

    def assert_nothing_left(self, within=GONE_WITHIN):
        super().assert_nothing_left(within)
        self.assert_no_names_left()
