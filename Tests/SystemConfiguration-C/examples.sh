#!/bin/bash
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# The check that everybody has, and the two examples, in a network that is made here. Argument: where they were built.
set -eu

if [ "${2:-}" != inside ]; then
    exec unshare -Urn "$0" "$1" inside
fi
PATH=$PATH:/usr/sbin:/sbin
built=$1

expect() { # expect STATUS TEXT COMMAND...
    status=0
    output=$("${@:3}" 2>&1) || status=$?
    if [ "$status" != "$1" ] || [ "$output" != "$2" ]; then
        echo "${*:3}: said \"$output\" with status $status, not \"$2\" with $1" >&2
        exit 1
    fi
}

checks=("$built"/connected/*)
for check in "${checks[@]}"; do
    expect 0 offline "$check"
done
expect 1 'offline (flags 0x00000000)' "$built/examples/scnetwork_check"
expect 2 'scnetwork_check: Invalid argument' "$built/examples/scnetwork_check" ''
expect 2 'scnetwork_watch: Invalid argument' "$built/examples/scnetwork_watch" ''
expect 2 'usage: scnetwork_watch HOST [COUNT]' "$built/examples/scnetwork_watch"

ip link set lo up
ip link add wan0 type veth peer name far0
ip link set far0 up
ip link set wan0 up
ip address add 10.1.0.2/24 dev wan0
# A name is owed one callback.
expect 0 'localhost: flags 0x00030002, reachable' "$built/examples/scnetwork_watch" localhost 1

# 0.0.0.0 is no name. From outside it cannot be seen when it is being watched, so the route comes and goes until it was.
told=$(mktemp)
trap 'rm -f "$told"' EXIT
"$built/examples/scnetwork_watch" 0.0.0.0 2 >"$told" &
watch=$!
while kill -0 "$watch" 2>/dev/null; do
    ip route add default via 10.1.0.1 dev wan0
    ip route del default via 10.1.0.1 dev wan0
done
wait "$watch"
grep -qx '0.0.0.0: flags 0x00000002, reachable' "$told"
[ "$(wc -l <"$told")" = 2 ]

ip route add default via 10.1.0.1 dev wan0
for check in "${checks[@]}"; do
    expect 0 online "$check"
done
expect 0 'online (flags 0x00000002)' "$built/examples/scnetwork_check"
echo "examples: passed"
