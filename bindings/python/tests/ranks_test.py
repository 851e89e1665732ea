"""Programs as ranks of `tca run` and mpirun: what they print, and how they end when one of them fails.

TCA names the command line under test."""

import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

TCA = os.environ.get("TCA", "")
PROGRAMS = pathlib.Path(os.environ.get("PROGRAMS", "."))
EXAMPLES = pathlib.Path(os.environ.get("EXAMPLES", "."))
PATIENCE = float(os.environ.get("TCA_TEST_PATIENCE", "20"))

# Rank 1 does as it is told in the second step of a ring.
RING = """if True:
    import os, sys, time
    import opentca as tca

    with tca.World() as world:
        me, p = world.rank, world.size
        ring = world.chain("ring").signal((me + 1) % p).expect((me - 1) % p)
        ring.commit()
        ring.run()
        if me == 1:
            {}
        ring.run()
        ring.run()
"""


def ranks(number, *command):
    return [TCA, "run", "-n", str(number), "--", sys.executable, "-B", *map(str, command)]


@unittest.skipUnless(TCA, "needs tca")
class Ranks(unittest.TestCase):
    def run_all(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE)

    def test_numpy_program(self):
        done = self.run_all(ranks(4, PROGRAMS / "rows.py"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "total 1572864.0\n", ""))

    def test_example(self):
        for command in (
            ranks(4, EXAMPLES / "heat.py"),
            [sys.executable, "-B", EXAMPLES / "heat.py", "threads"],
            [sys.executable, "-B", EXAMPLES / "heat.py", "sim", "ha-pacs-tca"],
        ):
            with self.subTest(str(command)):
                done = self.run_all(command)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, "on 4 ranks in .* as by one rank")

    def test_tutorial(self):
        done = self.run_all(ranks(3, EXAMPLES / "tutorial" / "rows.py"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("2000 steps on 3 ranks: as by one", done.stdout)
        alone = self.run_all([sys.executable, "-B", EXAMPLES / "tutorial" / "plate.py"])
        self.assertEqual(alone.stdout, "22.388608 degrees on average, 19.384911 in the middle\n")

    def test_tutorial_on_the_model(self):
        done = self.run_all([sys.executable, "-B", EXAMPLES / "tutorial" / "peach2.py", "1024"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        row = [float(number) for number in re.search(r"16 ranks +(.*)", done.stdout)[1].split()]
        self.assertLess(row[2], row[3])  # what the page says of overlap
        page = (EXAMPLES.parents[1] / "docs" / "tutorial-python.md").read_text()
        self.assertIn("| 16 ranks | " + " | ".join(f"{number:.1f}" for number in row) + " |", page)

    def test_example_of_rounds(self):
        done = self.run_all(ranks(3, EXAMPLES / "stream.py"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all numbers have come, in 3 rounds\n", ""))

    def test_program_of_mpi4py(self):
        if importlib.util.find_spec("mpi4py") is None or shutil.which("mpirun") is None:
            self.skipTest("needs mpi4py and mpirun")
        environment = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
        }  # fmt: skip
        done = subprocess.run(
            ["mpirun", "-n", "4", sys.executable, "-B", PROGRAMS / "within_mpi4py.py"],
            capture_output=True, text=True, timeout=3 * PATIENCE, env={**os.environ, **environment},
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "ghosts as expected\n"), done.stderr)

    def end(self, what, code, *messages):
        """Rank 1 does `what`; the job ends with these messages and no others."""
        done = self.run_all(ranks(3, "-c", RING.format(what)))
        self.assertEqual(done.returncode, code, done.stderr)
        for message in messages:
            self.assertRegex(done.stderr, message)
        return done.stderr

    def test_an_exception_ends_the_job_with_one_message(self):
        said = self.end("raise ValueError('wrong')", 1, "ValueError: wrong", "tca run: rank 1 exited with code 1")
        self.assertEqual(said.count("Traceback"), 1, said)

    def test_an_exit_ends_the_job(self):
        said = self.end("sys.exit(3)", 3, "tca run: rank 1 exited with code 3")
        self.assertNotIn("Traceback", said)

    def test_ctrl_c_on_one_rank_ends_the_job(self):
        said = self.end("os.kill(os.getpid(), 2)", 130, r"tca run: rank 1 was killed by signal 2 \(Interrupt\)")
        self.assertNotIn("Traceback", said)

    def test_a_dead_rank_is_found_in_a_wait(self):
        self.end("os.kill(os.getpid(), 9)", 137, "RankLost: rank 1 died .* in step 2 of chain 'ring'", "rank 1 was killed")

    def test_ctrl_c_in_a_wait_is_heard(self):
        begin = time.monotonic()
        job = subprocess.Popen(
            ranks(2, "-c", RING.format("print('asleep', flush=True); time.sleep(100)")),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.assertEqual(job.stdout.readline(), "asleep\n")
        os.killpg(job.pid, signal.SIGINT)
        said = job.communicate(timeout=3 * PATIENCE)[1]
        self.assertIn("tca run: interrupted", said)
        self.assertLessEqual(said.count("Traceback"), 1, said)
        self.assertLess(time.monotonic() - begin, PATIENCE)


if __name__ == "__main__":
    unittest.main()
