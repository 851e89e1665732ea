"""`tca bfs` as its users see it: what it prints and validates, a bar on terminals alone, lines of JSON, refusals, Ctrl-C.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there."""

import json
import os
import re
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
REFUSED, OUT_OF_MEMORY = 2, 6
SMALL = ("--scale", "9", "--roots", "4", "--validate")


class BfsTest(CommandTest):
    def bfs(self, *arguments):
        return subprocess.run([TCA, "bfs", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.bfs(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: every search follows the five rules, by the list of edges\n")
        return done.stdout

    def test_every_way_to_start_it(self):
        for start, sent in (
            (("--ranks", "1"), ""),
            (("--ranks", "3"), "OUT"),
            (("--ranks", "2", "--threads", "--messages", "paper"), "OUT FLAG TREE"),
            (("--ranks", "2", "--fabric", "sim", "--messages", "paper"), "OUT FLAG TREE"),
        ):
            with self.subTest(start=start):
                said = self.assert_right(*start, *SMALL)
                self.assertRegex(said, r"^BFS of scale 9: 512 vertices, 8192 edges, ")
                self.assertRegex(said, r"\nsearches +4, of [1-9]( to [1-9])? levels\n")
                self.assertRegex(said, r"\nOpenTCA +([0-9.]+ +){4}[0-9.]+\n")
                self.assertEqual(re.findall(r"(?m)^(OUT|FLAG|TREE) .* %$", said), sent.split())

    @unittest.skipUnless(os.environ.get("TCA_HAS_MPI"), "built without MPI")
    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_over_mpi(self):
        for fabric in (("--fabric", "mpi"), ("--fabric", "shm+mpi", "--sub-cluster", "1")):
            with self.subTest(fabric=fabric):
                self.assert_right("--ranks", "2", *fabric, *SMALL)

    @unittest.skipUnless(MPI, "no mpirun, or built without MPI")
    def test_beside_mpi(self):
        for messages in ("packed", "paper"):
            with self.subTest(messages=messages):
                said = self.assert_right("--ranks", "2", "--messages", messages, *SMALL, "--compare", "--json", self.path("out.jsonl"))
                self.assertRegex(said, r"\nby MPI +right: ")
                self.assertRegex(said, r"\nsearching +[0-9.]+ us, MPI [0-9.]+: ")
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["peer"] for line in lines], [None, "mpi", None, "mpi"])
        self.assertIn("ratio_low", lines[1])

    def test_says_that_nothing_was_validated(self):
        done = self.bfs("--ranks", "2", "--scale", "8", "--roots", "2", "--json", self.path("out.jsonl"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +not validated; --validate checks every search")
        with open(self.path("out.jsonl")) as file:
            self.assertIsNone(json.loads(file.read())["validated"])

    def test_lines_of_json(self):
        said = self.assert_right("--ranks", "4", "--messages", "paper", *SMALL, "--json", self.path("out.jsonl"))
        with open(self.path("out.jsonl")) as file:
            line = json.loads(file.read())
        has = {key: line[key] for key in ("bench", "fabric", "start", "peer", "ranks", "n", "scale", "validated", "layout", "searches", "edge_factor")}
        self.assertEqual(has, {"bench": "graph500_bfs", "fabric": "shm", "start": "host", "peer": None, "ranks": 4, "n": 512, "scale": 9,
                               "validated": True, "layout": "paper", "searches": 4, "edge_factor": 16})  # fmt: skip
        search, gteps, *quartiles = re.search(r"\nOpenTCA +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)\n", said).groups()
        self.assertAlmostEqual(line["median_us"], float(search), delta=0.06 + 5e-4 * float(search))  # four digits are kept
        self.assertAlmostEqual(line["teps_harmonic_mean"], 1e9 * float(gteps), delta=1e5)
        for name, value in zip(("first_quartile", "median", "third_quartile"), quartiles):
            self.assertAlmostEqual(line[f"teps_{name}"], 1e9 * float(value), delta=1e5)
        self.assertEqual([message["name"] for message in line["messages"]], ["OUT", "FLAG", "TREE"])
        self.assertEqual([message["bytes"] for message in line["messages"]], [4 * 128, 4, 8 * 128])
        out = line["messages"][0]
        self.assertAlmostEqual(line["bytes"], out["count"] * 12 * (4 * 128 + 4) + 3 * 8 * 128, delta=0.001 * line["bytes"])
        for message in line["messages"]:
            self.assertLessEqual(0, message["waiting_us"])
            self.assertLessEqual(message["waiting_us"], message["median_us"] * 1.001)

    def test_a_line_for_each_message(self):
        said = self.assert_right("--ranks", "2", "--fabric", "sim", "--machine", "peach3", "--messages", "paper", *SMALL, "--explain",
                                 "--channel", "FLAG=sim/mpi,TREE=sim/mpi")  # fmt: skip
        self.assertRegex(said, r"(?m)^OUT +1024 +[0-9.]+  sim/tca +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  sim/mpi [0-9.]+ +[0-9]+ %$")
        self.assertEqual(re.findall(r"(?m)^(FLAG|TREE) +[0-9]+ +[0-9.]+  sim/mpi ", said), ["FLAG", "TREE"])

    def test_every_combination_of_channels(self):
        options = ("--ranks", "2", "--fabric", "sim", "--machine", "peach3", "--messages", "paper", *SMALL, "--sweep-channels")
        said = self.assert_right(*options, "--json", self.path("out.jsonl"))
        rows = re.findall(r"(?m)^(sim/\w+) +(sim/\w+) +(sim/\w+) +[0-9.]+ +[0-9.]+ +([0-9.]+)(  as the library chooses)?$", said)
        self.assertEqual(len({row[:3] for row in rows}), 8)
        self.assertEqual([row[:3] for row in rows if row[4]], [("sim/tca",) * 3])
        with open(self.path("out.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), 8)
        self.assertEqual(sum(line["chosen"] for line in lines), 1)
        said = self.assert_right(*options, "--channel", "OUT=sim/tca")
        self.assertEqual(len(re.findall(r"(?m)^sim/tca +sim/\w+ +sim/\w+ +[0-9.]+ +[0-9.]+ +[0-9.]+", said)), 4)

    def test_combinations_of_channels_on_a_host(self):
        said = self.assert_right("--ranks", "2", "--threads", *SMALL, "--sweep-channels")
        self.assertGreater(len(re.findall(r"(?m)^shm/\w+ +[0-9.]+ +[0-9.]+ +[0-9.]+", said)), 1)
        self.assertEqual(said.count("  as the library chooses\n"), 1)

    def test_same_searches_on_every_number_of_ranks(self):
        levels = set()
        for ranks in ("1", "2", "4"):
            said = self.assert_right("--ranks", ranks, "--threads", *SMALL)
            levels.add(re.search(r"\nsearches .*", said).group() + re.search(r"\ngraph +([0-9]+ vertices have neighbours)", said).group(1))
        self.assertEqual(len(levels), 1, levels)

    def test_interrupted_while_it_generates(self):
        for ranks in (("--ranks", "2"), ("--ranks", "2", "--threads")):
            with self.subTest(ranks=ranks):
                self.assert_interrupted_while("generating edges", "bfs", "--scale", "22", *ranks)

    def test_refusals(self):
        for reason, arguments in (
            ("--scale: 5 is no whole number from 6 to 31", ("--scale", "5")),
            ("--scale: 32 is no whole number from 6 to 31", ("--scale", "32")),
            ("scale 8 has 256 vertices, too few for 5 ranks, .* or at most 4 ranks", ("--ranks", "5", "--scale", "8")),
            ("--messages: `fast`: choose packed or paper", ("--messages", "fast")),
            ("--roots: 0 is no whole number from 1 to 1000000", ("--roots", "0")),
            ("--compare: there is no MPI on a modelled machine", ("--fabric", "sim", "--compare")),
            ("--channel TREE=shm/staged: there is no message TREE here; there is OUT", ("--channel", "TREE=shm/staged")),
            ("--sweep-channels: a lone rank sends nothing", ("--ranks", "1", "--sweep-channels")),
            ("--start kernel needs --fabric cuda", ("--start", "kernel")),
            ("--start resident needs --fabric cuda", ("--start", "resident")),
            ("/proc/nowhere/out: cannot be written: No such file", ("--json", "/proc/nowhere/out")),
        ):
            with self.subTest(arguments=arguments):
                done = self.bfs(*arguments)
                self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), done.stderr)
                self.assertRegex(done.stderr, f"^tca bfs: .*{reason}")

    def test_scales_that_do_not_fit(self):
        done = self.bfs("--scale", "31", "--ranks", "2")
        self.assertEqual((done.returncode, done.stdout), (OUT_OF_MEMORY, ""), done.stderr)
        self.assertRegex(done.stderr, "^tca bfs: scale 31 on 2 ranks needs [0-9.]+ GiB, this machine has [0-9.]+; choose a smaller one")


if __name__ == "__main__":
    unittest.main()
