"""Ranks that do not come, stop, leave or fail: what the others say, and when."""

import re
import signal
import time
import unittest

from world import GONE_WITHIN, PATIENCE, PROGRAM, PROTOCOLS, RANK_LOST, TIMED_OUT, USAGE, WorldTest


class NeverStarts(WorldTest):
    def test_the_others_name_chain_step_and_rank(self):
        for protocol in PROTOCOLS:
            with self.subTest(protocol):
                ranks = self.ranks(
                    3, "ring", "--who", "1", "--how", "sleep", "--step", "7",
                    OPENTCA_TIME_LIMIT="0.5", OPENTCA_CHANNEL=protocol,
                )  # fmt: skip
                started = time.monotonic()
                for rank in (0, 2):
                    process = ranks[rank]
                    process.end()
                    self.assertIn("in step 7 of chain 'ring'", process.text())
                    self.assertIn("OPENTCA_TIME_LIMIT", process.text())
                    self.assertRegex(process.text(), rf"rank {rank} waited 0\.[5-9] s .* for rank (0, |2, )?1")
                    self.assertEqual(process.popen.returncode, TIMED_OUT, process.text())
                self.assertLess(time.monotonic() - started, PATIENCE)
                ranks[1].close()
                self.assert_nothing_left()

    def test_under_the_launcher(self):
        job = self.tca_run(
            2, PROGRAM, "ring", "--who", "0", "--how", "sleep", "--step", "3", OPENTCA_TIME_LIMIT="0.5"
        )
        self.assert_ends(job, TIMED_OUT, r"rank 1 waited 0\.\d s in step 3 of chain 'ring' for rank 0",
                         "rank 1 exited with code 4; the other rank was ended")  # fmt: skip
        self.assert_nothing_left()

    def test_far_rank_learns_who_was_waited_for(self):
        ranks = self.ranks(5, "ring", "--who", "2", "--how", "sleep", "--step", "4", OPENTCA_TIME_LIMIT="0.5")
        codes = {rank: ranks[rank].end() for rank in (0, 1, 3, 4)}
        for rank in (1, 3):
            self.assertIn(codes[rank], (TIMED_OUT, RANK_LOST), ranks[rank].text())
            self.assertRegex(ranks[rank].text(), r"for rank (\d+, )*2\b")
        # Their own limits are over at the same time, nearly; who comes to that first knows only its neighbours.
        for rank, neighbour in ((0, 1), (4, 3)):
            who = {RANK_LOST: 2, TIMED_OUT: neighbour}[codes[rank]]
            self.assertRegex(ranks[rank].text(), rf"rank (\d+, )*{who}\b")
        ranks[2].close()

    def test_barrier_and_commit_are_limited_too(self):
        # The rank is up but makes no window.
        ranks = self.ranks(3, "ring", "--who", "1", "--how", "sleep_after_init", OPENTCA_TIME_LIMIT="0.5")
        for rank in (0, 2):
            self.assert_ends(ranks[rank], TIMED_OUT, rf"rank {rank} waited .* in creation of window 0 for rank 1; did it make the")
        ranks[1].close()


class Suspended(WorldTest):
    """Ctrl-Z and fg, or a batch system that suspends a job: in that time no rank can do anything."""

    def test_that_time_is_nobodys_delay(self):
        ranks = self.ranks(2, "ring", OPENTCA_TIME_LIMIT="2")
        for process in ranks:
            process.says("runs in process")
        for process in reversed(ranks):  # the last is then waiting for the others
            process.popen.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
        time.sleep(3)
        for process in ranks:
            process.popen.send_signal(signal.SIGCONT)
            time.sleep(0.3)
        for process in ranks:
            self.assertIsNone(process.popen.poll(), process.text())


class StartUp(WorldTest):
    def test_exits_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "1", "--how", "exit")
        started = time.monotonic()
        self.assert_ends(job, 3, "rank 1 exited with code 3; the other 2 ranks were ended")
        self.assertLess(time.monotonic() - started, PATIENCE)
        self.assert_nothing_left()

    def test_rank_0_exits_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "0", "--how", "exit")
        self.assert_ends(job, 3, "rank 0 exited with code 3; the other 2 ranks were ended")
        self.assert_nothing_left()

    def test_killed_before_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "2", "--how", "kill")
        self.assert_ends(job, 137, "rank 2 was killed by signal 9")
        self.assert_nothing_left()

    def test_throws_before_init(self):
        job = self.tca_run(2, PROGRAM, "before_init", "--who", "1", "--how", "throw")
        self.assert_ends(job, 1, "its own reasons", "rank 1 exited with code 1")
        self.assert_nothing_left()

    def test_ends_well_without_init(self):
        job = self.tca_run(3, PROGRAM, "before_init", "--who", "1", "--how", "quick_exit", OPENTCA_TIME_LIMIT="0.5")
        self.assert_ends(job, TIMED_OUT, r"in start-up \(World::init\) for rank 1; was it started, and does it call")
        self.assert_nothing_left()

    def test_never_calls_init(self):
        for who, pattern in (
            (1, r"waited 0\.\d s in start-up \(World::init\) for rank 1; was it started, and does it call World::init"),
            (0, r"waited 0\.\d s in start-up \(World::init\) for rank 0 to set up the world"),
        ):
            with self.subTest(who):
                ranks = self.ranks(
                    3, "before_init", "--who", str(who), "--how", "sleep", OPENTCA_TIME_LIMIT="0.5"
                )
                for rank in range(3):
                    if rank != who:
                        self.assert_ends(ranks[rank], TIMED_OUT, pattern)
                ranks[who].close()
                self.assert_nothing_left()

    def test_dies_during_start_up(self):
        # Rank 2 does not come, so rank 1 is killed while start-up is under way.
        for how in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(how):
                ranks = self.ranks(3, "before_init", "--who", "2", "--how", "sleep")
                time.sleep(0.3)
                ranks[1].popen.send_signal(how)
                killed = time.monotonic()
                self.assert_ends(ranks[0], RANK_LOST, r"rank 1 died .* while rank 0 was waiting for it in start-up")
                self.assertLess(time.monotonic() - killed, GONE_WITHIN)
                ranks[2].close()
                self.assert_nothing_left()

    def test_time_limits_that_are_none(self):
        for limit in ("0", "-1", "nan", "soon", " ", "1e300", "0.0001"):
            process = self.start([PROGRAM, "ring", "--steps", "1"], OPENTCA_TIME_LIMIT=limit)
            self.assert_ends(process, USAGE, "OPENTCA_TIME_LIMIT|time limit")


class Ending(WorldTest):
    """A rank that goes while the others count on it, each in its own way."""

    def check(self, how, code, pattern):
        ranks = self.ranks(3, "ring", "--who", "1", "--how", how, "--step", "5")
        for rank in (0, 2):
            self.assert_ends(ranks[rank], RANK_LOST, pattern, "in step 5 of chain 'ring'")
        self.assertEqual(ranks[1].end(), code)
        self.assert_nothing_left()

    def test_leaves_normally(self):
        self.check("leave", 0, "rank 1 left the world")

    def test_exits(self):
        self.check("exit", 3, "rank 1 died")

    def test_aborts(self):
        self.check("abort", -signal.SIGABRT, "rank 1 died")

    def test_throws(self):
        self.check("throw", 1, r"rank 1 failed \(it ended with an error\)")

    def test_throws_something_else(self):
        self.check("throw_number", 1, r"rank 1 failed \(it ended with an error\)")


class Threads(WorldTest):
    def check(self, how, code, last, told):
        process = self.start([PROGRAM, "threads", "--ranks", "4", "--who", "1", "--how", how, "--step", "5"])
        self.assert_ends(process, code, last)
        self.assertGreaterEqual(len(re.findall(told, process.text())), 3, process.text())

    def test_throws(self):
        self.check("throw", 1, "rank 0: this rank has its own reasons", r"failed \(this rank has its own reasons\)")

    def test_throws_something_else(self):
        self.check("throw_number", 1, "rank 0: something that is no", r"failed \(it threw something that is no")

    def test_leaves_normally(self):
        self.check("leave", RANK_LOST, "rank 1 left the world", "rank 1 left the world")


if __name__ == "__main__":
    unittest.main()
