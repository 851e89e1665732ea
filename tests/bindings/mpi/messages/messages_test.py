"""Point-to-point calls of programs in C and Fortran under `tca mpi` with OPENTCA_MPI=all: the answers of MPI, and which way they went.

Standard library only. TCA names the command line under test, PROGRAMS the sources: in C, in Fortran, with threads, with GPUs. mpis.py says which MPIs there are."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "..", "cli")]
from commands import PATIENCE, TCA  # noqa: E402
from mpis import MPIS, SETTINGS, tool  # noqa: E402

IN_C, IN_FORTRAN, WITH_THREADS, WITH_GPUS = os.environ.get("PROGRAMS", "messages.c messages.F90 threads.c gpu.c").split()
RIGHT = "all messages are right"


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def program(self, mpi, source, *options, libraries=()):
        path = os.path.join(self.folder.name, f"{source}-{mpi}-{abs(hash(options))}")
        if not os.path.exists(path):
            compiler = tool(mpi, "mpif90" if source.endswith(".F90") else "mpicc")
            subprocess.run([compiler, "-w", "-O1", "-pthread", *options, os.path.join(HERE, source), *libraries, "-o", path], check=True)
        return path

    def run_program(self, mpi, *command, ranks=2, **settings):
        settings = {
            **SETTINGS,
            "OPENTCA_MPI": "all",
            "OPENTCA_MPI_REPORT": "1",
            **settings,
        }
        run = subprocess.run(
            [tool(mpi, "mpirun"), "-n", str(ranks), *command],
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual((run.returncode, run.stdout.strip()), (0, RIGHT), run.stderr)
        return run.stderr

    def served(self, report, call):
        rows = [line.split() for line in report.splitlines() if line.startswith(f"MPI_{call} ")]
        self.assertEqual(len(rows), 1, report)
        return int(rows[0][1])

    def test_messages_are_right_and_served(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                report = self.run_program(mpi, TCA, "mpi", self.program(mpi, IN_C), ranks=3)
                for call in ("Send", "Recv", "Isend", "Irecv", "Send_init", "Probe", "Improbe"):
                    self.assertGreater(self.served(report, call), 0, report)

    def test_the_program_expects_what_mpi_does(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                self.run_program(mpi, self.program(mpi, IN_C))

    def test_fortran_is_served(self):
        for mpi, options in (("openmpi", ()), ("openmpi", ("-DUSE_MPI",)), ("mpich", ())):
            # MPICH 4.0's own functions for the module mpi give wrong indices.
            if mpi in MPIS:
                with self.subTest(mpi=mpi, options=options):
                    report = self.run_program(mpi, TCA, "mpi", self.program(mpi, IN_FORTRAN, *options))
                    self.assertGreater(self.served(report, "Isend"), 0, report)

    def test_threads_are_served(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                report = self.run_program(mpi, TCA, "mpi", self.program(mpi, WITH_THREADS))
                for call in ("Allreduce", "Allgather", "Isend", "Sendrecv", "Mprobe"):
                    self.assertGreater(self.served(report, call), 0, report)

    def test_calls_past_the_library_leave_all_messages_to_mpi(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                said = self.run_program(mpi, TCA, "mpi", self.program(mpi, IN_C, "-DMPI_Send=PMPI_Send"))
                self.assertIn("point-to-point calls are left to MPI: the program calls PMPI_Send, past the library", said)

    @unittest.skipUnless(os.path.exists("/dev/nvidiactl") and shutil.which("nvcc"), "there is no GPU, or no CUDA to compile with")
    def test_buffers_in_memory_of_gpus_are_served(self):
        cuda = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("nvcc"))))
        for mpi in MPIS:
            with self.subTest(mpi):
                library = os.path.join(cuda, "lib64")
                program = self.program(mpi, WITH_GPUS, f"-I{cuda}/include", f"-L{library}", f"-Wl,-rpath,{library}", libraries=("-lcudart",))
                report = self.run_program(mpi, TCA, "mpi", program)
                self.assertGreater(self.served(report, "Recv"), 0, report)

    def test_a_denied_call_leaves_all_messages_to_mpi(self):
        for mpi in MPIS:
            with self.subTest(mpi):
                said = self.run_program(mpi, TCA, "mpi", self.program(mpi, IN_C), OPENTCA_MPI_DENY="Isend")
                self.assertIn("point-to-point calls are left to MPI: OPENTCA_MPI_DENY has Isend", said)


if __name__ == "__main__":
    unittest.main()
