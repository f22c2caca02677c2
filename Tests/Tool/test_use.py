# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The command line itself: what is refused, what is told, and what the shells complete."""

import pathlib
import re
import subprocess

import pytest

from conftest import DEADLINE, TOP


@pytest.mark.parametrize("arguments, complaint", [
    (["--nonsense"], "nonsense"),
    (["-x"], "x"),
    (["--timeout"], "timeout"),
    (["--timeout=soon"], "--timeout takes a number of seconds, not 'soon'"),
    (["--timeout=-1"], "--timeout takes a number of seconds, not '-1'"),
    (["--timeout="], "--timeout takes a number of seconds, not ''"),
    (["--timeout=nan"], "--timeout takes a number of seconds, not 'nan'"),
    (["--timeout=1.2.3"], "--timeout takes a number of seconds, not '1.2.3'"),
    (["--wait=1e3"], "--wait takes a number of seconds, not '1e3'"),
    (["--wait=99999999"], "--wait takes at most 2147483 seconds"),
    (["--wait", "30"], "for a time, write --wait=30"),
    (["--watch", "--wait"], "--watch goes on, and --wait ends"),
    (["--watch", "--offline"], "--watch goes on, and --offline ends"),
    (["--watch", "--quiet"], "--watch prints, and --quiet does not"),
    (["--pair"], "--pair takes two addresses"),
    (["--pair", "192.0.2.1"], "--pair takes two addresses"),
    (["--pair", "192.0.2.1", "192.0.2.2", "192.0.2.3"], "--pair takes two addresses"),
    (["--pair", "192.0.2.1", "example.com"], "--pair takes addresses, and 'example.com' is none"),
    (["--pair", "nothing", "192.0.2.1"], "--pair takes addresses, and 'nothing' is none"),
    ([""], "cannot be empty"),
    (["https://example.com"], "give the host alone"),
    (["example.com/path"], "give the host alone"),
    (["example.com:80"], "give the host without the port"),
    (["[::1]"], "give the address without brackets or port"),
    (["[2001:db8::1]:80"], "give the address without brackets or port"),
    (["[192.0.2.1]:80"], "give the address without brackets or port"),
    (["[example.com]"], "give the address without brackets or port"),
    (["http://[2001:db8::1]:80/"], "give the host alone"),
    (["2001:db8:::1"], "is neither a host name nor an address"),
    (["2001:db8::12345"], "is neither a host name nor an address"),
    (["--pair", "192.0.2.1", "[::1]"], "give the address without brackets or port"),
    (["--pair", "192.0.2.1", "fe80::1%"], "--pair takes addresses, and 'fe80::1%' is none"),
])
def test_wrong_use(network, arguments, complaint):
    done = network.reach(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr and "Try 'reach --help'." in done.stderr


@pytest.mark.parametrize("name", ["under_score.test", "a..b", " ", "-dash.test", "x" * 300])
def test_odd_names_are_left_to_the_resolver(online, name):
    arguments = ["--", name]
    done = online.reach(*arguments)
    assert (done.returncode, done.stderr) == (1, "")


def test_options_may_follow_operands(online):
    assert online.reach("192.0.2.2", "198.51.100.1", "--pair").stdout == \
        "192.0.2.2 -> 198.51.100.1: online (there is a path; eth0)\n"


def test_pair_of_families_and_links(online):
    assert online.reach("--pair", "127.0.0.1", "127.0.0.1").returncode == 0
    assert online.reach("--pair", "::", "198.51.100.1").returncode == 0
    assert online.reach("--pair", "fe80::1%eth0", "fe80::2%eth0").returncode == 1


@pytest.mark.parametrize("address", ["fe80::1", "2001:db8::1", "192.0.2.1"])
@pytest.mark.parametrize("link", ["nope", "77", "longer-than-any-link"])
def test_links_that_do_not_exist(online, address, link):
    """In a pair as alone: an address on a link that is not there cannot be reached, which is an answer."""
    operand = f"{address}%{link}"
    for arguments in ([operand], ["--no-resolve", operand], ["--pair", "::", operand]):
        done = online.reach(*arguments)
        assert (done.returncode, done.stderr) == (1, ""), arguments
        assert done.stdout.endswith(f"{operand}: offline (there is no such link)\n"), arguments
    done = online.reach("--pair", operand, "192.0.2.1")
    assert (done.returncode, done.stderr) == (1, "") and ": offline (" in done.stdout


def test_links_of_any_address(online):
    """What an address alone may be, it may be in a pair."""
    for remote in ("192.0.2.7%eth0", "::ffff:192.0.2.7%eth0"):
        for arguments in ([remote], ["--pair", "192.0.2.2", remote]):
            done = online.reach(*arguments)
            assert (done.returncode, done.stderr) == (0, ""), arguments
            assert done.stdout.endswith(f"{remote}: online (there is a path; eth0)\n")


def test_version_and_help(network):
    done = network.reach("--version")
    header = (TOP / "include" / "reach.h").read_text()
    version = re.search(r'REACH_VERSION_STRING "(.*)"', header).group(1)
    assert (done.returncode, done.stdout) == (0, f"reach {version} (library {version})\n")
    done = network.reach("--help")
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("Usage: reach ")
    # Whoever asks for help is not told of another mistake.
    assert network.reach("--help", "--nonsense").returncode == 0


def options_of_help(network):
    text = network.reach("--help").stdout
    return set(re.findall(r"(?<![\w-])(-[a-zA-Z]|--[a-z-]+)\b", text))


def test_every_option_of_help_is_one(network):
    options = options_of_help(network)
    assert {"--pair", "--watch", "--wait", "--offline", "--json", "--quiet", "--explain", "--timeout", "--no-resolve",
            "--version", "--help"} <= options
    for option in options - {"--timeout", "-t"}:
        # With a mistake behind it, an option that is known gets the tool to that mistake, or to its own end.
        done = network.reach(option, "--nonsense")
        assert "nonsense" in done.stderr or done.returncode == 0, option


def completion_lines(shell, program, *arguments):
    done = subprocess.run([shell, *arguments, program], capture_output=True, text=True, cwd=TOP, timeout=DEADLINE)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


BASH_COMPLETION = """
. /usr/share/bash-completion/bash_completion && . completions/reach.bash || exit
COMP_WORDS=(reach @WORD@) COMP_CWORD=1 COMP_LINE='reach @WORD@' COMP_POINT=${#COMP_LINE}
_reach 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash_completion(network):
    assert pathlib.Path("/usr/share/bash-completion/bash_completion").exists(), "install bash-completion"
    offered = completion_lines("bash", BASH_COMPLETION.replace("@WORD@", "--"), "--norc", "-c")
    assert {word.rstrip("=") for word in offered} == {o for o in options_of_help(network) if o.startswith("--")}
    assert completion_lines("bash", BASH_COMPLETION.replace("@WORD@", "--expl"), "--norc", "-c") == ["--explain"]


def test_fish_completion(network, tmp_path):
    lines = completion_lines("env", "source completions/reach.fish; complete -C 'reach -'", f"HOME={tmp_path}", "fish",
                             "--no-config", "-c")
    offered = {line.split("\t")[0].rstrip("=") for line in lines}
    assert options_of_help(network) <= offered


# A list is only made in a terminal, which zpty plays. A read with a pattern waits until that was seen.
ZSH_COMPLETION = """
zmodload zsh/zpty || exit
zpty -b shell zsh -f -i
zpty -w shell "PS1='' PS2='' TERM=dumb; stty -echo; fpath=($PWD/completions \\$fpath)"
zpty -w shell "autoload -U compinit; compinit -u -D; zstyle ':completion:*' list-separator ::"
zpty -w shell "LISTMAX=10000; LINES=1000; COLUMNS=200; bindkey '^X' list-choices"
zpty -w shell "print be''gin"
zpty -r shell line '*begin*'
zpty -n -w shell $'reach -\\C-x'
zpty -r shell line '*tell of each change*'
print -r -- "$line"
zpty -d shell
"""


def test_zsh_completion(network):
    text = "\n".join(completion_lines("zsh", ZSH_COMPLETION, "-f", "-c"))
    offered = set(re.findall(r"(?<![\w-])(--?[a-zA-Z][a-z-]*)", text))
    assert options_of_help(network) <= offered, text
