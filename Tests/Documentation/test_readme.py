# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Every command of the README, typed as it stands there, by somebody with an empty home directory."""

import os
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
README = (TOP / "README.md").read_text()

# What continuous integration itself is made of; the test below sees that it is.
FOR_CI = {"make run", "make test"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def commands():
    return [line for block in blocks("sh") for line in block.splitlines() if line.strip()]


def test_ci_runs_the_two_commands():
    script = (TOP / ".ci" / "run").read_text().splitlines()
    assert FOR_CI <= set(script)
    assert FOR_CI <= set(commands())


def test_the_program_and_every_other_command(tmp_path):
    (tmp_path / "program.c").write_text(blocks("c")[0])
    # The repository is where make is called, the scratch folder where the program is written.
    script = ["set -u"]
    for command in commands():
        if command in FOR_CI:
            continue
        if command.startswith("make "):
            script.append(f'(cd "$REPOSITORY" && {command}) > make.log 2>&1 || {{ cat make.log; exit 70; }}')
        else:
            # A machine without a network is offline, which is an answer; anything above is a failure.
            script.append(command)
            script.append("status=$?; test $status -le 1 || { echo \"failed with $status\"; exit 71; }")
    environment = {
        "HOME": str(tmp_path / "home"),
        "REPOSITORY": str(TOP),
        # What was installed in the home directory is found only if the README says how.
        "PATH": os.environ["PATH"],
    }
    result = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    assert not result.stderr, result.stderr
    assert re.search(r"^(online|offline)", result.stdout, re.M), result.stdout
    # The last command reads one key of the JSON, and one that is not there would be null.
    assert " | jq ." in commands()[-1] and result.stdout.splitlines()[-1] in ("true", "false"), result.stdout


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if "://" not in target:
            assert (TOP / target).exists(), target
