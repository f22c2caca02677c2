# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Writes the interface of include/reach.h as a C library that abigail can read.

The shipped library is written in Swift, whose debug information describes Swift's types. What callers compile against
is the header, so its types are what must not change: each function that it declares is defined here by the C compiler,
with the same soname and symbol versions as the shipped library, and the result is compared with the stored description.
That the Swift functions have the header's types is made sure at compile time, and that their names are all there is
checked against symbols.txt, so the three together cover the library.

usage: abi_library.py baseline   writes the description anew; refused when the change would break callers
       abi_library.py check      fails when the header's interface differs from the description
"""

import pathlib
import subprocess
import sys
import tempfile

from conftest import TOP, Header

BASELINE = pathlib.Path(__file__).parent / "abi" / "libreach.so.1.abi"
MAP = TOP / "Sources" / "CReachabilityABI" / "libreach.map"
INCOMPATIBLE = 8


def definition(name, result, parameters):
    declared = []
    for kind, label in parameters:
        declared.append(kind.replace("(*)", f"(*{label})") if "(*)" in kind else f"{kind} {label}")
    return f"{result} {name}({', '.join(declared) or 'void'}) {{ __builtin_trap(); }}\n"


def build(folder):
    """Compiles the header's interface into folder/libreach.so.1 and gives its path."""
    source = folder / "interface.c"
    source.write_text('#include "reach.h"\n' + "".join(
        definition(name, result, parameters) for name, (result, parameters) in sorted(Header().functions.items())))
    library = folder / "libreach.so.1"
    # The description is not to say in which scratch folder it was made.
    maps = [f"-ffile-prefix-map={place}=." for place in (folder, TOP)]
    subprocess.run(["gcc", "-std=c11", "-g", *maps, "-shared", "-fPIC", "-Wl,-soname=libreach.so.1",
                    f"-Wl,--version-script={MAP}", f"-I{TOP / 'include'}", str(source), "-o", str(library)],
                   check=True)
    return library


def describe(library, output):
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                    "--out-file", str(output), str(library)], check=True)


def difference(library):
    """What abidiff says, and its exit status: 0 for no change, with bit 8 for one that breaks callers."""
    done = subprocess.run(["abidiff", "--no-show-locs", str(BASELINE), str(library)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main(action):
    with tempfile.TemporaryDirectory() as name:
        library = build(pathlib.Path(name))
        if action == "baseline":
            if BASELINE.exists():
                status, text = difference(library)
                print(text, end="")
                if status & INCOMPATIBLE:
                    sys.exit("this would break callers: it needs a new soname and a new symbol version")
            describe(library, BASELINE)
            return
        status, text = difference(library)
        if status:
            print(text, end="")
            sys.exit("the interface differs from the stored description" +
                     (" and breaks callers" if status & INCOMPATIBLE else ": after an addition, run make abi-baseline"))


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "check")
