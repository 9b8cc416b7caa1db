"""Writes docs/torch-reference.md: every function, method and module of composit.torch and of
composit.tensorgrad, with its arguments and its text.

    python tools/torch_reference.py --write
"""

from __future__ import annotations

import argparse
import enum
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs/torch-reference.md"
_classes = ("Tensor", "Module")  # whose methods have a section
_HEAD = """# composit.torch and composit.tensorgrad, name by name

Made by `tools/torch_reference.py --write` from the functions' own texts; a test keeps it true. What
differs from PyTorch is in [torch.md](torch.md), what was compared with it in
[torch-conformance.md](torch-conformance.md). A function that is PyTorch's too does what PyTorch's
page says; `device`, `layout`, `pin_memory`, `memory_format`, `non_blocking` and `generator` are
taken where PyTorch takes them. A name with the ending `_` writes over its first argument.
"""


# Of functions that only PyTorch's page describes.
_TEXTS = {
    "adaptive_avg_pool1d": "Means of windows so that output_size are left.",
    "addbmm": "beta input + alpha times the sum of the products of matrices.",
    "addcdiv": "input + value tensor1 / tensor2.",
    "addcmul": "input + value tensor1 tensor2.",
    "addmm": "beta input + alpha mat1 @ mat2.",
    "addmv": "beta input + alpha mat @ vec.",
    "addr": "beta input + alpha times the products of all pairs.",
    "aminmax": "The least and the largest element.",
    "adaptive_avg_pool2d": "Means of windows so that output_size are left.",
    "adaptive_avg_pool3d": "Means of windows so that output_size are left.",
    "H": "The dimensions reversed, and conjugated.",
    "log1p": "log(1 + x).",
    "sinc": "sin(pi x) / (pi x).",
    "softmin": "softmax(-x).",
    "softplus": "log(1 + e^(beta x)) / beta.",
    "xlogy": "x log(y); 0 where x is 0.",
    "asarray": "A tensor of numbers or an array.",
    "avg_pool1d": "The mean of each window.",
    "avg_pool2d": "The mean of each window.",
    "avg_pool3d": "The mean of each window.",
    "baddbmm": "beta input + alpha batch1 @ batch2.",
    "bilinear": "x1 A x2 + b.",
    "bmm": "The products of matrices, one by one.",
    "cat": "Tensors one after the other, along a dimension.",
    "complex": "real + i imag.",
    "conj_physical": "Conjugated.",
    "cosine_similarity": "The cosine of the angle between vectors.",
    "det": "The determinants of matrices.",
    "gather": "The elements at places along a dimension.",
    "ger": "The products of all pairs.",
    "index_select": "Slices along a dimension, by number.",
    "inverse": "The inverses of matrices.",
    "logaddexp": "log(e^x + e^y).",
    "logaddexp2": "log2(2^x + 2^y).",
    "logcumsumexp": "log of the sums of e^x so far.",
    "logsumexp": "log of the sum of e^x.",
    "matrix_power": "Products of a matrix with itself.",
    "msort": "Sorted along the first dimension.",
    "nuclear_norm": "The sum of the singular values.",
    "frobenius_norm": "The root of the sum of squares.",
    "polar": "Complex numbers of a length and an angle.",
    "rsub": "other - alpha input.",
    "select_scatter": "With src in place of one slice.",
    "slice_scatter": "With src in place of a range of slices.",
    "special_expit": "1 / (1 + e^-x).",
    "take_along_dim": "The elements at places along a dimension.",
    "view_as_complex": "Pairs of real numbers as complex ones.",
    "view_as_real": "Complex numbers as pairs of real ones.",
    **{f"conv{n}d": "Cross-correlation with filters." for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": "The transpose of a convolution." for n in (1, 2, 3)},
}


def _sections() -> dict[str, dict[str, Any]]:
    """By heading: names, and what they stand for."""
    from composit import tensorgrad, torch

    def listed(space: Any, names: Any = None) -> dict[str, Any]:
        found = names or getattr(space, "__all__", None)
        chosen = found or [name for name in dir(space) if not name.startswith("_")]
        return {name: getattr(space, name) for name in chosen}

    def of_class(kind: Any) -> dict[str, Any]:
        names = {name for name in dir(kind) if not name.startswith("_")}
        return {name: inspect.getattr_static(kind, name) for name in names}

    nn, optim = torch.nn, torch.optim
    return {
        "torch": listed(torch), "torch.Tensor": of_class(torch.Tensor),
        "torch.nn": listed(nn), "torch.nn.Module": of_class(nn.Module),
        "torch.nn.functional": listed(nn.functional, dir(nn.functional)),
        "torch.nn.init": listed(nn.init), "torch.nn.utils": listed(nn.utils),
        "torch.optim": listed(optim), "torch.optim.lr_scheduler": listed(optim.lr_scheduler),
        "torch.linalg": listed(torch.linalg), "torch.fft": listed(torch.fft),
        "torch.special": listed(torch.special), "torch.autograd": listed(torch.autograd),
        "torch.autograd.functional": listed(torch.autograd.functional),
        "torch.func": listed(torch.func), "torch.compiler": listed(torch.compiler),
        "torch.utils.data": listed(torch.utils.data),
        "tensorgrad": listed(tensorgrad), "tensorgrad.Tensor": of_class(tensorgrad.Tensor),
        "tensorgrad.nn": listed(tensorgrad.nn), "tensorgrad.optim": listed(tensorgrad.optim),
    }  # fmt: skip


def _signature(value: Any, is_method: bool) -> str | None:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return f": {', '.join(value.__members__)}"
    try:
        made = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)" if isinstance(value, type) else None
    parts = []
    is_marked = False
    for place, (name, parameter) in enumerate(made.parameters.items()):
        if name in ("self", "cls", "input") and not place:
            if is_method or name == "cls" or isinstance(value, type):
                continue
            name = "input"
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
        text = stars + name
        is_marked = is_marked or parameter.kind == parameter.VAR_POSITIONAL
        if parameter.kind == parameter.KEYWORD_ONLY and not is_marked:
            parts.append("*")
            is_marked = True
        if parameter.default is not parameter.empty:
            shown = repr(parameter.default)
            text += f"={'…' if ' at 0x' in shown or len(shown) > 40 else shown}"
        parts.append(text)
    return f"({', '.join(parts)})"


def _text(name: str, value: Any) -> str:
    """The first paragraph of its text, in one line; of a function whose text is its name, what
    NumPy's function of that name, or composit.nn's, says."""
    import composit.numpy
    from composit import nn

    said = inspect.cleandoc(getattr(value, "__doc__", None) or "").split("\n\n")[0]
    if said == f"torch's {name}.":
        other = getattr(nn, name, None) or getattr(composit.numpy, name, None)
        said = inspect.cleandoc(getattr(other, "__doc__", None) or "").split("\n\n")[0]
        if re.match(r"\w+\(", said):  # it begins with its arguments
            said = said.partition("\n")[2]
        said = said or _TEXTS.get(name, "")
    if re.match(r"(?!beta )[a-z]{2,} ", said):
        said = said[0].upper() + said[1:]
    said += "" if not said or said.endswith((".", ")")) else "."
    return re.sub(r"\s+", " ", said).replace("|", "\\|").replace("*", "\\*")


def _entry(name: str, value: Any, has_in_place: bool, is_method: bool) -> str | None:
    if isinstance(value, types.ModuleType) or type(value).__name__ in ("dtype", "float", "int"):
        return None
    if getattr(value, "__module__", "") in ("typing", "collections.abc"):
        return None
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property):
        return f"- **`{name}`** {_text(name, value)}".rstrip()
    signature = _signature(value, is_method) if callable(value) else None
    if signature is None:
        return None
    also = f" And `{name}_`." if has_in_place else ""
    return f"- **`{name}{signature}`** {_text(name, value)}".rstrip() + also


def page() -> str:
    """The page."""
    parts = [_HEAD]
    for heading, found in _sections().items():
        names = sorted(found, key=lambda x: (x.lower(), x))
        entries = [
            _entry(name, found[name], f"{name}_" in found, heading.split(".")[-1] in _classes)
            for name in names
            if not (name.endswith("_") and name[:-1] in found)
        ]
        shown = [entry for entry in entries if entry is not None]
        parts.append(f"## {heading}\n\n" + "\n".join(shown) + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())


if __name__ == "__main__":
    main()
