"""`tca tune`, `tca explain` and the tuning tables as people meet them: kept, damaged, foreign, interrupted.

Standard library only. TCA names the command line under test, RANK_PROGRAM the program that plays the ranks."""

import glob
import json
import os
import re
import signal
import subprocess
import unittest

from commands import processes_with, wait_until
from world import CUDA, DEVICE_FAILED, INCOMPATIBLE, MPIRUN, PROGRAM, TCA, USAGE, WorldTest


class Tuning(WorldTest):
    def setUp(self):
        super().setUp()
        self.environment["XDG_CACHE_HOME"] = self.folder

    def tables(self):
        return glob.glob(os.path.join(self.folder, "opentca", "*"))

    def tune(self, *arguments, every=100, **environment):
        # No longer than it takes to measure some puts three times.
        return self.start([TCA, "tune", "--seconds", "0", "--every", str(every), *arguments], **environment)

    def explain(self, *arguments, **environment):
        return self.start([TCA, "explain", *arguments], **environment)

    def edit(self, path, change):
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(change(text))


class Kept(Tuning):
    def test_is_used_until_it_is_damaged_or_left_out(self):
        tuned = self.tune("--json", self.path("all.jsonl"), every=16)
        self.assert_ends(tuned, 0)
        (table,) = self.tables()
        self.assertRegex(
            tuned.text(),
            r"^measured  \d+ puts; .*\naccuracy  within [\d.]+ % .*\ngain      (none: .*|\d+ of \d+ steps .*)\n"
            rf"table     {re.escape(table)} holds \d+ pieces; .*\nnext      .*$",
        )
        with open(self.path("all.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual({line["protocol"] for line in lines}, {"direct", "pull", "staged"})
        self.assertEqual({line["bench"] for line in lines}, {"tune"})
        for line in lines:
            for key in ("step_us", "table_us"):
                self.assertEqual(line[key], float(f"{line[key]:.4g}"), key)

        explained = self.explain("--run", "8", "--runs", "4096", "--pitch", "512", "--to", "0")
        self.assert_ends(explained, 0, "costs by the table of 20", re.escape(table), "chosen: the cheapest")
        self.assertNotIn("is not used", explained.text())
        off = self.explain("--to", "0", OPENTCA_TUNING="off")
        self.assert_ends(off, 0, "costs by the built-in table")

        self.edit(table, lambda text: text[: len(text) // 2])
        cut = self.explain("--to", "0")
        self.assert_ends(cut, 0, "costs by the built-in table", "is not used: it was cut off or changed")
        self.assertEqual(cut.text().count("is not used"), 1)

    def test_a_link_stays_and_what_is_no_file_as_well(self):
        os.symlink("table.toml", self.path("link"))
        self.assert_ends(self.tune("--output", self.path("link")), 0)
        self.assertEqual(os.readlink(self.path("link")), "table.toml")
        self.assertTrue(os.path.isfile(self.path("table.toml")))
        os.mkfifo(self.path("pipe"))
        self.assert_ends(self.tune("--output", self.path("pipe")), USAGE, "/pipe: not a regular file$")
        os.symlink("drawing.svg", self.path("drawn.svg"))
        drawn = ("--plot", self.path("drawn.svg"), "--output", self.path("pipe"))
        self.assert_ends(self.tune(*drawn), USAGE, "/pipe: not a regular file$|install the package python3-matplotlib$")
        self.assertEqual(os.readlink(self.path("drawn.svg")), "drawing.svg")
        self.assertFalse(os.path.exists(self.path("drawing.svg")))
        same = ("--output", self.path("link"), "--json", self.path("table.toml"))
        self.assert_ends(self.tune(*same), USAGE, "--output and --json name the same file")

    def test_a_modelled_machine_has_none(self):
        self.assert_ends(self.tune("--fabric", "sim"), USAGE, "a modelled machine is not tuned")
        self.assert_ends(self.tune(OPENTCA_FABRIC="foo"), USAGE, "tca tune: OPENTCA_FABRIC: `foo`: choose shm, ")
        self.assert_ends(self.tune(OPENTCA_FABRIC="sim"), USAGE, "a modelled machine is not tuned")

    def test_another_users_version_and_machine(self):
        self.assert_ends(self.tune("--output", self.path("table.toml")), 0)
        self.assertEqual(self.tables(), [])
        for change in (
            lambda text: text.replace('opentca = "', 'opentca = "9.'),
            lambda text: text.replace('hardware = "', 'hardware = "PEACH2 '),
        ):
            with open(self.path("table.toml")) as file:
                text = change(file.read())
            body = text[text.index("\n") + 1 :]
            total = 0xCBF29CE484222325
            for byte in body.encode():
                total = ((total ^ byte) * 0x100000001B3) % 2**64
            with open(self.path("other.toml"), "w") as file:
                file.write(f'checksum = "{total:016x}"' + text[text.index("  # of all") : text.index("\n") + 1] + body)
            told = self.explain(OPENTCA_TUNING=self.path("other.toml"))
            self.assert_ends(told, 0, "is not used: it was measured (with OpenTCA 9|on other hardware .PEACH2)")

    def test_nothing_is_kept_when_told_so(self):
        self.assert_ends(self.tune("--dry-run", "--trace"), 0, "each channel", "shm/direct")
        self.assertEqual(self.tables(), [])

    def test_what_cannot_be_asked(self):
        self.assert_ends(self.tune("--ranks", "1"), USAGE, "--ranks 1: 2 to 4096")
        self.assert_ends(self.start([TCA, "tune", "--verify", "--dry-run"]), USAGE, "--verify writes no table")
        for reason, arguments in (
            ("--points is for --verify", ("--points", "10")),
            ("--seed is for --verify", ("--seed", "2")),
            ("--every is for measuring a table, not for --verify", ("--verify", "--every", "2")),
            ("--output is for a table that is kept, not for --dry-run", ("--dry-run", "--output", self.path("t.toml"))),
        ):
            self.assert_ends(self.start([TCA, "tune", *arguments]), USAGE, f"^tca tune: {reason}$")
        self.assert_ends(self.tune("--threads"), USAGE, "--threads is for --fabric cuda")
        self.assert_ends(self.tune("--json", "/nowhere/all.jsonl"), USAGE, "/nowhere/all.jsonl: cannot be written: No such file")
        for name, reason in (("all.txt", r"must end in \.svg"), ("/nowhere/all.svg", "/nowhere/all.svg: cannot be written")):
            self.assert_ends(self.tune("--plot", self.path(name)), USAGE, reason)
        for place in (self.folder, "/proc/x.toml", self.path("no/such/t.toml"), self.path("n" * 250)):
            self.assert_ends(self.start([TCA, "tune", "-o", place]), USAGE, f"^tca tune: {place}: cannot be written: ")
        self.assertEqual(os.listdir(self.folder), [])
        plot = ("--plot", self.path("all.svg"))
        self.assert_ends(self.tune(*plot, TMPDIR="/nowhere"), USAGE, "no folder for a temporary file: .*; set TMPDIR$")
        self.assert_ends(self.tune(*plot, TMPDIR="/proc"), USAGE, "/proc/tca-.*: cannot be written: .*; set TMPDIR to another")
        # What was looked at first is not left behind by what is refused next.
        json = ("--json", self.path("all.jsonl"))
        self.assert_ends(self.tune(*json, "--plot", self.path("all.txt")), USAGE, r"must end in \.svg")
        self.assertEqual(os.listdir(self.folder), [])
        unwritable = self.start([TCA, "tune"], XDG_CACHE_HOME="/proc")
        self.assert_ends(unwritable, USAGE, "^tca tune: /proc/opentca/tuning-.*: cannot be written: .*; give --output FILE")
        elsewhere = self.tune(OPENTCA_TUNING="/nowhere/t.toml", XDG_CACHE_HOME="/proc")
        self.assert_ends(elsewhere, USAGE, "^tca tune: OPENTCA_TUNING=/nowhere/t.toml has commits use that table")
        nowhere = {k: v for k, v in self.environment.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        self.environment = nowhere
        self.assert_ends(self.tune(), USAGE, "nowhere to keep the table")


class Interrupted(Tuning):
    def test_leaves_no_file(self):
        process = self.start([TCA, "tune"])
        self.assertTrue(wait_until(lambda: len(processes_with(self.marker)) >= 3))  # tca and its ranks
        process.popen.send_signal(signal.SIGINT)
        self.assert_ends(process, 128 + signal.SIGINT, "interrupted; 2 ranks ended")
        self.assertEqual(self.tables(), [])
        self.assert_nothing_left()


class Measured(Tuning):
    def test_verify_says_how_many_and_why(self):
        process = self.start([TCA, "tune", "--verify", "--points", "8", "--seconds", "0"])
        code = process.end(60)
        self.assertRegex(process.text(), r"\d of 8 puts \(\d+\.\d %\) take a channel within 10 %")
        share = float(re.search(r"\((\d+\.\d) %\) take", process.text())[1])
        self.assertEqual(code, 0 if share >= 95 else 1, process.text())
        self.assertRegex(process.text(), "by the built-in table; 2 ranks of shm")
        self.assertEqual(self.tables(), [])

    @unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
    def test_a_channel_that_takes_no_chains_is_left_out(self):
        if "Open MPI" not in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout:
            self.skipTest("only Open MPI can be told to make no windows")
        # With this component alone it makes none of memory that is there already.
        process = self.tune("--fabric", "shm+mpi", "--verbose", "--json", self.path("t.jsonl"), OMPI_MCA_osc="sm")
        self.assert_ends(process, 0, "ranks of shm\\+mpi", "holds .* pieces")
        with open(self.path("t.jsonl")) as file:
            lines = [json.loads(line) for line in file]
        self.assertIn("mpi", lines[0]["versions"])
        # Both fabrics serve a rank itself, which takes the cheapest of either.
        kinds = re.findall(r"(?m)^  self  (.{48})", process.text())
        self.assertTrue(kinds)
        self.assertEqual(len(kinds), len(set(kinds)), process.text())
        protocols = {line["protocol"] for line in lines}
        self.assertIn("packed", protocols)
        self.assertNotIn("rma", protocols)

    def test_commit_is_split_into_the_fabrics_work_and_the_rest(self):
        process = self.start([TCA, "bench", "commit", "--rounds", "2", "--placements", "1", "--json", self.path("c.jsonl")])
        self.assert_ends(process, 0, "commit of 64 descriptors", "the fabric's own work", "beyond it")
        with open(self.path("c.jsonl")) as file:
            line = json.loads(file.readline())
        self.assertEqual((line["bench"], line["n"]), ("commit", 64))
        self.assertEqual(line["fabric"], "shm")
        for key in ("whole_us", "fabric_us", "route_us"):
            self.assertGreater(line[key], 0, key)
            self.assertEqual(line[key], float(f"{line[key]:.4g}"), key)

    def test_commit_is_measured_on_one_fabric_and_beside_nobody(self):
        built = {"mpi": os.environ.get("TCA_HAS_MPI"), "cuda": CUDA}
        for fabric in ("mpi", "shm+mpi", "cuda", "cuda+mpi"):
            if not all(built.get(part, True) for part in fabric.split("+")):
                continue
            process = self.start([TCA, "bench", "commit", "--fabric", fabric])
            self.assert_ends(process, USAGE, re.escape(f"commit is measured on shm and on sim, not on {fabric}; say --fabric shm"))
        if built["mpi"]:
            # Which takes shm+mpi by itself.
            self.assert_ends(self.start([TCA, "bench", "commit", "--sub-cluster", "1"]), USAGE, r"not on shm\+mpi")
        self.assert_ends(self.start([TCA, "bench", "commit", "--peer", "mpi"]), USAGE, "--peer mpi knows no commit")

    def test_commit_of_a_halo_on_a_modelled_machine(self):
        modelled = ["--fabric", "sim", "--machine", "quong", "--ranks", "8", "--json", self.path("c.jsonl")]
        process = self.start([TCA, "bench", "commit", *modelled])
        self.assert_ends(process, 0, "a model of QUonG", "commit, us a rank", "memory of the commit, KB a rank")
        with open(self.path("c.jsonl")) as file:
            line = json.loads(file.readline())
        self.assertEqual((line["bench"], line["fabric"], line["ranks"], line["n"]), ("commit", "sim", 8, 26))
        for key in ("commit_s", "whole_s"):
            self.assertGreater(line[key], 0, key)
        self.assertGreaterEqual(line["commit_bytes_a_rank"], 0)  # AddressSanitizer's allocator does not count


class Explain(Tuning):
    def test_every_channel_and_why(self):
        process = self.explain("--run", "65536", OPENTCA_TUNING="off")
        self.assert_ends(process, 0, r"65536 bytes, block, from rank 0 to rank 1 \((near|far)", r"shm/direct +\d", "chosen")
        forced = self.explain("--run", "65536", OPENTCA_CHANNEL="pull")
        self.assert_ends(forced, 0, r"shm/pull .*chosen: forced to channel 'pull'")

    def test_what_cannot_be(self):
        self.assert_ends(self.explain("--to", "5"), USAGE, "--to 5: there are the ranks 0 to 1")
        self.assert_ends(self.explain("--run", "0"), USAGE, "--run: 0 is no size from 1 to ")
        split = self.explain("--fabric", "sim", "--sub-cluster", "2")
        self.assert_ends(split, USAGE, "^tca explain: --sub-cluster: a modelled machine has its own")
        bound = self.explain("--fabric", "sim", "--bind", "core")
        self.assert_ends(bound, USAGE, "^tca explain: --bind is for ranks that are processes, not for --fabric sim$")
        self.assert_ends(self.explain("--run", "64", "--runs", "2", "--pitch", "8"), USAGE, "--pitch 8: runs of 64")
        self.assert_ends(self.explain("--run", "64", "--pitch", "128"), USAGE, "--pitch 128: there is a single row")
        self.assert_ends(self.explain("--channel", "teleport"), USAGE, "is none of the channels that reach rank 1")

    def test_former_names(self):
        pull = r"shm/pull .*chosen: forced to channel 'pull'"
        self.assert_ends(self.explain("--route", "pull"), 0, pull)
        self.assert_ends(self.explain("--route", "pull", "--channel", "pull"), 0, pull)
        self.assert_ends(self.explain(OPENTCA_ROUTE="pull"), 0, pull)
        twice = self.explain("--route", "pull", "--channel", "staged")
        self.assert_ends(twice, USAGE, "^tca explain: --route: pull contradicts --channel staged")
        both = self.explain(OPENTCA_ROUTE="pull", OPENTCA_CHANNEL="staged")
        self.assert_ends(both, USAGE, "OPENTCA_ROUTE=pull contradicts OPENTCA_CHANNEL=staged")
        self.assertNotIn("--route", self.explain("--help").text())


class Info(Tuning):
    def info(self, **environment):
        process = self.start([TCA, "info", "--ranks", "2"], **environment)
        self.assertEqual(process.end(), 0, process.text())
        return process.text().split("With 2 ranks here")[1].split("Environment")[0]

    def plan(self, **environment):
        process = self.start([TCA, "info", "--ranks", "2", "--json"], **environment)
        self.assertEqual(process.end(), 0, process.text())
        return json.loads(process.text())["plan"]

    def test_what_would_be_used(self):
        self.assertRegex(self.info(), r"fabric +shm\n +channels +chosen for each put at commit; .*\n +ranks +processes of tca run")
        self.assertRegex(self.info(OPENTCA_FABRIC="sim", OPENTCA_CHANNEL="tca"), r"fabric +sim\n +channels +tca for every put\n +ranks +threads")
        self.assertRegex(self.info(OPENTCA_FABRIC="foo"), "fabric +OPENTCA_FABRIC is 'foo', and there is no such fabric")
        self.assertRegex(self.info(OPENTCA_SUBCLUSTER="x"), "fabric +OPENTCA_SUBCLUSTER=x is not a number of ranks")
        plan = self.plan(OPENTCA_FABRIC="foo", OPENTCA_CHANNEL="pull")
        self.assertEqual((plan["fabric"], plan["channel"], plan["sub_cluster"]), (None, "pull", None))
        self.assertIn("'foo'", plan["problem"])

    def test_ranks_that_would_not_be_bound_and_why(self):
        ranks = len(os.sched_getaffinity(0)) + 1
        for fabric in ("shm", *(["mpi"] if os.environ.get("TCA_HAS_MPI") else [])):
            self.assertFalse(self.plan(OPENTCA_FABRIC=fabric, OMP_NUM_THREADS="2")["bound"])
            self.assertIn("not bound: OMP_NUM_THREADS=2 asks for threads", self.info(OPENTCA_FABRIC=fabric, OMP_NUM_THREADS="2"))
            process = self.start([TCA, "info", "--ranks", str(ranks)], OPENTCA_FABRIC=fabric)
            self.assert_ends(process, 0, f"not bound: {ranks} ranks are more than the")

    def test_threads_of_a_modelled_machine(self):
        self.assertFalse(self.plan(OPENTCA_FABRIC="sim")["bound"])
        run = [TCA, "run", "-n", "1"]
        self.assert_ends(self.start([*run, "--", "true"], OPENTCA_FABRIC="sim"), USAGE, "^tca run: OPENTCA_FABRIC=sim: .* threads")
        self.assert_ends(self.start([*run, "--fabric", "sim", "--", "true"]), USAGE, "^tca run: --fabric sim: .* threads")

    def test_what_a_world_would_refuse(self):
        for variable, value, fabric, words in (
            ("OPENTCA_TIME_LIMIT", "x", "shm", "OPENTCA_TIME_LIMIT=x is not a number of seconds"),
            ("OPENTCA_PROGRESS_THREAD", "2", "shm", "OPENTCA_PROGRESS_THREAD=2 is neither 0 nor 1"),
            ("OPENTCA_NONTEMPORAL", "perhaps", "shm", "OPENTCA_NONTEMPORAL=perhaps .*: say on or off"),
            ("OPENTCA_CHANNEL", "teleport", "shm", "OPENTCA_CHANNEL=teleport is none of the channels that reach rank 0, which are shm/"),
            ("OPENTCA_CHANNEL", "pull", "sim", "OPENTCA_CHANNEL=pull is none of the channels that reach rank 0, which are sim/"),
            ("OPENTCA_MACHINE", "atlantis", "sim", "there is no machine `atlantis`"),
            ("OPENTCA_FIDELITY", "none", "sim", "OPENTCA_FIDELITY.*none"),
        ):
            with self.subTest(variable=variable, fabric=fabric):
                asked = {variable: value, "OPENTCA_FABRIC": fabric}
                self.assertRegex(self.info(**asked), rf"fabric +{fabric}\n.*\n +problem +{words}")
                plan = self.plan(**asked)
                self.assertEqual(plan["fabric"], fabric)
                self.assertRegex(plan["problem"], words)

    def test_a_table_that_is_not_used(self):
        told = self.start([TCA, "info"], OPENTCA_TUNING="/nowhere/t.toml")
        self.assert_ends(told, 0, "the tuning table /nowhere/t.toml is not used: it cannot be read: No such file")
        self.assertEqual(told.text().count("is not used"), 1)

    @unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
    def test_a_split_host(self):
        split = self.info(OPENTCA_SUBCLUSTER="1")
        self.assertRegex(split, r"fabric +shm\+mpi\n +sub-clusters +of 1 rank\n(.|\n)* ranks +processes of mpirun")
        self.assertEqual(self.plan(OPENTCA_SUBCLUSTER="1")["sub_cluster"], 1)

    @unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
    def test_what_a_world_over_mpi_would_refuse(self):
        for variable, value in (("OPENTCA_TIME_LIMIT", "x"), ("OPENTCA_PROGRESS_THREAD", "2")):
            told = self.info(**{"OPENTCA_FABRIC": "mpi", variable: value})
            self.assertRegex(told, rf"fabric +mpi\n.*\n +problem +{variable}={value} is ")


class Missing(Tuning):
    """Fabrics that a build may lack: every subcommand says so alike, before it starts anything."""

    def refused(self, fabric, reason):
        for command in (("himeno",), ("qcd", "invert"), ("bench", "pingpong"), ("tune",), ("explain",)):
            with self.subTest(command=command, fabric=fabric):
                process = self.start([TCA, *command, "--fabric", fabric])
                said = f"^tca {command[0]}: --fabric {re.escape(fabric)}: this tca was built without {reason}; install [^\n]*$"
                self.assert_ends(process, USAGE, said)

    @unittest.skipIf(CUDA, "this OpenTCA was built with CUDA")
    def test_cuda(self):
        self.refused("cuda", "CUDA")

    @unittest.skipIf(os.environ.get("TCA_HAS_MPI"), "this OpenTCA was built with MPI")
    def test_mpi(self):
        for fabric in ("mpi", "shm+mpi"):
            self.refused(fabric, "MPI")
        process = self.start([TCA, "bench", "pingpong", "--peer", "mpi"])
        self.assert_ends(process, USAGE, "^tca bench: --peer mpi: this tca was built without MPI; install [^\n]*$")


class SaidOnce(Tuning):
    """What several ranks of the command line's own have to say."""

    def test_what_all_say_alike(self):
        split = ("--ranks", "3", "--fabric", "shm", "--sub-cluster", "1")
        for process, code, line in (
            (self.explain(*split), USAGE, "tca explain: fabric shm: rank 1 is in another sub-cluster than rank 0 .*"),
            (self.explain(OPENTCA_TIME_LIMIT="x"), USAGE, "tca explain: OPENTCA_TIME_LIMIT=x is not a number of seconds from 0.001 to 1000000"),
        ):
            self.assertEqual(process.end(), code, process.text())
            self.assertRegex(process.text(), f"^{line}$")

    @unittest.skipUnless(CUDA, "this OpenTCA was built without CUDA")
    def test_that_there_is_no_gpu(self):
        process = self.start([TCA, "himeno", "--fabric", "cuda", "--ranks", "2", "--size", "XS"], CUDA_VISIBLE_DEVICES="")
        self.assertEqual(process.end(), DEVICE_FAILED, process.text())
        self.assertRegex(process.text(), "^tca himeno: fabric cuda needs an NVIDIA GPU .*$")

    @unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
    def test_under_mpirun(self):
        process = self.explain("--fabric", "mpi", OPENTCA_TIME_LIMIT="x")
        self.assertEqual(process.end(), USAGE, process.text())
        self.assertEqual(process.text().count("OPENTCA_TIME_LIMIT=x is not a number"), 1, process.text())

    @unittest.skipUnless(MPIRUN and os.environ.get("TCA_HAS_MPI"), "no fabric mpi in this build")
    def test_output_that_mpirun_cannot_write(self):
        for output, why in (("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            process = self.start(["sh", "-c", f"{TCA} explain --fabric mpi {output}"])
            self.assertEqual(process.end(), USAGE, process.text())
            self.assertRegex(process.text(), f"(?m)^tca explain: standard output: {why}$")

    def test_what_one_says_is_its_own(self):
        process = self.start(["sh", "-c", f"{TCA} explain --ranks 3 > /dev/full"])
        self.assertEqual(process.end(), USAGE, process.text())
        self.assertEqual(process.text(), "tca explain: rank 0: standard output: No space left on device")

    def test_what_rank_0_finds_for_all(self):
        process = self.explain("--ranks", "3", "--channel", "teleport")
        self.assertEqual(process.end(), USAGE, process.text())
        self.assertRegex(process.text(), "^tca explain: rank 0: channel 'teleport' is none of the channels [^\n]*$")

    def test_ranks_that_have_been_started_already(self):
        for reason, arguments in (
            ("--ranks 7: 2 ranks have been started already; leave --ranks out", ("--ranks", "7")),
            ("--threads: the ranks have been started already, as processes", ("--threads",)),
            ("--verify writes no table", ("--verify", "--output", self.path("t.toml"))),
            (r".*/all.foo: .* must end in \.svg", ("--plot", self.path("all.foo"))),
        ):
            with self.subTest(arguments=arguments):
                process = self.tca_run(2, TCA, "tune", *arguments)
                self.assert_ends(process, USAGE, f"(?m)^tca tune: rank 0: {reason}")
                self.assertEqual(process.text().count("tca tune"), 1, process.text())
        for command in (("bench", "barrier"), ("explain",), ("himeno",), ("qcd", "dslash")):
            with self.subTest(command=command):
                process = self.tca_run(2, TCA, *command, "--ranks", "7")
                self.assert_ends(process, USAGE, f"(?m)^tca {command[0]}: rank 0: --ranks 7: 2 ranks have been started already")
        measured = self.tca_run(2, TCA, "tune", "--seconds", "0", "--every", "100", "--dry-run", OPENTCA_TUNING="/nowhere/t.toml")
        self.assert_ends(measured, 0, r"\d+ puts; ")
        self.assertNotIn("is not used", measured.text())
        self.assertEqual(os.listdir(self.folder), [])

    def test_counts_that_cannot_be(self):
        for option, value in (
            *((option, "-1") for option in ("--puts", "--run", "--runs", "--pitch")),
            ("--puts", "9999999999"),
            ("--run", "99999999999999999999"),
        ):
            process = self.explain(option, value)
            self.assertEqual(process.end(), USAGE, process.text())
            self.assertRegex(process.text(), f"^tca explain: {option}: {value} is no (whole number|size) from ")
        process = self.start([TCA, "bench", "halo", "--extent", "32,-1"])
        self.assert_ends(process, USAGE, "^tca bench: --extent: -1 is no whole number from ")


class Disagreeing(Tuning):
    def test_settings_are_refused_on_every_rank(self):
        ranks = self.ranks(2, "ring", "--steps", "1", programs=None, OPENTCA_TUNING="off")
        for process in ranks:
            self.assertEqual(process.end(), 0, process.text())
        _, control = self.launcher_memory()
        common = {"OPENTCA_SIZE": "2", "OPENTCA_CONTROL": control}
        both = [
            self.start([PROGRAM, "ring", "--steps", "1"], OPENTCA_RANK="0", **common),
            self.start([PROGRAM, "ring", "--steps", "1"], OPENTCA_RANK="1", OPENTCA_TUNING="off", **common),
        ]
        for process in both:
            self.assert_ends(process, INCOMPATIBLE, "OPENTCA_TUNING is 'off' on rank 1, and is not set on rank 0")


if __name__ == "__main__":
    unittest.main()
