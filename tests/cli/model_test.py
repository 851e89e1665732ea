"""`tca model` as its users see it: the table, files, sweeps in processes of their own, refusals, Ctrl-C.

Standard library only. TCA names the command line under test."""

import json
import os
import signal
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, wait_until


def children_of(process):
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


class ModelTest(CommandTest):
    def run_tca(self, *arguments):
        return subprocess.run(
            [TCA, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment
        )

    def model(self, *arguments):
        return self.run_tca("model", *arguments)

    def lines(self):
        with open(self.path("out.jsonl")) as file:
            return [json.loads(line) for line in file]

    def assert_refused(self, reason, *arguments, code=2):
        done = self.model(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, reason)
        self.assertTrue(done.stderr.startswith("tca model: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_run_with_all_its_files(self):
        files = ("--trace", self.path("trace.json"), "--links", self.path("links.svg"), "--json", self.path("out.jsonl"))
        done = self.model("himeno", "--ranks", "4", "--size", "XS", *files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("waiting for puts", done.stdout)
        with open(self.path("trace.json")) as file:
            self.assertIn({"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}, [set(e) for e in json.load(file)["traceEvents"]])
        with open(self.path("links.svg")) as file:
            self.assertTrue(file.read().startswith("<?xml"))
        (line,) = self.lines()
        self.assertEqual((line["fabric"], line["protocol"], line["ranks"]), ("model", "direct", 4))
        self.assertEqual(line["hardware"], "model of HA-PACS/TCA")
        self.assertGreater(line["median_us"], 0)

    def test_a_sweep_has_every_combination(self):
        done = self.model(
            "pingpong", "--sweep", "bytes=8:32", "--sweep", "links/cable/latency=0.1,0.2", "--json", self.path("out.jsonl")
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        points = [line["point"] for line in self.lines()]
        self.assertEqual(points[:2], ["bytes=8 links/cable/latency=0.1", "bytes=8 links/cable/latency=0.2"])
        self.assertEqual(len(points), 6)
        self.assertEqual(done.stdout.count("\n"), 7)

    # 0 and 1 share a socket with PEACH2, 2 does not.
    def test_a_sweep_over_gpus(self):
        done = self.model("pingpong", "--bytes", "4096", "--sweep", "gpu=0,1,2", "--json", self.path("out.jsonl"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        near, beside, far = [line["mean_us"] for line in self.lines()]
        self.assertEqual(near, beside)
        self.assertGreater(far, near)
        self.assert_refused("--sweep gpu=-1: the value is no whole number from 0 on", "pingpong", "--sweep", "gpu=-1")

    def test_a_sweep_over_algorithms(self):
        done = self.model("bcast", "-n", "6", "--sweep", "algorithm=ring,binomial", "--json", self.path("out.jsonl"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line["algorithm"] for line in self.lines()], ["ring", "binomial"])
        self.assertIn("algorithm binomial", self.model("bcast", "-n", "6", "--algorithm", "binomial").stdout)
        self.assert_refused("--algorithm bruck: for 6 ranks there are ", "bcast", "-n", "6", "--algorithm", "bruck")

    def test_a_sweep_up_to_the_largest_number_ends(self):
        done = self.model("pingpong", "--sweep", "ranks=4611686018427387904:9223372036854775807")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_point_that_fails_is_named_and_the_others_are_there(self):
        done = self.model("halo", "--extent", "8", "--sweep", "ranks=4,99")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^tca model: ranks=99: 99 ranks on ha-pacs-tca: .*\n$")
        self.assertIn("ranks=4 ", done.stdout)

    def test_refusals(self):
        self.assert_refused("there is no machine `nowhere`; there are ", "himeno", "--machine", "nowhere")
        self.assert_refused("dgx-h200 has no scheme `mpi`; it has direct", "halo", "--machine", "dgx-h200", "--scheme", "mpi")
        self.assert_refused("there is no size \"7x9x\"; choose one of XS .*, or give three extents such as", "himeno", "--size", "7x9x")
        self.assert_refused("no number `links/bar`; the nearest are links/.*, links/.*, links/", "himeno", "--set", "links/bar=3")
        self.assert_refused("did you mean `links/cable/latency`", "himeno", "--set", "links/cable/latenci=3")
        for number in ("nan", "inf", "-inf"):
            self.assert_refused("the value is no number", "halo", "--set", f"links/cable/latency={number}")
        self.assert_refused("--sweep colour: there are bytes, ranks", "halo", "--sweep", "colour=1,2")
        self.assert_refused("--sweep bytes=: write NAME=VALUE", "halo", "--sweep", "bytes=")
        self.assert_refused("--trace and --links are of one run", "halo", "--sweep", "ranks=2", "--trace", self.path("t"))
        self.assert_refused("/nowhere/t: cannot be written", "halo", "--trace", "/nowhere/t")
        self.assert_refused(r"--links .*/x\.png: it is drawn as SVG", "halo", "--links", self.path("x.png"))
        self.assertFalse(os.path.exists(self.path("x.png")))
        self.assert_refused("--jobs is for --sweep", "halo", "--jobs", "2")
        self.assert_refused("--sweep ranks is given twice", "halo", "--sweep", "ranks=2", "--sweep", "ranks=4")
        self.assert_refused("timelines and pictures are of 1024", "halo", "--machine", "torus-32k", "--trace", self.path("t"))

    def test_a_library_of_mpi_is_for_schemes_that_take_one(self):
        library = ("--mpi", "mvapich2-gdr-2.2")
        self.assert_refused("--mpi mvapich2-gdr-2.2: the scheme direct takes no MPI", "pingpong", *library)
        done = self.model("pingpong", *library, "--sweep", "scheme=direct,mpi", "--bytes", "8")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    # Whose processors add up the residual by MPI, whatever carries the faces.
    def test_a_library_of_mpi_is_for_himeno_by_any_scheme(self):
        for library in ("mvapich2", "mvapich2-gdr-2.2"):
            arguments = ("himeno", "--size", "XS", "-n", "4", "--mpi", library, "--json", self.path("out.jsonl"))
            for how in (("--scheme", "direct"), ("--sweep", "scheme=direct,mpi")):
                done = self.model(*arguments, *how)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        times = [line["mean_us"] for line in self.lines()]
        self.assertEqual((times[0], times[3]), (times[1], times[4]))
        self.assertNotEqual(times[2], times[5])
        self.assert_refused("dgx-h200 has no MPI library", "himeno", "--machine", "dgx-h200", "--mpi", "mvapich2")

    def test_refuses_what_the_program_has_not(self):
        for program, option, value in (
            ("pingpong", "extent", "3"),
            ("pingpong", "grid", "2x1x1"),
            ("himeno", "bytes", "8"),
            ("bcast", "size", "S"),
            ("bcast", "grid", "2x1x1"),
            ("bcast", "layout", "stride"),
            ("allreduce", "iterations", "7"),
            ("halo", "algorithm", "ring"),
        ):
            self.assert_refused(f"--{option} is for .*, not for {program}", program, f"--{option}", value)
            self.assert_refused(f"--sweep {option} is for .*, not for {program}", program, "--sweep", f"{option}={value}")

    def test_none_is_not_as_many_as_there_are(self):
        for option in ("--ranks", "--element"):
            done = self.model("himeno", option, "0")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{option}: 0 is no whole number from 1 to ", done.stderr)

    def test_one_file_for_two_things(self):
        same = self.path("same")
        self.assert_refused("--trace and --json name the same file", "halo", "--trace", same, "--json", same)
        self.assert_refused("--json and --links name the same file", "halo", "--links", same, "--json", same)
        self.assert_refused("x: cannot be written", "halo", "--trace", self.path("x" * 300), "--json", same)

    def test_a_number_of_processes_below_none(self):
        done = self.model("himeno", "--jobs", "-3")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--jobs: -3 is no whole number from 0 to 4096", done.stderr)

    def test_an_unknown_program(self):
        done = self.model("tetris")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tetris", done.stderr)

    # Not by `tca model`, but in the model's time as well.
    def test_benchmarks_and_himeno_on_a_modelled_machine(self):
        modelled = ("--fabric", "sim", "--machine", "peach3", "--ranks", "2", "--json", self.path("out.jsonl"))
        for arguments in (
            ("bench", "pingpong", "--bytes", "65536", "--rounds", "2"),
            ("himeno", "--size", "XS", "--iterations", "4"),
        ):
            done = self.run_tca(*arguments, *modelled)
            self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.lines()
        self.assertEqual({line["bench"] for line in lines}, {"pingpong", "himeno"})
        for line in lines:
            self.assertRegex(line["hardware"], "^model of PEACH3", line)

    def test_what_a_benchmark_on_a_modelled_machine_cannot_do(self):
        for reason, arguments in (
            ("nothing on a modelled machine to compare with", ("pingpong", "--peer", "mpi")),
            ("--descriptors is for commit on shm", ("commit", "--descriptors", "8")),
            ("atlantis", ("pingpong", "--machine", "atlantis")),
        ):
            done = self.run_tca("bench", *arguments, "--fabric", "sim", "--ranks", "2")
            self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
            self.assertRegex(done.stderr, reason)

    def test_ctrl_c_leaves_no_processes(self):
        many = ",".join(["512"] * 50)
        sweep = subprocess.Popen(
            [TCA, "model", "halo", "--machine", "torus-32k", "--ranks", "32768", "--jobs", "2", "--sweep", f"extent={many}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.addCleanup(sweep.kill)
        self.assertTrue(wait_until(lambda: len(children_of(sweep.pid)) == 2))
        children = children_of(sweep.pid)
        sweep.send_signal(signal.SIGINT)
        _, said = sweep.communicate(timeout=PATIENCE)
        self.assertEqual(sweep.returncode, 128 + signal.SIGINT)
        self.assertEqual(said, "tca model: interrupted; nothing is left running\n")
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"))


if __name__ == "__main__":
    unittest.main()
