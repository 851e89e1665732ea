"""`tca bench overlap` as its users see it: what it refuses, what it prints, the lines that it writes.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is
there, TCA_HAS_CUDA whether it was built with CUDA."""

import json
import os
import subprocess
import tempfile
import unittest

TCA = os.environ.get("TCA", "tca")
PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))
MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
CUDA = bool(os.environ.get("TCA_HAS_CUDA", ""))
SHORT = ("--rounds", "2", "--placements", "1")
HEADER = r"(?m)^bytes +who +progress +exchange us +compute us +both us +both p99 +hidden %$"


class OverlapTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.json = os.path.join(folder.name, "out.jsonl")
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("OPENTCA_", "OMPI_COMM_", "PMI", "SLURM_"))
        }

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
        self.assertEqual(len(done.stdout.splitlines()), 1 + len(lines), done.stdout)
        for line in lines:
            self.assertEqual((line["bench"], line["start"], line["layout"]), ("overlap", "host", "block"))
            self.assertEqual(line["n"], line["bytes"])
            self.assertEqual("points" in line, line["progress"] == "points")
            self.assertIsInstance(line["hidden"], float)
            for part in ("exchange", "compute"):
                self.assertGreater(line[part + "_us"], 0)
                self.assertGreaterEqual(line[part + "_p99_us"], line[part + "_us"])
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
        self.assertEqual({line["fabric"] for line in lines}, {"mpi"})
        self.assertEqual({line["protocol"] for line in lines if line["peer"]}, {"persistent"})
        self.assertIn("mpi", lines[0]["versions"])

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_a_progress_thread(self):
        (line,) = self.measured("--fabric", "mpi", "--bytes", "65536", "--progress", "thread")
        self.assertEqual((line["progress"], line["peer"], line["fabric"]), ("thread", None, "mpi"))

    def test_what_does_not_go_together(self):
        elsewhere = ("sim", "cuda") if CUDA else ("sim",)
        for reason, arguments in (
            ("an overlap needs 2 ranks", ("--ranks", "1")),
            *((f"an overlap is measured on shm, mpi and shm.mpi, not on {f}", ("--fabric", f)) for f in elsewhere),
            ("--peer hand knows no overlap; mpi does", ("--peer", "hand")),
            ("--bytes: 0 is no whole number from 1 to ", ("--bytes", "0")),
            ("--bytes: -8 is no whole number from 1 to ", ("--bytes", "8,-8")),
            ("--points is for --progress points", ("--progress", "none", "--points", "4")),
            ("--points", ("--points", "0")),
            ("--progress", ("--progress", "magic")),
            ("--progress thread is measured in a job of its own", ("--fabric", "mpi", "--progress", "none,thread")),
            ("--progress thread: shm has none; mpi and shm.mpi have", ("--progress", "thread")),
            ("--progress thread: MPI has none", ("--fabric", "mpi", "--progress", "thread", "--peer", "mpi")),
        ):
            with self.subTest(arguments):
                self.assert_refused(reason, "overlap", *arguments)

    def test_peers_have_a_ratio(self):
        for what in (("pingpong", "--bytes", "8"), ("halo", "--extent", "32", "--layout", "block")):
            with self.subTest(what):
                # Of one round it is what the medians say.
                one = ("--rounds", "1", "--placements", "1")
                done = self.bench(*what, "--peer", "hand", *one, "--json", self.json)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(self.json) as file:
                    own, *peers = (json.loads(line) for line in file)
                os.remove(self.json)
                self.assertNotIn("ratio", own)
                for peer in peers:
                    if own["median_us"] > 0 and peer["median_us"] > 0:
                        self.assertAlmostEqual(peer["ratio"] * own["median_us"] / peer["median_us"], 1, delta=0.002)

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
        ):
            with self.subTest(arguments):
                self.assert_refused(reason, *arguments)

    def test_what_only_other_fabrics_have(self):
        for reason, arguments in (
            ("--start graph is for --fabric cuda; on shm the host starts chains", ("--start", "host,graph")),
            ("--machine peach3 is for --fabric sim; shm is not modelled", ("--machine", "peach3")),
        ):
            self.assert_refused(reason, "pingpong", *arguments)

    def assert_refused(self, reason, *arguments):
        done = self.bench(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr, r"^tca bench: [^\n]*" + reason)
        self.assertLessEqual(done.stderr.count("\n"), 2, done.stderr)


if __name__ == "__main__":
    unittest.main()
