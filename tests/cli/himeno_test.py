"""`tca himeno` on shared memory as its users see it: what it prints, a bar on terminals alone, lines of JSON, traces, refusals.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there."""

import json
import os
import pty
import re
import signal
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, cpu_seconds, processes_with, wait_until

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
REFUSED, TIMED_OUT, OUT_OF_MEMORY = 2, 4, 6
SHORT = ("--size", "XS", "--iterations", "20")


class HimenoTest(CommandTest):
    def himeno(self, *arguments):
        return subprocess.run(
            [TCA, "himeno", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment
        )

    def assert_done(self, *arguments):
        done = self.himeno(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        return done.stdout

    def test_every_way_to_start_it(self):
        for start in (("--ranks", "1"), ("--ranks", "2"), ("--ranks", "3", "--threads"), ("--ranks", "4", "--grid", "1,2,2"),
                      ("--ranks", "2", "--no-overlap"), ("--ranks", "2", "--unguarded")):  # fmt: skip
            with self.subTest(start=start):
                said = self.assert_done(*start, *SHORT)
                self.assertIn("right: every cell is the serial program's to the bit", said)
                self.assertRegex(said, r"OpenTCA +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+\n")

    def test_a_line_for_each_message(self):
        said = self.assert_done("--ranks", "2", "--fabric", "sim", "--machine", "peach3", *SHORT, "--explain", "--channel", "SUM=sim/mpi")
        self.assertIn("right: every cell is the serial program's to the bit", said)
        self.assertRegex(said, r"(?m)^HALO +[0-9]+ +1  sim/tca +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  sim/mpi [0-9.]+ +[0-9]+ %$")
        self.assertRegex(said, r"(?m)^SUM +8 +1  sim/mpi +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ %$")
        done = self.himeno("--channel", "OUT=shm/staged")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "^tca himeno: .*there is no message OUT here; there are HALO, SUM")

    def test_any_extents(self):
        said = self.assert_done("--ranks", "2", "--size", "20x24x40", "--iterations", "20")
        self.assertIn("Himeno: 20x24x40 cells", said)
        self.assertIn("every cell is the serial program's to the bit", said)

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi(self):
        for ranks in ("1", "2"):
            with self.subTest(ranks=ranks):
                said = self.assert_done("--ranks", ranks, *SHORT, "--compare")
                self.assertRegex(said, r"\nMPI +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+\n")
                spread = r"\([0-9.]+ to [0-9.]+\)"
                words = rf"below the noise|the same within the spread {spread}|MPI takes [0-9.]+ times as long( {spread}|, in too few turns to tell)"
                verdict = rf"[-+0-9.e]+ us, MPI [-+0-9.e]+: ({words})\n"
                self.assertRegex(said, r"\niterating +" + verdict)
                for line in ("communicating", "8 bytes", "the halo alone"):
                    (self.assertRegex if ranks == "2" else self.assertNotRegex)(said, rf"\n{line} +{verdict}")

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_json_says_what_the_table_says(self):
        said = self.assert_done("--ranks", "2", *SHORT, "--compare", "--json", self.path("out.jsonl"))
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        rows = re.findall(r"(?m)^(?:OpenTCA|MPI) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9]+)$", said)
        self.assertEqual(len(rows), 2)
        for line, (iteration, computing, communicating, mflops) in zip(lines, rows):
            self.assertAlmostEqual(line["median_us"] / float(iteration), 1, delta=0.01)
            self.assertAlmostEqual(line["compute_us"] / float(computing), 1, delta=0.01)
            self.assertAlmostEqual(line["communication_us"], float(communicating), delta=0.01 + 1e-3 * line["communication_us"])
            self.assertAlmostEqual(line["mflops"] / float(mflops), 1, delta=0.01)
            self.assertIsNone(line["gbps"])
        self.assertEqual({"ratio", "communication_ratio"} & lines[0].keys(), set())
        self.assertLessEqual(lines[1]["ratio_low"], lines[1]["ratio_high"])
        self.assertIn("communication_ratio_low", lines[1])

    def test_more_ranks_than_processors(self):
        ranks = str(os.cpu_count() + 1)
        said = self.assert_done("--ranks", ranks, *SHORT)
        self.assertRegex(said, rf"{ranks} ranks share [0-9]+ processors? and mostly wait for their turn")

    # MPI_Finalize would wait for the one that has stopped.
    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi_a_rank_that_stops(self):
        command = [TCA, "himeno", "--ranks", "2", "--size", "XS", "--iterations", "100000000", "--no-check", "--compare"]
        environment = {**self.environment, "OPENTCA_TIME_LIMIT": "2"}
        with open(self.path("said"), "w+") as said:
            with subprocess.Popen(command, stdout=said, stderr=said, env=environment) as process:
                # OpenTCA has the first turn, of minutes, and the rehearsals in front of it take none.
                rank = wait_until(lambda: [pid for pid in self.rank_1() if cpu_seconds(pid) > 2])
                for pid in rank:
                    os.kill(pid, signal.SIGSTOP)
                code = process.wait(PATIENCE)
            said.seek(0)
            text = said.read()
        self.assertEqual(code, TIMED_OUT, text)
        self.assertRegex(text, "rank 0 waited .* for rank 1")

    def rank_1(self):
        named = processes_with("OMPI_COMM_WORLD_RANK=1") + processes_with("PMI_RANK=1")
        return set(named) & set(processes_with(self.marker))

    def test_nothing_to_compare_with_is_said_once(self):
        compare = ("--ranks", "2", *SHORT, "--compare")
        self.environment["PATH"] = "/nonexistent"  # of mpirun
        done = self.himeno(*compare)
        said = "tca himeno: (mpirun is not there .*|built without MPI), so there is nothing to compare with\n"
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, f"^{said}$")
        if "built without" in done.stderr:
            done = self.as_ranks(*compare)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, f"^{said}$")

    def test_lines_of_json(self):
        for _ in range(2):
            self.assert_done("--ranks", "2", *SHORT, "--json", self.path("out.jsonl"))
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), 2)
        for line in lines:
            has = {key: line[key] for key in ("bench", "fabric", "start", "peer", "ranks", "size", "iterations", "agrees")}
            self.assertEqual(has, {"bench": "himeno", "fabric": "shm", "start": "host", "peer": None, "ranks": 2, "size": "XS",
                                   "iterations": 20, "agrees": True})  # fmt: skip
            self.assertGreater(line["seconds"], 0)
            self.assertAlmostEqual(line["mflops"] * line["median_us"] / (34 * 30 * 30 * 62), 1, delta=0.02)

    def test_a_trace(self):
        self.assert_done("--ranks", "2", *SHORT, "--trace", self.path("trace.json"))
        with open(self.path("trace.json")) as file:
            events = json.load(file)["traceEvents"]
        for rank in (0, 1):
            spans = {event["name"] for event in events if event["ph"] == "X" and event["pid"] == rank}
            self.assertLessEqual({"start pressure 0", "wait pressure 0", "core"}, spans)

    def test_a_bar_on_a_terminal_alone(self):
        self.environment["TERM"] = "xterm"
        command = [TCA, "himeno", "--ranks", "2", "--size", "XS", "--seconds", "0.3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)
        self.assertNotIn("[#", done.stdout + done.stderr)
        own, terminal = pty.openpty()
        with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=self.environment) as process:
            os.close(terminal)
            said = b""
            while True:
                try:
                    said += os.read(own, 65536)
                except OSError:  # the other end is closed
                    break
            os.close(own)
            self.assertEqual(process.wait(3 * PATIENCE), 0)
        self.assertRegex(said.decode(), r"\riterating \[#+\.*\] +[0-9]+ %")

    def test_refusals(self):
        for reason, arguments in (
            ("--grid 2x2: give three numbers of ranks", ("--ranks", "4", "--grid", "2x2")),
            ("--grid 2x2x2 holds 8 ranks, not 4", ("--ranks", "4", "--grid", "2x2x2")),
            ("--ranks: 0 is no whole number from 1 to 1048576", ("--ranks", "0")),
            ("/proc/nowhere/out: cannot be written: No such file", ("--json", "/proc/nowhere/out")),
            ("--bind is for ranks that are processes, not for --threads", ("--threads", "--bind", "core")),
            ("--bind is for ranks that are processes, not for --fabric sim", ("--fabric", "sim", "--bind", "none")),
            ('there is no size "XXL"', ("--size", "XXL")),
            ("--size 64x64: give three extents", ("--size", "64x64")),
            ("--size 20000000x4x4: each number must be from 1 to 16777216", ("--size", "20000000x4x4")),
            ("--grid 0x1x1: each number must be from 1 to 16777216", ("--grid", "0x1x1")),
            ("--size 64x2x64: at least 3 cells along each", ("--size", "64x2x64")),
            ("--start graph needs --fabric cuda", ("--start", "graph")),
            ("--machine peach3 is for --fabric sim; shm is not modelled", ("--machine", "peach3")),
            ("--seconds: nan is no number from 0.001 to 1000000", ("--seconds", "nan")),
            ("--iterations: 1e3 is no whole number from 1 to ", ("--iterations", "1e3")),
            ("--trace and --json name the same file", ("--trace", "/dev/shm/../shm/same", "--json", "/dev/shm/same")),
        ):
            with self.subTest(arguments=arguments):
                done = self.himeno(*arguments)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), done.stderr)
                self.assertRegex(done.stderr, f"^tca himeno: .*{reason}")

    def as_ranks(self, *arguments):
        return subprocess.run(
            [TCA, "run", "-n", "2", "--", TCA, "himeno", *arguments],
            capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment,
        )  # fmt: skip

    def test_refusals_where_ranks_have_been_started_already(self):
        for reason, arguments in (
            ("--ranks 4: 2 ranks have been started already; leave --ranks out", ("--ranks", "4")),
            ("--threads: the ranks have been started already, as processes", ("--threads",)),
            ("--start kernel needs --fabric cuda", ("--start", "kernel")),
            ("--compare needs at least 2 iterations", ("--compare", "--iterations", "1")),
            ("cannot be written", ("--json", "/proc/nowhere/out")),
            ("--grid 2x2x1 holds 4 ranks, not 2", ("--grid", "2x2x1")),
        ):
            with self.subTest(arguments=arguments):
                done = self.as_ranks(*arguments)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), done.stderr)
                self.assertRegex(done.stderr, f"(?m)^tca himeno: rank 0: .*{reason}")
                self.assertEqual(done.stderr.count("tca himeno"), 1, done.stderr)

    def test_ranks_that_have_been_started_already(self):
        done = self.as_ranks("--ranks", "2", *SHORT)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("every cell is the serial program's to the bit", done.stdout)

    def test_sizes_that_do_not_fit(self):
        huge = ("--ranks", "2", "--size", "16777216x16777216x16")
        hosts = [("shm", "this machine has")]
        if MPI:
            hosts.append(("shm+mpi", "2 machines like this one have"))
        for fabric, whose in hosts:
            with self.subTest(fabric=fabric):
                done = self.himeno(*huge, "--fabric", fabric)
                self.assertEqual((done.returncode, done.stdout), (OUT_OF_MEMORY, ""), done.stderr)
                self.assertRegex(done.stderr, f"^tca himeno: size 16777216x16777216x16 needs [0-9.]+ GiB, {whose} [0-9.]+; ")

    def test_help_says_what_is_taken_on_sim(self):
        said = " ".join(self.assert_done("--help").split())
        self.assertIn("3 when not given, on sim 10", said)
        self.assertIn("200 iterations, on sim 10, unless --iterations is given", said)
        self.assertIn("the GPUs' memory and where the ranks are", said)


if __name__ == "__main__":
    unittest.main()
