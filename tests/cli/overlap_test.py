"""`tca bench overlap` as its users see it: what it refuses, what it prints, the lines that it writes.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is
there, TCA_HAS_CUDA whether it was built with CUDA."""

import json
import os
import re
import signal
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
CUDA = bool(os.environ.get("TCA_HAS_CUDA", ""))
SHORT = ("--rounds", "2", "--placements", "1")
HEADER = r"(?m)^bytes +who +progress +exchange us +compute us +both us +both p99 +hidden %$"


class OverlapTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.json = self.path("out.jsonl")

    def bench(self, *arguments, **environment):
        return subprocess.run(
            [TCA, "bench", *arguments],
            capture_output=True,
            text=True,
            timeout=5 * PATIENCE,
            env={**self.environment, **environment},
        )

    def measured(self, *arguments, **environment):
        done = self.bench("overlap", *SHORT, *arguments, "--json", self.json, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, HEADER)
        with open(self.json) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(re.findall(r"(?m)^[0-9]+ ", done.stdout)), len(lines), done.stdout)
        for line in lines:
            self.assert_rounded(line, "hidden", "exchange_us", "exchange_p99_us", "compute_us", "compute_p99_us")
            self.assertEqual((line["bench"], line["start"], line["layout"]), ("overlap", "host", "block"))
            self.assertEqual(line["n"], line["bytes"])
            self.assertEqual("points" in line, line["progress"] == "points")
            self.assertIsInstance(line["hidden"], float)
            self.assertIsNone(line["gbps"])
            self.assertGreater(line["compute_us"], 0)
            for part in ("exchange", "compute"):
                self.assertGreaterEqual(line[part + "_p99_us"], line[part + "_us"])
        return lines

    def assert_rounded(self, line, *keys):
        for key in keys:
            self.assertEqual(line[key], float(f"{line[key]:.4g}"), key)

    def lines_of(self, *arguments):
        done = self.bench(*arguments, "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.json) as file:
            lines = [json.loads(line) for line in file]
        os.remove(self.json)
        return lines

    def test_shared_memory_with_and_without_stated_points(self):
        lines = self.measured("--bytes", "4096,65536")
        self.assertEqual(
            [(line["bytes"], line["progress"]) for line in lines],
            [(4096, "none"), (4096, "points"), (65536, "none"), (65536, "points")],
        )
        self.assertEqual({(line["fabric"], line["peer"], line["ranks"]) for line in lines}, {("shm", None, 2)})
        self.assertEqual({line.get("points") for line in lines}, {None, 9})

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_over_mpi_beside_its_own_requests(self):
        # Only --progress says whether there is a thread; a world that read this would refuse it.
        hybrid = ("--fabric", "shm+mpi", "--sub-cluster", "1", "--bytes", "65536", "--points", "3", "--peer", "mpi")
        lines = self.measured(*hybrid, OPENTCA_PROGRESS_THREAD="as it likes")
        self.assertEqual(
            [(line["peer"], line["progress"], line.get("points")) for line in lines],
            [(None, "none", None), ("mpi", "none", None), (None, "points", 3), ("mpi", "points", 3)],
        )
        self.assertEqual({(line["peer"], line["fabric"]) for line in lines}, {(None, "shm+mpi"), ("mpi", "mpi")})
        self.assertEqual({line["protocol"] for line in lines if line["peer"]}, {"persistent"})
        self.assertIn("mpi", lines[0]["versions"])

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_a_progress_thread(self):
        (line,) = self.measured("--fabric", "mpi", "--bytes", "65536", "--progress", "thread")
        self.assertEqual((line["progress"], line["peer"], line["fabric"]), ("thread", None, "mpi"))
        self.assertIn("mpi", line["versions"])

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_faces_on_two_fabrics(self):
        hybrid = ("--fabric", "shm+mpi", "--ranks", "4", "--sub-cluster", "2", "--extent", "8", "--layout", "block-stride")
        (line,) = self.lines_of("halo", *hybrid, *SHORT)
        protocols = set(line["protocol"].split("+"))
        self.assertEqual(line["fabric"], "shm+mpi")
        self.assertTrue(protocols & {"direct", "pull", "staged"} and protocols & {"datatype", "packed", "rma"}, protocols)
        self.assert_rounded(line, "step_us")

    def test_what_does_not_go_together(self):
        elsewhere = ("sim", "cuda.mpi") if CUDA and MPI else ("sim",)
        for reason, arguments in (
            ("an overlap needs 2 ranks", ("--ranks", "1")),
            *((f"an overlap is measured on shm, mpi, shm.mpi and cuda, not on {f}", ("--fabric", f.replace(".", "+"))) for f in elsewhere),
            ("--peer hand knows no overlap; mpi does", ("--peer", "hand")),
            ("--bytes: 0 is no size from 1 to ", ("--bytes", "0")),
            ("--bytes: -8 is no size from 1 to ", ("--bytes", "8,-8")),
            ("--points is for --progress points", ("--progress", "none", "--points", "4")),
            ("--points", ("--points", "0")),
            ("--progress", ("--progress", "magic")),
            ("--progress thread is measured in a job of its own", ("--fabric", "mpi", "--progress", "none,thread")),
            ("--progress thread: shm has none; mpi and shm.mpi have", ("--progress", "thread")),
            ("--progress thread: MPI has none", ("--fabric", "mpi", "--progress", "thread", "--peer", "mpi")),
        ):
            with self.subTest(arguments):
                self.assert_refused(reason, "overlap", *arguments)

    def test_a_cost_below_the_noise(self):
        # One round of faces that much memory is walked for: some differences come out below zero.
        what = ("--extent", "64,128", "--peer", "hand", "--rounds", "1", "--placements", "1")
        done = self.bench("halo", *what, "--json", self.json)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.json) as file:
            lines = [json.loads(line) for line in file]
        lost = [line["median_us"] <= 0 for line in lines]
        self.assertEqual([line["gbps"] is None for line in lines], lost)
        rows = re.findall(r"(?m)^[0-9]+ .*", done.stdout)
        self.assertEqual(["below the noise" in row for row in rows], lost)
        self.assertNotRegex(done.stdout, r" -\d")
        for line in lines:  # of one round each
            if line["peer"]:
                own = next(o for o in lines if o["peer"] is None and (o["n"], o["layout"]) == (line["n"], line["layout"]))
                self.assertEqual(line["ratio"] is None, line["median_us"] <= 0 or own["median_us"] <= 0)

    def test_the_heading_says_what_was_measured_where(self):
        said = self.bench("pingpong", "--bytes", "8", "--peer", "hand", *SHORT).stdout
        for line in (r"machine   .+, [0-9]+ cores?", r"ranks     2 ranks, (bound to processors|not bound)", r"versions  OpenTCA [0-9.]+ \(.+\), ",
                     r"times     of the slowest rank; every contender writes", r"ratio     the peer's time over OpenTCA's"):  # fmt: skip
            self.assertRegex(said, "(?m)^" + line)
        said = self.bench("pingpong", "--bytes", "8", *SHORT).stdout
        self.assertNotIn("ratio", said)
        (line,) = self.lines_of("pingpong", "--bytes", "8", *SHORT)
        self.assertRegex(line["placement"], "^2 ranks, ")

    def test_a_barrier_has_no_bandwidth(self):
        done = self.bench("barrier", *SHORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("GB/s", done.stdout)

    def test_peers_have_a_ratio(self):
        for what in (("pingpong", "--bytes", "8"), ("halo", "--extent", "32", "--layout", "block")):
            with self.subTest(what):
                # Of one round it is what the medians say.
                one = ("--rounds", "1", "--placements", "1")
                own, *peers = self.lines_of(*what, "--peer", "hand", *one)
                self.assertNotIn("ratio", own)
                self.assertTrue(peers)
                for peer in peers:
                    self.assertIn("ratio", peer)
                    if peer["ratio"] is not None:
                        self.assertAlmostEqual(peer["ratio"] * own["median_us"] / peer["median_us"], 1, delta=0.002)

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_the_ratio_is_to_the_fastest(self):
        ways = ("--algorithm", "ring,flat", "--peer", "mpi", "--rounds", "1", "--placements", "1")
        *own, peer = self.lines_of("allreduce", "--ranks", "4", "--bytes", "8", *ways)
        fastest = min(line["median_us"] for line in own)
        self.assertAlmostEqual(peer["ratio"] * fastest / peer["median_us"], 1, delta=0.002)

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_more_than_mpi_counts(self):
        for what, size, most in (("pingpong", 2**32 + 8, "bytes"), ("allreduce", 2**34, "doubles")):
            told = f"--bytes {size}: MPI moves at most 2147483647 {most} at once"
            self.assert_refused(told, what, "--bytes", str(size), "--peer", "mpi")

    def test_what_there_is_when_it_is_interrupted(self):
        # Less than is printed at once, and longer than anybody waits.
        long = ("--bytes", ",".join(["8"] * 30), "--rounds", "400", "--placements", "1")
        bench = subprocess.Popen(
            [TCA, "bench", "pingpong", *long], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        self.addCleanup(bench.kill)
        rows = iter(bench.stdout.readline, "")
        row = next(row for row in rows if row.startswith("8 "))
        bench.send_signal(signal.SIGINT)
        bench.communicate(timeout=5 * PATIENCE)
        self.assertEqual(bench.returncode, 128 + signal.SIGINT)
        self.assertRegex(row, "^8 +OpenTCA shm/")

    def test_other_benchmarks_have_no_progress(self):
        for arguments in (("--progress", "points"), ("--points", "4")):
            self.assert_refused(f"{arguments[0]} is for overlap", "pingpong", *arguments)

    def test_options_that_would_be_left_aside(self):
        for reason, arguments in (
            ("--algorithm is for collectives", ("pingpong", "--algorithm", "ring")),
            ("--bytes is for all but halo", ("halo", "--bytes", "8")),
            ("--extent is for halo", ("pingpong", "--extent", "8")),
            ("--layout is for halo and put", ("pingpong", "--layout", "block")),
            ("--rows is for put", ("halo", "--rows", "8")),
            ("--descriptors is for commit", ("pingpong", "--descriptors", "8")),
            ("--unguarded is for chains that are started", ("commit", "--unguarded")),
            ("--blocks is for --fabric cuda", ("pingpong", "--blocks", "8")),
            ("--threads is for --fabric cuda", ("pingpong", "--threads", "32")),
            ("--fidelity flow is for --fabric sim; shm is not modelled", ("pingpong", "--fidelity", "flow")),
            ("--rows is for --layout block-stride", ("put", "--layout", "block", "--rows", "256")),
            ("--layout stride is for halo; a put is a block or block-stride", ("put", "--layout", "block,stride")),
            ("--placements is for memory of this host", ("pingpong", "--fabric", "sim", "--placements", "2")),
            ("--bind is for ranks that are processes", ("pingpong", "--fabric", "sim", "--bind", "none")),
        ):
            with self.subTest(arguments):
                self.assert_refused(reason, *arguments)

    def test_what_only_other_fabrics_have(self):
        for reason, arguments in (
            ("--start graph is for --fabric cuda; on shm the host starts chains", ("--start", "host,graph")),
            ("--machine peach3 is for --fabric sim; shm is not modelled", ("--machine", "peach3")),
        ):
            self.assert_refused(reason, "pingpong", *arguments)

    @unittest.skipUnless(CUDA, "this OpenTCA was built without CUDA")
    def test_peers_without_a_way_on_gpus(self):
        lacking = (("copy", "pingpong"), ("nvshmem", "put"), ("mscclpp", "put"), ("nvshmem", "bcast"), ("nvshmem", "overlap"),
                   ("nccl-device", "bcast"), ("nccl-device", "overlap"), ("nccl-copy-engine", "halo"))  # fmt: skip
        for peer, what in lacking:
            self.assert_refused(f"--peer {peer} knows no {what}", what, "--fabric", "cuda", "--peer", peer)
        rows = ("put", "--fabric", "cuda", "--layout", "block-stride", "--peer", "nccl")
        self.assert_refused("--peer nccl puts nothing but blocks; add block to --layout", *rows)
        self.assert_refused("--progress is for overlap on hosts", "overlap", "--fabric", "cuda", "--progress", "none")
        self.assert_refused("an overlap needs 2 ranks, and steps started by graph or host", "overlap", "--fabric", "cuda", "--start", "kernel")

    def assert_refused(self, reason, *arguments):
        done = self.bench(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"^tca bench: [^\n]*" + reason)
        self.assertLessEqual(done.stderr.count("\n"), 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
