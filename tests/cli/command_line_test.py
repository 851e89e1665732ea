"""What every command has alike: its help, sizes with units, plain terminals, readers that go away, wrong arguments.

Standard library only. TCA names the command line under test."""

import pty
import os
import re
import subprocess
import unittest

from commands import PATIENCE, TCA, CommandTest, read_terminal

SUBCOMMANDS = "himeno qcd cg bfs run bench tune explain info plot model scorecard fit".split()
OF_QCD = "generate invert dslash plaquette pion".split()
PAGES = [[name] for name in SUBCOMMANDS] + [["qcd", name] for name in OF_QCD]


class CommandLineTest(CommandTest):
    def tca(self, *arguments, **environment):
        return subprocess.run(
            [TCA, *arguments], capture_output=True, text=True, timeout=3 * PATIENCE, env={**self.environment, **environment}
        )

    def refused(self, reason, *arguments):
        done = self.tca(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), (arguments, done.stderr))
        self.assertRegex(done.stderr, rf"^tca {arguments[0]}: {reason}[^\n]*\n(Try [^\n]*\n)?$", arguments)


class Help(CommandLineTest):
    # What only goes on from the option's name, and means nothing without it.
    FRAGMENT = r"^(How|Of|In|On|At|By|For|Whom|Who|What (?!carries|starts|moves|to)|Which|When|Its|As|That|With|Without)\b"

    def entries(self, page):
        """Each option or argument of a page, and what is said of it."""
        body = re.split(r"\n\nExamples?:", page)[0]
        lists = re.findall(r"(?ms)^(?:Options|Positionals|Subcommands):\n(.*?)(?:\n\n|\Z)", body)
        for entry in re.findall(r"(?m)^  (\S.*(?:\n {28}.*)*)", "\n".join(lists)):
            heading, _, text = re.sub(r"\n +", "  ", entry).partition("  ")
            yield heading, re.sub(r"\s+", " ", text).strip()

    def test_every_text_stands_alone(self):
        for page in ([], *PAGES):
            done = self.tca(*page, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            entries = dict(self.entries(done.stdout))
            self.assertIn("-h, --help", entries, page)
            for heading, text in entries.items():
                with self.subTest(page=page, heading=heading):
                    self.assertRegex(text, r"^[A-Z]\S* \S")
                    self.assertNotRegex(text, self.FRAGMENT)
                    self.assertFalse(text.endswith("."), text)

    def test_no_line_is_too_long(self):
        for page in ([], *PAGES):
            text = self.tca(*page, "--help").stdout.partition("\n\nExample")[0]
            for line in text.splitlines():
                self.assertTrue(len(line) <= 100 or line.startswith("  -"), line)

    def test_limits_choices_and_defaults_are_told(self):
        page = re.sub(r"\s+", " ", self.tca("qcd", "invert", "--help").stdout)
        self.assertIn("--rhs N Number of right-hand sides (1 to 64; default 1)", page)
        self.assertIn("--precision single|double|mixed", page)
        self.assertIn("(default shm; environment OPENTCA_FABRIC)", page)
        self.assertIn("--small Take a lattice of 8x8x8x8 sites (not with --config, --large, --lattice)", page)
        self.assertIn("--bytes SIZE,...", self.tca("bench", "--help").stdout)


class Sizes(CommandLineTest):
    def test_have_units(self):
        for said, bytes_ in (("64K", 65536), ("64KiB", 65536), ("64kb", 65536), ("1M", 1048576), ("100", 100), ("100B", 100)):
            done = self.tca("explain", "--to", "0", "--run", said)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout.startswith(f"{bytes_} bytes, block"), done.stdout)
        swept = self.tca("model", "pingpong", "--machine", "peach3", "--sweep", "bytes=1K:4K")
        self.assertEqual(re.findall(r"(?m)^bytes=(\d+) ", swept.stdout), ["1024", "2048", "4096"], swept)

    def test_that_are_none(self):
        why = r"is no size from 1 to {} bytes, such as 4096, 64K or 1M \(K = 1024\)"
        for text in ("8Q", "K", "1.5K", "-1", "8 K", "9999999999999999999T", "0"):
            self.refused(f"--run: {re.escape(text)} {why.format('256T')}", "explain", f"--run={text}")
        self.refused(f"--bytes: 4X {why.format('1T')}", "bench", "pingpong", "--bytes", "8,4X")
        self.refused(f"--rows: 2G {why.format('1G')}", "bench", "put", "--rows", "2G")
        self.refused(f"--bytes: 0 {why.format('1T')}", "model", "pingpong", "--bytes", "0")


class Mistakes(CommandLineTest):
    def test_name_the_option_the_value_and_what_is_allowed(self):
        for reason, arguments in (
            ("--ranks: 0 is no whole number from 1 to", ("himeno", "--ranks", "0")),
            ("--ranks: 5000 is no whole number from 1 to 4096; on --fabric sim", ("himeno", "--ranks", "5000")),
            ("--ranks: 5000 is no whole number from 1 to 4096", ("run", "-n", "5000", "--", "true")),
            ("--ranks: many is no whole number from 1 to 4096", ("info", "-n", "many")),
            ("--extent: 2 is no whole number from 3 to 65536", ("bench", "halo", "--extent", "2")),
            ("--rounds: 0 is no whole number from 1 to", ("bench", "halo", "--rounds", "0")),
            ("--descriptors: 0 is no whole number from 1 to 65536", ("bench", "commit", "--descriptors", "0")),
            ("--fidelity: `fine`: choose tlp, train, flow or rtl", ("bench", "pingpong", "--fidelity", "fine")),
            ("--fabric: `ib`: choose shm, mpi, shm\\+mpi, cuda, cuda\\+mpi or sim", ("himeno", "--fabric", "ib")),
            ("--links: `13`: choose 12 or 18", ("qcd", "invert", "--links", "13")),
            ("--ranks: a value is missing", ("himeno", "--ranks")),
            ("/nowhere/links: cannot be opened: No such file", ("qcd", "plaquette", "--config", "/nowhere/links")),
            ("/nowhere/all.jsonl: No such file", ("plot", "/nowhere/all.jsonl")),
            ("/nowhere: cannot be read as a folder of figures: No such file", ("scorecard", "--figures", "/nowhere")),
            ("--mpi: `lam`: choose openmpi, mpich or abi", ("mpi", "--mpi", "lam", "true")),
        ):
            with self.subTest(arguments):
                self.refused(reason, *arguments)

    def test_more_modelled_ranks_than_there_is_room_for(self):
        self.refused("5000 ranks on ha-pacs-tca: it has room for 1 to 64", "himeno", "--fabric", "sim", "--ranks", "5000")
        done = self.tca("cg", "--fabric", "sim", "--ranks", "1048576")
        self.assertNotEqual(done.returncode, 0)  # the first on most hosts, the second on large ones
        self.assertRegex(done.stderr, r"tca cg: a modelled world of 1048576 ranks needs 48\.0 GiB, this machine has|1048576 ranks")


class Terminals(CommandLineTest):
    def on_a_terminal(self, *arguments, **environment):
        terminal, other = pty.openpty()
        with subprocess.Popen([TCA, *arguments], stdin=other, stdout=other, stderr=other, env={**self.environment, **environment}) as process:
            os.close(other)
            text = read_terminal(terminal)
            os.close(terminal)
            self.assertEqual(process.wait(3 * PATIENCE), 0, text)
        return text

    def test_get_escape_sequences_only_where_they_may(self):
        drawing = ("himeno", "--ranks", "2", "--size", "XS", "--seconds", "0.3")
        self.assertIn("\x1b[K", self.on_a_terminal(*drawing, TERM="xterm"))
        for plain in ({"TERM": "dumb"}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}):
            self.assertNotIn("\x1b", self.on_a_terminal(*drawing, **plain), plain)
        self.assertNotIn("\x1b", self.tca(*drawing, TERM="xterm").stderr)

    def test_messages_of_a_launcher_wipe_no_line_of_a_plain_one(self):
        shared = ("run", "-n", "64", "--bind", "core", "--", "true")
        self.assertRegex(self.on_a_terminal(*shared, TERM="xterm"), r"\x1b\[Ktca run: --bind: ranks? 0")
        self.assertNotIn("\x1b", self.on_a_terminal(*shared, TERM="dumb"))


class Readers(CommandLineTest):
    def test_that_go_away_are_no_reason_for_alarm(self):
        for arguments in (
            ("bench", "pingpong", "--rounds", "1", "--placements", "1", "--bytes", "8"),
            ("himeno", "--ranks", "2", "--size", "XS", "--iterations", "2"),
            ("tune", "--seconds", "0", "--every", "100", "--dry-run"),
            ("explain",),
            ("info",),
            ("run", "-n", "2", "--", "echo"),
            ("run", "-n", "2", "--tag", "--", "echo"),
            ("model", "pingpong"),
        ):
            with self.subTest(arguments):
                reader, writer = os.pipe()
                os.close(reader)
                process = subprocess.Popen(
                    [TCA, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, env=self.environment
                )
                os.close(writer)
                self.assertEqual(process.stderr.read(), "")
                process.stderr.close()
                self.assertIn(process.wait(3 * PATIENCE), (-13, 141))

    def test_a_rank_that_a_pipe_of_its_own_kills_is_named(self):
        broken = "exec sh -c 'kill -PIPE $$'"
        done = self.tca("run", "-n", "1", "--", "sh", "-c", broken)
        self.assertEqual(done.returncode, 141)
        self.assertRegex(done.stderr, r"rank 0 was killed by signal 13")


class Machine(CommandLineTest):
    def test_info_says_what_is_there_and_what_is_not_and_why(self):
        text = self.tca("info").stdout
        self.assertRegex(text, r"(?m)^  GPUs +(none: \S.+|\d+ x \S.+)$")
        self.assertRegex(text, r"(?m)^  MPI +(not built in|\S.+, which this tca was built with)$")
        self.assertRegex(text, r"(?m)^  launchers +tca run\b.*(mpirun|no srun)")
        for fabric in ("shm", "cuda", "mpi", "sim"):
            self.assertRegex(text, rf"(?m)^  {fabric} +(yes|no )  \S")
        self.assertRegex(text, r"(?m)^  shm +yes")

    def test_info_without_a_gpu_to_be_seen(self):
        text = self.tca("info", CUDA_VISIBLE_DEVICES="").stdout
        self.assertRegex(text, r"(?m)^  GPUs +none: (no NVIDIA driver|there is one on PCI, but no|CUDA_VISIBLE_DEVICES='' leaves none|the NVIDIA)")


if __name__ == "__main__":
    unittest.main()
