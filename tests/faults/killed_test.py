"""Ranks, launchers and whole jobs that are killed or interrupted: who says what, and that nothing is left."""

import os
import pty
import shutil
import signal
import threading
import time
import unittest

from commands import PATIENCE, process_stat, read_terminal
from world import GONE_WITHIN, MPIRUN, PROGRAM, PROTOCOLS, RANK_LOST, TCA, WorldTest


class Killed(WorldTest):
    """SIGKILL in the middle of a step at full speed."""

    def kill_one(self, ranks, victim):
        for process in ranks:
            process.says("runs in process")
        time.sleep(0.05)
        ranks[victim].popen.kill()
        killed = time.monotonic()
        for rank, process in enumerate(ranks):
            if rank == victim:
                continue
            self.assertEqual(process.end(), RANK_LOST, process.text())
            self.assertRegex(process.text(), rf"rank {victim} died \(process {ranks[victim].popen.pid} has ended\)")
            self.assertRegex(process.text(), rf"while rank {rank} was waiting for it in step \d+ of chain 'ring'")
        self.assertLess(time.monotonic() - killed, GONE_WITHIN)
        self.assert_nothing_left()

    def kill_one_of(self, size, victim):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.kill_one(self.ranks(size, "ring", OPENTCA_CHANNEL=protocol), victim)

    def test_one_of_two(self):
        self.kill_one_of(2, 1)

    def test_one_of_four(self):
        self.kill_one_of(4, 0)

    def test_one_of_six_which_the_far_ones_name_too(self):
        self.kill_one_of(6, 2)

    def test_large_puts(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                self.kill_one(self.ranks(2, "ring", "--doubles", "1000000", OPENTCA_CHANNEL=protocol), 0)

    def test_under_the_launcher(self):
        for size in (2, 4, 6):
            with self.subTest(size):
                job = self.tca_run(size, PROGRAM, "ring")
                victim = size // 2
                pid = int(job.says(rf"rank {victim}: runs in process (\d+)")[1])
                os.kill(pid, signal.SIGKILL)
                killed = time.monotonic()
                self.assert_ends(job, 137, rf"tca run: rank {victim} was killed by signal 9 \(Killed\); the other")
                self.assertLess(time.monotonic() - killed, GONE_WITHIN)
                self.assertIn("ended by itself" if size == 2 else "ended by themselves", job.text())
                self.assertEqual(job.text().count(f"rank {victim} died (process {pid} has ended)"), size - 1)
                self.assert_nothing_left()

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_under_mpirun(self):
        job = self.mpirun(4, "ring")
        pid = int(job.says(r"rank 2: runs in process (\d+)")[1])
        self.assert_no_names_left()
        os.kill(pid, signal.SIGKILL)
        self.assertNotEqual(job.end(), 0)
        self.assert_nothing_left()

    def test_all_at_once(self):
        job = self.tca_run(3, PROGRAM, "ring")
        pids = [int(job.says(rf"rank {rank}: runs in process (\d+)")[1]) for rank in range(3)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.assert_ends(job, 137)
        self.assert_nothing_left()


class LauncherKilled(WorldTest):
    def check(self, *command):
        self.kill(self.tca_run(3, *command))

    def kill(self, job):
        for rank in range(3):
            job.says(f"rank {rank}: runs in process")
        job.popen.kill()
        self.assert_nothing_left()

    def test_ranks(self):
        self.check(PROGRAM, "ring")

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine")
    def test_ranks_of_mpirun(self):
        self.kill(self.mpirun(3, "ring"))

    def test_wrapper_script(self):
        self.check("sh", "-c", f"{PROGRAM} ring; true")

    def test_wrapper_in_the_background(self):
        self.check("sh", "-c", f"{PROGRAM} ring & wait")

    @unittest.skipUnless(shutil.which("setsid"), "setsid is not on this machine")
    def test_wrapper_that_leaves_the_group(self):
        self.check("setsid", "sh", "-c", f"{PROGRAM} ring; true")


class StarterEnds(WorldTest):
    """A rank ends with the process that has started it, and not with one of its threads."""

    def test_only_the_thread_that_has_started_the_ranks(self):
        ranks = []

        def start():
            ranks.extend(self.ranks(2, "ring"))
            for process in ranks:
                process.says("runs in process")

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        time.sleep(0.3)
        for process in ranks:
            self.assertIsNone(process.popen.poll(), process.text())

    def test_a_world_that_has_ended_leaves_it_to_the_program(self):
        job = self.tca_run(2, "sh", "-c", f"{PROGRAM} death_signal; true")
        self.assert_ends(job, 0, "rank 0: death signal 9 in the world, 0 after it", "rank 1: death signal 9 in")


@unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
class ByWayOfMpirun(WorldTest):
    """tca starts mpirun, and mpirun the ranks: whoever is killed, nothing of tca, mpirun or the ranks is left."""

    # A second between asking and killing, and its own start and end on a machine that does much else.
    MPIRUN_TAKES = PATIENCE / 2

    def job_of(self, ranks=3):
        job = self.start([TCA, "run", "-n", str(ranks), "--fabric", "shm+mpi", "--", PROGRAM, "ring"])
        return job, [int(job.says(rf"rank {rank}: runs in process (\d+)")[1]) for rank in range(ranks)]

    def test_interrupted(self):
        job, _ = self.job_of()
        os.kill(job.popen.pid, signal.SIGINT)
        self.assert_ends(job, 130, "tca run: interrupted; 3 ranks ended")
        self.assert_nothing_left()

    def test_the_launcher_is_killed(self):
        job, _ = self.job_of()
        job.popen.kill()
        self.assert_nothing_left(self.MPIRUN_TAKES)

    def test_the_launcher_is_killed_at_any_moment(self):
        for moment in (0.02, 0.1, 0.2, 0.3):
            with self.subTest(moment=moment):
                job = self.start([TCA, "himeno", "--ranks", "2", "--size", "XS", "--seconds", "60", "--compare"])
                time.sleep(moment)
                job.popen.kill()
                self.assert_nothing_left(self.MPIRUN_TAKES)

    def test_a_rank_is_killed(self):
        job, pids = self.job_of()
        os.kill(pids[1], signal.SIGKILL)
        self.assertNotEqual(job.end(), 0)
        self.assert_nothing_left()

    def test_mpirun_is_killed(self):
        job, pids = self.job_of()
        mpirun = int(process_stat(pids[0])[1][1])
        os.kill(mpirun, signal.SIGKILL)
        self.assert_ends(job, 137, r"tca run: mpirun was killed by signal 9 \(Killed\)")
        self.assert_nothing_left(self.MPIRUN_TAKES)


class CtrlC(WorldTest):
    def test_ends_every_rank_once(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe(TCA, [TCA, "run", "-n", "3", "--", PROGRAM, "ring"], self.environment)
        self.addCleanup(os.close, terminal)
        text = read_terminal(terminal, lambda text: text.count("runs in process") == 3)
        os.write(terminal, b"\x03")
        interrupted = time.monotonic()
        text += read_terminal(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertLess(time.monotonic() - interrupted, GONE_WITHIN)
        self.assertEqual(text.count("interrupted; 3 ranks ended"), 1, text)
        self.assertNotIn("was waiting for", text)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
