# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The answers of the tool, its exit statuses, its sentences and its JSON, on networks of all kinds."""

import json
import os
import re
import socket
import subprocess
import warnings

import pytest

from conftest import DEADLINE, TOOL, explain, jq

KEYS = ["time", "event", "target", "local", "state", "previous", "online", "reason", "reason_text", "errno", "flags",
        "flags_text", "interface", "interface_index", "interface_kind", "gateway", "source", "destination", "ipv4",
        "ipv6", "generation"]


def default(network):
    network.wire()
    network.ip("route add default via 192.0.2.1")


def settle(network):
    """The kernel passes on the state of a carrier a little later, by itself, so there is something to wait for."""
    assert network.reach("--offline", "--quiet", f"--timeout={DEADLINE:.0f}").returncode == 1


def no_carrier(network):
    default(network)
    network.ip("link set eth0-far down")
    settle(network)


def disabled(network):
    default(network)
    # The kernel takes the routes away with the link.
    network.ip("link set eth0 down")


def lower_layer(network):
    network.wire(address=None)
    network.ip("link add link eth0 name upper type macvlan mode bridge", "address add 192.0.2.2/24 dev upper",
               "link set upper up", "route add default via 192.0.2.1", "link set eth0-far down")
    settle(network)


def unreachable(network):
    default(network)
    network.ip("route add unreachable 198.51.100.0/24")


def prohibited_route(network):
    default(network)
    network.ip("route add prohibit 198.51.100.0/24")


def prohibited_rule(network):
    default(network)
    network.ip("rule add to 198.51.100.0/24 prohibit")


def blackhole(network):
    default(network)
    network.ip("route add blackhole 198.51.100.0/24")


def no_source(network):
    network.wire(address=None)
    network.ip("route add default dev eth0")


def dormant(network):
    # Before it comes up: the mode counts when the state of the link is worked out next.
    network.wire(up=False)
    network.ip("link set eth0 mode dormant", "link set eth0-far up", "link set eth0 up",
               "route add default via 192.0.2.1")
    settle(network)


def tunnel(network):
    network.ip("tuntap add mode tun name tun0", "address add 192.0.2.2/24 dev tun0", "link set tun0 up",
               "route add default dev tun0")


def halves(network):
    network.wire()
    network.ip("route add 0.0.0.0/1 via 192.0.2.1", "route add 128.0.0.0/1 via 192.0.2.1")


def six_only(network):
    network.wire(address="2001:db8::2/64")
    network.ip("-6 route add default via 2001:db8::1")


FAR = "198.51.100.1"

# What was done to the network, what is asked, the exit status, the sentence.
SITUATIONS = [
    (None, [], 1, "The internet cannot be reached: no route."),
    (None, ["127.0.0.1"], 0, "127.0.0.1 can be reached: the address is this machine's own."),
    (default, [], 0, "The internet can be reached through eth0 (Ethernet), by the gateway 192.0.2.1, from 192.0.2.2."),
    (default, ["192.0.2.7"], 0, "192.0.2.7 can be reached directly on eth0 (Ethernet), from 192.0.2.2."),
    (default, ["192.0.2.2"], 0, "192.0.2.2 can be reached: the address is this machine's own."),
    (default, [FAR], 0, f"{FAR} can be reached through eth0 (Ethernet), by the gateway 192.0.2.1, from 192.0.2.2."),
    (default, ["2001:db8::7"], 1, "2001:db8::7 cannot be reached: no route."),
    (default, ["neighbour.test"], 0, "neighbour.test can be reached directly on eth0 (Ethernet), from 192.0.2.2."),
    (default, ["six.test"], 1, "six.test cannot be reached: no route."),
    (default, ["nobody.test"], 1, "nobody.test cannot be reached: there is no such name."),
    (halves, [], 0, "The internet can be reached through eth0 (Ethernet), by the gateway 192.0.2.1, from 192.0.2.2."),
    (no_carrier, [], 1, "The internet cannot be reached: the link has lost its carrier (eth0)."),
    (no_carrier, [FAR], 1, f"{FAR} cannot be reached: the link has lost its carrier (eth0)."),
    (disabled, [], 1, "The internet cannot be reached: no route."),
    (lower_layer, [], 1, "The internet cannot be reached: the link below this link is down (upper)."),
    (unreachable, [FAR], 1, f"{FAR} cannot be reached: a route says unreachable."),
    (prohibited_route, [FAR], 1, f"{FAR} cannot be reached: prohibited by a route or rule."),
    (prohibited_rule, [FAR], 1, f"{FAR} cannot be reached: prohibited by a route or rule."),
    (blackhole, [FAR], 1, f"{FAR} cannot be reached: dropped by a blackhole route or rule."),
    (no_source, [], 1, "The internet cannot be reached: no address of this machine can be the source (eth0)."),
    (dormant, [], 1, "The internet cannot be reached: the link is dormant and waits for an event such as dialling"
                     " (eth0)."),
    (six_only, [], 0, "The internet can be reached through eth0 (Ethernet), by the gateway 2001:db8::1,"
                      " from 2001:db8::2."),
    (six_only, ["six.test"], 0, "six.test can be reached directly on eth0 (Ethernet), from 2001:db8::2."),
    (default, ["--pair", "192.0.2.2", FAR], 0, f"192.0.2.2 -> {FAR} can be reached through eth0 (Ethernet),"
                                               " by the gateway 192.0.2.1, from 192.0.2.2."),
    (default, ["--pair", "192.0.2.3", FAR], 1, f"192.0.2.3 -> {FAR} cannot be reached: "
                                               "the local address is not this machine's."),
]


@pytest.mark.parametrize("situation, arguments, status, sentence", SITUATIONS,
                         ids=[f"{made.__name__ if made else 'nothing'}-{'-'.join(asked) or 'internet'}"
                              for made, asked, *_ in SITUATIONS])
def test_sentence(network, situation, arguments, status, sentence):
    if situation:
        situation(network)
    explained = explain(network, *arguments)
    assert (explained.sentence, explained.status) == (sentence, status)


def test_explained_details(online):
    explained = explain(online, "far.test")
    index = online.reach("--json", "far.test").stdout
    assert explained.line == "far.test: online (there is a path; eth0)"
    assert explained.details == {
        "interface": f"eth0, Ethernet, index {jq('.interface_index', index)[0]}", "gateway": "192.0.2.1",
        "source": "192.0.2.2", "destination": "198.51.100.1", "IPv4": "usable", "IPv6": "not usable",
        "flags": "0x00000002 Reachable"}
    nothing = explain(online, "2001:db8::7").details
    assert (nothing["interface"], nothing["gateway"], nothing["source"]) == ("none", "none", "none")
    # For the internet there is no destination, but an address that stands for it.
    internet = explain(online).details
    assert "destination" not in internet and re.fullmatch(r"[0-9.]+", internet["probe"])


def test_tunnel_kind(network):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        # A warning is told even where what is skipped is not.
        warnings.warn("/dev/net/tun cannot be opened by this user: the kind of a tunnel was not tried")
        pytest.skip("/dev/net/tun cannot be opened by this user")
    # A tun device has a carrier only while a program holds it open, so that without one this is what there is to say.
    tunnel(network)
    explained = explain(network)
    assert explained.sentence == "The internet cannot be reached: the link has lost its carrier (tun0)."
    assert explained.details["interface"].startswith("tun0, tunnel, index ")


def test_plain_lines(online):
    done = online.reach()
    assert (done.stdout, done.stderr, done.returncode) == ("online (there is a path; eth0)\n", "", 0)
    done = online.reach("far.test", "::ffff:192.0.2.7", "localhost", "2001:db8::7")
    assert done.stdout.splitlines() == [
        "far.test: online (there is a path; eth0)", "::ffff:192.0.2.7: online (there is a path; eth0)",
        "localhost: online (there is a path; lo)", "2001:db8::7: offline (no route)"]
    # Of several, all must be online.
    assert done.returncode == 1
    assert online.reach("far.test", "localhost").returncode == 0


def test_zero_addresses_mean_the_internet(network):
    network.wire(address="2001:db8::2/64")
    network.ip("-6 route add default via 2001:db8::1")
    assert network.reach("0.0.0.0", "::").returncode == 0


def test_quiet(online):
    for arguments, status in (([], 0), (["far.test"], 0), (["2001:db8::7"], 1), (["nobody.test"], 1)):
        done = online.reach("--quiet", *arguments)
        assert (done.stdout, done.stderr, done.returncode) == ("", "", status)


def test_names_are_looked_up_unless_told_not_to(online):
    assert online.reach("nobody.test").returncode == 1
    done = online.reach("--no-resolve", "nobody.test", "192.0.2.7", "localhost")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "nobody.test: online (the name has not been looked up yet; eth0)"
    explained = explain(online, "--no-resolve", "nobody.test")
    assert explained.sentence.startswith("nobody.test can be reached, as far as is known "
                                         "(the name has not been looked up yet)")
    online.ip("route del default")
    assert online.reach("--no-resolve", "nobody.test").returncode == 1


def test_no_network_needs_no_resolver(network):
    """Without any path, a resolver that answers nobody is not waited for."""
    network.names("files dns")
    done = network.reach("somebody.test")
    assert (done.stdout, done.returncode) == ("somebody.test: offline (no route)\n", 1)


def test_resolver_that_refuses(online):
    online.names("files dns")
    done = online.reach("somebody.test")
    assert (done.stdout, done.returncode) == ("somebody.test: offline (the name look-up failed or timed out)\n", 1)


SILENT_SERVER = """
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
print("ready", flush=True)
sys.stdin.read()
"""


def test_resolver_that_is_silent(online):
    online.names("files dns")
    server = subprocess.Popen(online.command("python3", "-c", SILENT_SERVER), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    with server:
        assert server.stdout.readline() == b"ready\n"
        done = online.reach("--timeout=0.2", "somebody.test", "localhost")
        assert done.stdout.splitlines() == ["somebody.test: unknown (the name has not been looked up yet; eth0)",
                                            "localhost: online (there is a path; lo)"]
        assert done.returncode == 3
        # What is known to be offline outweighs what is not known.
        assert online.reach("--timeout=0.2", "somebody.test", "2001:db8::7").returncode == 1
        assert online.reach("--timeout=0.2", "--no-resolve", "somebody.test").returncode == 0
        text = online.reach("--timeout=0.2", "--json", "somebody.test").stdout
        assert jq("[.state, .online, .reason] | tojson", text) == ['["unknown",null,"not_resolved"]']
        explained = explain(online, "--timeout=0.2", "somebody.test")
        assert explained.sentence == ("It cannot be told whether somebody.test can be reached: "
                                      "the name has not been looked up yet.")


def test_kernel_that_cannot_be_asked(online):
    """With no descriptor left for a socket, nothing is known, and nothing is guessed."""
    limited = ["prlimit", "--nofile=4"]
    done = online.reach(before=limited)
    assert (done.stdout, done.returncode) == ("unknown (Too many open files)\n", 3)
    explained = explain_limited(online, limited)
    assert explained[1] == "    It cannot be told whether the internet can be reached: Too many open files."
    text = online.reach("--json", before=limited).stdout
    assert jq("[.state, .online, .reason, .errno, .flags, .ipv4] | tojson", text) == \
        ['["unknown",null,"error",24,null,null]']
    assert online.reach("--quiet", before=limited).returncode == 3
    for option in ("--wait", "--watch"):
        done = online.reach(option, before=limited)
        assert done.returncode == 3 and "Too many open files" in done.stdout + done.stderr
        # Where nothing can be waited for there is no answer to print, and a message instead.
        done = online.reach("--json", option, before=limited)
        assert (done.returncode, done.stdout) == (3, "") and done.stderr.startswith("reach: cannot ")


def explain_limited(network, limited):
    return network.reach("--explain", before=limited).stdout.splitlines()


def test_json(online):
    text = online.reach("--json", "far.test", "2001:db8::7", "192.0.2.2").stdout
    assert len(text.splitlines()) == 3
    fields = "[.target, .state, .reason, .interface, .interface_kind, .gateway, .source, .destination] | @csv"
    assert jq(fields, text) == [
        '"far.test","online","reachable","eth0","ethernet","192.0.2.1","192.0.2.2","198.51.100.1"',
        '"2001:db8::7","offline","no_route",,,,,"2001:db8::7"',
        '"192.0.2.2","online","reachable","lo","loopback",,"192.0.2.2","192.0.2.2"']
    for line in text.splitlines():
        answer = json.loads(line)
        assert list(answer) == KEYS
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", answer["time"])
        assert answer["event"] == "answer" and answer["previous"] is None and answer["errno"] is None
        assert answer["online"] is (answer["state"] == "online")
    first = json.loads(text.splitlines()[0])
    assert (first["flags"], first["flags_text"], first["ipv4"], first["ipv6"]) == (2, "Reachable", True, False)
    assert json.loads(online.reach("--json").stdout)["target"] is None
    pair = json.loads(online.reach("--json", "--pair", "192.0.2.2", "198.51.100.1").stdout)
    assert (pair["local"], pair["target"], pair["state"]) == ("192.0.2.2", "198.51.100.1", "online")


@pytest.mark.parametrize("name", [
    'quote".test', "back\\slash.test", "tab\there", "line\nend", "escape\x1b[31m", "delete\x7f",
    "\u00fcml\u00e4ut.test", "separator\u2028.test", "\U0001f310.test",
    b"not\xffutf-8", b"over\xc0\xaflong", b"surrogate\xed\xa0\x80",
    b"cut\xf0\x9f\x8c", b"beyond\xf4\x90\x80\x80", b"\x80begins"])
def test_odd_names(network, name):
    """Names can hold any byte. Nothing reaches the terminal that it would obey, and JSON stays JSON."""
    raw = name if isinstance(name, bytes) else name.encode()
    expected = raw.decode("utf-8", errors="replace")
    done = network.reach("--json", raw, text=False)
    assert done.stdout.count(b"\n") == 1
    target = json.loads(jq(".target | tojson", done.stdout.decode())[0])
    if isinstance(name, bytes):
        assert "\ufffd" in target and target[0] == expected[0]
    else:
        assert target == expected
    plain = network.reach(raw, text=False).stdout
    assert plain.count(b"\n") == 1
    assert all(byte >= 0x20 and byte != 0x7F for byte in plain[:-1])
    plain.decode("utf-8")


def test_output_that_cannot_be_written(online):
    with open("/dev/full", "w") as full:
        done = online.reach(stdout=full, stderr=subprocess.PIPE, capture_output=False)
        assert done.returncode == 3 and "No space left on device" in done.stderr
        for option in ("--help", "--version"):
            assert online.reach(option, stdout=full, stderr=subprocess.PIPE, capture_output=False).returncode == 3


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_descriptors(online, closed):
    """A closed output must not become the number of a socket, which would then be written to."""
    done = subprocess.run(online.command("sh", "-c", f'exec "$0" "$@" {closed}', TOOL, "far.test"),
                          capture_output=True, text=True)
    if "1>" in closed:
        assert done.returncode == 3
        assert done.stderr == ("" if "2>" in closed else "reach: cannot write: Bad file descriptor\n")
    else:
        assert (done.returncode, done.stdout) == (0, "far.test: online (there is a path; eth0)\n")


def test_reader_that_has_gone(online):
    """A broken pipe is no error of the answer."""
    reader, writer = socket.socketpair()
    reader.close()
    with writer:
        done = online.reach(stdout=writer, stderr=subprocess.PIPE, capture_output=False)
    assert (done.returncode, done.stderr) == (0, "")


def on_a_terminal(network, environment, *arguments):
    """What the tool prints when its output is a terminal, which script(1) provides."""
    command = " ".join([TOOL, *arguments])
    done = subprocess.run(network.command("script", "-qec", command, "/dev/null"), capture_output=True, text=True,
                          env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_colour(online, tool_environment):
    base = {**tool_environment, "TERM": "xterm"}
    base.pop("NO_COLOR", None)
    assert "\033[32monline\033[0m" in on_a_terminal(online, base)
    assert "\033[31moffline\033[0m" in on_a_terminal(online, base, "2001:db8::7")
    assert "\033[" in on_a_terminal(online, {**base, "NO_COLOR": ""})
    for changed in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\033[" not in on_a_terminal(online, {**base, **changed})
    assert "\033[" not in on_a_terminal(online, base, "--json")
    assert "\033" not in online.reach(environment=base).stdout
