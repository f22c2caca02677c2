#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Runs one example in a network namespace of its own, changes the network, and checks what the example says.

    unshare -Urn -- python3 Tests/FFI/drive.py MODE online|offline [--control PROGRAM] -- COMMAND...

The conversation is by lines. What the example prints is on the left, what happens to it on the right:

    mode ffi                                          mode loop, for programs that are only a loop
        online: yes|no                                    online: yes|no
        localhost: Reachable,Local Address,...            (changes)       the network goes on and off, four times
        error: ... Invalid argument                       bye             its standard input ended; it exits with 0
        ready
        change: Reachable|Not Reachable                   the network goes on and off, four times
        closed                                            it was sent a line
        (nothing)                                         the network goes on and off again, and the control hears it
        bye                                               its standard input ended; it exits with 0

    mode watch: as loop, with "4 changes" before "bye"; mode monitor: "ADDRESS: not reachable (was unknown)" and so on
    mode hpp: "toggle", as often as it likes, each of which turns the network over; bye
    mode confirm: asking, and, once the network is on, "online"; mode confirm-offline: asking, offline, exit status 1

Nothing is ever waited for by sleeping: every step waits for a line, until a generous deadline. That a closed example
stays silent is made certain by a second program, the control, which has to hear every change the example may not hear.
"""

import argparse
import os
import re
import selectors
import subprocess
import sys
import time

# Only a hang is meant to meet this deadline; a loaded machine that starts a virtual machine is not.
DEADLINE = 60.0
LOCALHOST = "localhost: Reachable,Local Address,Directly Reachable Address"
ELSEWHERE = "198.51.100.1"  # a documentation address behind the gateway: judged, never sent to


class Failure(Exception):
    """What the example did wrong, in a sentence."""


class Network:
    """One Ethernet link with an address, whose way to the internet comes and goes in two ways."""

    def __init__(self, online):
        ip("link", "set", "lo", "up")
        ip("link", "add", "inside", "type", "veth", "peer", "name", "outside")
        ip("address", "add", "192.0.2.1/24", "dev", "inside")
        ip("link", "set", "inside", "up")
        ip("link", "set", "outside", "up")
        self.online = False
        if online:
            self.toggle()

    def toggle(self, by_carrier=False):
        """Turns online to offline and back, by the default route or, where that is left in place, by the cable."""
        if by_carrier:
            ip("link", "set", "outside", "down" if self.online else "up")
        elif self.online:
            ip("route", "delete", "default")
        else:
            ip("route", "add", "default", "via", "192.0.2.2")
        self.online = not self.online


class Program:
    """A child whose lines are read one at a time."""

    def __init__(self, command):
        self.command = command
        self.transcript = []
        self.buffered = b""
        self.ended = False
        self.errors = open(os.memfd_create("stderr"), "w+b")
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.child.stdout, selectors.EVENT_READ)

    def read_line(self):
        """The next line, or None at the end of the output."""
        end = time.monotonic() + DEADLINE
        while b"\n" not in self.buffered and not self.ended:
            if not self.selector.select(max(0.0, end - time.monotonic())):
                raise Failure("said nothing more within %d s" % DEADLINE)
            chunk = os.read(self.child.stdout.fileno(), 65536)
            self.buffered += chunk
            self.ended = not chunk
        if not self.buffered:
            return None
        line, _, self.buffered = self.buffered.partition(b"\n")
        self.transcript.append("< " + line.decode(errors="replace"))
        return line.decode(errors="replace")

    def expect(self, pattern):
        """Reads a line that must be all of pattern, a regular expression."""
        line = self.read_line()
        if line is None:
            raise Failure("ended where %r was to come" % pattern)
        if not re.fullmatch(pattern, line):
            raise Failure("said %r where %r was to come" % (line, pattern))

    def say(self, line):
        """Sends a line."""
        self.transcript.append("> " + line)
        try:
            self.child.stdin.write(line.encode() + b"\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            raise Failure("was gone when it was sent %r" % line) from None

    def finish(self, *last):
        """Ends the input, and sees that the program says its last lines, nothing else, and exits with 0."""
        self.transcript.append("> (end of input)")
        try:
            self.child.stdin.close()
        except BrokenPipeError:
            raise Failure("was gone before its input ended") from None
        for line in last:
            self.expect(line)
        self.expect_exit(0)

    def expect_exit(self, status):
        """Sees that the program says nothing more, on either stream, and exits with this status."""
        line = self.read_line()
        if line is not None:
            raise Failure("said %r where its end was to come" % line)
        try:
            found = self.child.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failure("did not exit") from None
        if found != status:
            raise Failure("exited with %d, not %d" % (found, status))
        if self.said_on_stderr():
            raise Failure("wrote to its standard error")

    def said_on_stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def end(self):
        """Ends the program if it is still there."""
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


def ip(*words):
    subprocess.run(("ip",) + words, check=True)


def words_of(online):
    return "Reachable" if online else "Not Reachable"


def follow_changes(network, heard):
    """Turns the network over four times, by route and by cable, each time until the change was heard."""
    # From offline: the route comes, the cable goes and comes back, the route goes. From online: the other way round.
    order = [False, True, True, False] if not network.online else [True, True, False, False]
    for by_carrier in order:
        network.toggle(by_carrier)
        heard(network.online)


def drive_ffi(program, network, start_control):
    program.expect("online: " + ("yes" if network.online else "no"))
    program.expect(re.escape(LOCALHOST))
    program.expect(r"error: .*(EINVAL|[Ii]nvalid argument).*")
    program.expect("ready")
    follow_changes(network, lambda online: program.expect("change: " + words_of(online)))
    program.say("close")
    program.expect("closed")
    control = start_control()
    control.expect("online: " + ("yes" if network.online else "no"))
    follow_changes(network, lambda online: control.expect("change: " + words_of(online)))
    control.finish("bye")
    program.finish("bye")


def drive_loop(program, network, _start_control):
    program.expect("online: " + ("yes" if network.online else "no"))
    follow_changes(network, lambda online: program.expect("change: " + words_of(online)))
    program.finish("bye")


def drive_watch(program, network, _start_control):
    program.expect("online: " + ("yes" if network.online else "no"))
    follow_changes(network, lambda online: program.expect("change: " + words_of(online)))
    program.finish("4 changes", "bye")


def drive_monitor(program, network, _start_control):
    def status(online):
        return "via Wi-Fi or cable" if online else "not reachable"

    host = re.escape(ELSEWHERE)
    program.expect("%s: %s \\(was unknown\\)" % (host, status(network.online)))
    follow_changes(network, lambda online: program.expect(
        "%s: %s \\(was %s\\)" % (host, status(online), status(not online))))
    program.finish("bye")


def drive_confirm(program, network, _start_control):
    # Started offline, it is online before its time is over; started online, it has the answer at once.
    program.expect("asking")
    if not network.online:
        network.toggle()
    program.expect("online")
    program.expect_exit(0)


def drive_confirm_offline(program, network, _start_control):
    program.expect("asking")
    program.expect("offline")
    program.expect_exit(1)


def drive_hpp(program, network, _start_control):
    # The program changes the network itself, by asking for it.
    while True:
        line = program.read_line()
        if line != "toggle":
            break
        network.toggle()
    if line != "bye":
        raise Failure("said %r where 'toggle' or 'bye' was to come" % line)
    program.finish()


MODES = {"ffi": drive_ffi, "loop": drive_loop, "watch": drive_watch, "monitor": drive_monitor,
         "confirm": drive_confirm, "confirm-offline": drive_confirm_offline, "hpp": drive_hpp}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=sorted(MODES))
    parser.add_argument("start", choices=["online", "offline"])
    parser.add_argument("--control", help="the program that tells when a change could have been heard")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    # Before anything is changed: a namespace that was not made for this has links already, and is left alone.
    with open("/proc/self/net/dev", encoding="ascii") as table:
        links = [line.split(":")[0].strip() for line in table if ":" in line]
    if [link for link in links if link not in ("lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0",
                                               "ip_vti0", "ip6_vti0", "ip6gre0")]:
        sys.exit("drive.py: this network namespace is in use; run it under `unshare -Urn`")

    network = Network(options.start == "online")
    programs = [Program(options.command)]

    def start_control():
        programs.append(Program([options.control]))
        return programs[-1]

    try:
        MODES[options.mode](programs[0], network, start_control)
    except Failure as failure:
        program = programs[0]
        for each in programs:
            each.end()
        print("drive.py: %s %s" % (" ".join(program.command), failure), file=sys.stderr)
        print("".join("    %s\n" % line for line in program.transcript), end="", file=sys.stderr)
        print("    exit status: %s" % program.child.returncode, file=sys.stderr)
        for each in programs:
            for line in each.said_on_stderr().splitlines():
                print("    stderr of %s: %s" % (os.path.basename(each.command[0]), line), file=sys.stderr)
        return 1
    finally:
        for each in programs:
            each.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
