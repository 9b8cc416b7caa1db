"""compile: a function as one program, held ready for calls with arrays."""

from __future__ import annotations

import _thread
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import composit._core as _core
from composit._core import (
    LazyTensor,
    devices,
    type_error,
    with_location,
)
from composit.evaluation import as_tensor, check_function, options
from composit.functional import _Traced
from composit.structure import distinct_names_of, flatten, names_of


class Pass:
    """A step from the user's graph to kernels: its name, and the text before and after it."""

    def __init__(self, name: str, before: str, after: str) -> None:
        self.name, self.before, self.after = name, before, after

    def __repr__(self) -> str:
        return f"<Pass({self.name})>"


class Specialisation:
    """The program for one signature: dtypes and shapes of the arguments."""

    def __init__(self, core: Any, rebuild_result: Any) -> None:
        self.core = core
        self.number = 0  # among those of its function, whatever becomes of others
        self._rebuild_result = rebuild_result
        # The structure that calls return, with numbers for arrays.
        self.result = rebuild_result(list(range(len(core.outputs))))

    def __call__(self, arrays: list[Any]) -> Any:
        return self._rebuild_result(self.core(*arrays))

    def on_device(self, arrays: list[Any]) -> Any:
        """The same with results as tensors that stay on the device."""
        return self._rebuild_result(self.core.on_device([as_tensor(x) for x in arrays]))

    def seconds_of_kernels(self, *arguments: Any) -> list[float]:
        """One call with the arguments, kernel by kernel: what each of .kernels took (0 for what is
        done once, at the start); an empty list where the back end cannot tell them apart."""
        leaves, _ = flatten(arguments)
        return self.core.seconds_of_kernels(*[x for x in map(_as_array, leaves) if _is_array(x)])

    def timeline(self, *arguments: Any) -> Any:
        """One call with the arguments: what ran on which device and when, a Timeline, which is
        empty where all of the program runs on one."""
        leaves, _ = flatten(arguments)
        return self.core.timeline(*[x for x in map(_as_array, leaves) if _is_array(x)])

    @property
    def graph(self) -> Any:
        """The user's graph."""
        from composit.graph import GraphView

        return GraphView(tuple(self.core.outputs))

    @property
    def lowered_graph(self) -> Any:
        """The graph after inlining and simplification."""
        from composit.graph import GraphView

        return GraphView(tuple(self.core.lowered_outputs))

    @property
    def passes(self) -> list[Pass]:
        """What was done to the graph, in order."""
        return [Pass(*texts) for texts in self.core.passes]

    @property
    def program(self) -> Any:
        """Kernels over buffers."""
        return self.core.program

    @property
    def kernels(self) -> list[Any]:
        """The loop nests, in order."""
        return self.core.program.kernels

    @property
    def buffers(self) -> list[Any]:
        """Inputs, constants, temporaries and outputs."""
        return self.core.program.buffers

    @property
    def source(self) -> str:
        """The generated code."""
        return self.core.source

    def source_for(self, language: str) -> str:
        """The kernels as they would run on a device, which need not be here: "opencl" (OpenCL C
        1.2) or "cuda" (CUDA C++). NotImplementedError for kernels that they leave to the host."""
        return self.core.source_for(language)

    @property
    def build_command(self) -> str:
        """How the generated code was compiled."""
        return self.core.build_command

    @property
    def plan(self) -> str:
        """Buffers and their places, as a table."""
        return self.core.plan

    @property
    def placement(self) -> Any:
        """What runs elsewhere, as compile's `place` said."""
        return self.core.placement

    @property
    def placements(self) -> list[tuple[str, str, str]]:
        """(kernel, back end, why not on the one asked for) for each kernel."""
        return self.core.placements


class CompiledFunction:
    """What compile returns: call it with arrays (or tensors, which are evaluated)."""

    def __init__(
        self,
        function: Callable[..., Any],
        run_options: Any,
        name: str,
        donate: tuple[int, ...] = (),
        most_bytes: int = 2**32,
        most_nodes: int = 2**18,
        device: str | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._device = device  # None: that of the arguments
        self._function = function
        self._options = run_options
        self._name = name
        self._donate = donate
        self._most_bytes = most_bytes
        self._most_nodes = most_nodes
        self._is_fixed = False
        self._calls = _core.Calls()  # knows the specialisations by their numbers
        self.specialisations: dict[Any, Specialisation] = {}
        self._made = 0  # of them, with those that are forgotten
        self._lock = _thread.allocate_lock()

    @property
    def _latest(self) -> Specialisation | None:
        every = list(self.specialisations.values())
        return next((each for each in every if each.number == self._calls.latest), None)

    def specialise(self, *examples: Any) -> Specialisation:
        """Compiles for arguments like these (now, if it has not been done)."""
        return self._specialised(examples, *self._signature(examples))

    def _fix(self, examples: tuple[Any, ...]) -> None:
        """Compiles for examples, if there are any: calls with other arguments are errors then."""
        if examples:
            self.specialise(*examples)
            self._is_fixed = True

    def _specialised(
        self, examples: tuple[Any, ...], signature: Any, leaves: list[Any], rebuild: Any
    ) -> Specialisation:
        found = self.specialisations.get(signature)
        if found is None:
            # Threads may compile at once: the first to end gives the program to all.
            made = self._compile(leaves, rebuild)
            with self._lock:
                found = self.specialisations.get(signature)
                if found is None:
                    found = made
                    found.number = self._calls.add(found.core, examples, found.result)
                    self.specialisations[signature] = found
                    forgotten = self._calls.keep(self._most_bytes)
                    for known, each in list(self.specialisations.items()):
                        if each.number in forgotten:
                            del self.specialisations[known]
        self._calls.latest = found.number
        return found

    def _signature(self, args: tuple[Any, ...]) -> tuple[Any, list[Any], Any]:
        leaves, rebuild = flatten(args)
        arrays = [_as_array(leaf) for leaf in leaves]
        signature = tuple(
            (array.dtype, array.shape) if _is_array(array) else array for array in arrays
        )
        return (
            (signature, _outline(args), _core.device_of_call(self._name, arrays, self._device)),
            arrays,
            rebuild,
        )

    def _compile(self, arrays: list[Any], rebuild: Any) -> Specialisation:
        is_array = [_is_array(array) for array in arrays]

        def rebuild_all(tensors: list[Any]) -> Any:
            rest = iter(tensors)
            return rebuild([next(rest) if a else leaf for leaf, a in zip(arrays, is_array)])

        traced = _Traced("compile", self._function, rebuild_all, {})
        names = self._names(rebuild(arrays))
        examples = [
            self._example(array, name) for array, name, a in zip(arrays, names, is_array) if a
        ]
        # Each has a name of its own, as an export holds several.
        with self._lock:
            self._made += 1
            name = self._name if self._made == 1 else f"{self._name}_{self._made}"
        donated = _core.donated_arrays(
            self._name, self._donate, rebuild(list(range(len(arrays)))), is_array
        )
        place = _core.device_of_call(self._name, arrays, self._device)
        run_options = self._options.on(place) if isinstance(place, str) else self._options
        core = _core.compile_function(
            traced, examples, run_options, name, donated, self._most_nodes,
            lambda: distinct_names_of(traced.result),
        )  # fmt: skip
        traced.result = None  # its tensors are of no use any more
        return Specialisation(core, traced.rebuild_result)

    def _example(self, array: Any, name: str) -> LazyTensor:
        """What says the type and the name of an argument. Where `device=` says that all of the
        function runs there, an argument lies there no more than what it closes over."""
        example: Any = _core.example(array, name, self._device is not None)
        if example is None:
            example = _core.example(as_tensor(array), name, False)
        return example

    def _names(self, args: tuple[Any, ...]) -> list[str]:
        """A name for each leaf of the arguments: the parameter's, then the way to the leaf."""
        try:
            parameters = list(inspect.signature(self._function).parameters.values())
        except (TypeError, ValueError):
            return names_of(args)
        names: list[str] = []
        for i, value in enumerate(args):
            parameter = parameters[min(i, len(parameters) - 1)] if parameters else None
            if parameter is not None and parameter.kind is parameter.VAR_POSITIONAL:
                names += names_of(value, f"{parameter.name}_{i - parameters.index(parameter)}")
            else:
                names += names_of(value, "" if parameter is None else parameter.name)
        return names

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            raise type_error(
                f"{self._name}: arguments are given by name: {', '.join(named)}. "
                "Compiled functions take them by position only."
            )
        result = self._calls(*args) if self._device is None else NotImplemented
        return self._call_slowly(args) if result is NotImplemented else result

    def _call_slowly(self, args: tuple[Any, ...]) -> Any:
        signature, leaves, rebuild = self._signature(args)
        if self._is_fixed and self.specialisations and signature not in self.specialisations:
            args = self._with_arrays(leaves, rebuild)
            signature, leaves, rebuild = self._signature(args)
        arrays = [leaf for leaf in leaves if _is_array(leaf)]
        if self._is_fixed and self._latest and signature not in self.specialisations:
            self._latest(arrays)  # the core's message names the argument that does not fit
            raise type_error(
                f"{self._name}: the arguments do not have the structure of the examples."
            )
        specialised = self._specialised(args, signature, leaves, rebuild)
        if signature[-1] is not None:
            return specialised.on_device(arrays)
        if self._donate:  # only the quick way writes into the memory of arrays
            result = self._calls(*rebuild(leaves))
            if result is not NotImplemented:
                return result
        return specialised(arrays)

    def stream(self, calls: Iterable[Any], in_flight: int = 0) -> list[Any]:
        """The results of calls with each of these arguments (a tuple of them, or the only one), of
        the structure of the first. Several are under way at a time, so that devices which wait for
        one another within a call work for different ones; 0: two for each device. ValueError,
        TypeError: as calls."""
        all_arguments = [call if isinstance(call, tuple) else (call,) for call in calls]
        if not all_arguments:
            return []
        specialised = self.specialise(*all_arguments[0])
        tensors = []
        for arguments in all_arguments:
            _, leaves, _ = self._signature(arguments)
            tensors.append([as_tensor(x) for x in leaves if _is_array(x)])
        results = specialised.core.run_stream(tensors, in_flight)
        return [specialised._rebuild_result(result) for result in results]

    def _with_arrays(self, leaves: list[Any], rebuild: Any) -> tuple[Any, ...]:
        """The arguments with numbers as arrays without axes where the example was an array, of its
        dtype if that holds such numbers."""
        import numpy as np

        (wanted, *_), *_ = self.specialisations
        converted = list(leaves)
        for i, (leaf, example) in enumerate(zip(leaves, wanted)):
            if isinstance(example, tuple) and isinstance(leaf, (bool, int, float)):
                array = np.asarray(leaf)
                holds = np.can_cast(array.dtype, example[0], "same_kind")
                converted[i] = _core.called(array.astype, example[0]) if holds else array
        return rebuild(converted)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not (name == "core" or hasattr(Specialisation, name)):
            raise AttributeError(f"'CompiledFunction' object has no attribute {name!r}")
        return getattr(self._latest_for(name), name)

    def _latest_for(self, name: str) -> Specialisation:
        if self._latest is None:
            raise AttributeError(
                with_location(f"{self._name}.{name}: nothing is compiled before the first call.")
            )
        return self._latest

    def export(
        self,
        path: Any,
        *signatures: tuple[Any, ...],
        style: str = "fast",
        language: str = "cpp",
        workspace: bool = False,
        strict: bool = False,
        texts: Mapping[str, Sequence[str]] | None = None,
    ) -> list[str]:
        """Writes the program as C++ with no dependencies into the folder `path`, as
        composit.export does. Each of `signatures` is a tuple of example arguments; none: the latest
        specialisation. With `style="plain"` in plain C++, or in C with `language="c"`;
        `workspace`: its memory is an argument; `strict`: for checkers of rules such as MISRA's.
        `texts`: tables of texts that the header has too."""
        cores = [self.specialise(*examples).core for examples in signatures]
        return _core.export_cores(
            cores or [self._latest_for("export").core], os.fspath(path), self._name, style,
            language, workspace, strict, "", texts,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<CompiledFunction({self._name}, {len(self.specialisations)} specialisations)>"


def _is_literal(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) and not hasattr(value, "dtype")


def _as_array(leaf: Any) -> Any:
    """Arrays are arguments; Python scalars and texts are part of the program, as literals."""
    if _is_literal(leaf) or isinstance(leaf, LazyTensor):
        return leaf
    import numpy as np

    return np.asarray(_core.numpy.without_torch(leaf))


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "dtype")


def _outline(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, tuple(_outline(item) for item in value))
    if isinstance(value, dict):
        return ("dict", tuple((key, _outline(item)) for key, item in value.items()))
    return type(value).__name__ if _is_literal(value) else None


def compile(
    f: Callable[..., Any] | None = None,
    *examples: Any,
    backend: str = "cpp",
    threads: int | None = None,
    fuse: bool = True,
    reuse_buffers: bool = True,
    cache_folder: str | None = None,
    bytes_of_part: int | None = None,
    name: str | None = None,
    donate: int | Sequence[int] = (),
    most_bytes: int = 2**32,
    most_nodes: int = 2**18,
    pipeline: Any = None,
    device: Any = None,
    place: Any = None,
    wait: bool = True,
) -> Any:
    """The function as a program: of the examples' shapes and dtypes, now; without examples, of each
    call's signature, at its first call. Python scalars among the arguments are literals.

    `donate`: places of arguments (or of one) that calls take from their caller, as JAX's
    donate_argnums: a result that is an update of such an array, or of its shape and dtype, is
    written over it rather than elsewhere, with the same bits. The array itself is of no use
    afterwards, whatever became of the call: NumPy's arithmetic and composit refuse it; views of it
    that were made before show what was written. The memory of views, read-only arrays and arrays
    of other libraries is left alone; tensors keep their values. ValueError: a place that a call
    has no argument at, or an array that was donated before.

    `most_bytes`: the memory that programs of different signatures may keep between calls: code,
    packed constants, arenas (not the constants themselves). Beyond that, those that were not used
    for the longest time are unloaded, and made again when they are called. The one used last
    stays.

    `most_nodes`: of the graph of one program. ValueError for more.

    `device`: where it runs ("cuda", "opencl:1"). Arguments are copied there unless they lie there;
    results are tensors that stay there. None: where the tensors among the arguments lie; a device
    takes the place of `backend` then.

    `place`: what runs elsewhere, a Placement, or devices by name: {"encoder.layer.0": "opencl:1",
    "softmax*": "cpu"}. Copies go where they are needed; results lie where they lay without it.
    ValueError: a name that no kernel, constant, tensor or source line has.

    `wait`: False: the C++ compiler works on a thread of its own, and the interpreter answers calls
    until it has ended, slower and with the same bits. `source` and other properties of the compiled
    program wait for it.

    `pipeline`: the passes, a composit.pipeline.Pipeline; None: the standard ones."""
    places = _core.donated_places(donate)
    _core.check_limits(most_bytes, most_nodes)
    run_options = options(
        backend, threads, fuse, reuse_buffers, cache_folder, bytes_of_part, pipeline, place
    ).waiting(wait)
    if f is None:
        return functools.partial(
            compile, backend=backend, threads=threads, fuse=fuse, reuse_buffers=reuse_buffers,
            cache_folder=cache_folder, bytes_of_part=bytes_of_part, name=name, donate=places,
            most_bytes=most_bytes, most_nodes=most_nodes, pipeline=pipeline, device=device,
            place=place, wait=wait,
        )  # fmt: skip
    check_function("compile", f)
    called = _core.name_of_compiled(f, name)
    compiled = CompiledFunction(
        f, run_options, called, places, most_bytes, most_nodes, _device_asked_for(device)
    )
    compiled._fix(examples)
    return compiled


def _device_asked_for(device: Any) -> str | None:
    """The full name of a device; None for the processor, and where none is given."""
    place = "cpu" if device is None else devices.full_name(device)
    return None if place == "cpu" else place
