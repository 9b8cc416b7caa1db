"""Trains a convolutional network: python -m composit.examples.mnist.cnn.train"""

import sys

import composit.torch as torch
from composit.examples.mnist import training
from composit.examples.mnist.cnn.model import network
from composit.examples.options import checked


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    parser = training.parser("cnn", "Trains a convolutional network on handwritten digits.")
    options = checked(parser, words, *training.RULES)
    return training.run(lambda: network(torch), options)


if __name__ == "__main__":
    sys.exit(main())
