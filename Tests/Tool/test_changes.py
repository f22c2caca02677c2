# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Watching and waiting: each change is told at once and once, and everything ends as it should."""

import os
import re
import signal
import subprocess

import pytest

from conftest import DEADLINE, TOOL

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def told(watch):
    """The next line of a watch without its time."""
    line = watch.line()
    assert re.match(TIME, line), line
    return re.sub(TIME, "", line, count=1)


def test_watch_tells_each_change(online):
    watch = online.watch("--watch")
    assert told(watch) == "online (there is a path; eth0)"
    online.ip("link set eth0-far down")
    assert told(watch).startswith("online -> offline (")
    online.ip("link set eth0-far up")
    assert told(watch) == "offline -> online (there is a path; eth0)"
    online.ip("route del default")
    assert told(watch) == "online -> offline (no route)"
    # What changes nothing is not told: the next line is about what does.
    online.ip("route add 203.0.113.0/24 via 192.0.2.1", "route del 203.0.113.0/24")
    online.ip("route add default via 192.0.2.1")
    assert told(watch) == "offline -> online (there is a path; eth0)"
    assert watch.end(signal.SIGINT) == (0, "")


def test_watch_tells_another_interface(online):
    online.wire("eth1", "203.0.113.2/24")
    watch = online.watch("--watch", "198.51.100.1")
    assert told(watch) == "198.51.100.1: online (there is a path; eth0)"
    online.ip("route add 198.51.100.0/24 via 203.0.113.1")
    assert told(watch) == "198.51.100.1: online (there is a path; eth0 -> eth1)"
    assert watch.end(signal.SIGINT) == (0, "")


def test_watch_tells_of_each_of_several(online):
    watch = online.watch("--watch", "198.51.100.1", "2001:db8::7", "far.test")
    assert {told(watch) for _ in range(3)} == {
        "198.51.100.1: online (there is a path; eth0)", "2001:db8::7: offline (no route)",
        "far.test: online (there is a path; eth0)"}
    online.ip("address add 2001:db8::2/64 dev eth0 nodad")
    assert told(watch).startswith("2001:db8::7: offline -> online (")
    online.ip("route del default")
    assert {told(watch) for _ in range(2)} == {
        "198.51.100.1: online -> offline (no route)", "far.test: online -> offline (no route)"}
    status, rest = watch.end(signal.SIGINT)
    assert (status, rest) == (1, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_watch_ends_with_the_last_state(online, number):
    watch = online.watch("--watch")
    told(watch)
    online.ip("route del default")
    told(watch)
    assert watch.end(number) == (1, "")


def test_watch_under_nohup_ignores_hangup(online):
    hushed = online.watch_command("sh", "-c", 'trap "" HUP; exec "$0" --watch', TOOL)
    told(hushed)
    hushed.process.send_signal(signal.SIGHUP)
    online.ip("route del default")
    assert told(hushed) == "online -> offline (no route)"
    assert hushed.end(signal.SIGINT) == (1, "")


def test_watch_ends_when_nobody_reads(online):
    """At once, not with the next change, which may never come."""
    watch = online.watch("--watch")
    told(watch)
    watch.process.stdout.close()
    assert watch.process.wait(timeout=DEADLINE) == 0
    assert watch.process.stderr.read() == b""


def test_watch_with_a_time_limit(online):
    watch = online.watch("--watch", "--timeout=0.05")
    assert told(watch) == "online (there is a path; eth0)"
    assert watch.finish() == (0, "")


def test_watch_as_json(online):
    watch = online.watch("--watch", "--json")
    first = watch.object()
    assert (first["event"], first["previous"], first["state"], first["interface"]) == ("answer", None, "online", "eth0")
    online.ip("route del default")
    second = watch.object()
    assert (second["event"], second["previous"], second["state"], second["reason"]) == \
        ("change", "online", "offline", "no_route")
    assert second["generation"] > first["generation"]
    assert watch.end(signal.SIGINT) == (1, "")


def test_watch_explained(online):
    watch = online.watch("--watch", "--explain")
    assert told(watch) == "online (there is a path; eth0)"
    assert watch.line().startswith("    The internet can be reached through eth0 (Ethernet), by the gateway 192.0.2.1")
    while not watch.line().startswith("    flags"):
        pass
    online.ip("route del default")
    assert told(watch) == "online -> offline (no route)"
    assert watch.line() == "    The internet cannot be reached: no route."


def test_watch_of_a_name(network):
    """A name is told of at the start too, even offline, and once."""
    network.wire()
    watch = network.watch("--watch", "far.test", "nobody.test")
    assert {told(watch), told(watch)} == {"far.test: offline (no route)", "nobody.test: offline (no route)"}
    network.ip("route add default via 192.0.2.1")
    # Both are reachable as far as is known until they were looked up, so that there can be steps in between.
    last = {}
    while last != {"far.test": "online (there is a path; eth0)", "nobody.test": "offline (there is no such name)"}:
        name, change = told(watch).split(": ", 1)
        last[name] = change.split(" -> ", 1)[-1]
    network.ip("route del default")
    assert told(watch) == "far.test: online -> offline (no route)"


def test_watch_without_looking_up(online):
    watch = online.watch("--watch", "--no-resolve", "nobody.test", "localhost")
    assert {told(watch), told(watch)} == {"nobody.test: online (the name has not been looked up yet; eth0)",
                                          "localhost: online (there is a path; lo)"}
    online.ip("route del default")
    assert told(watch) == "nobody.test: online -> offline (no route)"
    online.ip("route add default via 192.0.2.1")
    assert told(watch) == "nobody.test: offline -> online (the name has not been looked up yet; eth0)"


def test_watch_of_a_pair(online):
    watch = online.watch("--watch", "--pair", "192.0.2.2", "198.51.100.1")
    assert told(watch) == "192.0.2.2 -> 198.51.100.1: online (there is a path; eth0)"
    online.ip("address add 192.0.2.9/24 dev eth0", "address del 192.0.2.2/24 dev eth0")
    assert told(watch).startswith("192.0.2.2 -> 198.51.100.1: online -> offline (")


def test_wait_that_is_over_at_once(online):
    for arguments in (["--wait"], ["--wait=0"], ["--wait", "far.test"], ["--wait=5", "-q"]):
        assert online.reach(*arguments).returncode == 0


def test_wait_that_is_in_vain(network):
    for arguments in (["--wait=0"], ["--wait=0.05"], ["--wait", "--timeout=0.05"], ["--wait=60", "--timeout=0.05"]):
        done = network.reach(*arguments)
        assert (done.stdout, done.returncode) == ("offline (no route)\n", 1)


@pytest.mark.parametrize("operands", [[], ["198.51.100.1"], ["far.test"], ["far.test", "198.51.100.1", "localhost"]])
def test_wait_until_online(network, operands):
    network.wire()
    # The second waiter shows when the first is known to wait: both were started, and this one told its state.
    watch = network.watch("--watch")
    waiter = network.watch("--wait", *operands)
    assert told(watch) == "offline (no route)"
    network.ip("route add default via 192.0.2.1")
    status, text = waiter.finish()
    assert status == 0
    assert all(": online (" in line or line.startswith("online (") for line in text.splitlines())
    assert len(text.splitlines()) == max(1, len(operands))


def test_wait_for_a_name_means_its_own_addresses(network):
    """A way to the internet is not enough when the name is not found, and the wait goes on."""
    network.wire()
    waiter = network.watch("--wait", "late.test")
    network.ip("route add default via 192.0.2.1")
    with open(network.etc / "hosts", "a") as hosts:
        hosts.write("198.51.100.9 late.test\n")
    # A change of resolv.conf has names looked up again.
    temporary = network.etc / "resolv.conf.new"
    temporary.write_text("nameserver 127.0.0.2\n")
    os.replace(temporary, network.etc / "resolv.conf")
    assert waiter.finish() == (0, "late.test: online (there is a path; eth0)\n")


def test_wait_until_offline(online):
    assert online.reach("--offline", "--wait=0.05").returncode == 0
    assert online.reach("--offline", "--timeout=0.05").returncode == 0
    # Offline is when one of several is.
    assert online.reach("--offline", "198.51.100.1", "2001:db8::7").returncode == 1
    waiter = online.watch("--offline", "198.51.100.1", "localhost")
    watch = online.watch("--watch")
    told(watch)
    online.ip("route del default")
    assert waiter.finish() == (1, "198.51.100.1: offline (no route)\nlocalhost: online (there is a path; lo)\n")


def test_wait_is_interrupted_as_other_programs_are(network):
    """A script that is waiting is to end with Ctrl-C, which takes a death by the signal."""
    waiter = network.watch("--wait")
    status, text = waiter.end(signal.SIGINT)
    assert (status, text) == (-signal.SIGINT, "")


def test_shell_script(online):
    """The statuses in the hands of a shell, as the manual shows them."""
    script = f"{TOOL} -q && echo on; {TOOL} --offline -t 0.05 -q && echo still on; {TOOL} -q 2001:db8::7 || echo off"
    done = subprocess.run(online.command("sh", "-c", script), capture_output=True, text=True, check=True)
    assert done.stdout == "on\nstill on\noff\n"


def test_lines_reach_a_pipe_at_once(online):
    """Another program reads the lines while the watch goes on."""
    pipeline = online.watch_command("sh", "-c", '"$0" --watch --json | jq --unbuffered -r .state', TOOL)
    assert pipeline.line() == "online"
    online.ip("route del default")
    assert pipeline.line() == "offline"
