"""`python -m composit.devices` lists the devices that are here."""

import argparse
import sys

from composit.devices import table


def main(words: list[str] | None = None) -> int:
    """Prints a table of devices."""
    parser = argparse.ArgumentParser(prog="python -m composit.devices", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure nothing")
    print(table(not parser.parse_args(words).quick), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
