# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""One arrow from bottom to top: a file of the core uses only its own layer and those before it.

The compiler cannot say this, because the layers share one module. What is compared are the names that stand at the top
level of files: a name declared only in a higher layer must not appear in the code of a lower one.
"""

import re

import pytest

from conftest import TOP

CORE = TOP / "Sources" / "ReachabilitySwift"
FULL_LANGUAGE = "Swift"
IMPORTS = {"CLinux", "Synchronization"}


def arrow():
    """The layers from bottom to top, as ARCHITECTURE.md draws them in one line that begins with CLinux."""
    for line in (TOP / "ARCHITECTURE.md").read_text().split("\n"):
        names = re.split(r"\s*→\s*", line.strip())
        if names[0] == "CLinux" and len(names) > 4:
            return [name for name in names[1:] if (CORE / name).is_dir()]
    raise AssertionError("ARCHITECTURE.md has no line with the layers: CLinux → System → ...")


LAYERS = arrow() if (TOP / "ARCHITECTURE.md").exists() else []

TOP_LEVEL = re.compile(r"^(?:@\w+(?:\([^)]*\))?\s+)*"
                       r"(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated(?:\(unsafe\))?|"
                       r"unsafe|static)\s+)*"
                       r"(struct|class|enum|protocol|actor|typealias|func|let|var)\s+(\w+)", re.M)


def code_of(text):
    """The text without comments and the content of strings, so that prose may name what stands above."""
    text = re.sub(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def top_level_names(code):
    """Names declared outside every brace, without those that only their own file sees."""
    depth, line, names = 0, "", set()
    for character in code:
        if depth == 0:
            line += character
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        if depth == 0 and character in "\n}":
            names |= names_in(line)
            line = ""
        elif depth == 1 and character == "{":
            names |= names_in(line)
            line = ""
    return names


def names_in(line):
    match = TOP_LEVEL.match(line.strip())
    return {match.group(2)} if match and not re.search(r"\b(file)?private\b", match.group(0)) else set()


def sources(layer):
    return sorted((CORE / layer).glob("**/*.swift"))


@pytest.fixture(scope="module")
def declared():
    return {layer: set().union(*(top_level_names(code_of(path.read_text())) for path in sources(layer)), set())
            for layer in LAYERS}


def test_the_layers_are_all_there_is():
    assert LAYERS, "ARCHITECTURE.md is missing"
    folders = sorted(path.name for path in CORE.iterdir() if path.is_dir())
    assert folders == sorted(LAYERS + ([FULL_LANGUAGE] if FULL_LANGUAGE in folders else []))
    assert not list(CORE.glob("*.swift")), "a file of the core stands outside the layers"
    assert all(sources(layer) for layer in LAYERS), "a layer is empty"


def test_names_are_found():
    code = code_of("/* struct A {} */ struct B { struct C {} }\nfinal class D {}\n@inline(never) package func e() { }\n"
                   "private let f = 1\npublic let g = \"struct H\"\nextension B { enum I {} }\n")
    assert top_level_names(code) == {"B", "D", "e", "g"}


@pytest.mark.parametrize("layer", LAYERS)
def test_arrow(layer, declared):
    position = LAYERS.index(layer)
    known = set().union(*(declared[lower] for lower in LAYERS[:position + 1]))
    above = {name: higher for higher in LAYERS[position + 1:] for name in declared[higher] - known}
    wrong = []
    for path in sources(layer):
        code = code_of(path.read_text())
        # A member or a label of the same spelling is not the name: .foo, foo: and "func foo" inside a type are left
        # out.
        words = set(re.findall(r"(?<![.\w])(\w+)\b(?!\s*:)", code))
        own = set(re.findall(r"\b(?:func|let|var|case|struct|class|enum|typealias)\s+(\w+)", code))
        wrong += [f"{path.relative_to(CORE)} uses {name} of {above[name]}"
                  for name in sorted(words & set(above) - own)]
    assert wrong == []


@pytest.mark.parametrize("layer", LAYERS)
def test_core_is_one_text_for_both_builds(layer):
    """Written in the Embedded subset, it needs no condition on the mode; and it imports nothing that only one has."""
    for path in sources(layer):
        code = code_of(path.read_text())
        assert not re.search(r"^\s*#(if|elseif)\b", code, re.M), f"{path.relative_to(CORE)} is conditional"
        imported = set(re.findall(r"^[ \t]*(?:@\w+[ \t]+)*(?:\w+[ \t]+)?import[ \t]+(?:\w+[ \t]+)?(\w+)", code, re.M))
        assert imported <= IMPORTS, f"{path.relative_to(CORE)} imports {sorted(imported - IMPORTS)}"


def test_interface_stands_on_the_core():
    """The exports know the core and the header, and nothing of the core knows the exports."""
    above = top_level_names("\n".join(code_of(path.read_text())
                                      for path in (TOP / "Sources" / "CReachabilityABI").glob("*.swift")))
    for layer in LAYERS:
        for path in sources(layer):
            exported = set(re.findall(r"(?<![.\w])reach_\w+", code_of(path.read_text())))
            assert not exported, f"{path.relative_to(CORE)} uses {sorted(exported)}"
    assert above, "no export was found"
