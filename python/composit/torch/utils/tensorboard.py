"""torch.utils.tensorboard: scalars and texts for TensorBoard, whose package writes the files."""

from __future__ import annotations

import importlib
import os
import time
from typing import Any, NoReturn

from composit._core import with_location

_load = importlib.import_module
try:
    Event = _load("tensorboard.compat.proto.event_pb2").Event
    Summary = _load("tensorboard.compat.proto.summary_pb2").Summary
    EventFileWriter = _load("tensorboard.summary.writer.event_file_writer").EventFileWriter
except ImportError as _error:
    raise ModuleNotFoundError(
        f"torch.utils.tensorboard needs the package tensorboard: {_error}", name="tensorboard"
    ) from None

__all__ = ["SummaryWriter"]


class SummaryWriter:
    """Writes scalars into a folder."""

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: Any = None, max_queue: int = 10,
        flush_secs: int = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            stamp = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{stamp}_{os.uname().nodename}{comment}")
        self.log_dir = str(log_dir)
        self._file = EventFileWriter(self.log_dir, max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Any = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number at a step."""
        value = Summary.Value(tag=tag, simple_value=float(scalar_value))
        event = Event(wall_time=time.time() if walltime is None else walltime,
                      summary=Summary(value=[value]))  # fmt: skip
        if global_step is not None:
            event.step = int(global_step)
        self._file.add_event(event)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Any, global_step: Any = None, walltime: Any = None
    ) -> None:
        """Numbers of one step, under tags below one."""
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step, walltime)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            self._refuse(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _refuse(self, name: str) -> NoReturn:
        raise NotImplementedError(
            with_location(f"SummaryWriter.{name} is not built. add_scalar is.")
        )

    def flush(self) -> None:
        """Writes what waits."""
        self._file.flush()

    def close(self) -> None:
        """Writes what waits, and ends."""
        self._file.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
