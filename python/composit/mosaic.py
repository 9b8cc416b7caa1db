"""mosaic: a graph mapped to a back end in the open: tiles, kernels, buffers, sources, times.

schema = mosaic.Schema({x: [mosaic.TileLevel("l2", (64, 64))], w: (64, 64)})
program = mosaic.compile(y, schema=schema)
value = program(array)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, Placement, Timeline, type_error
from composit._core.mosaic import Kernel as _CoreKernel
from composit._core.mosaic import Machine, Memory, Operand, PlannedBuffer, TiledTensor, TileLevel
from composit.evaluation import _threads, as_tensor, check_positive
from composit.nn.checkpoints import checked_path

__all__ = [
    "Kernel", "Machine", "Memory", "Operand", "Placement", "PlannedBuffer", "Program", "Schema",
    "TileLevel", "TiledTensor", "Timeline", "choose_placement", "compile", "evaluate",
    "this_machine", "tilize", "untilize",
]  # fmt: skip


class Schema:
    """Tiles by tensor: of placeholders and constants (or their names in a program), each a list of
    levels from the outermost to the innermost, or one shape, a level called "tile". A value:
    printed, saved as text, compared, passed to compile."""

    def __init__(self, tiles: Mapping[Any, Any] | None = None) -> None:
        self._core = _core.mosaic.Schema(tiles)

    @classmethod
    def _of(cls, core: Any) -> Schema:
        schema = cls()
        schema._core = core
        return schema

    @property
    def tiles(self) -> dict[str, list[TileLevel]]:
        """The levels by the tensors' names."""
        return dict(self._core.entries())

    def save(self, path: Any) -> None:
        """Writes the text that str gives, whole or not at all; load reads it. OSError."""
        self._core.save(checked_path(path))

    @classmethod
    def load(cls, path: Any) -> Schema:
        """The schema in a file that save wrote. ValueError with the path and the line that cannot
        be read; FileNotFoundError, OSError."""
        return cls._of(_core.mosaic.Schema.load(checked_path(path)))

    @classmethod
    def parse(cls, text: str) -> Schema:
        """The schema that str wrote: "x: l2 (64, 64), register (16, 16)", a line per tensor."""
        return cls._of(_core.mosaic.Schema.parse(text))

    def diff(self, other: Schema) -> str:
        """What `other` has otherwise: "- x: …" lines of this one, "+ x: …" lines of the other."""
        if not isinstance(other, Schema):
            raise type_error(f"diff: {other!r} is not a Schema, which is required.")
        return _core.mosaic.Schema.diff(self._core, other._core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and not self.diff(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self._core.print()

    def __repr__(self) -> str:
        return f"<Schema of {len(self.tiles)} tensors>"


class Kernel:
    """One kernel of a program: its loops (str), its generated source, and a call with arrays."""

    def __init__(self, core: _CoreKernel) -> None:
        self._core = core

    def __call__(self, *arrays: Any) -> Any:
        """What it writes, for arrays of the shapes and dtypes of .inputs; compiled at the first
        call. Tiles have more dimensions than tensors have."""
        values = self._core.run(*arrays)
        return values[0] if len(values) == 1 else values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'Kernel' object has no attribute {name!r}")
        return getattr(self._core, name)

    def __str__(self) -> str:
        return str(self._core)

    def __repr__(self) -> str:
        return f"<Kernel({self._core.name})>"


class Buffers(list):
    """Planned buffers; str is the table, picture the arena over time as SVG."""

    def __init__(self, buffers: Iterable[PlannedBuffer], table: str, picture: str) -> None:
        super().__init__(buffers)
        self._table, self.picture = table, picture

    def __str__(self) -> str:
        return self._table

    def _repr_svg_(self) -> str:
        return self.picture


class Tiles(dict):
    """Tensors as they are stored, by name; str is the table."""

    def __str__(self) -> str:
        return "".join(f"{tensor!r}\n" for tensor in self.values())


class ExplainedKernel:
    """A kernel's work, its limit (roofline), and its measured time (None: not measured)."""

    def __init__(self, row: tuple) -> None:
        self._row = row
        self.name, self.kind, self.flops, self.bytes, self.limit, by_memory, seconds = row
        self.bound = "memory" if by_memory else "compute"
        self.seconds: float | None = seconds if seconds >= 0 else None

    def __repr__(self) -> str:
        taken = "" if self.seconds is None else f", took {self.seconds * 1e6:.1f} us"
        return f"<ExplainedKernel({self.name}: at least {self.limit * 1e6:.1f} us{taken})>"


class Explanation(list):
    """What explain returns: a list of ExplainedKernel; str is the table."""

    def __init__(self, rows: Iterable[ExplainedKernel], machine: Machine) -> None:
        super().__init__(rows)
        self.machine = machine

    @property
    def limit(self) -> float:
        """Seconds below which the whole cannot come."""
        return sum(row.limit for row in self)

    @property
    def seconds(self) -> float | None:
        """Measured seconds of all kernels; None when they were not measured."""
        times = [row.seconds for row in self]
        return None if None in times else sum(t for t in times if t is not None)

    def __str__(self) -> str:
        return f"{_core.mosaic.table([row._row for row in self])}on {self.machine!r}\n"


class Program:
    """What compile returns: call it with arrays, look at what it is made of."""

    def __init__(self, core: Any, target: str, threads: int) -> None:
        self._core, self._target, self._threads = core, target, threads

    def __call__(self, *arrays: Any) -> Any:
        """The outputs for arrays, one for each of .inputs: an ndarray for one, else a list."""
        return _one_or_all(self._core.run(*arrays))

    def evaluate(self, *what: Any) -> Any:
        """evaluate({leaf: array}): the outputs with these values of placeholders, or of constants
        in place of their own. evaluate(*tensors): values of tensors of the same structure as the
        compiled ones, such as the next step of a training loop; `optimize` takes it as its evaluate
        function. KeyError for keys that are no leaves, ValueError for another structure."""
        if len(what) == 1 and isinstance(what[0], Mapping):
            leaves, values = list(what[0]), list(what[0].values())
            for leaf in leaves:
                if not isinstance(leaf, LazyTensor):
                    raise type_error(f"evaluate: {leaf!r} is not a tensor, which is required.")
            return _one_or_all(self._core.evaluate_values(leaves, values))
        return _one_or_all(self._core.evaluate_tensors([as_tensor(tensor) for tensor in what]))

    @property
    def schema(self) -> Schema:
        """The tiles of all inputs and constants, given or chosen."""
        return Schema._of(self._core.schema)

    @property
    def tiles(self) -> Tiles:
        """How each tensor that is stored is tiled, by name."""
        return Tiles((tensor.name, tensor) for tensor in self._core.tiles)

    @property
    def kernels(self) -> list[Kernel]:
        """In the order in which they run; each can be called on its own."""
        return [Kernel(core) for core in self._core.kernels]

    @property
    def constants(self) -> dict[str, Any]:
        """Copies of the constants that kernels read, by name: weights, and their tiles."""
        return self._core.constants

    @property
    def buffers(self) -> Buffers:
        """Where and when everything is stored."""
        return Buffers(self._core.buffers, self._core.buffer_table, self._core.buffer_picture)

    @property
    def memory(self) -> Memory:
        """Bytes of the arena, scratch memory, outputs …, known before a call; .peak is what a call
        and packed constants take."""
        return self._core.memory

    @property
    def sources(self) -> dict[str, str]:
        """The generated files by name."""
        return self._core.sources

    @property
    def passes(self) -> list[Any]:
        """What was done to the graph, in order, as text before and after."""
        from composit.compilation import Pass

        return [Pass(*texts) for texts in self._core.compiled.passes]

    @property
    def placement(self) -> Placement:
        """What runs elsewhere than on the target, given or chosen."""
        return self._core.compiled.placement

    @property
    def placements(self) -> list[tuple[str, str, str]]:
        """(kernel, back end, why not on the one asked for) for each kernel."""
        return self._core.compiled.placements

    def timeline(self, *arrays: Any) -> Timeline:
        """One call: what ran on which device and when. Empty where all runs on one."""
        return self._core.compiled.timeline(*arrays)

    @property
    def inputs(self) -> list[LazyTensor]:
        """The placeholders, in calling order."""
        return self._core.inputs

    def explain(self, *arrays: Any, measure: bool | None = None, runs: int = 5) -> Explanation:
        """Each kernel's floating-point operations, bytes and limit on this machine; with arrays (or
        measure=True, where there are no inputs) its time, too, the shortest of `runs`."""
        check_positive("explain", runs, "runs")
        is_measured = bool(arrays) if measure is None else measure
        if is_measured and len(arrays) != len(self.inputs):
            raise type_error(
                f"explain: {len(arrays)} arrays given to measure with. "
                f"{len(self.inputs)} are required."
            )
        rows = self._core.explain(list(arrays), is_measured, runs)
        return Explanation(
            map(ExplainedKernel, rows), this_machine(self._target, self._threads or None)
        )

    def __repr__(self) -> str:
        return f"<Program({len(self._core.kernels)} kernels on {self._target})>"


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def tilize(array: Any, levels: Any) -> Any:
    """The array's elements in the order of the tiles, in an array with a dimension for each level
    and dimension: the tiles of the first level, those of the next inside each, …, the elements."""
    return _core.mosaic.tilize(array, levels)


def untilize(tiles: Any, shape: Any, levels: Any) -> Any:
    """What tilize made out of an array of that shape, as it was."""
    return _core.mosaic.untilize(tiles, shape, levels)


def this_machine(target: str = "cpp", threads: int | None = None) -> Machine:
    """Caches, vectors, and the measured speed of products and of copies; measured once."""
    check_positive("threads", threads)
    return _core.mosaic.this_machine(target, threads or _threads[0])


def choose_placement(compiled: Any, devices: Iterable[str]) -> Placement:
    """Devices for the kernels of what composit.compile or mosaic.compile made: each where a cost
    model of kernels and copies, with measured speeds, ends it first; all on one where several are
    not expected to be quicker. The first device is where arguments and results lie."""
    core = compiled._core.compiled if isinstance(compiled, Program) else compiled.core
    return _core.mosaic.choose_placement(core, list(devices))


def _options(
    schema: Any,
    target: str,
    reuse_buffers: bool,
    fuse: bool,
    whole_model: bool,
    threads: int | None,
    inputs: Iterable[Any] = (),
    cache_folder: str | None = None,
    name: str = "model",
    place: Any = None,
    devices: Iterable[str] = (),
) -> Any:
    check_positive("threads", threads)
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema(schema)
    return _core.mosaic.Options(
        getattr(schema, "_core", None), target, reuse_buffers, fuse, whole_model,
        threads or _threads[0], cache_folder or "", list(inputs), name, Placement(place),
        list(devices),
    )  # fmt: skip


def compile(
    *outputs: Any,
    schema: Schema | Mapping[Any, Any] | None = None,
    target: str = "cpp",
    reuse_buffers: bool = True,
    fuse: bool = True,
    whole_model: bool = True,
    threads: int | None = None,
    inputs: Iterable[LazyTensor] = (),
    cache_folder: str | None = None,
    name: str = "model",
    place: Any = None,
    devices: Iterable[str] = (),
) -> Program:
    """The tensors as a program of the back end `target`.

    schema: tiles of inputs and constants; None: the cost model chooses. reuse_buffers: temporaries
    whose lives do not overlap share memory. fuse: False makes a kernel for each operation, and
    tilize and untilize kernels where tensors enter and leave. whole_model: one generated function
    calls all kernels. inputs: the placeholders in calling order; none given: in the order in which
    the outputs reach them. place: what runs elsewhere than on the target, a Placement or devices by
    name. devices: others to place kernels on, as choose_placement does. Results are the same bits
    whatever is chosen.

    ValueError when the schema is impossible: it names tensor, dimension and reason."""
    options = _options(
        schema, target, reuse_buffers, fuse, whole_model, threads, inputs, cache_folder, name,
        place, devices,
    )  # fmt: skip
    core = _core.mosaic.compile([as_tensor(output) for output in outputs], options)
    return Program(core, target, threads or _threads[0])


def evaluate(
    *tensors: Any,
    schema: Schema | Mapping[Any, Any] | None = None,
    target: str = "cpp",
    reuse_buffers: bool = True,
    fuse: bool = True,
    whole_model: bool = True,
    threads: int | None = None,
) -> Any:
    """The values of the tensors, by a program that is compiled once for each structure: what
    `optimize` takes in place of evaluate. The schema goes by the names of leaves."""
    options = _options(schema, target, reuse_buffers, fuse, whole_model, threads)
    return _one_or_all(_core.mosaic.evaluate([as_tensor(tensor) for tensor in tensors], options))
