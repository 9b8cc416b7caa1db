"""torch.multiprocessing: Python's processes. Tensors that are sent to them are copied."""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any

from composit._core import runtime_error, with_location
from composit.torch import parts

__all__ = [*multiprocessing.__all__, "get_all_sharing_strategies",  # type: ignore[attr-defined]
           "get_sharing_strategy", "set_sharing_strategy", "spawn"]  # fmt: skip
__path__: list[str] = []  # modules below are found by composit.torch.parts
parts.register_namesakes(__name__, "spawn")
_strategy = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """The names that are accepted."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """What was set."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted: tensors are copied."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(with_location(f"Invalid sharing strategy: {new_strategy}"))
    _strategy[0] = new_strategy


def spawn(
    fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> Any:  # fmt: skip
    """Runs fn(i, *args) in `nprocs` processes. RuntimeError where one of them fails; without join
    the processes."""
    context: Any = multiprocessing.get_context(start_method)
    processes = [context.Process(target=fn, args=(i, *args), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    if not join:
        return processes
    for i, process in enumerate(processes):
        process.join()
        if process.exitcode:
            raise runtime_error(f"process {i} terminated with exit code {process.exitcode}")
    return None
