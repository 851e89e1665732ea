"""Ranks of one host that the system keeps apart: what still goes over shared memory, and what is said where nothing does."""

import os
import subprocess
import unittest

from world import INCOMPATIBLE, MPIRUN, PROGRAM, WorldTest

# A window of such a ring is large enough to have a mapping of its own.
RING = (PROGRAM, "ring", "--steps", "30", "--doubles", "20000")


def can(*command):
    return subprocess.run([*command, "true"], capture_output=True).returncode == 0


def needs(*command):
    return unittest.skipUnless(can(*command), f"`{' '.join(command)}` is not allowed here")


class UserNamespaces(WorldTest):
    """As `mpirun apptainer exec` and `unshare` make them, one for each rank."""

    @needs("unshare", "-Ur")
    def test_of_each_rank(self):
        job = self.tca_run(3, "unshare", "-Ur", *RING)
        self.assert_ends(job, 0, *(f"rank {rank}: done" for rank in range(3)))
        self.assert_nothing_left()

    @needs("unshare", "-Ur")
    def test_of_one_rank(self):
        job = self.tca_run(3, "sh", "-c", '[ $OPENTCA_RANK = 1 ] && exec unshare -Ur "$0" "$@"; exec "$0" "$@"', *RING)
        self.assert_ends(job, 0, *(f"rank {rank}: done" for rank in range(3)))

    @unittest.skipUnless(MPIRUN, "no mpirun")
    @needs("unshare", "-Ur")
    def test_under_mpirun(self):
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # fmt: skip
        job = self.start([MPIRUN, "-n", "2", "unshare", "-Ur", *RING], **allowed)
        self.assert_ends(job, 0, "rank 0: done", "rank 1: done")
        self.assert_nothing_left()

    # Deaths are seen as ever.
    @needs("unshare", "-Ur")
    def test_a_rank_that_dies(self):
        job = self.tca_run(3, "unshare", "-Ur", PROGRAM, "ring", "--who", "1", "--how", "kill", "--step", "5")
        self.assertNotEqual(job.end(), 0)
        self.assertRegex(job.text(), r"rank 1 died \(process \d+ has ended\)")
        self.assert_nothing_left()

    @needs("unshare", "-Urn")
    def test_with_a_network_namespace_as_well(self):
        job = self.tca_run(2, "unshare", "-Urn", *RING)
        self.assert_ends(
            job, INCOMPATIBLE,
            r"fabric shm: rank 0 does not reach rank 1: cannot map the memory of process \d+ through /proc/\d+/fd/\d+: it is "
            r"in another user namespace; start the ranks in one .*; nor over a socket: rank 0 does not reach rank 1: nothing "
            r"has come from process \d+ over a socket: .*one network namespace.* choose shm\+mpi or mpi",
        )  # fmt: skip
        self.assert_nothing_left()


class PidNamespaces(WorldTest):
    """As Docker and Podman make them, one for each rank."""

    EACH = ("unshare", "-Urpf", "--kill-child")

    def over(self, fabric):
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OPENTCA_FABRIC": fabric,
                   # Open MPI's own shared memory takes ranks with the same PID for one.
                   "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1"}  # fmt: skip
        return self.start([MPIRUN, "-n", "2", *self.EACH, PROGRAM, "ring", "--steps", "30"], **allowed)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    @needs(*EACH)
    def test_of_each_rank(self):
        job = self.over("shm")
        self.assertNotEqual(job.end(), 0)
        self.assertRegex(job.text(), r"rank [01] is in another PID namespace .* or choose shm\+mpi or mpi")
        self.assert_ends(self.over("shm+mpi"), 0, "rank 0: done", "rank 1: done")


class Dumpable(WorldTest):
    # Root reaches what is not dumpable by its capabilities, so it gives them up.
    def without_capabilities(self):
        return ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()

    def test_ranks_that_are_not(self):
        command = self.without_capabilities()
        if command and not can(*command):
            self.skipTest("setpriv is not there")
        job = self.tca_run(3, *command, PROGRAM, "undumpable", *RING[2:])
        self.assert_ends(job, 0, *(f"rank {rank}: done" for rank in range(3)))
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
