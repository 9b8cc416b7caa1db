"""DataLoader: batches of a dataset, read here or by worker processes."""

from __future__ import annotations

import itertools
import multiprocessing
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import runtime_error
from composit.torch import calling
from composit.torch.calling import TensorBase
from composit.torch.utils.data.collating import default_collate, default_convert
from composit.torch.utils.data.datasets import IterableDataset
from composit.torch.utils.data.samplers import BatchSampler, RandomSampler, SequentialSampler


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker process knows of itself."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """In a worker process its number, how many there are, its seed and its dataset; else None."""
    return _worker[0] if _worker else None


class _Arrays:
    """A tensor on its way between processes."""

    def __init__(self, values: Any) -> None:
        self.values = values


def _packed(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return _Arrays(value.detach().numpy())  # type: ignore[attr-defined]
    return _mapped(value, _packed)


def _unpacked(value: Any) -> Any:
    if isinstance(value, _Arrays):
        return calling.functions["from_numpy"](value.values)
    return _mapped(value, _unpacked)


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: function(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(function, value))
    if isinstance(value, (list, tuple)):
        return type(value)([function(item) for item in value])
    return value


class _Reader:
    """Reads batches of a dataset by what a sampler says of each."""

    def __init__(self, dataset: Any, collate: Any, is_batched: bool, drop_last: bool) -> None:
        self.dataset, self.collate, self.is_batched = dataset, collate, is_batched
        self.drop_last = drop_last
        self.items: Any = iter(dataset) if isinstance(dataset, IterableDataset) else None

    def read(self, which: Any) -> Any:
        """A batch; StopIteration where an iterable dataset is at its end."""
        return _core.read_batch(self, which)


def _work(info: WorkerInfo, init: Any, options: tuple[Any, ...], tasks: Any, done: Any) -> None:
    """What a worker process does: reads the batches it is told, until it is told None."""
    try:
        _worker[:] = [info]
        calling.functions["manual_seed"](info.seed)
        np.random.seed(info.seed % 2**32)
        if init is not None:
            init(info.id)
        reader = _Reader(info.dataset, *options)
    except BaseException:
        done.put((-1, "error", traceback.format_exc()))
        return
    for number, which in iter(tasks.get, None):
        try:
            done.put((number, "batch", _packed(reader.read(which))))
        except StopIteration:
            done.put((number, "end", info.id))
        except BaseException:
            done.put((number, "error", traceback.format_exc()))


class _Workers:
    """Worker processes, of which each reads every num_workers-th batch, in order."""

    def __init__(self, loader: DataLoader, seed: int) -> None:
        self.loader = loader
        # Workers begin anew: a process that runs threads must not be copied.
        context = multiprocessing.get_context(loader.multiprocessing_context or "spawn")
        self.done: Any = context.Queue()
        self.tasks: list[Any] = []
        self.processes: list[Any] = []
        for number in range(loader.num_workers):
            info = WorkerInfo(number, loader.num_workers, seed + number, loader.dataset)
            tasks: Any = context.Queue()
            options = (loader.collate_fn, loader._is_batched, loader.drop_last)
            process = context.Process(
                target=_work, args=(info, loader.worker_init_fn, options, tasks, self.done),
                daemon=True,
            )  # fmt: skip
            process.start()
            self.tasks.append(tasks)
            self.processes.append(process)

    def __iter__(self) -> Iterator[Any]:
        workers = self.loader.num_workers
        ahead = workers * (self.loader.prefetch_factor or 2)
        numbered = enumerate(self.loader._index_sampler)
        ended: set[int] = set()
        waiting: dict[int, tuple[str, Any]] = {}
        asked: list[int] = []

        def ask() -> None:
            for number, which in numbered:
                # Batches of a worker at its end are nobody's.
                if number % workers not in ended:
                    self.tasks[number % workers].put((number, which))
                    asked.append(number)
                    return
                if len(ended) == workers:
                    return

        try:
            for _ in range(ahead):
                ask()
            while asked:
                number = asked.pop(0)
                while number not in waiting:
                    key, kind, value = self._next()
                    waiting[key] = (kind, value)
                kind, value = waiting.pop(number)
                if kind == "error":
                    raise runtime_error(f"DataLoader: a worker failed:\n{value}")
                if kind == "end":
                    ended.add(value)
                ask()
                if kind == "batch":
                    yield _unpacked(value)
        finally:
            self.stop()

    def _next(self) -> tuple[int, str, Any]:
        import queue

        timeout = self.loader.timeout or 5.0
        while True:
            try:
                found: tuple[int, str, Any] = self.done.get(timeout=timeout)
            except queue.Empty:
                dead = [p.pid for p in self.processes if not p.is_alive()]
                if dead:
                    text = f"DataLoader worker (pid(s) {dead}) exited unexpectedly"
                    raise runtime_error(text) from None
                if self.loader.timeout:
                    text = f"DataLoader timed out after {self.loader.timeout} seconds"
                    raise runtime_error(text) from None
                continue
            if found[0] == -1:
                raise runtime_error(f"DataLoader: a worker failed:\n{found[2]}")
            return found

    def stop(self) -> None:
        """Ends the processes."""
        for tasks in self.tasks:
            tasks.put(None)
        for process in self.processes:
            process.join(timeout=1)
            if process.is_alive():
                process.terminate()
                process.join()


def _collate_for(is_batched: bool) -> Any:
    return default_collate if is_batched else default_convert


def _sampler(given: Any, dataset: Any, shuffle: Any, generator: Any) -> Any:
    """The sampler that is given, or one that suits the dataset."""
    if given is not None:
        return given
    if isinstance(dataset, IterableDataset):
        return itertools.repeat(None)
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


class DataLoader:
    """Batches of a dataset: shuffled or by a sampler, collated, read by worker processes where
    num_workers is not 0. Workers are processes that begin anew: dataset and functions are sent to
    them, and a script that uses them begins with `if __name__ == "__main__":`."""

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Any = None, batch_sampler: Any = None, num_workers: int = 0,
        collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        is_iterable = isinstance(dataset, IterableDataset)
        _core.aten.check_loader(
            num_workers, timeout, sampler is not None, batch_sampler is not None, shuffle,
            batch_size, drop_last, prefetch_factor is not None, is_iterable,
        )  # fmt: skip
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self.prefetch_factor, self.drop_last = prefetch_factor, drop_last
        self.multiprocessing_context = multiprocessing_context
        self.pin_memory, self.persistent_workers = pin_memory, persistent_workers
        self.sampler = _sampler(sampler, dataset, shuffle, generator)
        self.batch_sampler, self.batch_size = batch_sampler, None
        if batch_sampler is None and batch_size is not None:
            self.batch_size = batch_size
            self.batch_sampler = BatchSampler(
                self.sampler, batch_size, drop_last and not is_iterable
            )
        self._is_batched = self.batch_sampler is not None
        self.collate_fn = collate_fn or _collate_for(self._is_batched)

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._is_batched else self.sampler

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            seed = int(calling.functions["randint"](2**31, (), generator=self.generator).item())
            yield from _Workers(self, seed)
            return
        reader = _Reader(self.dataset, self.collate_fn, self._is_batched, self.drop_last)
        for which in self._index_sampler:
            try:
                batch = reader.read(which)
            except StopIteration:
                return
            yield batch

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)  # type: ignore[arg-type]
            return _core.aten.batch_count(count, self.batch_size, self.drop_last)
        return len(self._index_sampler)
