# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Networks for the tool to be asked about: namespaces of the test's own, on the real kernel."""

import collections
import json
import os
import pathlib
import selectors
import shutil
import signal
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", TOP / "build"))
# installcheck runs the same tests with the tool that was installed.
TOOL = os.environ.get("REACH_TOOL", str(BUILD / "reach"))

# Only a hang is meant to meet this deadline.
DEADLINE = 60.0

# Names are looked up in a file, and in DNS where a test says so. Below /etc nothing of this machine is seen.
HOSTS = """
127.0.0.1 localhost
::1 localhost
192.0.2.7 neighbour.test
198.51.100.1 far.test
2001:db8::7 six.test
"""

PREPARE = """
mount --bind "$1" /etc || exit
ip link set lo up || exit
echo ready
exec cat
"""

# Whoever runs the tests in the background, or under nohup, hands down signals as ignored that the tool is sent here.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Watch:
    """A tool that goes on, and what it says, line by line as it says it."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment, bufsize=0, start_new_session=True)
        self.pending = b""

    def line(self):
        """The next line, as soon as it was written."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            end = time.monotonic() + DEADLINE
            while b"\n" not in self.pending:
                assert selector.select(max(0, end - time.monotonic())), "the tool says nothing"
                read = os.read(self.process.stdout.fileno(), 65536)
                assert read, f"the tool ended: {self.process.stderr.read().decode()}"
                self.pending += read
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode()

    def object(self):
        return json.loads(self.line())

    def end(self, number):
        """Sends a signal; gives the exit status and everything that was still said, which is to be nothing."""
        self.process.send_signal(number)
        return self.finish()

    def finish(self):
        out, error = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, (self.pending + out).decode() + error.decode()

    def close(self):
        """Ends whatever still runs, with the other programs of a pipeline."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=DEADLINE)


class Network:
    """A network namespace with lo up and nothing else, with a mount namespace in which names are the test's."""

    def __init__(self, folder):
        self.etc = folder / "etc"
        self.etc.mkdir()
        self.names("files")
        (self.etc / "hosts").write_text(HOSTS)
        # Whoever is asked for the user's name should find one.
        (self.etc / "passwd").write_text("root:x:0:0:root:/:/bin/sh\n")
        self.watches = []
        self.holder = subprocess.Popen(["unshare", "-Urnm", "sh", "-c", PREPARE, "sh", str(self.etc)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.holder.stdout.readline() == b"ready\n", "no namespace could be made"

    def names(self, services, resolver="127.0.0.1"):
        """Where names are looked up: "files", or "files dns" with a resolver."""
        (self.etc / "nsswitch.conf").write_text(f"hosts: {services}\n")
        (self.etc / "resolv.conf").write_text(f"nameserver {resolver}\n")

    def command(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), "-U", "-n", "-m", "--preserve-credentials", "--", *words]

    def ip(self, *lines):
        """Runs lines of ip(8) one after the other. Those for one family begin with -4 or -6."""
        for line in lines:
            words = line.split()
            done = subprocess.run(self.command("ip", *words), capture_output=True, text=True)
            assert done.returncode == 0, f"ip {line}: {done.stderr}"

    def wire(self, name="eth0", address="192.0.2.2/24", up=True):
        """A veth pair of which one end plays a network card, with its other end as the cable."""
        lines = [f"link add {name} type veth peer name {name}-far"]
        if address:
            nodad = " nodad" if ":" in address else ""
            lines.append(f"address add {address} dev {name}{nodad}")
        if up:
            lines += [f"link set {name}-far up", f"link set {name} up"]
        self.ip(*lines)

    def reach(self, *arguments, environment=None, before=(), **keywords):
        """Runs the tool to its end."""
        keywords = {"capture_output": True, "text": True, "timeout": DEADLINE, **keywords}
        return subprocess.run(self.command(*before, TOOL, *arguments), env=environment, **keywords)

    def watch(self, *arguments, environment=None):
        """Starts the tool and lets it run."""
        return self.watch_command(TOOL, *arguments, environment=environment)

    def watch_command(self, *words, environment=None):
        watch = Watch(self.command(*words), environment)
        self.watches.append(watch)
        return watch

    def close(self):
        for watch in self.watches:
            watch.close()
        self.holder.stdin.close()
        self.holder.wait(timeout=DEADLINE)
        self.holder.stdout.close()


@pytest.fixture
def tool_environment():
    return dict(os.environ)


@pytest.fixture
def network(tmp_path):
    network = Network(tmp_path)
    yield network
    network.close()


@pytest.fixture
def online(network):
    """A network with a cable and a default route."""
    network.wire()
    network.ip("route add default via 192.0.2.1")
    return network


Explained = collections.namedtuple("Explained", "status line sentence details")


def explain(network, *arguments):
    """What --explain says about one thing."""
    done = network.reach("--explain", *arguments)
    assert done.stderr == ""
    line, sentence, *details = done.stdout.splitlines()
    return Explained(done.returncode, line, sentence.strip(),
                     {part[4:16].strip(): part[17:] for part in details})


def jq(program, text):
    """What jq makes of text: it is the reader the JSON is meant for."""
    assert shutil.which("jq")
    done = subprocess.run(["jq", "-cer", program], input=text.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().removesuffix("\n").split("\n")
