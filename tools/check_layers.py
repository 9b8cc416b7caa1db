"""Checks what tools/layers.txt says: which folders of composit/ and which headers C++ files may
include, which layers of python/composit Python modules may import, and that no modules import one
another in a circle. Imports within functions count."""

import ast
import fnmatch
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'\s*#\s*include\s*["<]composit/([^">]+)[">]')
GENERATED = {"version.h"}  # written by CMake, free for all
BINDINGS = "python/bindings"
# What imports modules by names that are computed; elsewhere that would hide who needs whom.
LOADERS = ("_later", "torch.parts")


def parts_of(text: str) -> tuple[str, str]:
    """The lines of layers.txt about C++, and those about Python."""
    cpp, _, python = text.partition("\n[Python]\n")
    return cpp, python


# ----- C++


def read_layers(text: str) -> dict[str, list[str]]:
    """The folders that each folder may include, in the order of the lines of `text`."""
    layers = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            folder, colon, allowed = line.partition(":")
            if not colon:
                raise ValueError(f"layers.txt: expected 'folder: folders', not '{line}'")
            layers[folder.strip()] = allowed.split()
    return layers


def layer_of(path: str, layers: dict[str, list[str]]) -> str | None:
    """The folder of `path` (relative to composit/) that counts as one layer, None if unlisted."""
    parts = path.split("/")[:-1] or ["."]
    for depth in range(len(parts), 0, -1):
        folder = "/".join(parts[:depth])
        for layer in layers:
            if layer.count("/") == folder.count("/") and fnmatch.fnmatchcase(folder, layer):
                return folder
    return None


def rule_of(folder: str, layers: dict[str, list[str]]) -> list[str]:
    """What `folder` may include: its own line, or the first line with a matching pattern."""
    if folder in layers:
        return layers[folder]
    return next(allowed for layer, allowed in layers.items() if fnmatch.fnmatchcase(folder, layer))


def _sources(folder: Path) -> list[Path]:
    return sorted([*folder.rglob("*.h"), *folder.rglob("*.cpp")])


def _includes(source: Path) -> Iterator[tuple[int, str]]:
    """(line, header) of each include of composit's own."""
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match and match[1] not in GENERATED:
            yield number, match[1]


def violations(core: Path, layers: dict[str, list[str]]) -> list[str]:
    """One message for each include below `core` that no line allows, sorted by file."""
    messages = []
    for source in _sources(core):
        path = source.relative_to(core).as_posix()
        own = layer_of(path, layers)
        if own is None:
            messages.append(f"composit/{path}: its folder has no line in tools/layers.txt")
            continue
        for number, header in _includes(source):
            used = layer_of(header, layers)
            if used != own and used not in rule_of(own, layers):
                allowed = ", ".join(rule_of(own, layers)) or "nothing"
                messages.append(
                    f"composit/{path}:{number}: {own} may not include composit/{header};"
                    f" it may include {allowed}"
                )
    return messages


def violations_of_bindings(bindings: Path, layers: dict[str, list[str]]) -> list[str]:
    """One message for each header whose folder the bindings' line does not name, nor itself."""
    allowed = layers[BINDINGS]
    return [
        f"{BINDINGS}/{source.relative_to(bindings).as_posix()}:{number}: the bindings may not "
        f"include composit/{header}; they may include public headers only"
        for source in _sources(bindings)
        for number, header in _includes(source)
        if header not in allowed and layer_of(header, layers) not in allowed
    ]


# ----- Python


@dataclass
class Layer:
    """Modules, by their paths below python/composit, and the layers that they may import."""

    modules: list[str]
    allowed: list[str]


def read_python_layers(text: str) -> dict[str, Layer]:
    """The layers of lines such as `arrays [numpy evaluation]: base`. Without brackets a layer holds
    the package of its name. Lines that begin with a space go on. A line names layers above it
    alone, so that layers have no circles."""
    layers: dict[str, Layer] = {}
    lines = "\n".join(line.split("#")[0].rstrip() for line in text.splitlines())
    for line in re.sub(r"\n[ \t]+", " ", lines).splitlines():
        if not line:
            continue
        match = re.fullmatch(r"(\w+)(?: *\[(.*)\])? *:(.*)", line)
        if match is None:
            raise ValueError(f"layers.txt: expected 'layer [modules]: layers', not '{line}'")
        name, modules, allowed = match[1], match[2], match[3].split()
        unknown = [each for each in allowed if each not in layers]
        if unknown:
            raise ValueError(f"layers.txt: {name} names {unknown[0]}, which has no line above it")
        layers[name] = Layer(modules.split() if modules is not None else [name], allowed)
    return layers


def python_layer_of(module: str, layers: dict[str, Layer]) -> str | None:
    """The layer that names the module ("numpy.fft", "" for the package itself), or, as exactly as
    possible, a package around it; None if there is none."""
    path = module.replace(".", "/")
    found = {pattern: name for name, layer in layers.items() for pattern in layer.modules}
    alone = f"{path}/.".lstrip("/")
    if alone in found:
        return found[alone]
    while path:
        if path in found:
            return found[path]
        path = path.rpartition("/")[0]
    return None


@dataclass(frozen=True)
class Import:
    """A line of one module that imports another."""

    line: int
    module: str


def _name_of(path: Path, root: Path) -> str:
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    return name.removesuffix("__init__").rstrip(".")


def _literals(tree: ast.AST) -> dict[str, ast.expr]:
    """Names of the module that are assigned a value written down there."""
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _loaded_later(call: ast.Call, package: str, literals: dict[str, ast.expr]) -> list[str]:
    """Modules that a package says it imports when they are asked for: getter(__name__, names)."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name != "getter":
        return []
    found: list[str] = []
    for argument in [*call.args[1:], *(keyword.value for keyword in call.keywords)]:
        while isinstance(argument, ast.Name) and argument.id in literals:
            argument = literals[argument.id]
        if isinstance(argument, ast.Dict):  # of names, and the modules that have them
            parts: list[ast.expr] = list(argument.values)
        else:
            parts = [each for each in ast.walk(argument) if isinstance(each, ast.Constant)]
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.append(f"{package}.{part.value}".lstrip("."))
    return found


def imports_of(path: Path, root: Path, modules: set[str]) -> Iterator[Import]:
    """The modules of composit that a file imports, wherever in it, or says that it will."""
    name = _name_of(path, root)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    literals = _literals(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, _, rest = alias.name.partition(".")
                if first == "composit" and rest in modules:
                    yield Import(node.lineno, rest)
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                around = package.split(".") if package else []
                base = ["composit", *around[: len(around) - node.level + 1], *base]
            if base[0] != "composit":
                continue
            home = ".".join(base[1:])
            for alias in node.names:
                inner = f"{home}.{alias.name}".lstrip(".")
                if inner in modules:
                    yield Import(node.lineno, inner)
                elif home in modules:
                    yield Import(node.lineno, home)
        elif isinstance(node, ast.Call):
            for each in _loaded_later(node, package, literals):
                if each in modules:
                    yield Import(node.lineno, each)


def _hidden_imports(path: Path, root: Path) -> Iterator[int]:
    """Lines that import a module by a name that is computed, or one of composit's by a text."""
    if _name_of(path, root) in LOADERS:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in ("import_module", "__import__"):
            continue
        text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        if isinstance(text, str) and text.partition(".")[0] == "composit":
            yield node.lineno


def circle_in(edges: dict[str, set[str]]) -> list[str]:
    """The modules of a shortest circle, each of which imports the next one; none: an empty list."""
    shortest: list[str] = []
    for start in sorted(edges):
        before: dict[str, str] = {}
        waiting = [start]
        for module in waiting:
            for each in sorted(edges.get(module, ())):
                if each == start:
                    found = [module]
                    while found[-1] != start:
                        found.append(before[found[-1]])
                    if not shortest or len(found) < len(shortest):
                        shortest = found[::-1]
                elif each not in before:
                    before[each] = module
                    waiting.append(each)
    return shortest


def violations_of_python(root: Path, layers: dict[str, Layer]) -> list[str]:
    """One message for each import below `root` that no line allows, and one for a circle."""
    files = {_name_of(path, root): path for path in sorted(root.rglob("*.py"))}
    messages = []
    edges: dict[str, set[str]] = {}
    for module, path in files.items():
        shown = f"python/composit/{path.relative_to(root).as_posix()}"
        own = python_layer_of(module, layers)
        if own is None:
            messages.append(f"{shown}: its module has no layer in tools/layers.txt")
            continue
        for line in _hidden_imports(path, root):
            messages.append(f"{shown}:{line}: import statements, or _later.getter, are required")
        for each in imports_of(path, root, set(files)):
            if each.module != module:
                edges.setdefault(module, set()).add(each.module)
            used = python_layer_of(each.module, layers)
            if used not in (own, *layers[own].allowed):
                allowed = ", ".join(layers[own].allowed) or "nothing"
                name = f"composit.{each.module}".rstrip(".")
                messages.append(
                    f"{shown}:{each.line}: {own} may not import {name} ({used}); it may import "
                    f"{allowed}"
                )
    circle = circle_in(edges)
    if circle:
        chain = " -> ".join(f"composit.{each}".rstrip(".") for each in [*circle, circle[0]])
        messages.append(f"python/composit: modules import one another in a circle: {chain}")
    return messages


def main() -> int:
    cpp, python = parts_of((ROOT / "tools/layers.txt").read_text(encoding="utf-8"))
    layers = read_layers(cpp)
    messages = [
        *violations(ROOT / "composit", layers),
        *violations_of_bindings(ROOT / BINDINGS, layers),
        *violations_of_python(ROOT / "python/composit", read_python_layers(python)),
    ]
    print("\n".join(messages) or "layers: every include and import is allowed")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
