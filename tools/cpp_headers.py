"""Reads composit's public headers: declarations at namespace level and what is said above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|[{};]|\n", re.DOTALL)
NAMESPACE = re.compile(r"^(?:inline )?namespace\s+([\w:]+)$")
NAME = re.compile(r"(?:^|[\s*&>:])(operator\s*\S+?|\w+)\s*\($")


@dataclass
class Declaration:
    """One of a header: its namespace, the name of a function (or class), text and comment."""

    namespace: str
    name: str
    text: str
    comment: str
    is_function: bool
    line: int


def declarations(source: str) -> Iterator[Declaration]:
    """Everything that a header declares at the level of a namespace."""
    stack: list[str] = []  # of namespaces; "" for other braces
    statement, comment_ends = "", -1
    comment: list[str] = []
    line, start = 1, 0
    for match in _pieces(source):
        text = match
        if text == "\n":
            line += 1
            statement += " " if statement.strip() else ""
            continue
        if text.startswith("//"):
            if not statement.strip() and "" not in stack:
                if comment_ends != line - 1:
                    comment = []
                comment.append(text[2:].removeprefix(" "))
                comment_ends = line
            continue
        if text.startswith("#"):
            continue
        inside = "" in stack
        if text in "{}" and not inside and statement.count("(") > statement.count(")"):
            statement += text  # of a parameter's default
            continue
        if text == "{":
            found = NAMESPACE.match(" ".join(statement.split()))
            if found and not inside:
                stack.append(found[1])
                statement = ""
                continue
            stack.append("")
            statement += "{" if not inside else ""
            continue
        if text == "}":
            closed = stack.pop() if stack else ""
            if closed == "" and "" not in stack and _is_function(statement):
                yield from _made(stack, statement, comment, comment_ends, start)
                statement = ""
            elif closed:
                statement = ""
            continue
        if inside:
            continue
        if text == ";":
            yield from _made(stack, statement, comment, comment_ends, start)
            statement = ""
            continue
        if not statement.strip() and text.strip():
            start = line
        statement += text


def _pieces(source: str) -> Iterator[str]:
    source = re.sub(r"^\s*#.*$", "", source, flags=re.MULTILINE)
    position = 0
    for match in TOKEN.finditer(source):
        if match.start() > position:
            yield source[position : match.start()]
        if match[0].startswith("/*"):
            yield from "\n" * match[0].count("\n")
        else:
            yield match[0]
        position = match.end()


def _is_function(statement: str) -> bool:
    words = re.sub(r"\[\[.*?\]\]|template\s*<[^()]*?>(?=\s)", " ", statement).split()
    kinds = {"struct", "class", "enum", "union", "using", "namespace"}
    return bool(words) and words[0] not in kinds and "(" in statement.partition("{")[0]


def _without_body(statement: str) -> str:
    """What stands before the first brace that is not in parentheses."""
    depth = 0
    for i, letter in enumerate(statement):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "{" and depth == 0:
            return statement[:i]
    return statement


def _without_template(text: str) -> str:
    """The declaration behind template<…>."""
    if not text.startswith("template"):
        return text
    depth = 0
    for i, letter in enumerate(text):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == ">" and depth == 0:
            return text[i + 1 :].strip()
    return text


def _made(
    stack: list[str], statement: str, comment: list[str], ends: int, line: int
) -> Iterator[Declaration]:
    text = " ".join(_without_body(statement).split())
    plain = re.sub(r"\[\[.*?\]\]\s*", "", text)
    said = "\n".join(comment) if ends in (line - 1, line) else ""
    namespace = "::".join(name for name in stack if name)
    if not plain or plain.startswith(("using ", "namespace ", "static_assert", "extern ")):
        return
    kind = re.match(r"(?:template\s*<.*?>\s*)?(?:struct|class|enum class|enum)\s+(\w+)", plain)
    if kind:
        yield Declaration(namespace, kind[1], plain, said, False, line)
        return
    head = _without_template(plain).partition("(")[0]
    found = NAME.search(head + "(")
    if found and ("=" not in head or found[1].startswith("operator")):
        yield Declaration(namespace, found[1], plain, said, True, line)


def headers(folder: str) -> list[Path]:
    """The public headers of a folder of composit/, and those that the build writes there."""
    written = ROOT / "build/dev/include/composit" / folder
    return sorted([*(ROOT / "composit" / folder).glob("*.h"), *written.glob("*.h")])


def public_headers() -> set[str]:
    """What composit/composit.h includes, as "numpy/sets.h"."""
    text = (ROOT / "composit/composit.h").read_text()
    return set(re.findall(r'#include "composit/([^"]+)"', text))
