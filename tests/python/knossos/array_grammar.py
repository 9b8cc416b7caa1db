"""Random kernels with arrays, loops, branches: their text."""

HEADER = '''"""Random kernels."""

import math

import numpy as np

from composit.knossos import Tensor

'''


class Writer:
    """Writes one kernel of x, y (arrays of one extent), s (a float) and k (a small integer)."""

    # Of so many at least one has a derivative in reverse: others change what loops read.

    def __init__(self, random, name):
        self.random, self.name = random, name
        self.lines = []
        self.scalars, self.arrays, self.counters = ["s", "a", "b"], ["x", "y"], []
        self.made, self.depth = 0, 0

    def pick(self, items):
        return items[int(self.random.integers(len(items)))]

    def chance(self, probability):
        return self.random.random() < probability

    def index(self):
        if self.counters and self.chance(0.8):
            return self.pick(self.counters)
        return self.pick(["0", "-1", "len(x) - 1"])

    def atom(self):
        kind = self.random.integers(4)
        if kind == 0:
            return self.pick(["0.5", "-1.25", "0.75", "2.0"])
        if kind == 1:
            return f"{self.pick(self.arrays)}[{self.index()}]"
        return self.pick(self.scalars)

    def value(self, depth=0):
        kind = self.random.integers(8)
        if depth > 2 or kind < 2:
            return self.atom()
        a, b = self.value(depth + 1), self.value(depth + 1)
        if kind < 4:
            return f"({a} {self.pick('+-*')} {b})"
        if kind == 4:
            return f"{self.pick(['math.sin', 'math.tanh', 'math.cos'])}({a})"
        if kind == 5:
            return f"math.sqrt(1.0 + {a} * {a})"
        if kind == 6:
            return f"({a} if {self.condition()} else {b})"
        return f"({a} / (2.0 + {b} * {b}))"

    def condition(self):
        return f"{self.atom()} {self.pick('<>')} {self.pick(['0.1', '-0.3', self.atom()])}"

    def line(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def block(self, count):
        self.depth += 1
        known = list(self.scalars), list(self.arrays)
        for _ in range(count):
            self.statement()
        self.scalars, self.arrays = known
        self.depth -= 1

    def statement(self):
        kind = self.random.integers(10)
        if kind < 4 or self.depth > 2:
            self.assignment(self.pick(["a", "b"]))
        elif kind == 4:
            self.line(f"if {self.condition()}:")
            self.block(1 + self.chance(0.5))
            if self.chance(0.5):
                self.line("else:")
                self.block(1)
        elif kind < 7:
            self.loop()
        elif kind == 7:
            self.array_by_loop()
        elif kind == 8:
            name = self.new("u")
            a, b = self.pick(self.arrays), self.pick(self.arrays)
            self.line(f"{name} = np.tanh({a} {self.pick('+-*')} {b} * {self.pick(self.scalars)})")
            self.arrays.append(name)
        else:
            self.line(f"a = math.sin(np.sum({self.pick(self.arrays)} * {self.pick(self.arrays)}))")

    def assignment(self, name):
        self.line(f"{name} = math.tanh({self.value()})" if self.chance(0.5) else
                  f"{name} += math.sin({self.value()})")  # fmt: skip

    def new(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def loop(self):
        counter = self.new("i")
        if self.chance(0.25):
            self.line(f"{counter} = 0")
            self.line(f"while {counter} < k and {self.condition()}:")
            self.block(1)
            self.line(f"    {counter} += 1")
            return
        ranges = ["len(x)", "len(x)", "1, len(x)", "len(x) - 1, -1, -1", "0, len(x), 2"]
        self.line(f"for {counter} in range({self.pick(ranges)}):")
        self.counters.append(counter)
        self.block(1 + self.random.integers(2))
        if self.chance(0.3):
            self.line(f"    if {self.condition()}:")
            leaves = f"return {self.atom()} * a, np.sin({self.pick(self.arrays[:2])})"
            self.line(f"        {self.pick(['break', 'continue', leaves])}")
            self.block(1)
        self.counters.pop()

    def array_by_loop(self):
        """An array whose elements are stored, added to, or made of those before."""
        name, counter = self.new("u"), self.new("i")
        self.line(f"{name} = np.zeros(len(x))")
        kind = self.random.integers(3)
        start = "1, " if kind == 2 else ""
        if kind == 2:
            self.line(f"{name}[0] = {self.value()}")
        self.line(f"for {counter} in range({start}len(x)):")
        self.counters.append(counter)
        if kind == 2:
            value = f"math.tanh({name}[{counter} - 1] * {self.value()} + {self.value()})"
            self.line(f"    {name}[{counter}] = {value}")
        elif kind == 1:
            self.line(f"    {name}[{self.pick([counter, '0'])}] += math.sin({self.value()})")
        else:
            self.line(f"    {name}[{counter}] = math.sin({self.value()})")
        self.counters.pop()
        self.arrays.append(name)

    def begin(self):
        """What stands before the statements."""

    def text(self):
        self.line("a = 0.5 * s")
        self.line("b = x[0]")
        self.begin()
        for _ in range(3 + self.random.integers(4)):
            self.statement()
        result = f"np.cos({self.pick(self.arrays)})"
        head = (
            f'def {self.name}(x: "Tensor[float, n]", y: "Tensor[float, n]", s: float, k: int)'
            ' -> "tuple[float, Tensor[float, n]]":\n'
        )
        return head + "\n".join(self.lines) + f"\n    return a * b + s, {result}\n\n\n"


class NestedWriter(Writer):
    """Writes kernels of which the most stands in loops within loops, with arrays of their own."""

    def statement(self):
        if 0 < self.depth < 3 and self.chance(0.4):
            self.array_by_loop()
        else:
            super().statement()

    def assignment(self, name):
        """So many iterations are to forget where they started: else rounding would grow."""
        function = self.pick(["math.tanh", "math.sin"])
        self.line(f"{name} = 0.5 * {name} + 0.1 * {function}({self.value()})")

    def begin(self):
        """Two loops, or three: counted up, and down, by one, and by two."""
        nest = ["range(len(x))", "range(k)", "range(1, len(x))", "range(len(x) - 1, -1, -1)",
                "range(0, len(x), 2)"]  # fmt: skip
        for _ in range(2 + self.chance(0.3)):
            counter = self.new("i")
            self.line(f"for {counter} in {self.pick(nest)}:")
            if "k" not in self.lines[-1]:
                self.counters.append(counter)
            self.depth += 1
        known = list(self.scalars), list(self.arrays)
        for _ in range(2 + self.random.integers(3)):
            self.statement()
        self.line(f"c = math.tanh({self.value()})")
        self.line(f"a = 0.5 * a + 0.1 * c * math.sin({self.value()})")
        self.line(f"b = 0.5 * b + 0.1 * math.sin({self.value()}) / (1 + c * c)")
        self.scalars, self.arrays = known
        self.depth, self.counters = 0, []


class RowsWriter(Writer):
    """Writes kernels with arrays of two axes, whose elements are made of those before them in their
    row, and in the row before, and with arrays that are made of one another element by element."""

    def __init__(self, random, name):
        super().__init__(random, name)
        self.grids, self.inside = [], []

    def atom(self):
        if self.grids and self.chance(0.3):
            row = self.pick([*self.inside, "0", "-1"])
            return f"{self.pick(self.grids)}[{row}, {self.pick(['0', '1', '-1'])}]"
        return super().atom()

    def statement(self):
        kind = self.random.integers(7)
        if self.depth < 2 and kind < 2:
            self.grid()
        elif self.depth < 2 and kind == 6:
            self.guarded()
        elif kind == 2:
            self.chain()
        elif kind == 3:
            self.named_index()
        elif kind == 4 and self.grids:
            self.extreme()
        else:
            super().statement()

    def block(self, count):
        known = list(self.grids)
        super().block(count)
        self.grids = known

    def grid(self):
        name, i, j = self.new("g"), self.new("i"), self.new("j")
        width = self.pick(["3", "k + 2"])
        self.line(f"{name} = np.zeros((len(x), {width}))")
        if self.chance(0.7):
            self.line(f"{name}[0, {self.pick('01')}] = {self.value()}")
        down, starts_late = self.chance(0.3), self.chance(0.6)
        rows = f"range(len(x) - {1 + starts_late}, -1, -1)" if down else (
            f"range({1 if starts_late else 0}, len(x))")  # fmt: skip
        before = f"{i} {'+' if down else '-'} 1" if starts_late else self.pick(["0", i])
        self.line(f"for {i} in {rows}:")
        self.depth += 1
        self.counters.append(i)
        self.inside.append(i)
        first = self.chance(0.5)
        if first:
            self.line(f"{name}[{i}, 0] = {self.value()}")
        columns, left = self.pick([
            (f"range(1, {width})", f"{j} - 1"), (f"range({width} - 1)", f"{j} + 1"),
            (f"range({width})", j), (f"range({width} - 2, -1, -1)", f"{j} + 1"),
        ])  # fmt: skip
        at, other = self.pick([(j, left), (left, j)])
        self.line(f"for {j} in {columns}:")
        self.depth += 1
        load = self.pick([f"{name}[{i}, {other}]", f"{name}[{before}, {at}]",
                          f"{name}[{before}, {other}]"])  # fmt: skip
        again = self.pick([load, f"{name}[{before}, {other}]"])
        self.line(f"h = {load}")
        self.scalars.append("h")
        self.line(f"{name}[{i}, {at}] {self.pick(['', '', '+'])}= 0.5 * math.tanh(h * "
                  f"{self.value()} + {self.value()} * {again})")  # fmt: skip
        if self.chance(0.4):
            self.line(f"a = 0.5 * a + 0.1 * {name}[{i}, {at}] * {self.pick(self.scalars)}")
        self.scalars.remove("h")
        self.depth -= 1
        if self.chance(0.5):
            self.line(f"b = 0.5 * b + math.sin(np.sum({name}[{i}] * {self.pick(self.scalars)}))")
        self.depth -= 1
        self.counters.remove(i)
        self.inside.remove(i)
        self.grids.append(name)

    def guarded(self):
        """Borders by a condition on the counters, which may not be enough for all indices."""
        name, i, j = self.new("g"), self.new("i"), self.new("j")
        self.line(f"{name} = np.zeros((len(x), 3))")
        self.line(f"for {i} in range(len(x)):")
        self.depth += 1
        self.line(f"for {j} in {self.pick(['range(3)', 'range(2, -1, -1)'])}:")
        self.depth += 1
        self.counters.append(i)
        condition = self.pick([
            f"{i} > 0", f"{i} > 0 and {j} > 0", f"not ({i} == 0 or {j} < 1)", f"{j} != 0",
            f"0 < {j}", f"{i} >= 1 and x[{i} - 1] < 0.5", f"{i} >= 0", f"{i} > 0 or {j} > 0",
        ])  # fmt: skip
        places = [f"{name}[{i} - 1, {j}]", f"{name}[{i}, {j} - 1]", f"{name}[{i} - 1, {j} - 1]",
                  f"x[{i} - 1]"]  # fmt: skip
        value = f"0.5 * math.tanh({self.pick(places)} * {self.value()} + {self.pick(places)})"
        sides = [f"{name}[{i}, {j}] = {value}", f"{name}[{i}, {j}] = {self.value()}"]
        if self.chance(0.3):
            condition = f"not ({condition})"
            sides.reverse()
        for head, line in zip([f"if {condition}:", "else:"], sides):
            self.line(head)
            self.depth += 1
            self.line(line)
            self.depth -= 1
        self.counters.remove(i)
        self.depth -= 2
        self.grids.append(name)

    def extreme(self):
        """Largest and smallest elements, of which many may be equal."""
        g, which = self.pick(self.grids), self.pick(["np.max", "np.min"])
        other = self.pick([g, f"np.sin({g})", f"{g} * {g}", f"np.abs({g} - {self.atom()})"])
        kind = self.random.integers(4)
        if kind == 0:
            self.line(f"{self.pick('ab')} += math.sin({which}({other}) * {self.atom()})")
        elif kind == 1:
            name = self.new("u")
            self.line(f"{name} = {which}({other}, axis=1)")
            self.arrays.append(name)
        elif kind == 2:
            name = self.new("g")
            scale = self.pick(["", f" * x[:, None] * {self.atom()}"])
            self.line(f"{name} = {g} - {which}({other}, axis=1, keepdims=True){scale}")
            self.grids.append(name)
        else:
            m = self.new("m")
            self.line(f"{m} = {self.pick(['0.0', '-np.inf', self.atom(), '0.25'])}")
            self.line(f"for v in {self.pick(self.arrays)}:")
            self.line(f"    {m} = np.maximum({m}, {self.pick(['v', 'v * v', 'np.sin(v * s)'])})")
            self.line(f"a = 0.5 * a + 0.1 * math.tanh({m})")

    def chain(self):
        """Arrays of arrays, and sums of them: loops over one range behind one another."""
        last = self.pick(self.arrays)
        for _ in range(1 + self.random.integers(4)):
            name, other = self.new("u"), self.pick(self.arrays)
            value = self.pick([f"np.sin({last} * {self.pick(self.scalars)}) + {other}",
                               f"{last} * {other} * 0.5", f"np.exp(-{last} * {last})"])  # fmt: skip
            self.line(f"{name} = {value}")
            self.arrays.append(name)
            last = name if self.chance(0.7) else last
        ends = [f"math.log(np.sum({last} * {last}) + 2.0)", f"math.tanh(np.sum({last}))",
                f"math.sin(np.sum({last} * ({self.pick(self.arrays)} - "
                f"math.log(np.sum(np.exp(-{last} * {last})) + 1.0))))"]  # fmt: skip
        self.line(f"{self.pick('ab')} = {self.pick(ends)}")

    def named_index(self):
        name = self.new("p")
        self.line(f"{name} = ({self.pick([*self.counters, 'k'])} * 2 + k) % len(x)")
        self.line(f"{self.pick('ab')} += math.sin({self.pick(self.arrays)}[{name}] * "
                  f"{self.pick(self.arrays[:2])}[{name}] - {self.value()})")  # fmt: skip
