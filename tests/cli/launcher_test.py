"""The launcher, `tca run`: how ranks start, fail, are interrupted and end, and that nothing of them is left.

Standard library only. TCA names the command line under test."""

import array
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
import unittest

from commands import GONE_WITHIN, PATIENCE, TCA, CommandTest, process_stat, processes_with, read_terminal, wait_until


class LauncherTest(CommandTest):
    def command(self, ranks, script, *options):
        return [TCA, "run", "-n", str(ranks), *options, "--", "sh", "-c", script]

    def tca(self, *arguments, **options):
        return subprocess.run(
            [TCA, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=self.environment, **options
        )

    def run_script(self, ranks, script, *options, **kwargs):
        return self.tca(*self.command(ranks, script, *options)[1:], **kwargs)

    def start(self, ranks, script, *options, **kwargs):
        process = subprocess.Popen(
            self.command(ranks, script, *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            **kwargs,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def file(self, name, text="", mode=0o644):
        with open(self.path(name), "w") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def count(self, prefix):
        return sum(name.startswith(prefix) for name in os.listdir(self.folder))


class Starting(LauncherTest):
    def test_every_rank_runs_once_with_its_number(self):
        done = self.run_script(4, "echo $OPENTCA_RANK of $OPENTCA_SIZE")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(sorted(done.stdout.split("\n")), ["", "0 of 4", "1 of 4", "2 of 4", "3 of 4"])
        self.assertEqual(done.stderr, "")

    def test_many_ranks(self):
        done = self.run_script(64, "echo $OPENTCA_RANK")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(sorted(map(int, done.stdout.split())), list(range(64)))

    def test_ranks_share_the_control_file_which_has_no_name(self):
        script = (
            'if [ $OPENTCA_RANK = 0 ]; then printf hello > "$OPENTCA_CONTROL"; fi\n'
            'while [ "$(cat "$OPENTCA_CONTROL")" != hello ]; do sleep 0.01; done\n'
            'readlink "$OPENTCA_CONTROL"'
        )
        done = self.run_script(3, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^(/memfd:\S+ \(deleted\)\n){3}$")

    def test_ranks_get_no_descriptors_of_the_launcher(self):
        """Except for the memory in which they meet."""
        script = "exec ls -l /proc/self/fd"
        alone = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=self.environment)
        for options in ([], ["--tag"]):
            done = self.run_script(2, script, *options)
            links = re.findall(r"(\d+) -> (.*)", done.stdout)
            self.assertEqual(sum(target == "/memfd:opentca-control (deleted)" for _, target in links), 2, links)
            numbers = [number for number, target in links if "opentca-control" not in target]
            self.assertEqual(sorted(numbers), sorted(2 * re.findall(r"(\d+) -> ", alone.stdout)))

    def test_closed_standard_descriptors_do_no_harm(self):
        done = subprocess.run(
            ["sh", "-c", f"exec {TCA} run -n 2 -- sh -c 'test -e $OPENTCA_CONTROL && echo fine >&2' <&- >&-"],
            capture_output=True, text=True, timeout=PATIENCE, env=self.environment,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, "fine\nfine\n"))

    def test_ranks_have_the_signals_they_would_have_without_the_launcher(self):
        script = "exec grep -E '^Sig(Blk|Ign)' /proc/self/status"
        alone = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=self.environment)
        self.assertEqual(self.run_script(1, script).stdout, alone.stdout)

    def test_options_after_the_program_belong_to_it(self):
        done = self.tca("run", "-n", "1", "--", "printf", "%s|", "-n", "--tag", "--", "x y")
        self.assertEqual((done.returncode, done.stdout), (0, "-n|--tag|--|x y|"))


class Input(LauncherTest):
    def test_only_rank_0_reads_stdin(self):
        done = self.run_script(3, "echo $OPENTCA_RANK:$(cat)", input="text")
        self.assertEqual(sorted(done.stdout.split()), ["0:text", "1:", "2:"])

    def test_another_rank_reads_it_or_all_do_or_none(self):
        for reader, expected in (("1", ["0:", "1:text", "2:"]), ("all", ["0:text", "1:text", "2:text"]),
                                 ("none", ["0:", "1:", "2:"])):  # fmt: skip
            with self.subTest(reader):
                done = self.run_script(3, "echo $OPENTCA_RANK:$(cat)", "--stdin", reader, input="text")
                self.assertEqual(sorted(done.stdout.split()), expected)

    def test_a_long_input_comes_whole_to_all_and_not_to_those_that_do_not_read(self):
        text = "".join(f"{line}\n" for line in range(50000))
        done = self.run_script(3, "[ $OPENTCA_RANK = 1 ] || exec wc -l", "--stdin", "all", input=text)
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["50000", "50000"]))

    def test_what_is_typed_for_the_shell_is_left_to_it(self):
        # A rank that reads nothing takes one line at most.
        terminal, other = pty.openpty()
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, other)
        ran = subprocess.Popen(self.command(1, "sleep 0.7"), stdin=other, env=self.environment)
        for line in (b"first\n", b"second\n"):
            os.write(terminal, line)
            time.sleep(0.2)
        self.assertEqual(ran.wait(timeout=PATIENCE), 0)
        unread = array.array("i", [0])
        fcntl.ioctl(other, termios.FIONREAD, unread)
        self.assertEqual(unread[0], len("second\n"))

    def test_readers_that_cannot_be(self):
        for reader, words in (("2", "--stdin 2: the ranks are numbered from 0 to 1"), ("-1", "give a rank, none or all"),
                              ("me", "--stdin: `me`: give a rank, none or all")):  # fmt: skip
            done = self.run_script(2, "true", "--stdin", reader)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


class Output(LauncherTest):
    def test_tags_every_line(self):
        done = self.run_script(2, "echo one; echo two >&2; printf 'no end'", "--tag")
        self.assertEqual(sorted(done.stdout.split("\n")), ["", "[0] no end", "[0] one", "[1] no end", "[1] one"])
        self.assertEqual(sorted(done.stderr.split("\n")), ["", "[0] two", "[1] two"])

    def test_tags_much_output_without_loss(self):
        done = self.run_script(4, "seq 20000", "--tag")
        self.assertEqual(done.returncode, 0)
        for rank in range(4):
            mine = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [str(i) for i in range(1, 20001)])

    def test_a_reader_that_stops_reading_does_not_keep_ctrl_c_out(self):
        process = self.start(2, "yes", "--tag")
        writer = os.open(f"/proc/{process.pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK)
        self.assertTrue(wait_until(lambda: not select.select([], [writer], [], 0)[1]), "the pipe never was full")
        os.close(writer)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.assert_nothing_left()

    def test_a_reader_that_goes_away_ends_everything(self):
        process = self.start(2, "yes", "--tag")
        process.stdout.readline()
        process.stdout.close()
        process.wait(timeout=PATIENCE)
        self.assert_nothing_left()


    def shown(self, script, ranks=2):
        """What comes from ranks that do not end, and whether something of it has come."""
        process = self.start(ranks, script, "--tag")
        text = []

        def shows(expected):
            if select.select([process.stdout], [], [], 0)[0]:
                text.append(os.read(process.stdout.fileno(), 4096).decode())
            return expected in "".join(text)

        return shows, text

    def test_a_prompt_is_shown_without_its_line_end(self):
        shows, text = self.shown("[ $OPENTCA_RANK = 1 ] && printf 'your name? '; exec sleep 60")
        self.assertTrue(wait_until(lambda: shows("your name? ")), text)
        self.assertEqual("".join(text), "[1] your name? ")

    def test_a_line_in_pieces_is_one_line_unless_another_rank_prints_meanwhile(self):
        script = (
            "cd {folder}; if [ $OPENTCA_RANK = 0 ]; then printf 'one, '; sleep 0.5; echo two; printf 'three, '; sleep 0.5; : > go\n"
            "until [ -e gone ]; do sleep 0.05; done; echo four\n"
            "else until [ -e go ]; do sleep 0.05; done; echo other; sleep 0.3; : > gone; fi"
        ).format(folder=self.folder)
        done = self.run_script(2, script, "--tag")
        self.assertEqual(done.stdout, "[0] one, two\n[0] three, \n[1] other\n[0] four\n")

    def test_a_line_that_a_full_buffer_cuts_stays_whole(self):
        program = (
            "import os, time; time.sleep(0.3 * int(os.environ['OPENTCA_RANK'])); text = b'a' * 4095 + b'\\n' + b'b' * 5000 + b'\\n'\n"
            "os.write(1, text[:8192]); time.sleep(0.6); os.write(1, text[8192:])"
        )
        done = self.tca("run", "-n", "2", "--tag", "--", sys.executable, "-c", program)
        lines = [line[4:] for line in done.stdout.splitlines()]
        self.assertEqual(sorted(map(len, lines)), [4095, 4095, 5000, 5000])

    def test_a_progress_bar_keeps_its_tag(self):
        shows, text = self.shown(r"[ $OPENTCA_RANK = 1 ] && printf '\r 10 %%\r 20 %%'; exec sleep 60")
        self.assertTrue(wait_until(lambda: shows("20")), text)
        self.assertEqual("".join(text), "[1] \r[1]  10 %\r[1]  20 %")

    def test_line_ends_with_returns_stay(self):
        command = self.command(1, r"printf 'a\r'; sleep 0.3; printf '\nb\r\n'", "--tag")
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual(done.stdout, b"[0] a\r\n[0] b\r\n")


class Failing(LauncherTest):
    def test_exit_code_of_the_first_failing_rank(self):
        done = self.run_script(4, "[ $OPENTCA_RANK = 2 ] && exit 3; exec sleep 60")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "tca run: rank 2 exited with code 3; the other 3 ranks were ended\n")
        self.assert_nothing_left()

    def test_rank_killed(self):
        started = time.monotonic()
        done = self.run_script(4, "[ $OPENTCA_RANK = 2 ] && kill -9 $$; exec sleep 60")
        self.assertLess(time.monotonic() - started, GONE_WITHIN + 0.5)
        self.assertEqual(done.returncode, 137)
        expected = "tca run: rank 2 was killed by signal 9 (Killed); the other 3 ranks were ended\n"
        self.assertEqual(done.stderr, expected)
        self.assert_nothing_left()

    def test_a_rank_that_kills_its_whole_group(self):
        """With the guard; rank 1 has left the group before."""
        away = f"[ $OPENTCA_RANK = 1 ] && exec setsid sh -c ': > {self.folder}/away; exec sleep 60'"
        done = self.run_script(3, f"{away}; until [ -e {self.folder}/away ]; do sleep 0.01; done; kill -9 0; exec sleep 60")
        self.assertEqual(done.returncode, 137)
        self.assertIn("was killed by signal 9 (Killed)", done.stderr)
        self.assert_nothing_left()

    def test_rank_killed_from_outside(self):
        process = self.start(3, f"cd {self.folder}; echo $$ > pid$OPENTCA_RANK; : > ready$OPENTCA_RANK; exec sleep 60")
        self.assertTrue(wait_until(lambda: self.count("ready") == 3))
        with open(f"{self.folder}/pid1") as file:
            pid = int(file.read())
        os.kill(pid, signal.SIGSEGV)
        self.assertEqual(process.wait(timeout=PATIENCE), 128 + signal.SIGSEGV)
        self.assertIn("rank 1 was killed by signal 11 (Segmentation fault)", process.stderr.read())
        self.assert_nothing_left()

    def test_the_others_are_given_time_to_say_what_they_noticed(self):
        script = "[ $OPENTCA_RANK = 0 ] && kill -9 $$; sleep 0.5; echo noticed >&2; exit 5"
        done = self.run_script(3, script)
        self.assertEqual(done.returncode, 137)
        self.assertEqual(done.stderr.count("noticed"), 2)
        self.assertIn("rank 0 was killed by signal 9 (Killed); the other 2 ranks ended by themselves", done.stderr)

    def test_a_rank_that_only_noticed_is_not_the_one_to_blame(self):
        script = "[ $OPENTCA_RANK = 0 ] && exit 5; sleep 0.3; exit 7"
        done = self.run_script(2, script)
        self.assertEqual(done.returncode, 7)
        self.assertIn("rank 1 exited with code 7", done.stderr)

    def test_ranks_that_ignore_sigterm_are_gone_in_time(self):
        script = "[ $OPENTCA_RANK = 0 ] && exit 9; trap '' TERM; while :; do sleep 0.1; done"
        started = time.monotonic()
        done = self.run_script(3, script)
        self.assertLess(time.monotonic() - started, GONE_WITHIN + 0.5)
        self.assertEqual(done.returncode, 9)
        self.assert_nothing_left()

    def test_what_a_rank_has_started_ends_with_it(self):
        done = self.run_script(2, "sleep 60 & [ $OPENTCA_RANK = 1 ] && exit 1; wait")
        self.assertEqual(done.returncode, 1)
        self.assert_nothing_left()

    def test_ranks_that_end_well_early_are_no_failure(self):
        done = self.run_script(3, "[ $OPENTCA_RANK = 0 ] || exec sleep 0.5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_single_rank(self):
        done = self.run_script(1, "exit 4")
        self.assertEqual((done.returncode, done.stderr), (4, "tca run: rank 0 exited with code 4\n"))


class NotRunnable(LauncherTest):
    def check(self, program, code, reason, ranks=4):
        done = self.tca("run", "-n", str(ranks), "--", program)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, reason)
        self.assert_nothing_left()

    def test_not_in_path(self):
        self.check("no-such-program-at-all", 127, "tca run: no-such-program-at-all: there is no such program in PATH")

    def test_no_such_file(self):
        self.check(f"{self.folder}/nothing", 127, "No such file")

    def test_not_executable(self):
        self.check(self.file("plain", "text"), 126, "is not executable")

    def test_folder(self):
        self.check(self.folder, 126, "is a directory")

    def test_interpreter_missing(self):
        self.check(self.file("script", "#!/no/such/interpreter\n", 0o755), 127, "its interpreter is not there")

    def test_not_a_program(self):
        self.check(self.file("noise", "\0\1\2", 0o755), 126, "is not a program for this machine")

    def test_numbers_of_ranks(self):
        for ranks, reason in (("0", "from 1"), ("-3", "from 1"), ("4097", "to 4096"), ("many", "many")):
            done = self.tca("run", "-n", ranks, "--", "true")
            self.assertEqual(done.returncode, 2, ranks)
            self.assertIn(reason, done.stderr)


class RanksWithTraps(LauncherTest):
    # Each rank leaves a file for each signal it gets, and stays a while for a second one.
    COUNTING = (
        "n=0; trap 'n=$((n+1)); : > {folder}/got$OPENTCA_RANK.$n' {signal}\n"
        ": > {folder}/ready$OPENTCA_RANK; while [ $n = 0 ]; do sleep 0.05; done\n"
        "for i in 1 2 3 4 5 6; do sleep 0.05; done"
    )
    STUBBORN = "trap '' INT TERM HUP; : > {folder}/ready$OPENTCA_RANK; while :; do sleep 0.05; done"

    def ready(self, ranks):
        self.assertTrue(wait_until(lambda: self.count("ready") == ranks))


class Interrupted(RanksWithTraps):
    def test_forwards_signals_once_and_says_so(self):
        for number, word in ((signal.SIGINT, ""), (signal.SIGTERM, " by signal 15"), (signal.SIGHUP, " by signal 1")):
            with self.subTest(number):
                for name in os.listdir(self.folder):
                    os.remove(os.path.join(self.folder, name))
                name = number.name.removeprefix("SIG")
                process = self.start(4, self.COUNTING.format(folder=self.folder, signal=name))
                self.ready(4)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=PATIENCE), 128 + number)
                ours = [line for line in process.stderr.read().splitlines() if line.startswith("tca")]
                self.assertEqual(ours, [f"tca run: interrupted{word}; 4 ranks ended"])
                self.assertEqual(self.count("got"), 4)
                self.assert_nothing_left()

    def test_stubborn_ranks_are_killed_after_the_grace(self):
        process = self.start(3, self.STUBBORN.format(folder=self.folder))
        self.ready(3)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=PATIENCE), 143)
        self.assertGreater(time.monotonic() - started, 1.0)
        self.assertLess(time.monotonic() - started, GONE_WITHIN + 0.5)
        self.assert_nothing_left()

    def test_a_second_interrupt_does_not_wait(self):
        process = self.start(3, self.STUBBORN.format(folder=self.folder))
        self.ready(3)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 130)
        self.assertLess(time.monotonic() - started, 1.2)
        self.assertEqual(process.stderr.read(), "tca run: interrupted; 3 ranks ended\n")
        self.assert_nothing_left()

    def test_launcher_killed(self):
        for script in ("exec sleep 60", self.STUBBORN, "sleep 60; :"):  # the last: a script and what it has started
            with self.subTest(script):
                process = self.start(4, ": > {folder}/ready$OPENTCA_RANK; ".format(folder=self.folder)
                                     + script.format(folder=self.folder))  # fmt: skip
                self.ready(4)
                process.kill()
                process.wait()
                self.assert_nothing_left()

    def test_what_was_ignored_stays_ignored(self):
        process = self.start(
            2, f": > {self.folder}/ready$OPENTCA_RANK; exec sleep 1",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )  # fmt: skip
        self.ready(2)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_a_parent_that_ignores_sigchld(self):
        process = self.start(2, "exit 6", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(process.wait(timeout=PATIENCE), 6)


class OnATerminal(RanksWithTraps):
    """The same through a terminal's keys, in a session of its own."""

    def spawn(self, ranks, script, *options):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.execvpe(TCA, self.command(ranks, script, *options), self.environment)
        self.addCleanup(os.close, self.terminal)
        return pid

    def test_ctrl_c(self):
        pid = self.spawn(4, self.COUNTING.format(folder=self.folder, signal="INT"))
        self.ready(4)
        os.write(self.terminal, b"\x03")
        text = read_terminal(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertEqual(text.count("interrupted; 4 ranks ended"), 1, text)
        self.assertEqual(self.count("got"), 4)
        self.assert_nothing_left()

    def test_ctrl_c_twice(self):
        pid = self.spawn(3, self.STUBBORN.format(folder=self.folder))
        self.ready(3)
        started = time.monotonic()
        os.write(self.terminal, b"\x03")
        time.sleep(0.2)
        os.write(self.terminal, b"\x03")
        text = read_terminal(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertLess(time.monotonic() - started, 1.2)
        self.assertEqual(text.count("interrupted; 3 ranks ended"), 1, text)
        self.assert_nothing_left()

    READING = "echo $OPENTCA_RANK is ready; read line; echo $OPENTCA_RANK got $line. ; exec cat"

    def test_rank_0_reads_the_terminal(self):
        pid = self.spawn(2, self.READING)
        text = read_terminal(self.terminal, lambda text: "0 is ready" in text)
        os.write(self.terminal, b"hello\nand more\n\x04")
        text += read_terminal(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        for line in ("0 got hello.", "1 got .", "and more"):
            self.assertIn(line, text)

    def test_ctrl_c_while_a_rank_reads(self):
        pid = self.spawn(2, self.READING)
        read_terminal(self.terminal, lambda text: "0 is ready" in text)
        os.write(self.terminal, b"hello\n")
        read_terminal(self.terminal, lambda text: "0 got hello" in text)
        os.write(self.terminal, b"\x03")
        text = read_terminal(self.terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        self.assertIn("interrupted; 2 ranks ended", text)
        self.assert_nothing_left()

    def test_a_job_in_the_background_reads_nothing_and_is_not_stopped(self):
        script = f"{TCA} run -n 2 -- sh -c 'read line; echo $OPENTCA_RANK got $line' & sleep 0.5; read mine; echo shell got $mine; kill %1; wait"
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.execvpe("bash", ["bash", "-m", "-c", script], self.environment)
        self.addCleanup(os.close, self.terminal)
        text = read_terminal(self.terminal, lambda text: "1 got" in text)
        os.write(self.terminal, b"hello\n")
        text += read_terminal(self.terminal)
        os.waitpid(pid, 0)
        self.assertIn("shell got hello", text)
        self.assertNotIn("0 got", text)
        self.assert_nothing_left()

    def test_terminal_closed(self):
        pid, terminal = pty.fork()
        if pid == 0:
            script = f": > {self.folder}/ready$OPENTCA_RANK; exec sleep 60"
            os.execvpe(TCA, self.command(2, script), self.environment)
        self.ready(2)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 129)
        self.assert_nothing_left()


class Stopping(LauncherTest):
    def test_ctrl_z_stops_the_ranks_and_fg_lets_them_go_on(self):
        # A process group of its own below one of the same session, as a shell's job has; others are never stopped.
        process = self.start(2, "exec sleep 60", preexec_fn=os.setpgrp)
        self.assertTrue(wait_until(lambda: self.states() == {"S"}))
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: self.states() == {"T"}))
        # The launcher stops last, and a shell lets it go on only once it has.
        self.assertTrue(wait_until(lambda: process_stat(process.pid)[1][0] == "T"))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_until(lambda: self.states() == {"S"}))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=PATIENCE), 143)
        self.assert_nothing_left()

    def states(self):
        """Of the ranks, which are all `sleep`."""
        return {fields[0] for name, fields in map(process_stat, processes_with(self.marker)) if name == "sleep"}


class CommandLine(LauncherTest):
    def test_version(self):
        done = self.tca("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^tca \d+\.\d+\.\d+ \(\S+\)\n$")

    def test_help_has_an_example_for_every_subcommand(self):
        done = self.tca("--help")
        self.assertEqual(done.returncode, 0)
        names = re.findall(r"(?m)^  (\w+) ", done.stdout.partition("Subcommands:")[2].partition("\n\n")[0])
        self.assertGreater(len(names), 5, done.stdout)
        for name in names:
            self.assertRegex(done.stdout, rf"(?m)^  (mpirun .* )?tca {name}\b")
            self.assertEqual(self.tca(name, "--help").returncode, 0)

    def assert_loses_output(self, arguments, redirection, told):
        command = ["sh", "-c", f"{TCA} {arguments} {redirection}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=self.environment)
        self.assertEqual(done.returncode, 2, arguments)
        self.assertRegex(done.stderr, told)

    def test_output_that_has_no_room(self):
        told = r"^tca( info| model| run)?: standard output: No space left on device\n$"
        for arguments in ("info", "--help", "--version", "model himeno --size XS --ranks 2", "run -n 2 --tag -- echo"):
            self.assert_loses_output(arguments, "> /dev/full", told)

    def test_output_that_is_closed(self):
        told = r"^tca( \w+)?: (rank 0: )?standard output: Bad file descriptor\n$"
        for arguments in ("info", "--help", "--version", "run -n 2 --tag -- echo", "explain --ranks 2"):
            self.assert_loses_output(arguments, ">&-", told)

    def test_mistakes_are_told_in_one_line_and_where_help_is(self):
        for arguments, reason in (
            (["fly"], "tca: there is no subcommand `fly`; there are himeno, qcd, cg, bfs, spin, fft, pic, trigger, run"),
            (["himena"], "; did you mean `himeno`?"),
            (["--fly"], "tca: there is no option --fly here"),
            (["-n", "2", "himeno"], "tca himeno: -n belongs behind the subcommand: tca himeno -n\n"),
            (["qcd", "--kappa=0.1", "invert"], "--kappa belongs behind the subcommand: tca qcd invert --kappa\n"),
            (["himeno", "-n", "2", "-n", "2"], "tca himeno: --ranks is given more than once\n"),
            (["run"], "tca run: "),
            (["run", "-n", "2"], "tca run: PROGRAM is required"),
            (["run", "-n", "x", "--", "true"], "tca run: --ranks: x is no whole number from 1 to 4096"),
            (["himeno", "one", "--two", "3"], "tca himeno: one --two 3: not expected here"),
            (["qcd", "invert", "one", "two"], "tca qcd: one two: not expected here\nTry `tca qcd invert --help`"),
            (["bench", "pingpong", "--fidelity", "fine"], "tca bench: --fidelity: `fine`: choose tlp, train, flow or rtl"),
            (["run", "-n", "2", "--bind", "rope", "--", "true"], "--bind: `rope`: choose auto, core or none"),
        ):
            with self.subTest(arguments):
                done = self.tca(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, reason)
                self.assertRegex(done.stderr, r"^[^\n]+\nTry `tca[^\n]* --help`\.\n$")

    def test_np_is_n_and_belongs_to_a_program_behind_its_name(self):
        done = self.tca("run", "-np", "2", "--", "sh", "-c", "echo $OPENTCA_SIZE")
        self.assertEqual((done.returncode, done.stdout), (0, "2\n2\n"), done.stderr)
        done = self.tca("run", "--np", "1", "--bind", "none", "printf", "%s|", "-np", "2")
        self.assertEqual((done.returncode, done.stdout), (0, "-np|2|"), done.stderr)
        done = self.tca("explain", "-np", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("1", done.stderr)

    def test_near_misses_of_options(self):
        for arguments, words in (
            (["run", "--rank", "2", "--", "true"], "tca run: there is no option --rank here; did you mean `--ranks`?"),
            (["run", "-n", "2", "--bind-to", "core", "true"], "there is no option --bind-to here; did you mean `--bind`?"),
            (["run", "-n", "2", "--tag-output", "true"], "; did you mean `--tag`?"),
            (["run", "--oversubscribe", "-n", "2", "true"], "there is no option --oversubscribe here; more ranks than cores"),
            (["run", "--hostfile", "hosts", "-n", "2", "true"], "all ranks are on this host; mpirun starts them on several"),
            (["himeno", "--thread"], "tca himeno: there is no option --thread here; did you mean `--threads`?"),
            (["qcd", "invert", "--fabrik", "shm"], "did you mean `--fabric`?"),
            (["model", "--machne=peach3"], "there is no option --machne=peach3 here; did you mean `--machine`?"),
            (["himeno", "--quixotic"], "there is no option --quixotic here\n"),
        ):
            with self.subTest(arguments):
                done = self.tca(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(words, done.stderr)

    def test_what_ranks_of_another_launcher_say_alike_is_said_once(self):
        done = self.tca("run", "-n", "3", "--", TCA, "himeno", "--quixotic")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "tca himeno: there is no option --quixotic here\nTry `tca himeno --help`.\n")
        done = self.tca("run", "-n", "3", "--", TCA, "himeno", "--ranks", "2", "--size", "XS")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("3 ranks have been started already"), 1, done.stderr)

    def test_numbers_of_ranks_that_cannot_be(self):
        for command in (["run", "--", "true"], ["info"], ["himeno"], ["explain"]):
            for ranks in ("0", "-1", "4097"):
                with self.subTest(command=command, ranks=ranks):
                    done = self.tca(command[0], "-n", ranks, *command[1:])
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"^tca {command[0]}: --ranks: {ranks} is no whole number from 1 to (4096|1048576)")


if __name__ == "__main__":
    unittest.main()
