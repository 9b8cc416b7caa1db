"""Random imperative programs of NumPy's API: element and slice writes, views, scalars, looks, loops
and branches. A program is text, which runs under any module that is called `np`; what it logs is
compared."""

import math
import random


class Text:
    """The lines of one program, drawn from a seed. `counts` says how often each construct was
    written. Who derives from it has `statement`."""

    def __init__(self, seed, counts=None):
        self.draw = random.Random(seed)
        self.counts = {} if counts is None else counts
        self.lines = []
        self.depth = 0
        self.made = 0

    def write(self, line):
        self.lines.append("    " * self.depth + line)

    def count(self, construct):
        self.counts[construct] = self.counts.get(construct, 0) + 1

    def name(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def block(self):
        self.depth += 1
        for _ in range(self.draw.randint(1, 3)):
            self.statement()
        self.depth -= 1


class Writer(Text):
    """Writes one program of NumPy's API."""

    def __init__(self, seed, counts=None):
        super().__init__(seed, counts)
        self.arrays = {}  # name: shape
        self.integers = {}
        self.scalars = []
        self.indices = []  # names of loops

    def program(self, statements=12):
        for shape in ((self.draw.randint(3, 6),), (3, self.draw.randint(2, 4))):
            self.new_array(shape)
        self.integers[name := self.name("n")] = (length := self.draw.randint(3, 6),)
        values = [self.draw.randint(0, 3) for _ in range(length)]
        self.write(f"{name} = np.array({values})")
        self.scalar_of(self.new_name_of_scalar(), "1.5")
        for _ in range(statements):
            self.statement()
        for name in [*self.arrays, *self.integers, *self.scalars]:
            self.write(f"log({name})")
        return "\n".join(self.lines) + "\n"

    # ----- names

    def new_array(self, shape):
        name = self.name("a")
        size = 1
        for length in shape:
            size *= length
        values = [self.number() for _ in range(size)]
        self.write(f"{name} = np.array({values}).reshape({shape})")
        self.arrays[name] = shape
        return name

    def number(self):
        """Sums and products of a few such numbers are exact, in whatever order."""
        return self.draw.randint(-8, 8) / 4

    def new_name_of_scalar(self):
        return self.name("s")

    def scalar_of(self, name, expression):
        self.write(f"{name} = {expression}")
        if name not in self.scalars and self.depth == 0:
            self.scalars.append(name)

    # ----- pieces

    def array(self, rank=None):
        names = [n for n, shape in self.arrays.items() if rank in (None, len(shape))]
        return self.draw.choice(names) if names else self.new_array((4,) if rank == 1 else (3, 2))

    def index(self, length):
        if self.indices and self.draw.random() < 0.5:
            name, most = self.draw.choice(self.indices)
            return name if most <= length else f"{name} % {length}"
        if self.draw.random() < 0.15:
            name, (count,) = self.draw.choice(list(self.integers.items()))
            return f"{name}[{self.draw.randrange(count)}] % {length}"
        return str(self.draw.randrange(-length, length))

    def element(self, name=None):
        name = name or self.array()
        return f"{name}[{', '.join(self.index(n) for n in self.arrays[name])}]"

    def scalar(self, depth=2):
        choice = self.draw.randrange(7 if depth else 3)
        if choice == 0:
            return str(self.number())
        if choice == 1 and self.scalars:
            return self.draw.choice(self.scalars)
        if choice in (1, 2):
            return self.element()
        if choice == 3:
            return f"{self.array()}.{self.draw.choice(['sum', 'max', 'min', 'mean'])}()"
        if choice == 4:
            function = self.draw.choice(["abs", "square", "sqrt", "negative"])
            return f"np.{function}(abs({self.scalar(0)}))"
        if choice == 5:
            function = self.draw.choice(["min", "max"])
            return f"{function}({self.scalar(depth - 1)}, {self.scalar(depth - 1)})"
        operator = self.draw.choice(["+", "-", "*"])
        return f"({self.scalar(depth - 1)} {operator} {self.scalar(depth - 1)})"

    def slices(self, shape):
        """An index of slices, and the shape of what it selects."""
        parts, lengths = [], []
        for length in shape:
            kind = self.draw.randrange(5)
            step = self.draw.choice([1, 1, 2, -1])
            if kind == 0 and len(shape) > 1:
                parts.append(str(self.draw.randrange(length)))
                continue
            low = self.draw.randrange(length)
            part = slice(low, None, step) if kind < 3 else slice(None, None, step)
            start = part.start if part.start is not None else ""
            parts.append(f"{start}::{step}")
            lengths.append(len(range(length)[part]))
        return ", ".join(parts), tuple(lengths)

    def like(self, shape, depth=1):
        """An expression of that shape, or one that broadcasts to it."""
        same = [n for n, s in self.arrays.items() if s == shape]
        if not same or self.draw.random() < 0.3:
            return self.scalar(1)
        name = self.draw.choice(same)
        if depth == 0 or self.draw.random() < 0.4:
            return name
        operator = self.draw.choice(["+", "-", "*"])
        return f"({name} {operator} {self.like(shape, depth - 1)})"

    def condition(self):
        """Nothing is compared with its own mean, which rounding moves, however large it is."""
        comparison = self.draw.choice(["<", ">", "<=", ">=", "!="])
        return f"{self.scalar(1)} {comparison} {self.scalar(1)} * 1.0137 + 0.0137"

    # ----- statements

    def statement(self):
        kinds = [
            "element", "element", "swap", "slices", "augmented", "scalar", "scalar", "accumulate",
            "view", "whole", "rebind", "look", "mask", "places", "loop", "branch", "layout", "keep",
            "counter", "out",
        ]  # fmt: skip
        if self.depth >= 2:
            kinds = [kind for kind in kinds if kind not in ("loop", "branch")]
        kind = self.draw.choice(kinds)
        self.count(kind)
        getattr(self, f"write_{kind}")()

    def write_element(self):
        operator = self.draw.choice(["=", "=", "+=", "*="])
        self.write(f"{self.element()} {operator} {self.scalar()}")

    def write_swap(self):
        one, two = self.element(), self.element()
        self.write(f"{one}, {two} = {two}, {one}")

    def write_slices(self):
        name = self.array()
        index, shape = self.slices(self.arrays[name])
        operator = self.draw.choice(["=", "+=", "-="])
        self.write(f"{name}[{index}] {operator} {self.like(shape)}")

    def write_augmented(self):
        name = self.array()
        self.write(f"{name} {self.draw.choice(['+=', '-=', '*='])} {self.like(self.arrays[name])}")

    def write_scalar(self):
        name = self.draw.choice(self.scalars) if self.draw.random() < 0.5 else None
        if name is None and self.depth == 0:
            name = self.new_name_of_scalar()
        self.scalar_of(name or self.draw.choice(self.scalars), self.scalar())

    def write_keep(self):
        """Best so far: a scalar that must not change when its source does."""
        best, source = self.draw.choice(self.scalars), self.element()
        self.write(f"if {source} < {best}: {best} = {source}")

    def write_accumulate(self):
        self.write(f"{self.draw.choice(self.scalars)} += {self.scalar(1)}")

    def write_view(self):
        source = self.array()
        index, shape = self.slices(self.arrays[source])
        if not shape or 0 in shape:
            return self.write_look()
        name = self.name("a")
        self.write(f"{name} = {source}[{index}]")
        self.write(f"{name} {self.draw.choice(['+=', '*='])} {self.like(shape, 0)}")
        if self.depth == 0:
            self.arrays[name] = shape

    def write_layout(self):
        """Views and copies of NumPy's, by memory: `ravel` of a transpose copies."""
        source = self.array()
        shape = self.arrays[source]
        size = 1
        for length in shape:
            size *= length
        text, made = self.draw.choice(
            [
                (".T", shape[::-1]),
                (".ravel()", (size,)),
                (".T.ravel()", (size,)),
                (".reshape(-1)", (size,)),
                (".T.reshape(-1)", (size,)),
                ("[::-1].ravel()", (size,)),
                (".copy()", shape),
                ("[...]", shape),
                (".flatten()", (size,)),
                ("[None]", (1, *shape)),
            ]
        )
        if len(made) > 2:
            return self.write_look()
        name = self.name("a")
        self.write(f"{name} = {source}{text}")
        self.write(f"{name}[{', '.join('0' for _ in made)}] = {self.scalar(1)}")
        if self.depth == 0:
            self.arrays[name] = made

    def write_whole(self):
        name = self.array()
        self.write(f"{name}[...] = {self.like(self.arrays[name])}")

    def write_rebind(self):
        name = self.array()
        function = self.draw.choice(
            ["{0} * 0.5 + 0.25", "np.abs({0})", "{0} - {0}.mean() * 0.5", "-{0}"]
        )
        self.write(f"{name} = {function.format(name)}")

    def write_out(self):
        name = self.array()
        function = self.draw.choice(["np.add", "np.multiply", "np.maximum"])
        self.write(f"{function}({name}, {self.like(self.arrays[name])}, out={name})")

    def write_look(self):
        self.write(f"log(float({self.scalar(1)}))")

    def write_mask(self):
        name = self.array()
        self.write(f"{name}[{name} < {self.scalar(1)} * 1.0137 + 0.0137] = {self.scalar(1)}")

    def write_places(self):
        name = self.array(1)
        length = self.arrays[name][0]
        places = [self.draw.randrange(length) for _ in range(2)]
        operator = self.draw.choice(["=", "+="])
        self.write(f"{name}[{places}] {operator} {self.scalar(1)}")

    def write_counter(self):
        """Keys that are elements of integers, equal by value."""
        name, _ = self.draw.choice(list(self.integers.items()))
        table = self.name("d")
        self.write(f"{table} = {{}}")
        self.write(f"for key in {name}: {table}[key] = {table}.get(key, 0) + 1")
        self.write(f"log(sorted({table}.items()))")

    def write_loop(self):
        name, count = self.name("i"), self.draw.randint(2, 4)
        self.write(f"for {name} in range({count}):")
        self.indices.append((name, count))
        self.block()
        self.indices.pop()

    def write_branch(self):
        self.write(f"if {self.condition()}:")
        self.block()


def run(text, np):
    """What the program logs, as plain lists and numbers; the error that ended it is the last."""
    import numpy

    logged = []

    def log(value):
        if isinstance(value, list):
            logged.append([(int(key), int(count)) for key, count in value])
        else:
            logged.append(numpy.asarray(value).tolist())

    try:
        with numpy.errstate(all="ignore"):
            exec(compile(text, "<program>", "exec"), {"np": np, "log": log})
    except (ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError) as error:
        logged.append(f"{type(error).__name__}: {str(error).split(' [')[0][:40]}")
    return logged


def same(one, two, largest=1.0, tolerance=1e-6):
    """Equal, numbers to `tolerance` times the largest beside them."""
    if isinstance(one, (list, tuple)):
        if not isinstance(two, (list, tuple)) or len(one) != len(two):
            return False
        largest = max(
            [largest, *(abs(x) for x in one if isinstance(x, float) and math.isfinite(x))]
        )
        return all(same(x, y, largest, tolerance) for x, y in zip(one, two))
    if isinstance(one, float) and isinstance(two, float):
        return (
            one == two
            or (math.isnan(one) and math.isnan(two))
            or abs(one - two) <= tolerance * max(abs(one), abs(two), largest)
        )
    return type(one) is type(two) and one == two


def _backwards():
    """NumPy, whose sums begin at the other end and whose arrays start with numbers that are off
    by 1e-13 of themselves."""
    import numpy

    class Array(numpy.ndarray):
        def sum(self):
            return numpy.asarray(self).ravel()[::-1].sum()

        def mean(self):
            return self.sum() / self.size

    class Module:
        def __getattr__(self, name):
            return getattr(numpy, name)

        def array(self, values):
            made = numpy.array(values)
            if made.dtype.kind != "f":
                return made
            off = (numpy.arange(made.size).reshape(made.shape) % 5 - 2) * 2.0**-44
            return (made * (1 + off)).view(Array)

    return Module()


def differ(text, np, lib):
    """Whether the program logs other values under one library than under NumPy. A program that
    logs others under NumPy too, where numbers start a little off and sums have another order, is
    decided by rounding: it says nothing."""
    expected = run(text, np)
    if same(expected, run(text, lib)):
        return False
    return same(expected, run(text, _backwards()))


def smallest(text, differs, parse=lambda text: compile(text, "<program>", "exec")):
    """The program without the lines that are not needed for `differs` of it. A block may stay where
    its head goes. `parse` raises SyntaxError for what is no program."""
    lines = text.splitlines()
    for place in reversed(range(len(lines))):
        before, after = lines[:place], lines[place + 1 :]
        depth = _depth(lines[place])
        of_block = 0
        while of_block < len(after) and _depth(after[of_block]) > depth:
            of_block += 1
        inner = [line[4:] for line in after[:of_block]]
        for shorter in [before + after] + [before + inner + after[of_block:]] * bool(inner):
            if _still(shorter, differs, parse):
                lines = shorter
                break
    return "\n".join(lines) + "\n"


def _depth(line):
    return len(line) - len(line.lstrip())


def _still(lines, differs, parse):
    text = "\n".join(lines) + "\n"
    try:
        parse(text)
        return differs(text)
    except (SyntaxError, NameError):  # NameError: of what a line made that is gone
        return False
