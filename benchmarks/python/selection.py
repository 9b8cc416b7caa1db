"""Which rows `make bench` measures; `make bench-all` measures every one."""

import re

# Of "group: case". NumPy's functions, five models, and what a program's speed depends on.
SHORT = tuple(
    re.compile(pattern)
    for pattern in (
        r"functions: .*1e[36]$",
        r"elementwise: ",
        r"matmul: ",
        r"small: ",
        r"compile: BERT-base, first call",
        r"bert: BERT-base, 128 tokens",
        r"resnet: .*batch 1\b",
        r"zoo: (ViT|GPT-2 small, one token|MobileNetV2)",
        r"quantized: ",
        r"training: ",
        r"hand: ",
    )
)


def is_short(group: str, case: str) -> bool:
    return any(pattern.match(f"{group}: {case}") for pattern in SHORT)
