"""`tca fft` as its users see it: what it prints and checks, lines of JSON, refusals.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there,
TCA_HAS_FFTW whether with FFTW."""

import json
import os
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
FFTW = bool(os.environ.get("TCA_HAS_FFTW", ""))
REFUSED = 2
SMALL = ("--extent", "12x10x9", "--samples", "2")


class FftTest(CommandTest):
    def fft(self, *arguments):
        return subprocess.run([TCA, "fft", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment)

    def assert_right(self, *arguments):
        done = self.fft(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\nanswer +right: ")
        self.assertRegex(done.stdout, r"\nOpenTCA +[0-9.]+ +[0-9.-]+ +[0-9.-]+ +[0-9.]+\n")
        return done.stdout

    @unittest.skipUnless(FFTW, "built without FFTW")
    def test_every_way_to_divide_and_start_it(self):
        for arguments, said in (
            (("--ranks", "1", *SMALL), "Transform of 12x10x9 complex numbers, double precision, 1 rank, 1 batch\n"),
            (("--ranks", "2", "--real", "--batches", "2", *SMALL), "real numbers, double precision, 2 ranks, in slabs, 2 batches\n"),
            (("--ranks", "4", "--threads", "--grid", "2x2", "--single", *SMALL), "single precision, 4 ranks, in pencils on a grid of 2x2"),
            (("--ranks", "2", "--fabric", "sim", *SMALL), "in slabs"),
            (("--ranks", "2", "--class", "S"), "FT class S: 64x64x64 complex numbers, 6 steps, double precision, 2 ranks, in slabs"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(said, self.assert_right(*arguments))

    @unittest.skipUnless(FFTW and MPI, "no mpirun, or built without MPI or FFTW")
    def test_beside_mpi(self):
        said = self.assert_right("--ranks", "2", *SMALL, "--compare", "--explain", "--json", self.path("out.jsonl"))
        self.assertRegex(said, r"\ntransforming +[0-9.]+ us, MPI_Alltoallv [0-9.]+: ")
        self.assertIn("shm/", said)
        with open(self.path("out.jsonl")) as file:
            own, packed, by_datatype, *fftws = (json.loads(line) for line in file)
        self.assertEqual((own["bench"], own["peer"], own["verified"], own["extents"]), ("fft", None, True, [12, 10, 9]))
        self.assertEqual((packed["peer"], packed["protocol"], by_datatype["protocol"]), ("mpi", "packed", "datatype"))
        self.assertEqual(own["bytes"], 12 * 10 * 9 * 16 // 2)
        for line in own, packed, by_datatype, *fftws:
            self.assertGreater(line["gflops"], 0)
            self.assertLess(line["error"], 1e-14)
        self.assertIn("ratio_low", packed)

    def test_refusals(self):
        for arguments, reason in (
            (("--extent", "8x8"), "--extent 8x8: give one number, or three"),
            (("--extent", "4", "--ranks", "8", "--grid", "8x1"), "a grid of 8x1 ranks leaves some of them nothing of 4x4x4"),
            (("--extent", "2", "--ranks", "5"), "cannot be divided among 5 ranks"),
            (("--extent", "8", "--ranks", "2", "--grid", "3x1"), "--grid 3x1"),
            (("--class", "Z"), "there is no class Z; there are S, W, A and B"),
            (("--class", "S", "--real"), "leave --real and --single out"),
            (("--start", "graph"), "--start graph needs --fabric cuda"),
            (("--channel", "FACE=shm/pull"), "FACE"),
            (("--extent", "65536"), "a transform of 65536x65536x65536 numbers" if FFTW else "libfftw3-dev"),
        ):
            with self.subTest(arguments=arguments):
                done = self.fft(*arguments)
                self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stdout, "")

    @unittest.skipIf(FFTW, "built with FFTW")
    def test_says_which_package_it_lacks(self):
        done = self.fft("--extent", "8")
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn("install libfftw3-dev and configure again", done.stderr)


if __name__ == "__main__":
    unittest.main()
