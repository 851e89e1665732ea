"""`tca cg` as its users see it: what it prints and verifies, a bar on terminals alone, lines of JSON, refusals, Ctrl-C.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there."""

import json
import os
import re
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
REFUSED, OUT_OF_MEMORY = 2, 6
ONCE = ("--class", "S", "--runs", "1")


class CgTest(CommandTest):
    def cg(self, *arguments):
        return subprocess.run([TCA, "cg", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.cg(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: zeta is the published one up to [0-9.e-]+ of it \(1e-10 is allowed\)\n")
        return done.stdout

    def test_every_way_to_start_it(self):
        for start, sent in (
            (("--ranks", "1"), ""),
            (("--ranks", "3"), "GATHER DOT"),
            (("--ranks", "2", "--threads", "--order", "merged"), "GATHER DOT"),
            (("--ranks", "2", "--fabric", "sim", "--grid", "1x2"), "SPMV EXCH DOT"),
        ):
            with self.subTest(start=start):
                said = self.assert_right(*start, *ONCE)
                self.assertRegex(said, r"\nOpenTCA +[0-9.]+ +[0-9.]+ +[0-9]+\n")
                self.assertEqual(re.findall(r"(?m)^(GATHER|SPMV|EXCH|DOT) .* %$", said), sent.split())

    @unittest.skipUnless(os.environ.get("TCA_HAS_MPI"), "built without MPI")
    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_over_mpi(self):
        for fabric in (("--fabric", "mpi"), ("--fabric", "shm+mpi", "--sub-cluster", "1")):
            with self.subTest(fabric=fabric):
                self.assert_right("--ranks", "2", "--grid", "1x2", *fabric, *ONCE)

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi(self):
        for grid in ("2x1", "1x2"):
            with self.subTest(grid=grid):
                said = self.assert_right("--ranks", "2", "--grid", grid, *ONCE, "--compare", "--json", self.path("out.jsonl"))
                self.assertRegex(said, r"\nby MPI +right: ")
                self.assertRegex(said, r"\niterating +[0-9.]+ us, MPI [0-9.]+: ")
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["peer"] for line in lines], [None, "mpi", None, "mpi"])
        self.assertIn("ratio_low", lines[1])

    def test_lines_of_json(self):
        said = self.assert_right("--ranks", "4", "--grid", "2x2", *ONCE, "--json", self.path("out.jsonl"))
        with open(self.path("out.jsonl")) as file:
            line = json.loads(file.read())
        has = {key: line[key] for key in ("bench", "fabric", "start", "peer", "ranks", "n", "class", "order", "nonzeros", "verified", "layout", "runs")}
        self.assertEqual(has, {"bench": "npb_cg", "fabric": "shm", "start": "host", "peer": None, "ranks": 4, "n": 1400, "class": "S",
                               "order": "npb", "nonzeros": 78148, "verified": True, "layout": "grid 2x2", "runs": 1})  # fmt: skip
        self.assertAlmostEqual(line["zeta"], 8.5971775078648, delta=1e-9)
        self.assertLess(line["zeta_error"], 1e-10)
        iteration, seconds, mops = re.search(r"\nOpenTCA +([0-9.]+) +([0-9.]+) +([0-9]+)\n", said).groups()
        self.assertAlmostEqual(line["median_us"] / float(iteration), 1, delta=0.01)
        self.assertAlmostEqual(line["mops"], float(mops), delta=1)
        operations = 2e-6 * 15 * 1400 * (3 + 56 + 25 * (5 + 56) + 3)
        self.assertAlmostEqual(line["mops"] * line["seconds"] / operations, 1, delta=0.05)  # two medians
        self.assertEqual([message["name"] for message in line["messages"]], ["SPMV", "EXCH", "DOT"])
        self.assertEqual([message["bytes"] for message in line["messages"]], [5600, 5600, 8])
        self.assertEqual(line["bytes"], 4 * 2 * 5600)
        for message in line["messages"]:
            self.assertLessEqual(0, message["waiting_us"])
            self.assertLessEqual(message["waiting_us"], message["median_us"] * 1.001)

    def test_a_line_for_each_message(self):
        said = self.assert_right("--ranks", "2", "--fabric", "sim", "--machine", "peach3", "--grid", "1x2", *ONCE, "--explain",
                                 "--channel", "DOT=sim/mpi", "--json", self.path("out.jsonl"))  # fmt: skip
        self.assertRegex(said, r"(?m)^SPMV +5600 +1  sim/tca +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  sim/mpi [0-9.]+ +[0-9]+ %$")
        self.assertRegex(said, r"(?m)^DOT +8 +2  sim/mpi +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ %$")
        shares = [int(share) for share in re.findall(r"(?m)^(?:SPMV|EXCH|DOT|the rest) .* ([0-9]+) %$", said)]
        self.assertEqual(len(shares), 4)
        self.assertAlmostEqual(sum(shares), 100, delta=2)
        self.assertIn("\nchain 'EXCH' on rank 0 of 2", said)
        with open(self.path("out.jsonl")) as file:
            messages = {message["name"]: message for message in json.loads(file.read())["messages"]}
        self.assertEqual((messages["SPMV"]["channel"], messages["DOT"]["channel"]), ("sim/tca", "sim/mpi"))
        # Nobody comes late to a product's message on a machine without noise.
        self.assertAlmostEqual(messages["SPMV"]["median_us"] / messages["SPMV"]["predicted_us"], 1, delta=0.25)

    def test_every_combination_of_channels(self):
        said = self.assert_right("--ranks", "2", "--fabric", "sim", "--machine", "peach3", *ONCE, "--sweep-channels", "--json", self.path("out.jsonl"))
        rows = re.findall(r"(?m)^(sim/\w+) +(sim/\w+) +[0-9.]+ +[0-9.]+ +([0-9.]+)(  as the library chooses)?$", said)
        self.assertEqual(len({row[:2] for row in rows}), 4)
        self.assertEqual([row[:2] for row in rows if row[3]], [("sim/tca", "sim/tca")])
        self.assertEqual(rows[0][2:], ("1.00", "  as the library chooses"))
        self.assertIn("us, as fast as the fastest of them.", said)
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["chosen"] for line in lines if line["channels"] == {"GATHER": "sim/tca", "DOT": "sim/tca"}], [True])
        self.assertEqual(sum(line["chosen"] for line in lines), 1)
        slow = [line["median_us"] for line in lines if line["channels"]["GATHER"] == "sim/mpi"]
        self.assertGreater(min(slow), min(line["median_us"] for line in lines))

    def test_interrupted_while_it_generates(self):
        for ranks in (("--ranks", "2"), ("--ranks", "2", "--threads")):
            with self.subTest(ranks=ranks):
                self.assert_interrupted_while("generating the matrix", "cg", "--class", "C", *ranks)

    def test_refusals(self):
        for reason, arguments in (
            ('there is no class "E"; choose one of S, W, A, B, C and D', ("--class", "E")),
            ("--grid 2x2x1: give two numbers of ranks, such as 2x2, or auto", ("--ranks", "4", "--grid", "2x2x1")),
            ("--grid 2x2 holds 4 ranks, not 3", ("--ranks", "3", "--grid", "2x2")),
            ("grid 3x3: blocks take a power of two of rows, .* 9x1 divides by rows", ("--ranks", "9", "--grid", "3x3")),
            ("grid 1500x1: class S has 1400 rows, too few for 1500 ranks", ("--ranks", "1500")),
            ("--order: `fast`: choose npb or merged", ("--order", "fast")),
            ("--runs: 0 is no whole number from 1 to 1000000", ("--runs", "0")),
            ("--compare: there is no MPI on a modelled machine", ("--fabric", "sim", "--compare")),
            ("--channel OUT=shm/staged: there is no message OUT here; there are GATHER, DOT", ("--channel", "OUT=shm/staged")),
            ("--channel SPMV: give a message and its channel, such as SPMV=CHANNEL", ("--ranks", "2", "--grid", "1x2", "--channel", "SPMV")),
            ("--sweep-channels: a lone rank sends nothing", ("--ranks", "1", "--sweep-channels")),
            ("--plot draws what --sweep-channels finds", ("--plot", "out.svg")),
            ("/proc/nowhere/out: cannot be written: No such file", ("--json", "/proc/nowhere/out")),
        ):
            with self.subTest(arguments=arguments):
                done = self.cg(*arguments)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), done.stderr)
                self.assertRegex(done.stderr, f"^tca cg: .*{reason}")
        for ranks in (("--threads",), ("--fabric", "sim")):
            done = self.cg("--ranks", "2", *ranks, *ONCE, "--channel", "DOT=sim/pigeon")
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, "sim/pigeon.* is none of the channels that reach rank [01], which are ")

    def test_classes_that_do_not_fit(self):
        done = self.cg("--class", "D", "--ranks", "4096")
        self.assertEqual((done.returncode, done.stdout), (OUT_OF_MEMORY, ""), done.stderr)
        self.assertRegex(done.stderr, "^tca cg: class D on 4096 ranks needs [0-9.]+ GiB, this machine has [0-9.]+; choose a smaller one")


if __name__ == "__main__":
    unittest.main()
