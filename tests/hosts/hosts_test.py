#!/usr/bin/env python3
"""Worlds over several hosts: the fabric suite and Himeno, a host that dies, and networks that stall.

TCA, FABRIC_MPI, RANK_PROGRAM and HOST_SWITCH name programs of the build, MPIRUN the launcher of its MPI."""

import os
import re
import subprocess
import time
import unittest
import unittest.mock

from hosts import PREFIX, Hosts, HostsTest

TCA, SUITE, PROGRAM = (os.environ[name] for name in ("TCA", "FABRIC_MPI", "RANK_PROGRAM"))
LIMIT = 8  # seconds that a blocking call may take in the tests of failure
SOON = 25  # seconds for mpirun to end everything, also what it can no longer reach

# What two hosts run to time a packet there and back.
ANSWER = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    here.bind(("", 9999))
    print("ready", flush=True)
    while True:
        here.sendto(*here.recvfrom(2000))
"""
ASK = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    here.settimeout(5)
    here.connect((sys.argv[1], 9999))
    times = []
    for _ in range(20):
        begin = time.monotonic()
        here.send(bytes(int(sys.argv[2])))
        here.recv(2000)
        times.append(time.monotonic() - begin)
print(1e3 * min(times))
"""


class SeveralHosts(HostsTest):
    def suite(self, count, ranks_each, names):
        wanted = "--gtest_filter=" + ":".join(f"*.{name}/{backend}" for name in names for backend in ("mpi", "shm_mpi_by_2"))
        listed = subprocess.run([SUITE, "--gtest_list_tests", wanted], check=True, capture_output=True, text=True, timeout=60)
        tests = len(re.findall("(?m)^  ", listed.stdout))
        self.assertGreaterEqual(tests, 2 * len(names), listed.stdout)
        hosts = self.hosts(count)
        job = self.start(hosts, ranks_each, [SUITE, "--gtest_color=no", wanted])
        text, code = self.finish(job, 240)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, rf"{tests} tests from .* ran")
        self.assertGreaterEqual(int(re.search(r"PASSED\W+(\d+) tests", text)[1]), 0.9 * tests)  # some fabrics skip one

    def test_suite_on_two_hosts(self):
        self.suite(2, 3, ["*"])

    # One test or two of each kind: most ranks are on other hosts, which makes all of them slow.
    def test_suite_on_four_hosts(self):
        self.suite(4, 2, ["EveryLayoutOnEverySide", "OneByteToMebibytes", "FanInAndOut", "Ring", "AllToAll", "HaloWithCorners",
                          "ThousandsOfRestarts", "ASenderNeverOverrunsAReceiver", "CollectiveAllReduce",
                          "CollectiveLargeBlocks"])  # fmt: skip

    def test_himeno(self):
        residuals = []
        for count, each in ((1, 4), (2, 2), (4, 1)):
            hosts = self.hosts(count)
            job = self.start(hosts, each, [TCA, "himeno", "--size", "XS", "--iterations", "20"], OPENTCA_FABRIC="shm+mpi")
            text, code = self.finish(job, 60)
            self.assertEqual(code, 0, text)
            residuals.append(re.search(r"residual\D*([0-9.e+-]+)", text)[1])
        self.assertEqual(len(set(residuals)), 1, residuals)

    def round_trip_ms(self, hosts, size):
        """The quickest of some from host 0 to host 1 and back, of a packet with so many bytes."""
        holders = [holder.pid for holder in hosts.holders[1:]]
        answer = subprocess.Popen(hosts.inside(holders[1], ["python3", "-c", ANSWER]), stdout=subprocess.PIPE)
        try:
            answer.stdout.readline()
            ask = hosts.inside(holders[0], ["python3", "-c", ASK, f"{PREFIX}2", str(size)])
            return float(subprocess.run(ask, check=True, capture_output=True, text=True, timeout=30).stdout)
        finally:
            answer.kill()
            answer.wait()
            answer.stdout.close()

    def test_cables_have_their_delay_and_rate(self):
        for delay_us, rate_mbit in ((5000, 1000), (1000, 1)):
            hosts = self.hosts(2, delay_us=delay_us, rate_mbit=rate_mbit)
            least_ms = 2 * (delay_us / 1000 + 8 * 1000 / (rate_mbit * 1000))
            took_ms = self.round_trip_ms(hosts, 1000)
            self.assertGreater(took_ms, least_ms)
            self.assertLess(took_ms, least_ms + 3)

    def test_hosts_that_cannot_be_made_leave_nothing(self):
        with unittest.mock.patch.object(Hosts, "run", side_effect=OSError), self.assertRaises(OSError):
            Hosts(2)
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            self.assertEqual(file.read(), "")

    # Nothing is said of the fabric: several hosts are enough for the library to see.
    def test_hosts_are_found(self):
        hosts = self.hosts(2)
        job = self.start(hosts, 2, [PROGRAM, "ring", "--steps", "100"])
        text, code = self.finish(job, 40)
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count("done"), 4, text)


class Failures(HostsTest):
    def ring(self, hosts, *arguments):
        return self.start(hosts, 1, [PROGRAM, "ring", *arguments], OPENTCA_TIME_LIMIT=str(LIMIT))

    @staticmethod
    def is_rank(pid):
        try:
            return os.readlink(f"/proc/{pid}/exe") == os.path.realpath(PROGRAM)
        except OSError:
            return False

    def lines_until(self, job, count, word):
        lines = []
        while sum(word in line for line in lines) < count:
            line = job.stdout.readline()
            self.assertTrue(line, lines)
            lines.append(line)
        return lines

    def test_a_rank_on_another_host_dies(self):
        hosts = self.hosts(2)
        # MPI sees it once the shell ends as well, and Open MPI's mpirun may then not end; the ranks do.
        script = f"{PROGRAM} ring --who 1 --how kill --step 50; code=$?; sleep 1; exit $code"
        job = self.start(hosts, 1, ["sh", "-c", script], OPENTCA_TIME_LIMIT=str(LIMIT))
        lines = self.lines_until(job, 1, "rank 1 died")
        self.assertIn("while rank 0 was waiting for it", lines[-1])
        end = time.monotonic() + SOON
        while ranks := [pid for pid in hosts.processes(" ring ") if self.is_rank(pid)]:
            self.assertLess(time.monotonic(), end, f"still running: {ranks}")
            time.sleep(0.1)

    def test_a_network_that_stalls_and_comes_back(self):
        hosts = self.hosts(2)
        job = self.ring(hosts, "--steps", "20000")
        self.lines_until(job, 2, "runs in process")
        hosts.cable(1, "down")
        time.sleep(2)
        hosts.cable(1, "up")
        text, code = self.finish(job, 120)
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count("done"), 2, text)

    def test_a_network_that_stalls_for_good(self):
        hosts = self.hosts(2)
        job = self.ring(hosts)
        self.lines_until(job, 2, "runs in process")
        hosts.cable(1, "down")
        begin = time.monotonic()
        lines = self.lines_until(job, 1, "waited")
        self.assertRegex(lines[-1], rf"rank 0 waited {LIMIT}\.\d s in step \d+ of chain 'ring' for rank 1")
        self.assertLess(time.monotonic() - begin, LIMIT + 3)


if __name__ == "__main__":
    unittest.main()
