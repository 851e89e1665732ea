"""Point-to-point calls of programs in C and Fortran under `tca mpi` with OPENTCA_MPI=all: the answers of MPI, and which way they went.

Standard library only; see mpi_test.py."""

import unittest

from mpi_test import MPIS, TCA, MpiTest, Programs


class Messages(MpiTest):
    def setUp(self):
        super().setUp()
        self.environment["OPENTCA_MPI"] = "all"

    def test_messages_are_right_and_served(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, TCA, "mpi", "--report", Programs.get(mpi, "messages.c"), ranks=3)
            self.assertEqual((run.returncode, run.stdout), (0, "all messages are right\n"), run.stderr)
            for call in ("Send", "Recv", "Isend", "Irecv", "Send_init", "Probe", "Improbe"):
                self.assertGreater(self.row(run.stderr, "MPI_" + call)["served"], 0, run.stderr)

    def test_the_program_expects_what_mpi_does(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, Programs.get(mpi, "messages.c"))
            self.assertEqual((run.returncode, run.stdout), (0, "all messages are right\n"), run.stderr)

    # MPICH 4.0's own functions for Fortran give wrong indices, with and without the library.
    def test_fortran_is_served_with_open_mpi(self):
        if "openmpi" not in MPIS:
            self.skipTest("no Open MPI")
        for options in ((), ("-DUSE_MPI",)):
            program = Programs.get("openmpi", "messages.F90", *options)
            run = self.mpirun("openmpi", TCA, "mpi", "--report", program)
            self.assertEqual((run.returncode, run.stdout.strip()), (0, "all messages are right"), run.stderr)
            self.assertGreater(self.row(run.stderr, "MPI_Isend")["served"], 0, run.stderr)

    def test_fortran_is_left_alone_with_mpich(self):
        if "mpich" not in MPIS:
            self.skipTest("no MPICH")
        run = self.mpirun("mpich", TCA, "mpi", Programs.get("mpich", "fortran.f90"))
        self.assertEqual((run.returncode, run.stdout), (0, "all is right\n"), run.stderr)
        self.assertIn("point-to-point calls are left to MPI: the program is in Fortran, with MPICH", run.stderr)

    def test_a_denied_call_leaves_all_messages_to_mpi(self):
        for mpi in self.for_each_mpi():
            run = self.mpirun(mpi, TCA, "mpi", "--deny", "Isend", Programs.get(mpi, "messages.c"))
            self.assertEqual((run.returncode, run.stdout), (0, "all messages are right\n"), run.stderr)
            self.assertIn("OPENTCA_MPI_DENY has Isend", run.stderr)


if __name__ == "__main__":
    unittest.main()
