"""Runs a script of PyTorch's with its imports of torch swapped for composit.torch, in the script
itself and in the modules that it imports from given folders."""

import ast
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

OURS = "composit.torch"


class Swapped(ast.NodeTransformer):
    """Imports of `torch` and of what lies in it become imports of composit.torch."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        """`import torch.nn.functional` binds `torch`: the name is bound to what is swapped."""
        made: list[ast.stmt] = []
        for alias in node.names:
            if not _is_torch(alias.name):
                made.append(ast.Import([alias]))
                continue
            name = _swapped(alias.name)
            if alias.asname or alias.name == "torch":
                made.append(ast.Import([ast.alias(name, alias.asname or "torch")]))
            else:
                made += [ast.Import([ast.alias(name, "_part_of_torch")]),
                         ast.Import([ast.alias(OURS, "torch")])]  # fmt: skip
        return [ast.fix_missing_locations(ast.copy_location(each, node)) for each in made]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """`from torch.nn import Module`."""
        if node.level == 0 and node.module == "einops.layers.torch":
            node.module = f"{OURS}.einops"  # the same layers, as modules of composit.torch
        elif node.level == 0 and node.module and _is_torch(node.module):
            node.module = _swapped(node.module)
        return node


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def _swapped(name: str) -> str:
    return OURS + name.removeprefix("torch")


def compiled(source: str | bytes, path: str, is_swapped: bool) -> types.CodeType:
    """The code of a file, with swapped imports if that is asked for."""
    tree = ast.parse(source, path)
    if is_swapped:
        tree = ast.fix_missing_locations(Swapped().visit(tree))
    return compile(tree, path, "exec", dont_inherit=True)


class _Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(  # type: ignore[override]
        self, data: Any, path: Any, *_: Any, **__: Any
    ) -> Any:
        return compiled(data, path, True)

    def get_code(self, fullname: str) -> Any:
        """Of the source always: a file of bytecode was compiled of the imports as they stand."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = [folder.resolve() for folder in folders]

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """The spec of a module that lies in one of the folders; else None."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not (spec.origin or "").endswith(".py"):
            return None
        origin = Path(str(spec.origin)).resolve()
        if not any(origin.is_relative_to(folder) for folder in self.folders):
            return None
        spec.loader = _Loader(fullname, str(origin))
        return spec


def run(script: Path, arguments: list[str], folders: list[Path], is_swapped: bool) -> None:
    """Runs the script as `python script arguments` does. Modules of its folder and of `folders` are
    found, and have swapped imports, too."""
    folders = [script.parent, *folders]
    if is_swapped:
        sys.meta_path.insert(0, _Finder(folders))
    sys.path[:0] = [str(folder) for folder in folders]
    sys.argv = [str(script), *arguments]
    module = types.ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    exec(compiled(script.read_bytes(), str(script), is_swapped), module.__dict__)
