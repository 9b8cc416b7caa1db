"""Counts the house: lines, files, circles of imports, inheritance, and logic in Python.

    python tools/house.py [REVISION]

Of the committed files of a revision (HEAD if none is given). Blank lines and comments, docstrings
among them, are counted apart. A Python function is logic if it holds two or more branches, loops
or comprehensions, and no other function. Imports inside functions count.
"""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import PurePosixPath

BRANCHES = (ast.For, ast.While, ast.If, ast.IfExp, ast.comprehension, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def texts_of(revision: str) -> dict[str, str]:
    """The sources below composit/ and python/, by path."""
    command = ["git", "archive", "--format=tar", revision, "composit", "python"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    listing = subprocess.run(["tar", "-t"], input=archive, check=True, capture_output=True)
    paths = [p for p in listing.stdout.decode().splitlines() if p.endswith((".h", ".cpp", ".py"))]
    objects = "".join(f"{revision}:{path}\n" for path in paths).encode()
    found = subprocess.run(["git", "cat-file", "--batch"], input=objects, capture_output=True)
    texts, rest = {}, found.stdout
    for path in paths:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split()[2])
        texts[path], rest = rest[:size].decode(), rest[size + 1 :]
    return texts


def comment_lines(path: str, text: str) -> set[int]:
    """The numbers of lines that hold nothing but a comment or a docstring."""
    lines = enumerate(text.splitlines(), 1)
    if path.endswith(".py"):
        found = {number for number, line in lines if line.strip().startswith("#")}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node):
                found |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        return found
    found, is_open = set(), False
    for number, line in lines:
        stripped = line.strip()
        if is_open or stripped.startswith(("//", "/*")):
            found.add(number)
            is_open = "*/" not in stripped and (is_open or stripped.startswith("/*"))
    return found


def count_lines(texts: dict[str, str], suffixes: tuple[str, ...]) -> str:
    count: Counter[str] = Counter()
    for path, text in texts.items():
        if not path.endswith(suffixes):
            continue
        comments = comment_lines(path, text)
        count["files"] += 1
        for number, line in enumerate(text.splitlines(), 1):
            is_comment = number in comments and bool(line.strip())
            count["comments" if is_comment else "code" if line.strip() else "blank"] += 1
    kinds = ("files", "code", "comments", "blank")
    return ", ".join(f"{count[kind]} {kind}" for kind in kinds)


def modules_of(texts: dict[str, str]) -> dict[str, str]:
    """The texts of Python's modules, by name: composit.nn.core."""
    modules = {}
    for path, text in texts.items():
        if path.startswith("python/composit/") and path.endswith(".py"):
            parts = PurePosixPath(path).with_suffix("").parts[1:]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = text
    return modules


def imported_names(package: str, tree: ast.Module) -> list[tuple[str, str]]:
    """What names from other modules mean: ("Leaf", "composit.knossos.annotations.Leaf"), or
    ("np", "numpy.*") for a whole module."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.asname or alias.name, f"{alias.name}.*") for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found += [(alias.asname or alias.name, f"{base}.{alias.name}") for alias in node.names]
    return found


def circles(edges: dict[str, set[str]]) -> list[int]:
    """The sizes of sets of modules that import one another in a circle."""
    reached = {}
    for start in edges:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    sets = {frozenset(b for b in reached[a] if a in reached[b]) for a in edges if a in reached[a]}
    return sorted((len(each) for each in sets), reverse=True)


def bases_of(module: str, tree: ast.Module, names: dict[str, str]) -> dict[str, list[str]]:
    """The classes of a module, and those that they are derived from, by whole names."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    own = {node.name: f"{module}.{node.name}" for node in classes}
    return {
        own[node.name]: [(names | own).get(ast.unparse(base), "") for base in node.bases]
        for node in classes
    }


def longest_chain(bases: dict[str, list[str]], name: str) -> int:
    above = [base for base in bases[name] if base in bases and base != name]
    return 1 + max((longest_chain(bases, base) for base in above), default=0)


def main(arguments: list[str]) -> None:
    texts = texts_of(arguments[0] if arguments else "HEAD")
    print("C++:   ", count_lines(texts, (".h", ".cpp")))
    print("Python:", count_lines(texts, (".py",)))
    modules = modules_of(texts)
    trees = {name: ast.parse(text) for name, text in modules.items()}
    packages = {name.rpartition(".")[0] for name in modules}
    names = {
        name: imported_names(name if name in packages else name.rpartition(".")[0], tree)
        for name, tree in trees.items()
    }
    edges = {
        name: {whole if whole in modules else whole.rpartition(".")[0] for _, whole in own}
        & set(modules) - {name}
        for name, own in names.items()
    }
    bases: dict[str, list[str]] = {}
    for name, tree in trees.items():
        bases |= bases_of(name, tree, dict(names[name]))
    logic = 0
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                within = list(ast.walk(node))
                is_outer = any(isinstance(n, ast.FunctionDef) and n is not node for n in within)
                if not is_outer and sum(isinstance(n, BRANCHES) for n in within) >= 2:
                    logic += (node.end_lineno or 0) - node.lineno + 1
    print("modules in circles:", sum(circles(edges)), circles(edges))
    print("longest inheritance:", max(longest_chain(bases, name) for name in bases))
    print("lines of Python logic:", logic)


if __name__ == "__main__":
    main(sys.argv[1:])
