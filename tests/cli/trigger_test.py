"""`tca trigger` as its users see it: what it answers and names, lines of JSON, what ends it, and refusals.

Standard library only. TCA names the command line under test."""

import json
import os
import signal
import socket
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, processes_with, wait_until

FAULTY, REFUSED, LOST = 1, 2, 5
SMALL = ("--events", "1200", "--rate", "4000")
LONG = ("--events", "1000000", "--rate", "1000")


class TriggerTest(CommandTest):
    def trigger(self, *arguments):
        return subprocess.run([TCA, "trigger", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.trigger(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: every event that came is answered once, and its rings are found\n")
        return done.stdout

    def records(self, path):
        with open(path) as file:
            return [json.loads(line) for line in file]

    def test_every_event_is_answered_and_what_was_dropped_is_named(self):
        out = self.path("out.jsonl")
        faults = ("--loss", "0.05", "--reorder", "0.1", "--duplicate", "0.1", "--seed", "3")
        for ranks in ("1", "3"):
            said = self.assert_right("--ranks", ranks, *SMALL, *faults, "--json", out)
            self.assertRegex(said, r"\nlost +0 datagrams\noverrun +0 datagrams\n")
        one, three = self.records(out)
        self.assertEqual((one["bench"], one["start"], one["right"], three["ranks"]), ("trigger", "host", True, 3))
        self.assertGreater(one["dropped"], 2)
        self.assertEqual(one["dropped"], len(one["dropped_sequences"]))
        self.assertEqual(one["dropped_sequences"], three["dropped_sequences"])
        for record in (one, three):
            self.assertEqual(record["answered"], 1200 - 8 * record["dropped"])
            self.assertEqual(record["datagrams"], 150 - record["dropped"])
            self.assertGreater(record["duplicates"], 2)
            self.assertGreater(record["reordered"], 2)
            self.assertEqual(sum(record["events_by_rings"]), record["answered"])
        self.assertEqual(one["right_by_rings"], three["right_by_rings"])

    def test_beside_a_plain_loop_with_percentiles_of_hdr_histogram(self):
        out, percentiles = self.path("out.jsonl"), self.path("latency.hgrm")
        said = self.assert_right(*SMALL, "--rings", "1", "--noise", "0", "--compare", "--json", out, "--histogram", percentiles)
        self.assertRegex(said, r"\nplain loop +host +[0-9.]+ ")
        own, plain = self.records(out)
        self.assertEqual((own["peer"], plain["peer"], own["answered"], plain["answered"]), (None, "plain loop", 1200, 1200))
        self.assertEqual(own["right_by_rings"], plain["right_by_rings"])
        with open(percentiles) as file:
            text = file.read()
        self.assertRegex(text, r"^ +Value +Percentile TotalCount 1/\(1-Percentile\)\n\n +[0-9.]+ 0\.000000000000 +[0-9]+ +1\.00\n")
        self.assertIn("Total count    =         1200]", text)
        self.assertFalse(os.path.exists(percentiles + ".unfinished"))

    def test_a_ring_that_overflows_names_what_it_had_no_room_for(self):
        # A datagram's 64 events take far longer to answer than the datagram takes to send.
        out = self.path("out.jsonl")
        done = self.trigger("--events", "64000", "--batch", "64", "--rate", "1e9", "--slots", "64", "--json", out)
        self.assertEqual(done.returncode, FAULTY, done.stdout + done.stderr)
        (record,) = self.records(out)
        self.assertFalse(record["right"])
        self.assertGreater(record["overrun"], 0)
        self.assertEqual(record["answered"], 64 * (1000 - record["overrun"] - record["lost"]))
        self.assertRegex(done.stdout, r"\noverrun +[0-9]+ datagrams: [0-9]")
        self.assertRegex(done.stdout, r"\nanswer +WRONG: (the ring was full when [0-9]+ datagrams came|[0-9]+ datagrams lost that nobody dropped on purpose): [0-9]")

    def test_a_deadline_that_is_missed(self):
        done = self.trigger(*SMALL, "--deadline", "0.5")
        self.assertEqual(done.returncode, FAULTY, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +WRONG: 150 datagrams answered later than 0\.5 us: 0-149\n")

    def detectors(self):
        """Process numbers of the detectors that this test has started."""
        found = []
        for pid in processes_with(self.marker):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    found += [pid] if b"--as-detector" in file.read().split(b"\0") else []
            except OSError:
                continue
        return found

    def started(self, *arguments):
        """A run that takes long, and its detector."""
        running = subprocess.Popen([TCA, "trigger", *LONG, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(running.kill)
        return running, wait_until(self.detectors)[0]

    def test_a_detector_that_dies(self):
        running, detector = self.started("--ranks", "2", "--threads")
        os.kill(detector, signal.SIGKILL)
        out, err = running.communicate(timeout=3 * PATIENCE)
        self.assertEqual((running.returncode, out), (LOST, ""), err)
        self.assertRegex(err, rf"^tca trigger: (rank [01]: )?the detector \(process {detector}\) was ended by signal 9 before it ")

    def test_ctrl_c_leaves_nothing_behind(self):
        percentiles = self.path("latency.hgrm")
        running, _ = self.started("--histogram", percentiles)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=3 * PATIENCE)
        self.assertNotEqual(running.returncode, 0)
        self.assertTrue(wait_until(lambda: not processes_with(self.marker)), "a process is left")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_port_in_use(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            done = self.trigger("--port", str(port))
        self.assertEqual((done.returncode, done.stdout), (REFUSED, ""))
        self.assertIn(f"UDP port {port} of 127.0.0.1 (--port gives another first one, and 0 any that are free): Address already in use", done.stderr)

    def test_refusals(self):
        for arguments, reason in (
            (("--rings", "4"), "--rings 4: give a number from 0 to 3, or two such as 0-3"),
            (("--rings", "2-1"), "--rings 2-1: the first number is the larger"),
            (("--rings", "x"), "--rings x: give a number"),
            (("--events", "0"), "--events"),
            (("--rate", "0"), "--rate"),
            (("--batch", "65"), "--batch"),
            (("--loss", "1.5"), "--loss"),
            (("--events", "8", "--ranks", "2"), "1 datagrams of 8 events are fewer than the 2 ranks"),
            (("--gather", "20000", "--slots", "64"), "a ring of 64 slots has room for 512 events"),
            (("--port", "65535", "--ranks", "2"), "--port 65535: each of 2 ranks has one"),
            (("--start", "kernel"), "--start kernel needs --fabric cuda"),
            (("--fabric", "sim"), "--fabric sim: datagrams are answered on hosts (shm) and on GPUs (cuda)"),
            (("--histogram", "/nowhere/x"), "/nowhere"),
        ):
            with self.subTest(arguments=arguments):
                done = self.trigger(*arguments)
                self.assertEqual(done.returncode, REFUSED, done.stdout + done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
