"""Random kernels whose loops go through tables, of which they reach a few neighbouring rows."""

HEADER = "import math\n\nimport numpy as np\n\nfrom composit.knossos import Tensor\n\n\n"


class WindowsWriter:
    """Writes kernels of x [n], y [m], numbers w and k: tables that are filled, by rows and columns
    and as a whole, then gone through up or down, and what is read of them at the end."""

    def __init__(self, random, name):
        self.random, self.name = random, name
        self.lines, self.depth = [], 1

    def one_of(self, *given):
        return given[self.random.integers(len(given))]

    def chance(self, share):
        return self.random.random() < share

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def text(self):
        self.up = self.chance(0.6)
        self.tables = {}
        self.line("n, m = len(x), len(y)")
        self.line("best = 0.0")
        for name in "ab"[: self.random.integers(1, 3)]:
            self.make(name)
        self.loop()
        self.give()
        numbers = 'x: Tensor[float, "n"], y: Tensor[float, "m"], w: float, k: int'
        return f"def {self.name}({numbers}):\n" + "\n".join(self.lines) + "\n\n\n"

    def make(self, name):
        """Of n rows and some, m columns and some; which axis is that of the rows."""
        more, columns = int(self.random.integers(4)), int(self.random.integers(3))
        kind = self.one_of("first", "first", "first", "last", "line")
        self.tables[name] = more, columns, kind
        extents = {"first": f"(n + {more}, m + {columns})", "last": f"(m + {columns}, n + {more})",
                   "line": f"n + {more}"}[kind]  # fmt: skip
        value = self.one_of("np.zeros({})", "np.zeros({})", "np.full({}, w)", "np.full({}, 0.5)")
        self.line(f"{name} = {value.format(extents)}")
        for _ in range(self.random.integers(3)):
            self.begin(name)

    def at(self, name, row, column):
        kind = self.tables[name][2]
        if kind == "line":
            return f"{name}[{row}]"
        return f"{name}[{row}, {column}]" if kind == "first" else f"{name}[{column}, {row}]"

    def begin(self, name):
        """What a table holds before the loop goes through it."""
        more, columns, kind = self.tables[name]
        first = self.random.integers(more + 1)
        row = f"{first}" if self.up else f"n - 1 + {first}"
        start = self.one_of("0", "1")
        value = self.one_of("0.1 * i", "w", "0.3 * x[i % n]" if self.chance(0.5) else "w * i")
        how = self.random.integers(4)
        if how == 0 and (columns or kind == "line"):
            self.line(f"{self.at(name, row, 0)} = {self.one_of('0.25', 'w', 'x[0]')}")
        elif how == 1 and kind != "line":
            self.line(f"for j in range({start}, m):")
            self.line(f"    {self.at(name, row, 'j')} = {self.one_of('y[j]', 'w * j', '0.5')}")
        elif how == 2 and (columns or kind == "line"):
            self.line(f"for i in range({start}, n + {self.random.integers(more + 1)}):")
            self.line(f"    {self.at(name, 'i', 0)} = {value}")
        elif kind != "line" and self.chance(0.4):
            self.line(f"for i in range(n + {more}):")
            self.line(f"    for j in range({start}, m):")
            self.line(
                f"        {self.at(name, 'i', 'j')} = 0.1 * i - 0.2 * {self.one_of('j', 'w')}"
            )

    def loop(self):
        rows = "range(n)" if self.up else "range(n - 1, -1, -1)"
        self.line(f"for i in {rows}:")
        self.depth += 1
        jumps = self.random.random()
        if jumps < 0.1:
            self.line(f"if i == k: {self.one_of('break', 'continue', 'return best')}")
        if self.chance(0.2):
            self.statement(within=False)
        self.line(f"for j in {self.one_of('range(m)', 'range(m)', 'range(m - 1, -1, -1)')}:")
        self.depth += 1
        for _ in range(self.random.integers(1, 4)):
            self.statement(within=True)
        self.depth -= 1
        if self.chance(0.2):
            self.statement(within=False)
        self.depth -= 1

    def element(self, name, within, newest=False):
        more, columns, _ = self.tables[name]
        own = more if self.up else 0
        row = own if newest and self.chance(0.85) else self.random.integers(more + 1)
        column = f"j + {self.random.integers(columns + 1)}" if within else "0"
        return self.at(name, f"i + {row}", column)

    def known(self, within):
        return [each for each, (_, columns, kind) in self.tables.items()
                if within or columns or kind == "line"]  # fmt: skip

    def value(self, within):
        names = self.known(within)
        parts = (
            [self.element(self.one_of(*names), within) for _ in range(2)] if names else ["w"] * 2
        )
        a, b = parts
        return self.one_of(
            f"min({a}, {b}) + 0.1 * x[i]", f"0.5 * {a} + 0.25 * {b}",
            f"math.tanh({a} - w) + 0.1 * x[i]", f"max({a}, {b}) - 0.3", f"{a} * 0.4 + x[i]",
            f"0.5 * ({b} + w)",
        )  # fmt: skip

    def statement(self, within):
        names = self.known(within)
        if not names or self.chance(0.15):
            self.line(f"best = max(best, {self.value(within)})")
            return
        to = self.element(self.one_of(*names), within, newest=True)
        guard = self.chance(0.15)
        if guard:
            self.line(f"if x[i] > {self.one_of('0.0', 'w', '0.5')}:")
            self.depth += 1
        factor = "y[j] * " if within and self.chance(0.5) else ""
        if self.chance(0.25):
            self.line(f"{to} += 0.3 * math.tanh({factor}{self.value(within)})")
        else:
            self.line(f"{to} = {factor}0.5 * ({self.value(within)})")
        self.depth -= guard

    def give(self):
        """Elements of the last rows, one of them whole; another array that is made of one."""
        results = ["best"]
        for name, (more, columns, kind) in self.tables.items():
            row = self.random.integers(more + 1)
            last = f"n - 1 + {row}" if self.up else f"{row}"
            if self.up and row == more and self.chance(0.4):
                last = "-1"
            how = self.random.integers(4)
            if how == 0 and (columns or kind == "line"):
                results.append(self.at(name, last, self.one_of("0", f"m - 1 + {columns}")))
            elif how == 1 and kind == "first":
                results.append(f"{name}[{last}].copy()")
            elif how == 2 and kind != "line":
                self.line("for j in range(m):")
                self.line(f"    best += {self.at(name, last, 'j')} * y[j]")
        if len(results) > 1:  # a return within the loop gives one number
            self.lines = [each.replace("return best", "break") for each in self.lines]
        self.line("return " + ", ".join(results))
