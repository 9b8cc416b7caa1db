"""What the command lines of the examples have in common: which values their options may have."""

from __future__ import annotations

import argparse
from collections.abc import Callable

# A condition, and what is said where it does not hold: a text with {options} in it.
Rule = tuple[Callable[[argparse.Namespace], bool], str]


def seeds_below(bound: int, shown: str) -> Rule:
    """That the seed is at least 0 and below the bound."""
    return (
        lambda options: 0 <= options.seed < bound,
        f"--seed is {{seed}}; it must be at least 0 and below {shown}",
    )


SEEDS = seeds_below(2**32 - 1, "2**32 - 1")
STEPS: Rule = (
    lambda options: (options.epochs is None or options.epochs >= 1) and options.batch_size >= 1,
    "--epochs and --batch-size must be at least 1",
)


def checked(
    parser: argparse.ArgumentParser, words: list[str] | None, *rules: Rule
) -> argparse.Namespace:
    """The options; exits with a message for the first rule that they break."""
    options = parser.parse_args(words)
    for holds, wrong in rules:
        if not holds(options):
            parser.error(wrong.format(**vars(options)))
    return options
