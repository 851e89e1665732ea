"""Which processors `tca run` binds its ranks to, beside other jobs and within limits.

Standard library only. TCA names the command line under test, MPIRUN mpirun; the latter may be empty."""

import os
import re
import shutil
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest

MPIRUN = os.environ.get("MPIRUN", "") if os.environ.get("TCA_HAS_MPI") else ""
CPUS = sorted(os.sched_getaffinity(0))
# Ranks that are bound elsewhere on the machine are not seen from a PID namespace.
NAMESPACES = (["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"],
              ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"])  # fmt: skip


def namespace():
    for command in NAMESPACES:
        if shutil.which(command[0]) and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return command
    return None


NAMESPACE = namespace()
WHERE = "grep Cpus_allowed_list /proc/self/status | cut -f2"


def listed(text):
    """The processors of a list such as 0-2,5."""
    found = set()
    for piece in filter(None, text.strip().split(",")):
        first, _, last = piece.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


EVERY = frozenset(CPUS)


@unittest.skipUnless(NAMESPACE, "needs a PID namespace of its own (unshare)")
@unittest.skipIf(len(CPUS) < 2, "needs two processors")
class Binding(CommandTest):
    def alone(self, script, **environment):
        """Runs a script with nobody else in sight."""
        done = subprocess.run(
            [*NAMESPACE, "sh", "-c", script], capture_output=True, text=True, timeout=PATIENCE,
            env={**self.environment, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **environment},
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def where(self, ranks, options="--bind auto", before="", **environment):
        """The processors of each rank, and what `tca run` says."""
        done = self.alone(f"{before}{TCA} run -n {ranks} {options} -- sh -c '{WHERE}'", **environment)
        return [listed(line) for line in done.stdout.splitlines()], done.stderr

    @staticmethod
    def bound_to(processor):
        """Starts another process there."""
        return f"taskset -c {processor} sleep 60 & until [ $(cat /proc/$!/comm) = sleep ]; do sleep 0.02; done; "

    def assert_unbound(self, found, reason, every=EVERY):
        places, said = found
        self.assertEqual(set(places), {every}, said)
        self.assertRegex(said, f"^tca run: --bind: not bound: {reason}")

    def test_each_rank_has_a_processor_of_its_own(self):
        places, said = self.where(2)
        self.assertEqual(sorted(map(len, places)), [1, 1])
        self.assertEqual(len(set(places)), 2)
        self.assertRegex(said, r"^tca run: --bind: (ranks 0 to 1 on processors \d+ to \d+|rank 0 on processor .*)\n$")
        self.assertEqual(self.where(2, "")[1], "")

    def test_not_a_single_rank(self):
        self.assert_unbound(self.where(1), "a single rank competes with nobody")
        places, said = self.where(1, "--bind core")
        self.assertEqual([len(place) for place in places], [1])
        self.assertRegex(said, r"^tca run: --bind: rank 0 on processor \d+\n$")

    def test_not_where_threads_are_asked_for(self):
        for variable, value in (("OMP_NUM_THREADS", "4"), ("OMP_NUM_THREADS", "1,2"), ("OMP_PROC_BIND", "close"), ("OMP_PLACES", "cores"),
                                ("MKL_NUM_THREADS", "2")):  # fmt: skip
            self.assert_unbound(self.where(2, **{variable: value}), f"{variable}={value} asks for threads")
        for variable, value in (("OMP_NUM_THREADS", "1"), ("OMP_PROC_BIND", "false")):
            self.assertEqual(len(set(self.where(2, **{variable: value})[0])), 2, variable)

    def test_not_more_ranks_than_processors(self):
        ranks = len(CPUS) + 1
        self.assert_unbound(self.where(ranks), f"{ranks} ranks are more than the {len(CPUS)} processors")
        places, said = self.where(ranks, "--bind core")
        self.assertEqual(len(set(places)), len(CPUS))
        self.assertIn(f", and so on from rank {len(CPUS)}; {ranks} ranks share {len(CPUS)} processors", said)
        self.assertEqual(set(self.where(2, "--bind none")[0]), {EVERY})

    def test_only_where_this_job_may_run(self):
        last = CPUS[-1]
        self.assertEqual(self.where(1, "--bind core", f"taskset -c {last} ")[0], [{last}])
        self.assert_unbound(self.where(2, before=f"taskset -c {last} "), "2 ranks are more than the 1 processor ", frozenset({last}))

    def test_beside_a_process_that_is_bound(self):
        first = CPUS[0]
        other = self.bound_to(first)
        self.assert_unbound(self.where(len(CPUS), before=other), f"others are bound to processor {first}, so that {len(CPUS)} ranks find")
        places, said = self.where(len(CPUS), "--bind core", before=other)
        self.assertEqual(len(set(places)), len(CPUS))
        self.assertIn("others are bound there too", said)
        self.assertNotEqual(self.where(1, "--bind core", before=other)[0], [{first}])
        if len(CPUS) >= 4:
            places, _ = self.where(2, before=other)
            self.assertEqual([len(place) for place in places], [1, 1])
            self.assertNotIn({first}, places)

    def test_jobs_that_start_at_once_do_not_share_processors(self):
        # Every rank waits until the others of both jobs have come.
        ranks = len(CPUS)
        script = (
            f"{WHERE} > $JOB.$OPENTCA_RANK; mv $JOB.$OPENTCA_RANK is.$JOB.$OPENTCA_RANK; "
            f"until [ $(ls is.* | wc -l) = {2 * ranks} ]; do sleep 0.02; done"
        )
        job = f"{TCA} run -n {ranks} -- sh -c '{script}' &"
        for _ in range(3):
            folder = self.path("jobs")
            os.mkdir(folder)
            self.alone(f"cd {folder}; JOB=a {job} JOB=b {job} wait")
            places = {name: [] for name in "ab"}
            for name in os.listdir(folder):
                with open(os.path.join(folder, name)) as file:
                    places[name.split(".")[1]].append(listed(file.read()))
            bound = [name for name in "ab" if len(set(places[name])) == ranks]
            self.assertEqual(len(bound), 1, places)
            self.assertEqual(set(places["a" if bound == ["b"] else "b"]), {EVERY}, places)
            shutil.rmtree(folder)

    def test_not_beyond_the_time_that_a_cgroup_allows(self):
        for parent, files in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "150000"}),
                              ("/sys/fs/cgroup", {"cpu.max": "150000 100000"})):  # fmt: skip
            folder = os.path.join(parent, f"tca-test-{os.getpid()}")
            try:
                os.mkdir(folder)
            except OSError:
                continue
            self.addCleanup(os.rmdir, folder)
            try:
                for name, text in files.items():
                    with open(os.path.join(folder, name), "w") as file:
                        file.write(text)
            except OSError:
                continue
            found = self.where(2, before=f"echo $$ > {folder}/cgroup.procs; ")
            self.assert_unbound(found, "2 ranks share the time of 1.5 processors")
            return
        self.skipTest("no cgroup with a limit of processor time can be made here")

    @unittest.skipUnless(MPIRUN, "mpirun is not on this machine, or MPI not in this build")
    def test_under_mpirun(self):
        over_mpi = "--fabric mpi --bind auto"
        places, said = self.where(2, over_mpi)
        if re.search("mpirun binds each rank to a core", said):
            self.assertEqual(len(set(places)), 2)
        else:  # two threads of one core
            self.assertEqual(set(places), {EVERY})
        self.assert_unbound(self.where(1, over_mpi), "a single rank")
        first = CPUS[0]
        self.assert_unbound(self.where(len(CPUS), over_mpi, before=self.bound_to(first)), "(others are bound|.* more than)")
        if len(CPUS) >= 6:
            places, said = self.where(2, over_mpi, before=self.bound_to(first))
            self.assertEqual([len(place) for place in places], [2, 2], said)
            self.assertFalse(any(first in place for place in places), said)
            self.assertIn("the ranks share processors", said)


if __name__ == "__main__":
    unittest.main()
