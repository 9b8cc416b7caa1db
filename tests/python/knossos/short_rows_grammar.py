"""Random kernels of rows of a few numbers: sums over them in every order, as compilers unroll."""

HEADER = "import numpy as np\nfrom composit.knossos import Tensor\n\n\n"


class ShortRowsWriter:
    """Writes kernels of x and y [n, width], u [width] and w: two sums and an array."""

    def __init__(self, random, name):
        self.random, self.name = random, name
        self.width = int(random.integers(2, 5))

    def one_of(self, *given):
        return given[self.random.integers(len(given))]

    def text(self):
        rows = f'Tensor[float, "n", {self.width}]'
        lines = [
            f'def {self.name}(x: {rows}, y: {rows}, u: Tensor[float, {self.width}], w: float):',
            "    z = x.copy()", "    s = 0.0", "    t = w",
        ]  # fmt: skip
        for _ in range(self.random.integers(1, 3)):
            indent = "    "
            if self.random.random() < 0.4:
                lines.append(f"    for step in range({self.random.integers(1, 4)}):")
                indent += "    "
                if self.random.random() < 0.4:
                    update = self.one_of("w * y", "w * x", "u * x", "w * u * y")
                    lines.append(f"{indent}z {self.one_of('+=', '-=')} {update}")
            lines.append(f"{indent}for i in {self.rows()}:")
            for _ in range(self.random.integers(1, 4)):
                lines += [f"{indent}    {line}" for line in self.statement()]
        return "\n".join([*lines, "    return s, t, z"]) + "\n\n\n"

    def rows(self):
        return self.one_of(
            "range(len(x))", "range(len(x) - 1, -1, -1)", "reversed(range(len(x)))",
            "range(1, len(x))",
        )  # fmt: skip

    def columns(self):
        last = self.width - 1
        return self.one_of(
            f"range({self.width})", f"range({last}, -1, -1)", f"reversed(range({self.width}))"
        )

    def column(self):
        return str(self.random.integers(self.width))

    def term(self, j=None):
        def at():
            return j if j and self.random.random() < 0.8 else self.column()

        return self.one_of(
            f"x[i, {at()}]", f"y[i, {at()}]", f"x[i, {at()}] * y[i, {at()}]", f"w * x[i, {at()}]",
            f"(x[i, {at()}] - y[i, {at()}])", f"u[{at()}] * y[i, {at()}]",
            f"x[i, {at()}] * z[i, {at()}]",
        )  # fmt: skip

    def statement(self):
        kind = self.random.integers(6)
        if kind == 0:
            name = self.one_of("s", "s", "t")
            count = self.random.integers(1, 4)
            return [f"{name} {self.one_of('+=', '+=', '-=')} {self.term()}" for _ in range(count)]
        if kind == 1:
            return [f"for j in {self.columns()}:", f"    s += {self.term('j')}"]
        if kind == 2:
            return [
                f"for j in {self.columns()}:",
                f"    if {self.term('j')} > 0.1:",
                f"        s += {self.term('j')}",
            ]
        if kind == 3:
            factor = self.one_of("w", "0.5", "u[j]")
            return [
                f"for j in {self.columns()}:",
                f"    z[i, j] = z[i, j] * {factor} + {self.term('j')}",
            ]
        if kind == 4:
            return [f"z[i, {self.column()}] += {self.term()}"]
        return [f"z[i] = {self.one_of('w', 'u')} * z[i] + {self.one_of('x', 'y')}[i]"]
