"""The segment in /dev/shm by which ranks of mpirun meet, and what else may lie under its name."""

import fcntl
import os
import shutil
import stat
import struct
import subprocess
import tempfile
import time
import unittest

from world import GONE_WITHIN, INCOMPATIBLE, OTHER, OUT_OF_MEMORY, PATIENCE, PROGRAM, Process, RANK_LOST, TIMED_OUT, WorldTest, wait_until


class Named(WorldTest):
    """The segment in /dev/shm by which ranks of mpirun meet; here the test plays mpirun."""

    MAGIC = 0x31415443416E6550

    def setUp(self):
        super().setUp()
        self.path = f"/dev/shm/opentca.{os.geteuid()}.{self.job}"
        self.addCleanup(self.remove)

    def remove(self):
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            os.rmdir(self.path)
        elif os.path.lexists(self.path):
            os.unlink(self.path)

    def rank(self, rank, size, *arguments, program=PROGRAM, **environment):
        return self.start(
            [program, *arguments],
            **{"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(size), "PMIX_NAMESPACE": self.job,
               "OMPI_COMM_WORLD_LOCAL_SIZE": str(size), "OPENTCA_TIME_LIMIT": "5", **environment},
        )  # fmt: skip

    def all_ranks(self, size=3):
        return [self.rank(rank, size, "ring", "--steps", "30") for rank in range(size)]

    @staticmethod
    def abi_of(program):
        return int(subprocess.run([program, "abi"], capture_output=True, check=True).stdout)

    def header(self, ranks=3, abi=None, creator=1, magic=MAGIC):
        if abi is None:
            abi = self.abi_of(PROGRAM)
        namespace = os.stat("/proc/self/ns/pid").st_ino
        return struct.pack("<QIiiI20siI204s", magic, abi, ranks, creator, namespace, b"9.8.7", 0, 0, b"")

    def refused_by_all(self, pattern):
        for process in self.all_ranks():
            self.assert_ends(process, INCOMPATIBLE, pattern)

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        os.chmod(self.path, 0o600)

    def test_comes_up_and_goes(self):
        for process in self.all_ranks():
            self.assert_ends(process, 0, "done")
        self.assert_nothing_left()

    def test_is_private_while_it_exists_and_gone_once_all_are_there(self):
        mask = os.umask(0)
        self.addCleanup(os.umask, mask)
        first = self.rank(0, 2, "hold", OPENTCA_TIME_LIMIT=str(PATIENCE))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        status = os.lstat(self.path)
        self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
        self.assertEqual(status.st_uid, os.geteuid())
        second = self.rank(1, 2, "hold")
        first.says("is up")
        second.says("is up")
        self.assertFalse(os.path.lexists(self.path))
        second.popen.kill()
        first.popen.kill()
        self.assert_nothing_left()

    def test_garbage(self):
        self.write(os.urandom(100000))
        self.refused_by_all("exists and is not an OpenTCA segment; remove it")
        self.assertEqual(os.path.getsize(self.path), 100000)

    def test_too_short(self):
        for content in (b"", b"x", self.header()[:100]):
            self.write(content)
            self.refused_by_all(rf"is too short \({len(content)} bytes\) to be an OpenTCA segment; remove it")

    def test_zeroes(self):
        self.write(bytes(100000))
        self.refused_by_all("exists and is not an OpenTCA segment; remove it")

    def test_damaged(self):
        for ranks in (3, 4096, -1, 2**31 - 1):
            with self.live(self.header(ranks=ranks)):
                self.assert_ends(self.rank(1, 3, "ring"), INCOMPATIBLE, f"cannot hold the {ranks} ranks it names")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make another user's file")
    def test_another_users(self):
        self.write(self.header() + bytes(100000))
        os.chown(self.path, 65534, 65534)
        self.refused_by_all(r"belongs to user 65534, not to you \(user 0\); have it removed")
        self.assertTrue(os.path.exists(self.path))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_another_users_that_cannot_even_be_opened(self):
        mine, self.path = self.path, f"/dev/shm/opentca.65534.{self.job}"
        self.addCleanup(lambda: os.path.exists(self.path) and os.unlink(self.path))
        self.write(self.header() + bytes(100000))
        # The program may lie where only root can look.
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PROGRAM, folder)
            os.chmod(program, 0o755)
            for rank in range(2):
                process = Process(
                    [program, "ring"],
                    {**self.environment, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                     "PMIX_NAMESPACE": self.job}, user=65534, group=65534, extra_groups=[], cwd="/",
                )  # fmt: skip
                self.addCleanup(process.close)
                self.assert_ends(process, INCOMPATIBLE, "no OpenTCA segment of yours .Permission denied")
        os.unlink(self.path)
        self.path = mine

    def test_folder(self):
        os.mkdir(self.path)
        self.refused_by_all("exists and is no OpenTCA segment of yours .Is a directory")

    def test_symbolic_link(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            os.symlink(file.name, self.path)
            self.refused_by_all("exists and is no OpenTCA segment of yours .it is a symbolic link")
            self.assertEqual(os.path.getsize(file.name), 0)

    def test_fifo(self):
        os.mkfifo(self.path, 0o600)
        self.refused_by_all("is not a shared-memory segment; remove it")

    def test_left_over_is_replaced(self):
        # A creator that is alive makes no difference: process numbers come back.
        for creator in (1, os.getpid(), 2**22 - 1):
            self.write(self.header(creator=creator) + bytes(200000))
            for process in self.all_ranks():
                self.assert_ends(process, 0, "done")
            self.assert_nothing_left()

    def test_left_over_of_other_jobs_is_cleared_away(self):
        other = self.path + ".earlier"
        with open(other, "wb") as file:
            file.write(self.header() + bytes(1000))
        self.addCleanup(lambda: os.path.exists(other) and os.unlink(other))
        for process in self.all_ranks(2):
            self.assert_ends(process, 0, "done")
        self.assertFalse(os.path.exists(other))

    def test_left_over_that_another_is_about_to_remove(self):
        # Who scans for what is left over locks the second byte; what it has removed meanwhile, and what another has put there, stays.
        self.write(self.header() + bytes(1000))
        with open(self.path, "r+b") as left_over:
            fcntl.lockf(left_over, fcntl.LOCK_EX, 1, 1)
            ranks = self.all_ranks(2)
            time.sleep(0.3)
            self.assertEqual([process.popen.poll() for process in ranks], [None, None])
            os.unlink(self.path)
            other = self.live(self.header(creator=os.getpid()))
            inode = os.stat(self.path).st_ino
            fcntl.lockf(left_over, fcntl.LOCK_UN)
            self.assert_ends(ranks[0], INCOMPATIBLE, "is in use by a world that process")
            self.assertEqual(os.stat(self.path).st_ino, inode)
            other.close()

    def live(self, header):
        """A segment whose rank 0 is alive: locked as OwnSegment locks it."""
        self.write(header + bytes(1000))
        file = open(self.path, "r+b")
        self.addCleanup(file.close)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        return file

    def test_of_a_running_world(self):
        with self.live(self.header(creator=os.getpid())):
            pattern = f"is in use by a world that process {os.getpid()} is bringing up; two worlds cannot share"
            self.assert_ends(self.rank(0, 3, "ring"), INCOMPATIBLE, pattern)
            self.assertTrue(os.path.exists(self.path))

    def test_two_rank_0(self):
        first = self.rank(0, 2, "hold", OPENTCA_TIME_LIMIT=str(PATIENCE))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        pattern = f"is in use by a world that process {first.popen.pid} is bringing up"
        self.assert_ends(self.rank(0, 2, "hold"), INCOMPATIBLE, pattern)
        second = self.rank(1, 2, "hold")
        first.says("is up")
        second.says("is up")

    def test_another_version_by_hand(self):
        abi = self.abi_of(PROGRAM)
        with self.live(self.header(abi=12345)) as file:
            both = rf"rank [12] runs OpenTCA .*interface {abi:#x}.* rank 0 set it up with OpenTCA 9.8.7 .interface 0x3039"
            for process in [self.rank(rank, 3, "ring") for rank in (1, 2)]:
                self.assert_ends(process, INCOMPATIBLE, both)
            arrived, refusal = struct.unpack("iI", os.pread(file.fileno(), 8, 44))
            self.assertEqual((arrived, refusal), (2, 2))

    @unittest.skipUnless(OTHER, "needs a static library, to build a program with another version of it")
    def test_another_version(self):
        for odd in range(3):
            with self.subTest(odd):
                programs = [OTHER if rank == odd else PROGRAM for rank in range(3)]
                refused, first = self.abi_of(programs[2 if odd == 0 else odd]), self.abi_of(programs[0])
                named = [self.rank(rank, 3, "ring", program=programs[rank]) for rank in range(3)]
                for process in named + self.ranks(3, "ring", programs=programs, OPENTCA_TIME_LIMIT="1"):
                    self.assert_ends(process, INCOMPATIBLE, f"interface {refused:#x}.* rank 0 set it up .*interface {first:#x}")
                    self.assertIn("start every rank from the same build", process.text())
                self.assert_nothing_left()

    def unshared(self, *options):
        command = ["unshare", *options]
        if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest(f"no namespace can be made here ({' '.join(command)})")
        return command

    def test_a_full_dev_shm(self):
        script = f"mount -t tmpfs -o size=4k none /dev/shm && exec {PROGRAM} ring"
        command = [*self.unshared("-m"), "sh", "-c", script]
        process = self.rank(0, 2, *command[1:], program=command[0])
        self.assert_ends(process, OUT_OF_MEMORY, r"cannot hold the \d+ bytes that 2 ranks meet in .*; enlarge /dev/shm")

    def test_another_pid_namespace(self):
        command = self.unshared("-p", "-f")
        first, second = self.rank(0, 2, "ring"), self.rank(1, 2, *command[1:], PROGRAM, "ring", program=command[0])
        for process in (first, second):
            self.assert_ends(process, INCOMPATIBLE, r"rank 1 is in another PID namespace .* in one PID namespace \(one container\)")
        self.assert_nothing_left()

    def test_another_pid_namespace_than_that_of_rank_0_which_has_come(self):
        command = [*self.unshared("-p", "-f"), PROGRAM, "ring"]
        memory, control = self.launcher_memory()
        environment = {"OPENTCA_SIZE": "2", "OPENTCA_CONTROL": control,
                       "OPENTCA_TIME_LIMIT": str(PATIENCE)}  # fmt: skip
        first = self.start([PROGRAM, "ring"], OPENTCA_RANK="0", **environment)
        self.await_rank_0(memory, first)
        begin = time.monotonic()
        second = self.start(command, OPENTCA_RANK="1", **environment)
        for process in (first, second):
            self.assert_ends(process, INCOMPATIBLE, r"rank 1 is in another PID namespace .* in one PID namespace \(one container\)")
        self.assertLess(time.monotonic() - begin, PATIENCE / 2)

    def test_worlds_of_different_sizes(self):
        ranks = [self.rank(0, 3, "ring"), self.rank(1, 3, "ring"), self.rank(2, 4, "ring")]
        for process in ranks:
            self.assert_ends(process, INCOMPATIBLE, "rank 2 says that the world has 4 ranks, rank 0 3")
        self.assert_nothing_left()

    def test_rank_that_does_not_come(self):
        ranks = [self.rank(rank, 3, "ring", OPENTCA_TIME_LIMIT="0.5") for rank in (0, 2)]
        for process in ranks:
            process.end()
        self.assert_ends(ranks[0], TIMED_OUT, "for rank 1; was it started")
        self.assert_nothing_left()

    def test_the_name_is_gone_before_a_rank_ends(self):
        # mpirun kills the others then, rank 0 among them.
        ranks = [self.rank(rank, 3, "ring", OPENTCA_TIME_LIMIT=limit) for rank, limit in ((0, "0.8"), (2, "0.3"))]
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        self.assertTrue(wait_until(lambda: any(process.popen.poll() is not None for process in ranks)))
        self.assertFalse(os.path.exists(self.path))
        self.assert_ends(ranks[1], TIMED_OUT, "for rank 1; was it started")

    def test_rank_0_that_does_not_come(self):
        process = self.rank(1, 2, "ring", OPENTCA_TIME_LIMIT="0.5")
        self.assert_ends(process, TIMED_OUT, "for rank 0 to set up the world in /dev/shm/opentca.*was rank 0 started")

    def test_rank_0_killed_during_start_up(self):
        first, second = (self.rank(rank, 3, "ring", OPENTCA_TIME_LIMIT=str(PATIENCE)) for rank in (0, 1))
        self.assertTrue(wait_until(lambda: os.path.exists(self.path)))
        time.sleep(0.3)
        first.popen.kill()
        killed = time.monotonic()
        self.assert_ends(second, RANK_LOST, "rank 0 died .* while rank 1 was waiting for it in start-up")
        self.assertLess(time.monotonic() - killed, GONE_WITHIN)
        self.assert_nothing_left()


class Launchers(WorldTest):
    """Every launcher that tells its ranks who they are; here the test plays each."""

    def ranks_of(self, launcher, job, wrapper=()):
        for rank in ("0", "1"):
            variables = {
                "Open MPI": {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                             "PMIX_NAMESPACE": job},
                "MPICH": {"PMI_RANK": rank, "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"},
                "PMIx": {"PMIX_RANK": rank, "PMIX_SIZE": "2", "PMIX_NAMESPACE": job},
                "Slurm": {"SLURM_PROCID": rank, "SLURM_NTASKS": "2", "SLURM_JOB_ID": self.job, "SLURM_STEP_ID": job},
            }[launcher]  # fmt: skip
            yield self.start([*wrapper, PROGRAM, "ring", "--steps", "30"], OPENTCA_TIME_LIMIT="5", **variables)

    def test_two_ranks_of_each(self):
        for launcher in ("Open MPI", "MPICH", "PMIx", "Slurm"):
            with self.subTest(launcher):
                for rank, process in enumerate(list(self.ranks_of(launcher, self.job))):
                    self.assert_ends(process, 0, f"rank {rank}: is up", f"rank {rank}: done")
        self.assert_nothing_left()

    def test_behind_a_script_that_stays(self):
        script = ["sh", "-c", '"$@"; exit $?', "wrapper"]
        for rank, process in enumerate(list(self.ranks_of("MPICH", self.job, wrapper=[*script, *script]))):
            self.assert_ends(process, 0, f"rank {rank}: done")
        self.assert_nothing_left()

    def test_ranks_in_user_namespaces(self):
        """One of their own each, as containers without root make them, and one for both, which they enter."""
        make = ["unshare", "--user", "--map-current-user"]
        if not shutil.which("unshare") or subprocess.run([*make, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no user namespace can be made here")
        for rank, process in enumerate(list(self.ranks_of("Slurm", "0", wrapper=make))):
            self.assert_ends(process, 0, f"rank {rank}: done")

        with subprocess.Popen([*make, "sleep", str(10 * PATIENCE)]) as first:
            try:
                own = os.readlink("/proc/self/ns/user")
                self.assertTrue(wait_until(lambda: os.readlink(f"/proc/{first.pid}/ns/user") != own))
                enter = ["nsenter", "--preserve-credentials", "--user", "--target", str(first.pid)]
                for rank, process in enumerate(list(self.ranks_of("Slurm", "1", wrapper=enter))):
                    self.assert_ends(process, 0, f"rank {rank}: done")
            finally:
                first.kill()
        self.assert_nothing_left()

    def test_two_steps_of_a_job_at_once(self):
        processes = [process for step in ("0", "1") for process in self.ranks_of("Slurm", step)]
        for number, process in enumerate(processes):
            self.assert_ends(process, 0, f"rank {number % 2}: done")
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
