"""`tca qcd` as its users see it: refusals, configuration files and damaged ones, lines of JSON, Ctrl-C.

Standard library only. TCA names the command line under test, TCA_TEST_MPI whether it was built with MPI and mpirun is there,
TCA_HAS_CUDA and TCA_HAS_PUGIXML whether it was built with CUDA and with pugixml."""

import json
import os
import re
import signal
import struct
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, cpu_seconds, processes_with, wait_until

MPI = bool(os.environ.get("TCA_TEST_MPI", ""))
CUDA = bool(os.environ.get("TCA_HAS_CUDA", ""))
# Without pugixml ILDG's files are written, but not read.
FORMATS = ("nersc", "ildg") if os.environ.get("TCA_HAS_PUGIXML") else ("nersc",)
REFUSED = 3
SMALL = ("--lattice", "4", "--ranks", "2")


def flip_in_the_middle(whole):
    """A bit of some link: far from the headers in front and behind."""
    at = len(whole) // 2
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


def in_single_precision(whole):
    """A NERSC file whose links are rounded to single precision, in 64 bits as before, with the checksum of those."""
    begin = whole.index(b"END_HEADER\n") + len(b"END_HEADER\n")
    reals = struct.unpack(f">{(len(whole) - begin) // 8}d", whole[begin:])
    rounded = struct.unpack(f"{len(reals)}f", struct.pack(f"{len(reals)}f", *reals))
    words = struct.unpack(f"{2 * len(reals)}I", struct.pack(f"{len(reals)}d", *rounded))
    checksum = f"CHECKSUM = {sum(words) % 2**32:x}".encode()
    return re.sub(rb"CHECKSUM = [0-9a-f]+", checksum, whole[:begin]) + struct.pack(f">{len(reals)}d", *rounded)


class QcdTest(CommandTest):
    def qcd(self, *arguments):
        return subprocess.run(
            [TCA, "qcd", *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment
        )

    def assert_done(self, *arguments):
        done = self.qcd(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return done.stdout

    def assert_refused(self, reason, *arguments, code=2):
        done = self.qcd(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, reason)
        self.assertTrue(done.stderr.startswith("tca qcd: "), done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 2, done.stderr)

    def test_the_bandwidth_for_balance(self):
        said = self.assert_done("balance")
        for line in (r"16x16x16x32 +2 +16x16x16x64 +128 +256 .* 3\.99", r"32x32x32x32 +4 +32x32x32x128 +8 +32 .* 3\.68"):
            self.assertRegex(said, line)
        self.assert_refused("--domain 8x8: give one extent, or four", "balance", "--domain", "8x8")
        self.assert_refused("does not divide a lattice of 64x64x64x128", "balance", "--domain", "12")

    def generate(self, *options, name="links"):
        said = self.assert_done("generate", *SMALL, "--sweeps", "2", "--skip", "0", "-o", self.path(name), *options)
        return re.search(r"now +plaquette ([0-9.]+)", said).group(1)

    def damage(self, change):
        with open(self.path("links"), "rb") as file:
            contents = change(file.read())
        with open(self.path("links"), "wb") as file:
            file.write(contents)

    def lines(self):
        with open(self.path("out.jsonl")) as file:
            return [json.loads(line) for line in file]


class Arguments(QcdTest):
    def test_lattices_and_grids_that_cannot_be(self):
        refuse = self.assert_refused
        refuse("--lattice 8x8: give one extent, or four", "invert", "--lattice", "8x8")
        refuse("--lattice 8x0x8x8: each number must be from 1 to 16777216", "dslash", "--lattice", "8x0x8x8")
        refuse("too many; use more ranks", "plaquette", "--lattice", "1000000", "-n", "1")
        refuse("--grid 2x2: give four numbers of ranks", "invert", "-n", "4", "--grid", "2x2")
        refuse("holds 79228162514264337593543950336 ranks, not 2", "invert", "-n", "2", "--grid", "x".join(["16777216"] * 4))
        refuse("--grid 1x1x1x2 holds 2 ranks, not 4", "invert", "-n", "4", "--grid", "1x1x1x2")
        refuse("does not divide by the grid 3x1x1x1: 8 sites along x", "invert", "-n", "3", "--grid", "3x1x1x1")
        refuse("the lattice 8x8x8x8 does not divide among 7 ranks", "dslash", "-n", "7")
        odd = ("--lattice", "6", "-n", "2", "--grid", "2x1x1x1")
        refuse("needs an even number of sites on each rank.* leaves 3 along x", "invert", *odd)
        self.assert_done("dslash", *odd, "--no-even-odd", "--seconds", "0.01")

    def assert_no_rank_was_started(self, reason, *arguments):
        """A rank's own words would begin with its number."""
        self.assert_refused(f"^tca qcd: {reason}", *arguments)

    def test_what_ranks_would_refuse_is_refused_before(self):
        refuse = self.assert_no_rank_was_started
        refuse("5 right-hand sides at a time: the pion has 12", "pion", "--rhs", "5")
        refuse("the heat bath needs even extents, the lattice is 5x5x5x5", "generate", "--lattice", "5", "-n", "1")
        refuse("the heat bath needs even extents, the lattice is 4x4x4x3", "generate", "--lattice", "4x4x4x3", "-n", "1")

    def test_methods_that_do_not_go_together(self):
        refuse = self.assert_refused
        refuse("mixed precision goes with CG", "invert", "--precision", "mixed", "--solver", "bicgstab")
        refuse("below what single precision holds", "invert", "--precision", "single", "--tolerance", "1e-9")
        refuse("--precision mixed is for solving", "dslash", "--precision", "mixed")
        refuse("--small excludes --large", "invert", "--small", "--large")
        refuse("--kappa: 2 is no number from 0 to 1", "invert", "--kappa", "2")
        refuse("--skip: -3 is no whole number from 0 to 100000000", "generate", "--skip", "-3")
        refuse("--skip 50 leaves none of 10 sweeps to average over", "generate", "--sweeps", "10", "--skip", "50")
        refuse("--tolerance: 0 is no number from 1e-15 to 0.99", "invert", "--tolerance", "0")
        refuse("--mass: 0 is no number above 0", "invert", "--operator", "staggered", "--mass", "0")
        refuse("--seed: -5 is no whole number from 0 to ", "plaquette", "--seed", "-5")
        refuse("there is no subcommand `invent`; there are generate, invert, dslash, plaquette, pion", "invent")
        refuse("a subcommand is missing: generate, ")
        for other in (("--large",), ("--small",), ("--start", "cold"), ("--lattice", "4")):
            refuse(f"--config.*{other[0]}|{other[0]}.*--config", "invert", "--config", "links", *other)
        refuse("--ranks: 0 is no whole number from 1 to 1048576", "invert", "--ranks", "0")

    @unittest.skipUnless(CUDA, "built without CUDA")
    def test_an_operator_by_itself_has_no_tolerance_to_keep(self):
        refuse = self.assert_refused
        refuse("below what single precision holds", "invert", "--fabric", "cuda", "--precision", "single")
        told = self.qcd("dslash", "--fabric", "cuda", "--precision", "single", "-n", "1", "--lattice", "4").stderr
        self.assertNotIn("below what single precision holds", told)

    def test_what_the_staggered_operator_does_not_do(self):
        def refuse(reason, *options, action="invert"):
            self.assert_refused(reason, action, "--operator", "staggered", *options)

        refuse("--kappa is Wilson's; the staggered operator has --mass", "--kappa", "0.1")
        refuse("--no-even-odd is Wilson's", "--no-even-odd")
        refuse("--compare is for Wilson's", "--compare", action="dslash")
        refuse("the staggered operator goes with CG", "--solver", "bicgstab")
        refuse("need even extents, the lattice is 5x4x4x4", "--lattice", "5x4x4x4", "-n", "1")
        refuse("--mass", "--mass", "0")
        self.assert_refused("--mass is the staggered operator's", "invert", "--mass", "0.1")
        self.assert_refused("--operator", "pion", "--operator", "staggered")
        if CUDA:
            refuse("the staggered operator runs on the host", "--fabric", "cuda")

    def test_what_gpus_do_not_do(self):
        refuse = self.assert_refused
        refuse("--started-by graph needs --fabric cuda", "invert", "--started-by", "graph")
        if not CUDA:
            refuse("--fabric cuda: this tca was built without CUDA", "invert", "--fabric", "cuda")
            return
        refuse("is for invert, dslash and pion; generate runs on the host", "generate", "--fabric", "cuda")
        refuse("--started-by kernel is for solving", "dslash", "--fabric", "cuda", "--started-by", "kernel")
        refuse("on GPUs the operator is always even-odd", "invert", "--fabric", "cuda", "--no-even-odd")
        kernel = ("invert", "--fabric", "cuda", "--started-by", "kernel")
        refuse("does CG", *kernel, "--solver", "bicgstab")
        refuse("has one right-hand side; several together are started by", *kernel, "--rhs", "2", "--together")

    def test_files_that_cannot_be_written_are_known_before_the_work(self):
        self.assert_refused("/nowhere/x: cannot be written", "generate", "-o", "/nowhere/x", "--sweeps", "100000000")
        self.assert_refused("/nowhere/x: cannot be written", "invert", "--json", "/nowhere/x")
        for place in (self.folder, "/proc/links", self.path("n" * 250)):
            self.assert_refused(f"^tca qcd: {place}: cannot be written: ", "generate", "-o", place, "--sweeps", "100000000")
        self.assertEqual(os.listdir(self.folder), [])

    def test_beyond_criticality(self):
        solve = ("invert", *SMALL, "--start", "cold", "--time", "periodic", "--kappa", "0.125", "--max-iterations", "12")
        done = self.qcd(*solve, "--tolerance", "1e-13")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, "NOT CONVERGED after 12 iterations")
        self.assertRegex(done.stdout, r"history .*12: \d\.\de")
        self.assertIn("kappa may be at or beyond its critical value", done.stdout)

    def test_beyond_what_a_precision_holds(self):
        solve = ("invert", "--lattice", "4", "-n", "1", "--solver", "bicgstab", "--kappa", "0.25", "--precision", "single")
        done = self.qcd(*solve, "--tolerance", "1e-6")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("single precision holds no less for this equation; ask for --precision double", done.stdout)
        self.assertNotIn("--max-iterations", done.stdout)

    def test_a_residual_that_is_no_number(self):
        solve = ("invert", *SMALL, "--operator", "staggered", "--mass", "1e200", "--json", self.path("out.jsonl"))
        done = self.qcd(*solve)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, "the residual is no finite number, .*ask for another mass")
        self.assertNotIn("allow more", done.stdout)
        (line,) = self.lines()
        self.assertEqual((line["converged"], line["true_residual"]), (False, None))


class Files(QcdTest):
    def test_go_round_in_both_formats(self):
        for form in FORMATS:
            plaquette = self.generate("--format", form)
            said = self.assert_done("plaquette", "--config", self.path("links"), "--ranks", "2", "--grid", "1x2x1x1")
            self.assertIn(f"plaquette {plaquette}", said)
            self.assertEqual(os.listdir(self.folder), ["links"])
            os.remove(self.path("links"))

    def test_cut_off(self):
        for form in FORMATS:
            self.generate("--format", form)
            self.damage(lambda whole: whole[: len(whole) * 2 // 3])
            self.assert_refused(r"links: cut off( or damaged)?: .*\d+ ", "invert", "--config", self.path("links"))

    def test_longer_than_its_header_says(self):
        self.generate()
        self.damage(lambda whole: whole + b"more")
        self.assert_refused("links: has [0-9]+ bytes, 4 more than", "invert", "--config", self.path("links"))

    def test_a_link_stays(self):
        for there in (True, False):
            if there:
                self.generate(name="real")
            os.symlink("real", self.path("links"))
            self.generate()
            self.assertEqual(os.readlink(self.path("links")), "real")
            self.assertEqual(sorted(os.listdir(self.folder)), ["links", "real"])
            os.remove(self.path("links"))
            os.remove(self.path("real"))

    def test_what_is_no_file_stays(self):
        os.mkfifo(self.path("pipe"))
        os.symlink("pipe", self.path("links"))
        for name in ("pipe", "links"):
            reason = f"/{name}: not a regular file"
            self.assert_refused(reason, "generate", "-o", self.path(name), "--sweeps", "100000000")
        self.assertEqual(sorted(os.listdir(self.folder)), ["links", "pipe"])

    def test_links_in_no_regular_file(self):
        os.mkfifo(self.path("pipe"))
        os.symlink("pipe", self.path("links"))
        for name in (self.path("pipe"), self.path("links"), self.folder, "/dev/zero"):
            self.assert_refused(f"{name}: not a regular file", "invert", "--config", name)

    def test_a_file_that_cannot_be_written_leaves_no_record(self):
        os.mkdir(self.path("gone"))
        command = ("generate", *SMALL, "--sweeps", "200", "-o", self.path("gone/links"), "--json", self.path("out.jsonl"))
        running = subprocess.Popen(
            [TCA, "qcd", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        self.addCleanup(running.kill)
        # Computing for a while: whether the file can be written has been looked at before.
        self.assertTrue(wait_until(lambda: sum(cpu_seconds(pid) > PATIENCE / 200 for pid in processes_with(self.marker)) >= 2))
        os.rmdir(self.path("gone"))
        _, said = running.communicate(timeout=3 * PATIENCE)
        self.assertEqual(running.returncode, REFUSED, said)
        self.assertRegex(said, "gone/links: cannot be written: No such file")
        self.assertFalse(os.path.exists(self.path("out.jsonl")))

    def test_one_file_for_two_things(self):
        self.generate()
        os.symlink("links", self.path("other"))
        for other in ("links", "other", "../" + os.path.basename(self.folder) + "/links"):
            reason = "--(config|output) and --json name the same file"
            self.assert_refused(reason, "generate", "-o", self.path("links"), "--json", self.path(other))
            self.assert_refused(reason, "invert", "--config", self.path("links"), "--json", self.path(other))

    def test_wrong_checksum(self):
        for form in FORMATS:
            self.generate("--format", form)
            self.damage(flip_in_the_middle)
            done = self.qcd("plaquette", "--config", self.path("links"), "--ranks", "2")
            self.assertEqual(done.returncode, REFUSED)
            self.assertRegex(done.stderr, "^tca qcd: .*links: damaged: its (CRC-32 )?checksum")
            self.assertEqual(done.stderr.count("damaged"), 1, done.stderr)

    def test_wrong_plaquette(self):
        self.generate()
        other = lambda found: found.group(1) + (b"0.9" if found.group(2) != b"0.9" else b"0.1")
        self.damage(lambda whole: re.sub(rb"(PLAQUETTE = )(0\.\d)", other, whole, count=1))
        done = self.qcd("plaquette", "--config", self.path("links"), "--ranks", "2")
        self.assertEqual(done.returncode, REFUSED)
        self.assertRegex(done.stderr, "its plaquette is")

    def test_an_ildg_file_where_its_headers_cannot_be_read(self):
        if "ildg" in FORMATS:
            self.skipTest("pugixml is here")
        self.generate("--format", "ildg")
        self.assert_refused("ildg-format.* is XML, .*libpugixml-dev", "invert", "--config", self.path("links"))

    def test_links_of_single_precision_in_64_bits(self):
        self.generate()
        self.damage(in_single_precision)
        said = self.assert_done("plaquette", "--config", self.path("links"))
        self.assertIn("its links are of single precision and were made unitary to double", said)

    def test_nothing_known(self):
        with open(self.path("links"), "w") as file:
            file.write("what is this" * 100)
        self.assert_refused("neither a NERSC nor an ILDG", "invert", "--config", self.path("links"))
        self.assert_refused("cannot be opened: No such file", "invert", "--config", self.path("others"))


class Measurements(QcdTest):
    def json(self, *arguments):
        said = self.assert_done(*arguments, "--json", self.path("out.jsonl"))
        return said, self.lines()

    def test_a_line_for_each_message(self):
        modelled = (*SMALL, "--fabric", "sim", "--machine", "peach3", "--explain")
        said = self.assert_done("invert", *modelled, "--channel", "SUMS=sim/mpi")
        self.assertRegex(said, r"(?m)^FACES +[0-9]+ +4  sim/tca +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  sim/mpi [0-9.]+ +[0-9]+ %$")
        self.assertRegex(said, r"(?m)^SUMS +16 +2  sim/mpi +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9]+ %$")
        said = self.assert_done("dslash", *modelled, "--seconds", "0.01", "--channel", "FACES=sim/mpi")
        self.assertRegex(said, r"(?m)^FACES +[0-9]+ +2  sim/mpi ")
        self.assert_refused("there is no message SUMS here; there is FACES", "dslash", *SMALL, "--channel", "SUMS=sim/mpi")

    def test_where_it_ran_is_said_and_that_ranks_shared_processors(self):
        ranks = min(16, 2 ** (len(os.sched_getaffinity(0)).bit_length()))  # more than processors
        crowded = len(os.sched_getaffinity(0)) < ranks
        for action in (("invert",), ("dslash", "--seconds", "0.05"), ("pion",), ("plaquette",)):
            said = self.assert_done(*action, "--lattice", "4", "--ranks", str(ranks))
            for line in (r"machine   .+, [0-9]+ cores?", rf"ranks     {ranks} ranks, ", r"versions  OpenTCA [0-9.]+ \(", r"world     OpenTCA"):
                self.assertRegex(said, "(?m)^" + line)
            measured = crowded and action[0] != "plaquette"
            self.assertEqual(f"{ranks} ranks share" in said, measured, said)

    def test_an_inversion_as_json(self):
        solve = ("invert", *SMALL, "--grid", "1x1x1x2", "--tolerance", "1e-8", "--rhs", "2")
        for solver, precision in (("cg", "double"), ("bicgstab", "double"), ("cg", "mixed")):
            said, lines = self.json(*solve, "--solver", solver, "--precision", precision)
            self.assertEqual(len(lines), 2)
            for line in lines:
                self.assertEqual((line["bench"], line["fabric"], line["peer"]), (f"qcd_{solver}", "shm", None))
                self.assertEqual((line["n"], line["ranks"], line["extents"]), (4, 2, [4, 4, 4, 4]))
                self.assertTrue(line["converged"])
                self.assertLessEqual(line["true_residual"], 1e-8)
                self.assertGreater(line["iterations"], 3)
                self.assertGreater(line["median_us"], 0)
                self.assertGreater(line["bytes"], 0)
            self.assertIn("recomputed in double", said)
            os.remove(self.path("out.jsonl"))

    def test_the_staggered_operator_as_json(self):
        which = ("--operator", "staggered", "--mass", "0.5", "--lattice", "6x4x4x4", "-n", "2", "--grid", "2x1x1x1")
        said, (line,) = self.json("invert", *which, "--rhs", "2", "--together")
        self.assertIn("naive staggered, mass 0.5, antiperiodic in time, all sites, cg", said)
        self.assertRegex(said, "residual +[0-9.]+e-1[0-9] [0-9.]+e-1[0-9] ")
        self.assertEqual((line["bench"], line["mass"], line["rhs"]), ("qcd_staggered_cg", 0.5, 2))
        self.assertNotIn("kappa", line)
        self.assertLessEqual(line["true_residual"], 1e-9)
        os.remove(self.path("out.jsonl"))
        said, (line,) = self.json("dslash", *which, "--seconds", "0.01", "--precision", "single", "--rhs", "3")
        self.assertIn("570 flops a site", said)
        self.assertEqual((line["bench"], line["rhs"], line["even_odd"]), ("qcd_staggered_dslash", 3, False))

    def test_links_as_json(self):
        _, (line,) = self.json("generate", "--ranks", "2", "--lattice", "4", "--sweeps", "3", "--skip", "1", "--beta", "5.7", "-o", self.path("links"))
        has = {key: line[key] for key in ("bench", "fabric", "ranks", "n", "beta", "sweeps", "mean_of", "links")}
        self.assertEqual(has, {"bench": "qcd_generate", "fabric": "shm", "ranks": 2, "n": 4, "beta": 5.7, "sweeps": 3, "mean_of": 2,
                               "links": "random, seed 1"})  # fmt: skip
        self.assertGreater(line["median_us"], 0)
        os.remove(self.path("out.jsonl"))
        _, (read,) = self.json("plaquette", "--config", self.path("links"))
        self.assertEqual(read["bench"], "qcd_plaquette")
        self.assertAlmostEqual(read["plaquette"], line["plaquette"], delta=1e-12)
        self.assertAlmostEqual(read["link_trace"], line["link_trace"], delta=1e-12)

    def test_half_of_the_sweeps_count_unless_told_otherwise(self):
        said, (line,) = self.json("generate", *SMALL, "--sweeps", "5")
        self.assertEqual(line["mean_of"], 3)
        self.assertIn("over the last 3 sweeps", said)

    def test_an_operator_and_a_pion_as_json(self):
        _, (line,) = self.json("dslash", *SMALL, "--seconds", "0.01", "--links", "12")
        self.assertEqual((line["bench"], line["link_reals"], line["precision"]), ("qcd_dslash", 12, "double"))
        self.assertGreater(line["gflops"], 0)
        os.remove(self.path("out.jsonl"))
        _, (line,) = self.json("pion", *SMALL, "--tolerance", "1e-6", "--kappa", "0.1")
        self.assertEqual((line["bench"], len(line["correlator"])), ("qcd_pion", 4))
        self.assertGreater(min(line["correlator"]), 0)

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_mpi_in_the_same_run(self):
        said, lines = self.json("invert", *SMALL, "--grid", "1x1x1x2", "--tolerance", "1e-8", "--compare")
        own, peer = lines
        self.assertEqual((own["peer"], peer["peer"], peer["fabric"]), (None, "mpi", "mpi"))
        self.assertEqual(own["bytes"], peer["bytes"])
        self.assertEqual(own["iterations"], peer["iterations"])
        self.assertEqual(own["true_residual"], peer["true_residual"])
        self.assertRegex(said, r"MPI / OpenTCA: .*whole iteration (\d|same within the spread)")
        os.remove(self.path("out.jsonl"))
        said, lines = self.json("dslash", *SMALL, "--seconds", "0.02", "--precision", "single", "--compare")
        self.assertEqual([line["peer"] for line in lines], [None, "mpi"])

    @unittest.skipUnless(MPI, "there is no MPI")
    def test_over_mpi_as_in_memory(self):
        solve = ("invert", *SMALL, "--tolerance", "1e-8", "--fabric")
        for fabric in ("shm", "mpi", "shm+mpi"):
            _, lines = self.json(*solve, fabric)
        self.assertEqual([line["fabric"] for line in lines], ["shm", "mpi", "shm+mpi"])
        self.assertEqual(len({line["true_residual"] for line in lines}), 1)

    def test_on_a_modelled_machine(self):
        solve = ("invert", *SMALL, "--tolerance", "1e-8", "--fabric")
        self.json(*solve, "shm")
        for _ in range(2):
            _, (real, *modelled) = self.json(*solve, "sim", "--machine", "ha-pacs-tca")
        self.assertEqual({line["hardware"] for line in modelled}, {"model of HA-PACS/TCA"})
        self.assertEqual({line["true_residual"] for line in modelled}, {real["true_residual"]})
        # Sixteen kernels, three for each of four hops and four for vectors, each of which takes 5 us to launch.
        self.assertGreater(modelled[0]["median_us"], 80)
        self.assertGreater(modelled[0]["operator_us"], 0)
        self.assertEqual(modelled[0]["median_us"], modelled[1]["median_us"])

    def test_no_convergence_ends_alike(self):
        # One in its report, which the launcher has nothing to add to; the other has no report then.
        for action, reported, lines in (("invert", True, 0), ("pion", False, 1)):
            done = self.qcd(action, *SMALL, "--kappa", "0.2", "--max-iterations", "2")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual("NOT CONVERGED" in done.stdout, reported)
            self.assertEqual(done.stderr.count("\n"), lines, done.stderr)

    def test_comparisons_that_cannot_be(self):
        self.assert_refused("--compare needs ranks that are processes", "invert", "--compare", "--threads")
        self.assert_refused("no MPI on a modelled machine", "invert", "--compare", "--fabric", "sim")
        self.assert_refused("--bind is for ranks that are processes, not for --threads", "invert", "--bind", "core", "--threads")


class Interrupted(QcdTest):
    def test_leaves_no_ranks_and_no_half_a_file(self):
        command = ("generate", *SMALL, "--sweeps", "100000000", "-o", self.path("links"))
        running = subprocess.Popen(
            [TCA, "qcd", *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        self.addCleanup(running.kill)
        self.assertTrue(wait_until(lambda: len(processes_with(self.marker)) >= 3))
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, 128 + signal.SIGINT, said)
        self.assert_nothing_left()
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
