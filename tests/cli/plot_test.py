"""`tca plot`: what it draws from, and what it refuses. Needs matplotlib for the drawing itself.

Standard library only. TCA names the command line under test."""

import functools
import html
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, wait_until

BEGINNINGS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def result(**changes):
    line = {"bench": "halo", "fabric": "shm", "protocol": "direct", "start": "host", "peer": None, "layout": "block"}
    line |= {"ranks": 2, "n": 32, "bytes": 8192, "median_us": 2.0, "p99_us": 3.0, "gbps": 4.096, "hardware": "here"}
    return json.dumps(line | changes)


@functools.cache
def has_matplotlib():
    """Of the system's python3, or of the first one of PATH; found, which takes less time than imported."""
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)"
    pythons = filter(None, (shutil.which("/usr/bin/python3"), shutil.which("python3")))
    return any(subprocess.run([python, "-c", look]).returncode == 0 for python in pythons)


class PlotTest(CommandTest):
    def setUp(self):
        super().setUp()
        # Where matplotlib keeps what it knows of fonts.
        self.environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", "")

    def need_matplotlib(self):
        if not has_matplotlib():
            self.skipTest("matplotlib is not on this machine")

    def write(self, *lines):
        with open(self.path("results.jsonl"), "w") as file:
            file.write("\n".join(lines) + "\n")
        return self.path("results.jsonl")

    def plot(self, *arguments, **environment):
        self.need_matplotlib()
        return subprocess.run(
            [TCA, "plot", *arguments], capture_output=True, text=True, timeout=2 * PATIENCE,
            env={**self.environment, **environment},
        )  # fmt: skip

    def assert_refused(self, done, reason, code=1):
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        self.assertRegex(done.stderr, reason)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_draws_every_format(self):
        mine = [result(bytes=size, n=size, median_us=size / 4000) for size in (64, 4096, 65536)]
        peers = [result(bytes=size, n=size, median_us=size / 2000, peer="mpi") for size in (64, 4096, 65536)]
        file = self.write(*mine, *peers, "", result(bench="himeno", layout="2x1x1"))
        for ending, beginning in BEGINNINGS.items():
            done = self.plot(file, "-o", self.path("out" + ending), "--title", "a title")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(self.path("out" + ending), "rb") as drawing:
                self.assertTrue(drawing.read(8).startswith(beginning))

    def test_draws_solves_against_ranks(self):
        lines = [result(bench="qcd_cg", n=8, bytes=0, ranks=ranks, start="kernel") for ranks in (1, 2, 4)]
        peers = [result(bench="qcd_cg", n=8, bytes=0, ranks=ranks, peer="quda", p99_us=None) for ranks in (2, 4)]
        done = self.plot(self.write(*lines, *peers), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(self.path("out.svg")) as drawing:
            self.assertRegex(drawing.read(), "(?s)OpenTCA, by kernel.*QUDA, by host")

    def test_draws_channels_of_messages(self):
        def combination(scale, out, flag):
            teps = 1e9 * scale / (1 + (out == "sim/mpi") + (flag == "sim/mpi") / 4)
            return result(bench="graph500_bfs", layout="paper", n=1 << scale, scale=scale, teps_harmonic_mean=teps,
                          channels={"OUT": out, "FLAG": flag}, chosen=out == flag == "sim/tca")  # fmt: skip

        both = ("sim/tca", "sim/mpi")
        lines = [combination(scale, out, flag) for scale in (12, 13) for out in both for flag in both]
        done = self.plot(self.write(*lines), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(self.path("out.svg")) as drawing:
            self.assertRegex(drawing.read(), "(?s)OUT sim/tca, FLAG sim/tca.*OUT sim/mpi, FLAG sim/mpi.*as the library chooses")

    def test_draws_energies_of_spins(self):
        spins = {"bench": "heisenberg_spin_glass", "extents": [8, 8, 8], "couplings": "rings", "rounds": 3, "peer": None}
        warm = [{"temperature": t, "energy": -t, "energy_error": 0.1, "acceptance": 0.5, "energies": [0, -t], "exact": -t} for t in (1, 2)]
        lines = {**spins, "beta": 2, "energies": [-0.1, -0.5], "exact": -0.53}, {**spins, "temperatures": warm}
        done = self.plot(self.write(*map(json.dumps, lines)), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        with open(self.path("out.svg")) as file:
            drawn = file.read()
        for said in ("energy a site", "T = 2", "50 % change places", "exact", "8x8x8, rings, β = 2"):
            self.assertIn(said, drawn)
    def test_draws_latencies_of_a_trigger(self):
        curve = [[10 * (1 + n), 2.0**-n] for n in range(10)]
        run = {"bench": "trigger", "layout": "batches of 8", "rate": 1e6, "deadline_us": 1000, "latencies": curve}
        own, peer = result(**run, start="kernel"), result(**run, start="host", peer="launches")
        done = self.plot(self.write(own, peer), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        with open(self.path("out.svg")) as drawing:
            self.assertRegex(drawing.read(), "(?s)99 %.*OpenTCA, by kernel.*launches")

    def test_a_commit_has_no_bandwidth(self):
        commits = [result(bench="commit", layout="mixed", n=n, bytes=64 * n) for n in (64, 128)]
        for lines, panels in ((commits, 1), ([*commits, result()], 3)):
            done = self.plot(self.write(*lines), "-o", self.path("out.svg"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            drawn = self.texts()
            self.assertEqual(len([text for text in drawn if re.fullmatch(r"\w+ \w+: [a-z]+", text)]), panels)
            self.assertNotIn("commit mixed: bandwidth", drawn)

    def drawn(self, *lines):
        """What is written in the drawing."""
        done = self.plot(self.write(*lines), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.texts()

    def texts(self):
        with open(self.path("out.svg")) as drawing:
            return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]+)</text>", drawing.read())]

    def test_a_contender_has_one_colour_in_all_drawings(self):
        colours = []
        for peers in (["mpi"], ["nccl", "mpi"], ["hand-pull", "mpi", "hand-direct"]):
            self.drawn(result(), *(result(peer=peer) for peer in peers))
            with open(self.path("out.svg")) as drawing:
                colours.append(set(re.findall(r"#[0-9a-f]{6}", drawing.read())))
        self.assertLess(colours[0], colours[1])
        self.assertLess(colours[0], colours[2])
        self.assertEqual(len(colours[2] - colours[0]), 1)  # hands are one contender

    def test_the_same_results_are_the_same_file(self):
        drawings = []
        for _ in range(2):
            self.drawn(result(), result(peer="mpi"))
            with open(self.path("out.svg"), "rb") as drawing:
                drawings.append(drawing.read())
        self.assertEqual(*drawings)
        self.assertLess(len(drawings[0]), 15000)

    def test_what_differs_is_no_second_measurement(self):
        for name, values, words in (
            ("row_bytes", (256, 1024), "rows of 1024 B"),
            ("fidelity", ("tlp", "flow"), "flow"),
            ("points", (3, 9), "9 points"),
        ):
            self.assertIn(f"OpenTCA ({words})", self.drawn(*(result(**{name: value}) for value in values)))

    def test_puts_of_other_rows_are_not_compared(self):
        own = [result(bench="put", row_bytes=256, median_us=1), result(bench="put", row_bytes=1024, median_us=100)]
        drawn = self.drawn(*own, result(bench="put", row_bytes=1024, median_us=100, peer="copy"))
        # The scale of a ratio that is 1, and not 100.
        self.assertIn("1.2", drawn)

    def test_overlaps_that_compute_other_amounts_have_no_ratio(self):
        drawn = self.drawn(result(bench="overlap"), result(bench="overlap", peer="mpi"))
        self.assertIn("overlap block: time", drawn)
        self.assertNotIn("overlap block: peer / OpenTCA", drawn)

    def test_a_ratio_of_nothing(self):
        nothing, something = result(peer="mpi", ratio=None), result(peer="mpi", bytes=64, ratio=1.5, ratio_low=1.2, ratio_high=1.9)
        self.assertIn("halo block: peer / OpenTCA", self.drawn(result(), nothing, something))
        # A cost below the noise has no ratio of medians either, as lines without any are given.
        self.assertNotIn("halo block: peer / OpenTCA", self.drawn(result(), nothing))
        self.assertIn("halo block: peer / OpenTCA", self.drawn(result(), result(peer="mpi")))

    def test_what_is_below_the_noise_is_left_out(self):
        lost = result(bytes=64, gbps=None, placement="here")
        done = self.plot(self.write(result(), lost), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stderr),
                         (0, "tca plot: left out 1 results without bytes, or with a time below the noise\n"))  # fmt: skip

    def test_what_computes_has_no_bandwidth(self):
        for bench in ("himeno", "overlap", "qcd_cg"):
            drawn = self.drawn(result(bench=bench), result(bench="pingpong"))
            self.assertNotIn(f"{bench} block: bandwidth", drawn)
            self.assertIn("pingpong block: bandwidth", drawn)

    def test_a_tuning_names_the_channels_of_all_panels(self):
        tuned = {"bench": "tune", "run_bytes": 64, "table_us": 1.0, "puts": 2}
        near = [result(**tuned, protocol=protocol, distance="near") for protocol in ("direct", "pull")]
        far = [result(**tuned, fabric="mpi", protocol=protocol, distance="far") for protocol in ("packed", "datatype")]
        drawn = self.drawn(*near, *far)
        for channel in ("shm/direct", "shm/pull", "mpi/packed", "mpi/datatype"):
            self.assertEqual(drawn.count(channel), 1)

    def homeless(self):
        os.mkdir(self.path("tmp"))
        homeless = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": "", "MPLCONFIGDIR": ""}
        return {**homeless, "TMPDIR": self.path("tmp")}

    def test_somebody_without_a_home(self):
        done = self.plot(self.write(result()), "-o", self.path("out.svg"), **self.homeless())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("MPLCONFIGDIR", done.stderr)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_ctrl_c_of_somebody_without_a_home(self):
        self.need_matplotlib()
        os.mkfifo(self.path("endless.jsonl"))
        process = subprocess.Popen(
            [TCA, "plot", self.path("endless.jsonl"), "-o", self.path("out.svg")],
            stderr=subprocess.DEVNULL, env={**self.environment, **self.homeless()},
        )  # fmt: skip
        self.addCleanup(process.kill)
        # It opens the file when all is loaded, and waits for what comes.
        with open(self.path("endless.jsonl"), "w"):
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_says_what_cannot_be_drawn(self):
        done = self.plot(self.write(result(), result(bytes=0), result(median_us=-0.1)), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stderr), (0, "tca plot: left out 2 results without bytes, or with a time below the noise\n"))

    def test_refuses_bad_lines_by_number(self):
        out = ("-o", self.path("out.svg"))
        self.assert_refused(self.plot(self.write(result(), "{bench"), *out), r"results\.jsonl:2: not JSON")
        self.assert_refused(self.plot(self.write("[1]"), *out), r"results\.jsonl:1: not a JSON object")
        self.assert_refused(self.plot(self.write(result(), "", "{}"), *out), r"results\.jsonl:3: `bench` is missing")
        self.assert_refused(self.plot(self.write(result(bytes="8")), *out), r":1: `bytes` is \"8\"")
        self.assertFalse(os.path.exists(self.path("out.svg")))

    def test_draws_the_scorecard(self):
        line = {"source": "nakao-peach2", "figure": "ping-pong GPU-GPU, TCA", "unit": "us", "use": "fitted"}
        lines = [json.dumps(line | {"config": f"{size} B; direct", "published": 2.0, "model": 2.1}) for size in (8, 64)]
        lines.append(json.dumps(line | {"config": "", "use": "unusable", "published": "", "model": None}))
        done = self.plot(self.write(*lines), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("out.svg"), "rb") as drawing:
            self.assertTrue(drawing.read(8).startswith(BEGINNINGS[".svg"]))
        for way in ("TCA", "MPI"):
            figure = line | {"figure": f"broadcast, {way}, 16 ranks"}
            lines += [json.dumps(figure | {"config": f"{size} B; x", "published": 2.0, "model": 2.1}) for size in (8, 64)]
        himeno = line | {"figure": "Himeno small, (2, 8, 1): MVAPICH2-GDR over TCA", "config": "x", "model": 1.8}
        lines += [json.dumps(himeno | {"published": published}) for published in (1.7, "at least 1")]
        done = self.plot(self.write(*lines), "-o", self.path("out.svg"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_refused(self.plot(self.write(lines[0], "{"), "-o", self.path("out.svg")), r":2: not JSON")
        self.assert_refused(self.plot(self.write(lines[0], "{}"), "-o", self.path("out.svg")), r":2: not a line of the")

    def test_refuses_files_and_names(self):
        out = ("-o", self.path("out.svg"))
        self.assert_refused(self.plot(self.path("nothing"), *out), "nothing: No such file", 2)
        same = self.write(result())
        self.assert_refused(self.plot(same, "-o", same), "FILE and --output name the same file", 2)
        self.assert_refused(self.plot(self.write(""), *out), "there is nothing to draw in")
        self.assert_refused(self.plot(self.write(result()), "-o", "out.txt"), r"must end in \.svg, \.png or \.pdf", 2)
        self.assert_refused(self.plot(self.write(result()), "-o", "/nowhere/out.svg"), "/nowhere/out.svg: No such", 2)

    def test_a_full_disk_leaves_the_picture_as_it_was(self):
        self.need_matplotlib()
        records, picture = self.write(result()), self.path("out.svg")
        with open(picture, "w") as file:
            file.write("old")
        before = os.listdir(self.folder)
        done = subprocess.run(
            [TCA, "plot", records, "-o", picture], capture_output=True, text=True, timeout=3 * PATIENCE, env=self.environment,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
        )  # fmt: skip
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, rf"tca plot: {picture}: File too large\n$")
        with open(picture) as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(before))

    def interrupt(self, python, everybody):
        """Ctrl-C while what stands in for python3 runs; the end of it."""
        with open(self.path("python3"), "w") as file:
            file.write(f"#!/bin/sh\n{python}\n")
        os.chmod(self.path("python3"), 0o755)
        started = self.path("started")
        process = subprocess.Popen(
            [TCA, "plot", self.write(result()), "-o", self.path("out.svg")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True, env={**self.environment, "PATH": self.folder + ":/usr/bin:/bin"},
        )  # fmt: skip
        self.addCleanup(process.kill)
        self.assertTrue(wait_until(lambda: os.path.exists(started)))
        os.remove(started)
        (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        return process.returncode, said

    def test_ctrl_c(self):
        slow = f"touch {self.path('started')}; exec sleep 100"
        for python in (slow, f'[ "$1" = -c ] && exit 0; {slow}'):
            for everybody in (True, False):
                self.assertEqual(self.interrupt(python, everybody), (130, "tca plot: interrupted\n"))


if __name__ == "__main__":
    unittest.main()
