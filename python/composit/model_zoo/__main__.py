"""`python -m composit.model_zoo NAME …`: a model of the zoo from the command line."""

from __future__ import annotations

import argparse
import sys

from composit.model_zoo.commands import answers, diffusion, images, language, running, text

COMMANDS = {
    "bert": ("where in a text an answer lies", answers.add_options, answers.run),
    "convnet": ("which digit an image shows", images.add_options, images.run_convnet),
    "gpt2": ("writes a text", text.add_options, text.run_gpt2),
    "llama": ("writes a text", text.add_options, text.run_llama),
    "lstm": ("learns a text and goes on with it", language.add_options, language.run),
    "resnet": ("what an image shows", images.add_resnet_options, images.run_resnet),
    "stable_diffusion": ("an image from noise", diffusion.add_options, diffusion.run),
    "vit": ("what an image shows", images.add_options, images.run_vit),
}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m composit.model_zoo",
        description="Models of the zoo, compiled and run, with PyTorch's time beside composit's.",
    )
    commands = parser.add_subparsers(required=True, metavar="NAME")
    for name, (purpose, add_options, run) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=f"{name}: {purpose}.")
        add_options(command)
        command.set_defaults(run=run)
    arguments = parser.parse_args(words)
    try:
        running.prepare(arguments)
        arguments.run(arguments)
    except (ValueError, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
