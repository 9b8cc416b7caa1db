"""Random kernels of operators on whole arrays, and of loops that say the same: their text."""

from array_grammar import Writer


class OperatorsWriter(Writer):
    """Writes kernels with matrices of (n, n) beside arrays of n: products, sums of products,
    multiples that are added, the largest elements, recurrences of products, and loops that look
    like these, of which some are none."""

    def __init__(self, random, name):
        super().__init__(random, name)
        self.matrices = []

    def block(self, count):
        known = list(self.matrices)
        super().block(count)
        self.matrices = known

    def statement(self):
        kinds = [self.product, self.product, self.sum_of_products, self.multiple, self.multiple,
                 self.extreme, self.matrix, self.nest, self.through_columns]  # fmt: skip
        if self.depth == 0:
            kinds += [self.recurrence, self.recurrence, super().statement]
        self.pick(kinds)()

    def begin(self):
        self.line("w = np.outer(x, y) * 0.5")
        self.matrices.append("w")

    def vector(self):
        u, v = self.pick(self.arrays), self.pick(self.arrays)
        return self.pick([u, u, f"({u} - {v})", f"{u} * {self.pick(self.scalars)}", f"np.sin({u})",
                          f"{self.pick(self.matrices)}[{self.index()}]"])  # fmt: skip

    def product(self):
        name, w, u = self.new("u"), self.pick(self.matrices), self.vector()
        value = self.pick(
            [
                f"{w} @ {u}",
                f"{w} @ {u} + {self.pick(self.matrices)} @ {u}",
                f"{w} @ {u} * {self.pick(self.scalars)} - {self.pick(self.arrays)}",
            ]
        )
        self.line(f"{name} = np.tanh({value})")
        self.arrays.append(name)

    def sum_of_products(self):
        u, v, c = self.vector(), self.vector(), self.new("c")
        inner = self.pick([f"np.sum({u} * {v})", f"np.dot({self.pick(self.arrays)}, {v})",
                           f"np.sum({u} * {u})"])  # fmt: skip
        use = self.pick([f"{inner} * {self.pick(self.scalars)}", f"{inner} + {inner} * 0.5",
                         f"{inner} / (1.0 + {inner} * {inner})", f"max({inner}, 0.1)",
                         f"({inner} if a > b else s)"])  # fmt: skip
        self.line(f"{c} = {use}")
        self.line(f"{self.pick('ab')} = math.sin({c}) + {self.pick([c + ' * 0.01', '0.5'])}")

    def multiple(self):
        """What is added to elements by a loop: in a few, elements of the same array."""
        name, j = self.new("u"), self.new("i")
        self.line(f"{name} = {self.pick(['np.zeros(len(x))', 'x.copy()', 'np.cos(y)'])}")
        others = list(self.arrays)
        self.line(f"for {j} in range({self.pick(['len(x)', 'len(x)', '1, len(x)', 'k, len(x)'])}):")
        rows = [f"{self.pick(others)}[{j}]", f"{self.pick(others)}[{j} - 1]", f"{name}[{j}]",
                f"{name}[{j} - 1]", f"{self.pick(self.matrices)}[0, {j}]",
                f"{self.pick(self.matrices)}[{j}, 0]"]  # fmt: skip
        sign = self.pick(["+", "+", "-", ""])
        at = self.pick([j, j, j, f"{j} - 1"])
        factor = self.pick([*self.scalars, "0.5", "(a - b)"])
        self.line(f"    {name}[{at}] {sign}= {self.pick(rows)} * {factor}")
        if self.chance(0.3):
            self.line(f"    {name}[{at}] += {self.pick(others)}[{j}] * {self.pick(self.scalars)}")
        if self.chance(0.15):
            self.line(f"a = 0.5 * a + math.sin({name}[len(x) - 1])")
        self.line(f"{name} = np.tanh({name})")
        self.arrays.append(name)

    def extreme(self):
        which, u = self.pick(["max", "min", "np.max", "np.min"]), self.pick(self.arrays)
        self.line(f"{self.pick('ab')} = math.sin({which}({u})) * 0.9 + 0.1 * {self.pick('ab')}")
        if self.chance(0.5):
            name = self.new("u")
            self.line(f"{name} = {u} - {which}({u})")
            self.arrays.append(name)

    def matrix(self):
        name, w, u = self.new("w"), self.pick(self.matrices), self.vector()
        value = self.pick([f"np.outer({u}, {self.pick(self.arrays)})", f"np.tanh({w})",
                           f"{w} * {self.pick(self.scalars)}", f"{w} + {u}"])  # fmt: skip
        self.line(f"{name} = {value}")
        self.matrices.append(name)

    def nest(self):
        """Through two axes, all of them or not; what an iteration reads may be another one's."""
        name, i, j, w = self.new("w"), self.new("i"), self.new("j"), self.pick(self.matrices)
        self.line(f"{name} = np.zeros((len(x), len(x)))")
        rows, columns = self.pick([
            ("len(x)", "len(x)"), ("len(x)", "len(x)"), ("len(x)", "len(x) - 1"),
            ("1, len(x)", "len(x)"), ("len(x) - 1, -1, -1", "len(x) - 1, -1, -1"),
        ])  # fmt: skip
        self.line(f"for {i} in range({rows}):")
        self.line(f"    for {j} in range({columns}):")
        value = self.pick([
            f"{w}[{i}, {j}]", f"{w}[{j}, {i}]", f"{self.pick(self.arrays)}[{j}]", f"{i} + 0.5",
            f"{w}[{i}, {j}] * {w}[{j}, {i}]", f"math.exp(-{w}[{i}, {j}] * {w}[{i}, {j}])",
        ])  # fmt: skip
        at = self.pick([f"{i}, {j}", f"{i}, {j}", f"{j}, {i}"])
        if self.chance(0.2):
            self.line(f"        if {w}[{i}, {j}] {self.pick('<>')} 0.1:")
            self.line(f"            {self.pick(['break', 'continue'])}")
        self.line(f"        {name}[{at}] {self.pick(['', '', '+'])}= {value} * "
                  f"{self.pick(self.scalars)}")  # fmt: skip
        self.matrices.append(name)

    def through_columns(self):
        """A sum of products that are no neighbours, in loops that are written out."""
        name, i, j, w = self.new("u"), self.new("i"), self.new("j"), self.pick(self.matrices)
        self.line(f"{name} = np.zeros(len(x))")
        self.line(f"for {i} in range(len(x)):")
        self.line("    t = 0.0")
        self.line(f"    for {j} in range({self.pick(['len(x)', i, '1, len(x)'])}):")
        at = self.pick([f"{i}, {j}", f"{j}, {i}"])
        self.line(f"        t += {w}[{at}] * {self.pick(self.arrays)}[{j}]")
        self.line(f"    {name}[{i}] = math.tanh(t{self.pick(['', ' * t', ' - s'])})")
        self.arrays.append(name)

    def recurrence(self):
        """h[t + 1] of products of h[t]."""
        h, t, w = self.new("h"), self.new("i"), self.pick(self.matrices)
        steps = self.pick(["len(x)", "3", "k"])
        self.line(f"{h} = np.zeros(({steps} + 1, len(x)))")
        self.line(f"{h}[0] = {self.pick(self.arrays)}")
        self.line(f"for {t} in range({steps}):")
        self.depth += 1
        gates, other = self.new("u"), self.pick(self.matrices)
        self.line(f"{gates} = {w} @ {h}[{t}] + {self.pick([f'{other} @ {h}[{t}]', 'y'])}")
        read = self.new("u")
        self.line(f"{read} = np.tanh({gates})")
        self.line(f"{h}[{t} + 1] = {self.pick([read, f'{read} * {h}[{t}]'])}")
        if self.chance(0.5):
            self.line(f"a = 0.5 * a + 0.1 * np.sum({gates} * {read})")
        self.depth -= 1
        last = self.new("u")
        self.line(f"{last} = np.sin({h}[{steps}])")
        self.arrays.append(last)
