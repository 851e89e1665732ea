#!/usr/bin/env python3
"""Worlds over MPI whose ranks die, hang, disagree or never come: every rank ends with words, and soon."""

import os
import re
import signal
import subprocess
import time
import unittest

from commands import PATIENCE, processes_with, wait_until
from world import INCOMPATIBLE, MPIRUN, OTHER, PROGRAM, RANK_LOST, TCA, USAGE, WorldTest

WITHIN_MPI = os.environ.get("WITHIN_MPI", "")
TIME_LIMIT = 4
SHORT_LIMIT = TIME_LIMIT if PATIENCE > 20 else 1.5  # of ranks that wait in vain; MPI comes up within it, with sanitizers as well
WAITED = rf"waited [{int(SHORT_LIMIT)}{int(SHORT_LIMIT) + 1}]\.\d s"
SOON = 15  # seconds for mpirun to start, to see and to end everything
MPIRUN_ENDS_WITHIN = 3
FABRICS = ("mpi", "shm+mpi")


@unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
class MpiTest(WorldTest):
    def world(self, size, *arguments, fabric="mpi", programs=(), **environment):
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                   "OPENTCA_FABRIC": fabric, "OPENTCA_TIME_LIMIT": str(TIME_LIMIT)}  # fmt: skip
        return self.start([MPIRUN, "-n", str(size), *(programs or [PROGRAM]), *arguments], **{**allowed, **environment})

    def in_vain(self, *arguments, **options):
        return self.world(3, *arguments, **{"OPENTCA_TIME_LIMIT": str(SHORT_LIMIT), **options})

    def only_mpirun_is_left(self, process, patterns):
        said = all(re.search(pattern, process.text()) for pattern in patterns)
        return said and set(processes_with(self.marker)) <= {process.popen.pid}

    def ends_in_words(self, process, *patterns, within=SOON):
        begin = time.monotonic()
        wait_until(lambda: process.popen.poll() is not None or self.only_mpirun_is_left(process, patterns), within)
        try:
            self.assertNotEqual(process.end(MPIRUN_ENDS_WITHIN), 0, process.text())
        except subprocess.TimeoutExpired:
            # Once all ranks have ended, Open MPI's mpirun sometimes waits for itself (PMIx_server_finalize, version 4.1.4).
            self.assertTrue(self.only_mpirun_is_left(process, patterns), process.text())
            process.close()
        for pattern in patterns:
            self.assertRegex(process.text(), pattern)
        self.assertLess(time.monotonic() - begin, within)
        self.assert_nothing_left()

    def test_all_is_well(self):
        for fabric in FABRICS:
            for cut in ("", "1", "2", "3"):
                with self.subTest(fabric=fabric, cut=cut):
                    job = self.world(4, "ring", "--steps", "200", fabric=fabric, OPENTCA_SUBCLUSTER=cut)
                    self.assertEqual(job.end(), 0, job.text())
                    self.assertEqual(job.text().count("done"), 4)
        self.assert_nothing_left()

    def test_a_world_that_outlives_mpi(self):
        for setting in ({"OPENTCA_PROGRESS_THREAD": "1"}, {"OPENTCA_CHANNEL": "mpi/rma"}):
            with self.subTest(setting=setting):
                job = self.world(3, "outlives", "--steps", "200", **setting)
                self.assertEqual(job.end(SOON), 0, job.text())
                self.assertEqual(job.text().count("done"), 3)
        self.assert_nothing_left()

    def test_a_forked_child_does_not_speak_for_its_rank(self):
        for fabric in FABRICS:
            for setting in ({"OPENTCA_PROGRESS_THREAD": "1"}, {"OPENTCA_CHANNEL": "mpi/rma"}):
                with self.subTest(fabric=fabric, setting=setting):
                    setting = {"OPENTCA_SUBCLUSTER": "1", **setting}
                    job = self.world(3, "forks", "--steps", "30", fabric=fabric, **setting)
                    self.assertEqual(job.end(SOON), 0, job.text())
                    self.assertEqual(job.text().count("child returns 0"), 6)
                    self.assertEqual(job.text().count("done"), 6)
        job = self.world(3, "forks", "--who", "1", "--how", "kill", "--step", "30", OPENTCA_TIME_LIMIT=str(2 * SOON))
        self.ends_in_words(job, "rank 1.*(died|signal 9)|BAD TERMINATION")

    # mpirun ends the others when it sees it, which a shell keeps from it for a second: they have said by then what they saw.
    def test_a_killed_rank(self):
        for fabric, who in zip(FABRICS, (0, 2)):
            with self.subTest(fabric=fabric, who=who):
                script = f"{PROGRAM} ring --who {who} --how kill --step 30; code=$?; sleep 1; exit $code"
                job = self.world(3, fabric=fabric, programs=["sh", "-c", script])
                died = rf"rank {who} died \(its process has ended\) while rank"
                self.ends_in_words(job, *(f"rank {rank}: {died} {rank} was" for rank in range(3) if rank != who))

    def test_a_rank_that_throws(self):
        job = self.world(3, "ring", "--who", "1", "--how", "throw", "--step", "30")
        self.ends_in_words(job, "rank 1: this rank has its own reasons")

    def test_a_rank_that_exits(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                job = self.world(3, "ring", "--who", "1", "--how", "exit", "--step", "30", fabric=fabric,
                                 OPENTCA_TIME_LIMIT=str(2 * SOON))  # fmt: skip
                # mpirun tells the first code that it hears of: this rank's, or that of one which has lost it.
                self.assertIn(job.end(SOON), (3, RANK_LOST), job.text())
        self.assert_nothing_left()

    def test_ranks_that_all_exit_well(self):
        job = self.world(3, "exits", "--steps", "30", OPENTCA_PROGRESS_THREAD="1")
        self.assertEqual(job.end(SOON), 0, job.text())
        self.assertEqual(job.text().count("done"), 3)

    def test_a_rank_that_leaves_early(self):
        job = self.world(3, "ring", "--who", "1", "--how", "return", "--step", "30")
        self.ends_in_words(job, "rank 1 left the world while rank [02] was waiting for it in step 30 of chain 'ring'")

    def test_a_rank_that_sleeps(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                job = self.in_vain("ring", "--who", "1", "--how", "sleep", "--step", "30", fabric=fabric)
                self.ends_in_words(job, f"{WAITED} in step 30 of chain 'ring' for rank 1", within=SOON + TIME_LIMIT)

    # They end without it as well.
    def test_ranks_that_go_on_without_one_that_sleeps(self):
        for fabric in FABRICS:
            with self.subTest(fabric=fabric):
                job = self.in_vain("catches", "--who", "1", "--how", "sleep", "--step", "30", fabric=fabric)
                words = rf"goes on after rank \d {WAITED} in step 30 of chain 'ring' for rank"
                self.ends_in_words(job, words, within=SOON + TIME_LIMIT)

    def test_ranks_that_go_on_in_another_world(self):
        job = self.world(3, "recovers", "--who", "1", "--how", "nap", "--step", "30")
        self.assertEqual(job.end(SOON), 0, job.text())
        self.assertEqual(job.text().count("goes on after rank"), 2)
        self.assertEqual(job.text().count("done"), 3)

    # The others have come to the end of the world, and do not end it.
    def test_a_rank_that_still_writes_its_results(self):
        for channel in ("mpi/datatype", "mpi/rma"):
            with self.subTest(channel=channel):
                job = self.world(3, "writes", "--who", "1", "--steps", "30", OPENTCA_TIME_LIMIT="1", OPENTCA_CHANNEL=channel)
                self.assertEqual(job.end(SOON), 0, job.text())
                self.assertIn("rank 1: has written", job.text())
        self.assert_nothing_left()

    def test_a_rank_that_sleeps_between_start_up_and_the_first_window(self):
        job = self.in_vain("ring", "--who", "2", "--how", "sleep_after_init")
        self.ends_in_words(job, r"waited .* in creation of window 0 for rank 2; did it make the same call", within=SOON + TIME_LIMIT)

    def test_a_rank_that_never_comes(self):
        job = self.in_vain("before_init", "--who", "1", "--how", "sleep")
        self.ends_in_words(job, f"{WAITED} in start-up .* for rank 1; was it started", within=SOON + TIME_LIMIT)

    # Where the launcher does not say who is on which host, they meet in MPI first.
    def test_a_rank_that_never_comes_from_anywhere(self):
        launcher = ["env", "-u", "OMPI_COMM_WORLD_LOCAL_SIZE", "-u", "MPI_LOCALNRANKS", PROGRAM]
        job = self.in_vain("before_init", "--who", "1", "--how", "sleep", programs=launcher)
        self.ends_in_words(job, rf"MPI_Init.* did not return within {SHORT_LIMIT:.1f} s", within=SOON + TIME_LIMIT)

    # MPI_Finalize would wait for the one that hangs.
    @unittest.skipUnless(WITHIN_MPI, "the examples are not built")
    def test_a_program_of_mpis_own_that_catches_it(self):
        cells = "100000"  # for hours
        job = self.world(2, cells, fabric="shm+mpi", programs=[WITHIN_MPI], OPENTCA_TIME_LIMIT=str(SHORT_LIMIT))
        self.assertTrue(wait_until(lambda: len(self.who_have_windows()) == 2), job.text())
        os.kill(self.who_have_windows()[0], signal.SIGSTOP)
        self.ends_in_words(job, rf"rank \d {WAITED} .* for rank \d", within=SOON + TIME_LIMIT)

    def who_have_windows(self):
        found = []
        for pid in processes_with(self.marker):
            try:
                with open(f"/proc/{pid}/maps") as file:
                    found += [pid] if "/memfd:opentca" in file.read() else []
            except OSError:
                continue  # it has ended
        return found

    def test_ranks_that_disagree(self):
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        for fabric, setting, words in (
            ("mpi", "OPENTCA_FABRIC=shm+mpi", r"rank 1 asks for the fabric shm\+mpi, rank 0 for mpi; give every rank the same"),
            ("mpi", "OPENTCA_SUBCLUSTER=2", "rank 1 has OPENTCA_SUBCLUSTER=2, rank 0 0 .0: not set.; give every rank the same"),
            ("", "OPENTCA_FABRIC=mpi", "rank 1 asks for the fabric mpi, rank 0 for shm; give every rank the same"),
            ("", "OPENTCA_SUBCLUSTER=2", r"rank 1 asks for the fabric shm\+mpi, rank 0 for shm; .*OPENTCA_SUBCLUSTER asks for"),
        ):
            with self.subTest(fabric=fabric, setting=setting):
                script = f'[ "{rank}" = 1 ] && export {setting}; exec {PROGRAM} ring'
                job = self.world(3, fabric=fabric, programs=["sh", "-c", script])
                self.assertEqual(job.end(SOON), INCOMPATIBLE, job.text())
                self.assertRegex(job.text(), words)

    def test_a_rank_that_asks_for_what_cannot_be(self):
        rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
        for fabric, setting, words in (
            ("", "OPENTCA_TIME_LIMIT=x", "rank 1: OPENTCA_TIME_LIMIT=x is not a number of seconds"),
            ("mpi", "OPENTCA_PROGRESS_THREAD=2", "rank 1: OPENTCA_PROGRESS_THREAD=2 is neither 0 nor 1"),
            ("mpi", "OPENTCA_FABRIC=peach", "rank 1: OPENTCA_FABRIC is 'peach', and there is no such fabric"),
            ("mpi", "OPENTCA_SUBCLUSTER=x", "rank 1: OPENTCA_SUBCLUSTER=x is not a number of ranks"),
        ):
            with self.subTest(fabric=fabric, setting=setting):
                script = f'[ "{rank}" = 1 ] && export {setting}; exec {PROGRAM} ring'
                job = self.world(3, fabric=fabric, programs=["sh", "-c", script])
                self.assertEqual(job.end(SOON), USAGE, job.text())
                self.assertIn(words, job.text())
                self.assertNotIn("was lost", job.text())

    @unittest.skipUnless(OTHER, "needs a static library, to build a program with another version of it")
    def test_ranks_of_different_builds(self):
        script = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && exec {OTHER} ring; exec {PROGRAM} ring'
        for where, words in (
            ([], r"rank 1 runs OpenTCA \S+ \(interface 0x"),  # on one host memory tells first
            (["env", "-u", "OMPI_COMM_WORLD_LOCAL_SIZE", "-u", "MPI_LOCALNRANKS"], r"OpenTCA \S+ \(messages 0\), rank 0 \S+ \(messages \d+\)"),
        ):
            with self.subTest(where=where):
                job = self.world(3, fabric="mpi", programs=[*where, "sh", "-c", script])
                self.assertEqual(job.end(SOON), INCOMPATIBLE, job.text())
                self.assertRegex(job.text(), words + ".*; start every rank from the same build")

    def test_a_split_host_takes_mpi_unasked(self):
        barrier = ("bench", "barrier", "-n", "3", "--rounds", "1", "--placements", "1")
        for split, options in (({}, ("--sub-cluster", "2")), ({"OPENTCA_SUBCLUSTER": "2"}, ())):
            for command, words in (
                (("explain", "-n", "3", "--to", "2"), r"to rank 2 \(far\b(.|\n)*rank 0 takes mpi/"),
                (barrier, r"OpenTCA shm\+mpi/"),
                (("run", "-n", "3", *options, "--", "sh", "-c", "echo $OPENTCA_FABRIC"), r"(shm\+mpi\s*){3}"),
            ):
                own = options if command[0] != "run" else ()
                with self.subTest(command=command[0], split=split):
                    job = self.start([TCA, *command, *own], OPENTCA_TUNING="off", **split)
                    self.assertEqual(job.end(SOON), 0, job.text())
                    self.assertRegex(job.text(), words)

    def test_a_sub_cluster_of_nothing(self):
        job = self.world(2, "ring", fabric="shm+mpi", OPENTCA_SUBCLUSTER="0")
        self.assertEqual(job.end(SOON), USAGE, job.text())
        self.assertIn("OPENTCA_SUBCLUSTER=0 is not a number of ranks, 1 or more", job.text())

    def test_a_split_host_on_a_fabric_that_cannot_cross(self):
        words = r"fabric shm: rank 2 is in another sub-cluster than rank 0 \(OPENTCA_SUBCLUSTER=2\).*; choose shm\+mpi or mpi"
        for job in (
            self.world(3, "ring", fabric="shm", OPENTCA_SUBCLUSTER="2"),
            self.tca_run(3, PROGRAM, "ring", OPENTCA_FABRIC="shm", OPENTCA_SUBCLUSTER="2"),
        ):
            self.assertEqual(job.end(SOON), USAGE, job.text())
            self.assertRegex(job.text(), words)

    def test_ranks_of_a_launcher_that_mpi_does_not_know(self):
        # Each would be alone in a world of its own, and end well.
        for launcher in ("an MPICH that is not there", "srun over several hosts"):
            for fabric in FABRICS if launcher.startswith("an") else ("", *FABRICS):
                with self.subTest(launcher=launcher, fabric=fabric):
                    slurm = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_NUM_NODES": "2"}
                    ranks = [
                        self.start(
                            [PROGRAM, "ring", "--steps", "3"], OPENTCA_FABRIC=fabric, OPENTCA_TIME_LIMIT=str(TIME_LIMIT),
                            **({"PMI_RANK": rank, "PMI_SIZE": "2"} if launcher.startswith("an") else {**slurm, "SLURM_PROCID": rank}),
                        )
                        for rank in ("0", "1")
                    ]  # fmt: skip
                    for process in ranks:
                        self.assertEqual(process.end(SOON), INCOMPATIBLE, process.text())
                        self.assertRegex(process.text(), "started 2 ranks.*MPI that OpenTCA was built with.*knows nothing of them")
        self.assert_nothing_left()

    def test_ranks_of_tca_run(self):
        # By mpirun where it sees the fabric; by itself where only the program does.
        job = self.tca_run(2, PROGRAM, "ring", "--steps", "3", OPENTCA_FABRIC="mpi")
        self.assertEqual(job.end(SOON), 0, job.text())
        job = self.tca_run(2, "sh", "-c", f"OPENTCA_FABRIC=mpi exec {PROGRAM} ring")
        self.assertEqual(job.end(), USAGE, job.text())
        self.assertIn("MPI knows nothing of ranks that tca run has started by itself", job.text())

    def test_folders_of_launches_that_were_killed(self):
        """Those of another container may be in use: what its processes are called here says nothing of them."""
        ended = subprocess.Popen(["true"])
        ended.wait()
        own, other = (f"/dev/shm/opentca-mpirun.{space}.{ended.pid}" for space in (os.stat("/proc/self/ns/pid").st_ino, 1))
        for folder in (own, other):
            os.mkdir(folder)
            self.addCleanup(lambda folder=folder: os.path.isdir(folder) and os.rmdir(folder))
        job = self.tca_run(1, "true", options=("--fabric", "mpi"))
        self.assertEqual(job.end(SOON), 0, job.text())
        self.assertEqual([os.path.isdir(folder) for folder in (own, other)], [False, True])

    def test_programs_that_are_not_there(self):
        for program, words in (("./nothere", "No such file or directory"), ("nothere", "there is no such program in PATH")):
            job = self.tca_run(2, program, options=("--fabric", "mpi"))
            self.assertEqual(job.end(SOON), 127, job.text())
            self.assertEqual(job.text(), f"tca run: {program}: {words}")


if __name__ == "__main__":
    unittest.main()
