"""Random kernels of slices, of loops over tuples, enumerate, zip and reversed, of NumPy's functions
along an axis: their text."""

from array_grammar import Writer

# Slices of an axis of n elements that have as many elements.
ALIKE = [["::-1", ":", "0:"], ["1:", ":-1", "-2::-1", ":0:-1"], ["::2", "-1::-2"]]


class SequencesWriter(Writer):
    """Writes kernels whose loops go over what the other writers count by hand."""

    def statement(self):
        kinds = [self.slices, self.slices, self.part, self.along, self.numbers, self.columns,
                 self.windows, self.again]  # fmt: skip
        if self.depth < 3:
            kinds += [self.over_tuple, self.over_tuple, self.enumerated, self.zipped,
                      self.backwards, self.with_else, self.over_arrays]  # fmt: skip
        if self.chance(0.3):
            super().statement()
        else:
            self.pick(kinds)()

    def index(self):
        return "-1" if self.chance(0.1) else super().index()

    def vector(self):
        """An expression of n elements."""
        u = self.pick(self.arrays)
        return self.pick([
            u, u, f"{u}[::-1]", f"np.cumsum({u})", f"{u} * {self.pick(self.scalars)}",
            f"np.linspace({self.atom()}, {self.atom()}, len(x))", "np.arange(len(x)) * 0.3",
            f"np.array([v * {self.pick(self.scalars)} + i for i, v in enumerate({u})])",
            f"np.array([v - w for v, w in zip({u}, {self.pick(self.arrays)})])",
            f"np.flip({u})", f"np.roll({u}, {self.pick(['1', '-2', 'k', 'len(x) + 1'])})",
            f"np.concatenate([{u}[1:], {self.pick(self.arrays)}[:1]])",
            f"np.concatenate((np.sin({u}), y))[-len(x):]", f"np.cumprod(np.tanh({u}))",
            f"({u} - np.mean({u})) / (np.var({u}) + 0.5)",
        ])  # fmt: skip

    def settle(self, value):
        """Loops are to forget where they started: else the last bit of a sum would grow."""
        name = self.pick("ab")
        self.line(f"{name} = 0.5 * {name} + 0.1 * {value}" if self.depth else f"{name} = {value}")

    def assignment(self, name):
        if self.depth:
            self.settle(f"math.tanh({self.value()})")
        else:
            super().assignment(name)

    def slices(self):
        """An array whose slices are assigned, also of slices of itself."""
        name = self.new("u")
        self.line(f"{name} = {self.pick(['np.zeros(len(x))', 'x.copy()', 'np.cos(y)'])}")
        for _ in range(1 + self.random.integers(3)):
            alike = self.pick(ALIKE)
            others = [*self.arrays, name]
            value = f"{self.pick(others)}[{self.pick(alike)}] * {self.pick(self.scalars)}"
            if self.chance(0.5):
                value += f" - {self.pick(others)}[{self.pick(alike)}]"
            if self.chance(0.2):
                value = self.atom()
            self.line(f"{name}[{self.pick(alike)}] {self.pick(['', '', '+', '-', '*'])}= {value}")
        self.line(f"{name} = np.tanh({name})")
        self.arrays.append(name)

    def part(self):
        """A name for a part, which is read only."""
        name, u, alike = self.new("p"), self.pick(self.arrays), self.pick(ALIKE)
        self.line(f"{name} = {u}[{self.pick(alike)}]")
        other = f"{self.pick(self.arrays)}[{self.pick(alike)}]"
        self.settle(f"math.sin(np.sum({name} * {other} + {self.atom()}))")
        if alike is ALIKE[0]:
            self.arrays.append(name)

    def windows(self):
        """Slices whose bounds a loop computes, of which some are assigned."""
        i, name, total = self.new("i"), self.new("u"), self.new("t")
        u, v = self.pick(self.arrays), self.pick(self.arrays)
        self.line(f"{name} = {self.pick(['np.zeros(len(x))', 'x * 0.5'])}")
        self.line(f"{total} = 0.0")
        self.line(f"for {i} in range(len(x)):")
        window = self.pick([f"{i}:", f":{i}", f"{i}:{i} + 1", f"-{i} - 1:", f"{i}::2", f":{i} + 1"])
        source = self.pick([f"{u}[{window}] * {v}[{window}]", f"np.sin({name}[{window}])"])
        self.line(f"    {total} = 0.5 * {total} + 0.1 * np.sum({source})")
        if self.chance(0.7):
            window = self.pick([f"{i}:", f":{i} + 1", f"{i}:{i} + 1"])
            self.line(f"    {name}[{window}] {self.pick(['', '+'])}= "
                      f"np.tanh({v}[{window}] + {total}) * 0.3")  # fmt: skip
        self.arrays.append(name)
        self.settle(total)

    def again(self):
        """An array that a loop assigns again, without reading it."""
        name, i, c = self.new("u"), self.new("i"), self.new("c")
        self.line(f"{name} = {self.pick(['np.zeros(len(x))', 'x.copy()', 'y * 0.5'])}")
        self.line(f"{c} = 0.0")
        self.line(f"for {i} in range({self.pick(['k', '2', 'len(x)'])}):")
        indent = "    "
        if self.chance(0.5):
            self.line(f"    if {self.pick([f'{c} < 0.3', f'{i} % 2 == 0', f'x[0] > 0.1 * {i}'])}:")
            indent = "        "
        self.line(f"{indent}{name} = np.sin({self.vector()} * {self.atom()})")
        if self.chance(0.5):
            self.line(f"    {c} = 0.5 * {c} + 0.1 * np.sum({self.pick(self.arrays)})")
        self.arrays.append(name)
        self.settle(f"math.sin({name}[0] * {c})")

    def columns(self):
        name, u = self.new("w"), self.vector()
        self.line(f"{name} = np.outer({u}, {self.pick(self.arrays)})")
        if self.chance(0.4):
            self.line(f"{name}[{self.pick(['::2', '1:', '::-1'])}, {self.pick(['::-1', '0'])}] "
                      f"{self.pick(['', '+'])}= {self.atom()}")  # fmt: skip
        rows, first, second = (self.pick(each) for each in (ALIKE[0], ALIKE[1], ALIKE[1]))
        value = self.pick([
            f"{name}[:, {first}] * {name}[{rows}, {second}]", f"np.diff({name})",
            f"{name}[::2, ::-1]", f"{name}[{first}][:, {second}]",
            f"np.concatenate([{name}, np.flip({name}, 0)], axis=1)", f"np.roll({name}, k, axis=0)",
            f"np.stack([{u}, {self.pick(self.arrays)}], axis=1)", f"np.var({name}, axis=0)",
            f"np.vstack(({name}, {u} * np.ones((2, len(x))))) * np.roll(np.hstack([y, y]), 1)[1]",
        ])  # fmt: skip
        self.settle(f"math.cos(np.sum({value}) * 0.3)")

    def along(self):
        u, c = self.vector(), self.new("c")
        value = self.pick([
            f"np.linalg.norm(np.cos({u}))", f"np.sum(np.diff({u}) * np.diff({self.vector()}))",
            f"np.cumsum({u})[-1]", f"x[np.argmax({u})]", f"y[np.argmin({u})] * {self.atom()}",
            f"np.argmax({u}) * 0.1", f"sum(v * w for v, w in zip({u}, y))",
            f"np.sum(({u})[:-1] * np.arange(len(x) - 1))",
            f"np.std(np.hstack([{u}, np.arange(3)]))",
            f"np.inner({u}, np.roll(y, 1))",
        ])  # fmt: skip
        self.line(f"{c} = {value}")
        self.settle(f"math.sin({c} * 0.5)")

    def numbers(self):
        """An array of numbers side by side, or of arrays."""
        name = self.new("m")
        if self.chance(0.5):
            self.line(f"{name} = np.array([{self.value()}, {self.atom()}, {self.atom()}])")
            use = self.pick([f"np.sum({name} * {name})", f"{name}[k % 3]", f"{name}[::-1][0]",
                             f"{name}[1:] @ {name}[:-1]"])  # fmt: skip
        else:
            self.line(f"{name} = np.array([{self.vector()}, {self.vector()}])")
            use = self.pick([f"np.sum({name}[0] * {name}[1])", f"{name}[1, {self.index()}]",
                             f"np.sum({name}[:, ::2]) * 0.1"])  # fmt: skip
        self.settle(f"math.tanh({use})")

    def inner(self, *names):
        """The body of a loop that has given names to floats."""
        self.scalars += names
        self.block(1 + self.random.integers(2))
        self.line(f"    {self.pick('ab')} = 0.5 * a + 0.1 * math.sin({self.pick(names)} * b)")
        if self.chance(0.3):
            self.line(f"    if {self.condition()}:")
            self.line(f"        {self.pick(['break', 'continue'])}")
            self.line(f"    b = 0.5 * b + 0.1 * {self.pick(names)}")
        self.scalars = [each for each in self.scalars if each not in names]

    def over_tuple(self):
        v, w = self.new("v"), self.new("v")
        parts = [self.pick([self.atom(), "a", "b"]) for _ in range(2 + self.chance(0.5))]
        values = ", ".join(parts)
        kind = self.random.integers(4)
        if kind == 0:
            pairs = ", ".join(f"({each}, {self.atom()})" for each in parts)
            self.line(f"for {v}, {w} in ({pairs}):")
            self.inner(v, w)
        elif kind == 1:
            self.line(f"for {w}, {v} in enumerate([{values}], {self.pick(['0', '1', 'k'])}):")
            self.line(f"    b = 0.5 * b + 0.1 * math.sin({v} * {w})")
            self.inner(v)
        elif kind == 2:
            self.line(f"for {v}, {w} in zip(({values}), {self.pick(self.arrays)}):")
            self.inner(v, w)
        else:
            self.line(f"for {v} in {self.pick([f'({values})', f'reversed(({values}))'])}:")
            self.inner(v)

    def enumerated(self):
        i, v = self.new("i"), self.new("v")
        self.line(f"for {i}, {v} in enumerate({self.vector()}):")
        self.counters.append(i)
        self.inner(v)
        self.counters.remove(i)

    def zipped(self):
        v, w, u = self.new("v"), self.new("v"), self.vector()
        other = self.pick([self.vector(), f"{self.pick(self.arrays)}[1:]", f"({u})[::2]",
                           "range(k, 7, 2)", "np.arange(k + 1) * 0.5"])  # fmt: skip
        self.line(f"for {v}, {w} in zip({u}, {other}):")
        if other.startswith("range"):  # of integers
            self.line(f"    b = 0.5 * b + 0.01 * {w} * {v}")
            self.inner(v)
        else:
            self.inner(v, w)

    def backwards(self):
        i = self.new("i")
        bounds = self.pick(["len(x)", "1, len(x)", "0, len(x), 2", "len(x) - 1, -1, -2"])
        self.line(f"for {i} in reversed(range({bounds})):")
        self.counters.append(i)
        self.block(1 + self.random.integers(2))
        self.counters.remove(i)

    def with_else(self):
        i = self.new("i")
        self.line(f"for {i} in range({self.pick(['len(x)', 'k'])}):")
        self.line(f"    if {self.condition()}:")
        self.line(f"        a = 0.5 * a + {self.atom()}")
        self.line("        break")
        self.line(f"    b = 0.5 * b + 0.1 * math.sin({self.value()})")
        self.line("else:")
        self.line(f"    a = math.tanh({self.value()})")

    def over_arrays(self):
        """A loop over arrays, which is written out."""
        u, v = self.new("u"), self.new("v")
        self.line(f"for {u} in ({self.pick(self.arrays)}, {self.vector()}):")
        self.line(f"    for {v} in reversed({u}):")
        self.line(f"        b = 0.5 * b + 0.1 * math.sin({v} * a)")
        self.line(f"    a = 0.5 * a + 0.2 * math.sin(np.sum({u}[1:]))")
