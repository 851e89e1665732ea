"""Ranks with a GPU each that are killed, hang or are interrupted in the middle of a step: who says what, how soon, and that
nothing is left. What the host starts, and kernels that stay on the GPU for the whole run.

Standard library only; see tests/faults/world.py for its environment."""

import os
import signal
import subprocess
import time
import unittest

from commands import GONE_WITHIN, TCA, processes_with, wait_until
from world import RANK_LOST, TIMED_OUT, WorldTest

FAILING = os.environ.get("FAILING_KERNEL", "failing_kernel")
DEVICE_FAILED = 8
CHANNELS = ("ll", "direct", "copy_engine")
# Iterations that nobody waits for the end of.
HIMENO = ("himeno", "--ranks", "2", "--size", "S", "--no-check", "--iterations", "100000000", "--start")
DSLASH = ("qcd", "dslash", "--ranks", "2", "--small", "--seconds", "1000", "--started-by")


def busy_gpus():
    """How many GPUs have run kernels for most of the last second."""
    query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    return sum(int(line) > 50 for line in subprocess.run(query, capture_output=True, text=True, check=True).stdout.split())


class OnGpus(WorldTest):
    def setUp(self):
        super().setUp()
        self.environment["OPENTCA_FABRIC"] = "cuda"

    def process_of(self, rank):
        """Of a rank that `tca` has started by itself."""
        (pid,) = set(processes_with(self.marker)) & set(processes_with(f"OPENTCA_RANK={rank}"))
        return pid

    def start_iterating(self, *command):
        """Starts ranks that iterate, two on a GPU where there is only one, and waits until they do."""
        job = self.start([TCA, *command])
        gpus = min(2, len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines()))
        wait_until(lambda: job.popen.poll() is not None or busy_gpus() >= gpus)
        self.assertIsNone(job.popen.poll(), job.text())
        return job


class Killed(OnGpus):
    def test_when_the_host_starts(self):
        for channel in CHANNELS:
            with self.subTest(channel):
                ranks = self.ranks(2, "ring", OPENTCA_CHANNEL=channel)
                for process in ranks:
                    process.says("runs in process")
                ranks[1].popen.kill()
                killed = time.monotonic()
                self.assertEqual(ranks[0].end(), RANK_LOST, ranks[0].text())
                self.assertLess(time.monotonic() - killed, GONE_WITHIN)
                self.assertRegex(ranks[0].text(), r"rank 1 died \(process \d+ has ended\)")
                self.assertRegex(ranks[0].text(), r"step \d+ of chain 'ring'")
                self.assert_nothing_left()

    def killed_during(self, *command):
        job = self.start_iterating(*command)
        os.kill(self.process_of(1), signal.SIGKILL)
        killed = time.monotonic()
        self.assert_ends(job, 137, r"rank 1 was killed by signal 9", r"rank 0: .*rank 1 died")
        self.assertLess(time.monotonic() - killed, GONE_WITHIN)
        self.assert_nothing_left()

    def test_while_a_kernel_iterates(self):
        self.killed_during(*HIMENO, "kernel")

    def test_while_graphs_iterate(self):
        self.killed_during(*HIMENO, "graph")

    def test_while_kernels_store_at_each_other(self):
        self.killed_during(*DSLASH, "graph")


class Failing(OnGpus):
    def test_a_kernel_of_the_programs(self):
        for way in ("host", "engine", "stream"):
            with self.subTest(way):
                ranks = self.ranks(2, way, programs=[FAILING] * 2)
                # The driver takes a second or two to tell of it, and five where both ranks are on one GPU.
                self.assertEqual(ranks[1].end(), DEVICE_FAILED, ranks[1].text())
                ended = time.monotonic()
                self.assertRegex(ranks[1].text(), "CUDA says an illegal memory access")
                self.assertEqual(ranks[0].end(), RANK_LOST, ranks[0].text())
                self.assertRegex(ranks[0].text(), "rank 1 ")
                self.assertLess(time.monotonic() - ended, GONE_WITHIN)
                self.assert_nothing_left()


class Missing(OnGpus):
    def test_a_rank_that_never_starts_its_chain(self):
        for channel in CHANNELS:
            with self.subTest(channel):
                ranks = self.ranks(
                    2, "ring", "--who", "1", "--how", "sleep", "--step", "7", OPENTCA_TIME_LIMIT="0.5", OPENTCA_CHANNEL=channel
                )
                self.assertEqual(ranks[0].end(), TIMED_OUT, ranks[0].text())
                self.assertRegex(ranks[0].text(), r"rank 1\b")
                self.assertRegex(ranks[0].text(), r"step 7 of chain 'ring'")
                ranks[1].popen.kill()
                self.assert_nothing_left()


class Interrupted(OnGpus):
    def test_ends_every_rank(self):
        for start in ("kernel", "graph"):
            with self.subTest(start):
                job = self.start_iterating(*HIMENO, start)
                job.popen.send_signal(signal.SIGINT)
                interrupted = time.monotonic()
                self.assert_ends(job, 130, "interrupted; 2 ranks ended")
                self.assertLess(time.monotonic() - interrupted, GONE_WITHIN)
                self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
