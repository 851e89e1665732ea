"""Hosts that are network namespaces: a switch (the program that HOST_SWITCH names), and for each host a cable to it with a delay and
a rate.

Everything lives in namespaces of processes that this module starts, which end with it however it ends: nothing is named on the
machine itself. Standard library only; `unshare`, `nsenter` and `ip` do the work."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

PREFIX = "10.99.0."


def why_not():
    """Why no hosts can be made here, or None."""
    missing = [tool for tool in ("unshare", "nsenter", "ip") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} missing (packages iproute2 and util-linux)"
    if os.geteuid() != 0:
        return "network namespaces need root here"
    if subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True).returncode != 0:
        return "network namespaces are not allowed here"
    return None


class Hosts:
    """`count` hosts, host0 with mpirun on it; what each sends arrives `delay_us` later, at `rate_mbit` a second."""

    def __init__(self, count, delay_us=100, rate_mbit=1000):
        self.folder = tempfile.TemporaryDirectory()
        self.holders = []
        self.switch = None
        try:
            self.make(count, delay_us, rate_mbit)
        except BaseException:
            self.close()
            raise
        self.agent = self.write_agent()

    def make(self, count, delay_us, rate_mbit):
        switch = self.hold()
        ports = [f"port{i}" for i in range(count)]
        for i, port in enumerate(ports):
            host = self.hold(f"host{i}")
            self.run(switch, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(host))
            self.run(switch, "ip", "link", "set", port, "up")
            self.run(host, "ip", "link", "set", "lo", "up")
            self.run(host, "ip", "address", "add", f"{PREFIX}{i + 1}/24", "dev", "eth0")
            self.run(host, "ip", "link", "set", "eth0", "up")
        self.switch = subprocess.Popen(
            self.inside(switch, [os.environ["HOST_SWITCH"], str(delay_us), str(rate_mbit), *ports]),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        if self.switch.stdout.readline() != b"ready\n":
            raise RuntimeError("the switch between the hosts did not start")

    def hold(self, name=None):
        """A process whose only work is to keep a namespace; its number. It reads what never comes, and ends with this process."""
        script = (f"hostname {name}; " if name else "") + "echo; read nothing"
        holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        holder.stdout.readline()
        self.holders.append(holder)
        return holder.pid

    @staticmethod
    def inside(host, command):
        return ["nsenter", "-t", str(host), "--net", "--uts", *command]

    def run(self, host, *command):
        subprocess.run(self.inside(host, command), check=True, capture_output=True)

    def write_agent(self):
        """What mpirun calls instead of ssh: AGENT [OPTIONS] HOST COMMAND..."""
        path = os.path.join(self.folder.name, "agent")
        lines = ["#!/bin/sh", 'while [ "${1#-}" != "$1" ]; do shift; done', 'host=$1', "shift", "case $host in"]
        for i, holder in enumerate(self.holders[1:]):
            lines.append(f"  host{i}|{PREFIX}{i + 1}) pid={holder.pid};;")
        lines += ["esac", 'exec nsenter -t $pid --net --uts sh -c "$*"', ""]
        with open(path, "w") as file:
            file.write("\n".join(lines))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def cable(self, host, state):
        """`state`: "up" or "down"."""
        self.run(self.holders[0].pid, "ip", "link", "set", f"port{host}", state)

    def mpirun(self, mpirun, ranks_each, command, **environment):
        """A started job with so many ranks on every host, in a process group of its own."""
        hosts = range(len(self.holders) - 1)
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_plm_rsh_agent": self.agent, "OMPI_MCA_btl": "self,vader,tcp", "OMPI_MCA_pml": "ob1",
                   "OMPI_MCA_osc": "pt2pt",  # the one of Open MPI 4's that makes windows over TCP
                   "OMPI_MCA_btl_tcp_if_include": f"{PREFIX}0/24", "OMPI_MCA_oob_tcp_if_include": f"{PREFIX}0/24"}  # fmt: skip
        text = subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
        if "Open MPI" in text or "OpenRTE" in text:
            where = ["--host", ",".join(f"{PREFIX}{i + 1}:{ranks_each}" for i in hosts), "-n", str(ranks_each * len(hosts))]
            for name in environment:
                where += ["-x", name]
        else:
            where = ["-launcher", "ssh", "-launcher-exec", self.agent, "-iface", "eth0",
                     "-hosts", ",".join(f"{PREFIX}{i + 1}:{ranks_each}" for i in hosts), "-n", str(ranks_each * len(hosts))]  # fmt: skip
        return subprocess.Popen(
            self.inside(self.holders[1].pid, [mpirun, *where, *command]), env={**os.environ, **allowed, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def processes(self, name=""):
        """Those that run on these hosts, the holders aside, and whose command line has `name` in it."""
        spaces = {os.stat(f"/proc/{holder.pid}/ns/net").st_ino for holder in self.holders}
        holders = {holder.pid for holder in self.holders}
        found = []
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                here = os.stat(f"/proc/{pid}/ns/net").st_ino in spaces
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read().decode(errors="replace").replace("\0", " ")
            except OSError:
                continue  # it has ended meanwhile
            if here and pid not in holders and name in line:
                found.append(pid)
        return found

    def close(self):
        if self.switch:
            self.switch.stdin.close()
            self.switch.wait()
            self.switch.stdout.close()
        # mpirun may leave a daemon behind on another host.
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for holder in self.holders:
            holder.stdin.close()
            holder.wait()
            holder.stdout.close()
        self.folder.cleanup()


class HostsTest(unittest.TestCase):
    def setUp(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)

    def hosts(self, count, **cable):
        hosts = Hosts(count, **cable)
        self.addCleanup(hosts.close)
        return hosts

    def start(self, hosts, ranks_each, command, **environment):
        job = hosts.mpirun(os.environ["MPIRUN"], ranks_each, command, **environment)
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        job.stdout.close()

    def finish(self, job, within):
        """Output and exit code."""
        try:
            text, _ = job.communicate(timeout=within)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            text, _ = job.communicate()
            self.fail(f"still running after {within} s:\n{text}")
        return text, job.returncode
