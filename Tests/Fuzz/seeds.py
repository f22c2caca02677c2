#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Writes the first cases of the fuzz targets: real messages of a kernel, and texts and addresses of all kinds.

usage: seeds.py FOLDER     (in a network namespace of its own: make fuzz-seeds)

The messages are what the kernel says while links, addresses, routes, rules and nexthop objects of many kinds come and
go, and its replies to the questions that the library asks. A case is named by its digest, as libFuzzer names them.
"""

import hashlib
import os
import pathlib
import socket
import struct
import subprocess
import sys

RTM_GETLINK, RTM_GETROUTE = 18, 26
NLM_F_REQUEST = 1
RTM_F_FIB_MATCH = 0x2000
GROUPS = [1, 5, 7, 8, 9, 11, 19, 24, 25, 32]

CHANGES = """
link set lo up
link add a0 type veth peer name a1
link set a0 up
link set a1 up
address add 10.1.0.2/24 dev a0
address add 2001:db8:1::2/64 dev a0 nodad
address add 169.254.7.7/16 dev a0 scope link
route add default via 10.1.0.1
route add default via 2001:db8:1::1
route add default via 10.1.0.3 metric 50
route add 192.0.2.0/24 via 10.1.0.1
route add 0.0.0.0/1 via 10.1.0.1
route add 203.0.113.7/32 via inet6 2001:db8:1::1 dev a0
route add unreachable 198.51.100.0/24
route add prohibit 198.51.101.0/24
route add blackhole 198.51.102.0/24
route add throw 198.51.103.0/24
route add unreachable 2001:db8:9::/48
link add b0 type veth peer name b1
link set b0 up
link set b1 up
address add 10.2.0.2/24 dev b0
route add 192.0.3.0/24 nexthop via 10.1.0.1 weight 1 nexthop via 10.2.0.1 weight 3
nexthop add id 7 via 10.1.0.1 dev a0
nexthop add id 8 via 10.2.0.1 dev b0
nexthop add id 9 group 7/8
route add 192.0.4.0/24 nhid 9
route add 2001:db8:7::/48 via 2001:db8:1::5 expires 600
rule add fwmark 7 lookup 100
rule add from 10.2.0.2 lookup 101
rule add to 192.0.5.0/24 prohibit
rule add uidrange 0-0 lookup 102
link add bridge0 type bridge
link set b1 master bridge0
link set bridge0 up
link add mac0 link a0 type macvlan
link set mac0 up
tuntap add mode tun tun0
link set tun0 up
address add 10.9.0.1/24 dev tun0
link property add dev a0 altname a-name-that-is-quite-long-for-a-link
link set a0 mode dormant
link set a1 down
link set a1 up
link set a0 mode default
"""

QUESTIONS = [
    "0.0.0.0", "8.8.8.8", "10.1.0.2", "10.1.0.1", "127.0.0.1", "192.0.2.1", "192.0.3.1", "192.0.4.1", "192.0.5.1",
    "198.51.100.1", "198.51.101.1", "198.51.102.1", "198.51.103.1", "203.0.113.7", "224.0.0.1", "255.255.255.255",
    "10.1.0.255", "169.254.1.1", "10.9.0.7", "::", "::1", "2001:db8:1::1", "2001:db8:1::2", "2001:db8:7::1",
    "2001:db8:9::1", "2620::1", "fe80::1", "ff02::1", "ff0e::1",
]

NAMES = ["example.com", "example.com.", "localhost", "LocalHost.", "a.localhost", "notlocalhost", "0", "10", "127.1",
         "0x7f.1", "0177.0.0.1", "1.2.3.4", "1.2.3.4 x", "256.1.1.1", "1.2.3.4.5", "0.0.0.0", "::", "::1", "fe80::1%lo",
         "fe80::1%1", "fe80::1%99999999999", "fe80::1%", "%lo", "10.0.0.1%lo", "::ffff:1.2.3.4", "2001:db8::g",
         "https://x", "x:80", "a b", " ", "a..b", ".", "-a.b", "a-.b", "a_b", "xn--bcher-kva.example",
         "b\u00fccher.example",
         "a" * 63 + ".x", "a" * 64 + ".x", ".".join(["a" * 62] * 4), ".".join(["a" * 63] * 3 + ["a" * 61]),
         ".".join(["a" * 63] * 3 + ["a" * 62]), "1" * 300]


def request(kind, body, sequence):
    return struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST, sequence, 0) + body


def network_bytes(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def route_question(text, fib_match):
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    address = network_bytes(text)
    body = struct.pack("=BBBBBBBBI", family, len(address) * 8, 0, 0, 0, 0, 0, 0, RTM_F_FIB_MATCH if fib_match else 0)
    return request(RTM_GETROUTE, body + struct.pack("=HH", 4 + len(address), 1) + address, 1)


def link_question(index):
    body = struct.pack("=BBHiII", 0, 0, 0, index, 0, 0) + struct.pack("=HHI", 8, 29, 8)
    return request(RTM_GETLINK, body, 1)


class Seeds:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def add(self, target, data):
        place = self.folder / target
        place.mkdir(parents=True, exist_ok=True)
        (place / hashlib.sha1(data).hexdigest()).write_bytes(data)


def messages(seeds):
    events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    events.bind((0, 0))
    for group in GROUPS:
        events.setsockopt(270, 1, group)
    asking = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    asking.bind((0, 0))

    def drain():
        while True:
            try:
                data = events.recv(65536)
            except BlockingIOError:
                return
            # One of each kind is enough: the rest is for the fuzzer to find.
            key = (struct.unpack_from("=H", data, 4), len(data) // 32)
            if key not in seen:
                seen.add(key)
                seeds.add("Event", data)
                seeds.add("Message", data)
                seeds.add("Filter", watched + data)

    def ask(question):
        asking.send(question)
        return asking.recv(65536)

    seen = set()
    # What the filter is asked about, in the form of its fuzz target.
    texts = ["8.8.8.8", "192.0.2.1", "203.0.113.7", "2620::1", "2001:db8:7::1"]
    watched = bytes([len(texts)]) + b"".join(
        bytes([":" in text]) + network_bytes(text).ljust(16, b"\0") for text in texts)
    for line in CHANGES.strip().split("\n"):
        is_v6_route = line.startswith("route") and ":" in line and "inet6" not in line
        subprocess.run(["ip"] + (["-6"] if is_v6_route else []) + line.split(), check=True)
        drain()
    links = [ask(link_question(index)) for index, _ in socket.if_nameindex()] + [ask(link_question(9999))]
    for data in links:
        seeds.add("Message", data)
    for number, text in enumerate(QUESTIONS):
        for fib_match in (False, True):
            reply = ask(route_question(text, fib_match))
            seeds.add("Message", reply)
            if not fib_match and len(reply) < 510:
                padded = reply + bytes(len(reply) % 2)
                head = bytes([":" in text]) + network_bytes(text).ljust(16, b"\0") + bytes([0, len(padded) // 2, 0])
                seeds.add("Verdict", head + padded + links[number % len(links)])
    for line in ("link del a0", "link del bridge0", "rule del fwmark 7", "nexthop flush"):
        subprocess.run(["ip"] + line.split(), check=True, stderr=subprocess.DEVNULL)
        drain()


def texts(seeds):
    for name in NAMES:
        seeds.add("Name", name.encode())
    for bits in (0, 2, 3, 7, 0xf, 0x27, 0x30002, 0x20002, 0x40003, 0x40007, 0xff, 0x80000000, 0xffffffff):
        seeds.add("Flags", struct.pack("=I", bits))
    v4 = [struct.pack("=H2x4s8x", socket.AF_INET, socket.inet_aton(text))
          for text in ("0.0.0.0", "127.0.0.1", "192.0.2.1", "169.254.1.1", "255.255.255.255")]
    v6 = [struct.pack("=H6x16sI", socket.AF_INET6, socket.inet_pton(socket.AF_INET6, text), scope)
          for text, scope in (("::", 0), ("::1", 0), ("::ffff:192.0.2.1", 0), ("fe80::1", 2), ("2001:db8::1", 0))]
    strange = [b"", struct.pack("=H", socket.AF_UNIX) + b"/tmp/x", v4[0][:15], v6[0][:27], v6[0] + bytes(100),
               v6[0] + bytes(101)]
    addresses = v4 + v6 + strange
    for number, first in enumerate(addresses):
        second = addresses[(number * 3 + 1) % len(addresses)]
        seeds.add("SocketAddress", bytes([len(first)]) + first + second)


def main():
    if os.environ.get("USER_NAMESPACE") != "1":
        sys.exit("run this through make fuzz-seeds, which gives it a network of its own")
    seeds = Seeds(sys.argv[1])
    messages(seeds)
    texts(seeds)


if __name__ == "__main__":
    main()
