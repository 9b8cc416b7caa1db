"""Writes docs/onnx-operators.md: the operators that composit.onnx builds, beside those of the
package onnx, with their versions. `--write` writes the page; without it the page is compared."""

import argparse
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "onnx-operators.md"
FIRST = 7  # the oldest opset of ONNX's own domain

# Why operators are not built.
REASONS = {
    "Gradient": "gradients are taken by composit, of any model",
    "GraphCall": "it calls what is not in the model",
    "CastMap": "maps", "DictVectorizer": "maps",
}  # fmt: skip


def page() -> str:
    """The page's text."""
    import onnx
    from onnx import defs

    from composit.onnx import operators

    built = set(operators())
    versions: dict[tuple[str, str], list[int]] = {}
    deprecated = set()
    for schema in defs.get_all_schemas_with_history():
        key = (schema.domain, schema.name)
        versions.setdefault(key, []).append(schema.since_version)
        if schema.deprecated:
            deprecated.add(key)
    lines = [
        "# ONNX's operators",
        "",
        "<!-- written by tools/onnx_operators.py -->",
        "",
        f"Each operator of the package onnx {onnx.__version__}, the opsets in which its definition "
        "changed, and whether `composit.onnx` builds it. A model of any",
        f"opset from {FIRST} on uses the definition that was valid then. "
        "[exchange.md](exchange.md) says how models are read.",
    ]
    for domain in sorted({domain for domain, _ in versions}):
        names = sorted(name for d, name in versions if d == domain)
        count = sum((domain, name) in built for name in names)
        lines += ["", f"## {domain or 'ai.onnx'}: {count} of {len(names)}", ""]
        lines += ["| operator | opsets | built |", "|---|---|---|"]
        for name in names:
            numbers = sorted(versions[domain, name])
            answer = (
                "yes" if (domain, name) in built else "no: " + REASONS.get(name, "not built yet")
            )
            if (domain, name) in deprecated:
                answer += "; deprecated"
            lines.append(f"| {name} | {', '.join(map(str, numbers))} | {answer} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    text = page()
    if parser.parse_args().write:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.name} is not up to date: python tools/onnx_operators.py --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
