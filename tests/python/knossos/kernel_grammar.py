"""Random kernels by the language's grammar, as Python text."""

import math

FLOAT_FUNCTIONS = ["math.sin", "math.cos", "math.atan", "math.tanh", "math.erf", "math.fabs"]


class Writer:
    """One random function: its text, and how its arguments are drawn."""

    def __init__(self, random, uses_functions, results=1):
        self.random = random
        self.uses_functions = uses_functions
        self.results = results
        self.has_pair = False
        self.lines = []
        self.count = 0
        self.budget = 14

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def fresh(self, kind):
        self.count += 1
        if kind == "float" and self.has_pair and self.random.random() < 0.3:
            return f"t{self.count - 1}_{self.random.integers(2)}"  # as a part may be called
        return f"{'fib'[['float', 'int', 'bool'].index(kind)]}{self.count}"

    # ----- expressions; `names` holds what may be read: kind -> names

    def expression(self, kind, names, depth):
        return getattr(self, "make_" + kind)(names, depth)

    def literal(self):
        return repr(round(float(self.random.normal() * 3), int(self.random.integers(0, 4))))

    def make_float(self, names, depth):
        if depth <= 0 or self.random.random() < 0.15:
            if names["float"] and self.random.random() < 0.8:
                return self.pick(*names["float"])
            return (
                self.literal() if self.random.random() < 0.8 else str(self.random.integers(-4, 9))
            )
        a, b = (self.make_float(names, depth - 1) for _ in range(2))
        if self.has_pair and self.random.random() < 0.06:
            return f"{self.pair(names, depth)}[{self.random.integers(2)}]"
        choice = self.random.integers(12)
        if choice < 5:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if choice == 5:
            return f"({a} / (1.5 + {b} * {b}))"
        if choice == 6:
            # An int and a float beside each other are floats here: -(0 if c else x) may be -0.0.
            return f"(float({a}) if {self.make_bool(names, depth - 1)} else float({b}))"
        if choice == 7:
            return f"{self.pick('min', 'max')}(float({a}), float({b}))"
        if choice == 8:
            return f"({a} {self.pick('%', '//')} {self.pick('2.5', '0.75', '-1.5', '3')})"
        if choice == 9:
            return f"float({self.make_int(names, depth - 1)})"
        if choice == 10:
            return f"{self.pick('abs', '-', '+')}({a})"
        if self.uses_functions:
            return f"{self.pick(*FLOAT_FUNCTIONS)}({a})"
        return f"({a} * {b})"

    def pair(self, names, depth):
        """A call of the function of two results."""
        a, b = (self.make_float(names, min(depth, 2) - 1) for _ in range(2))
        return f"pair(float({a}), float({b}), {self.make_int(names, 1)})"

    def make_int(self, names, depth):
        if depth <= 0 or self.random.random() < 0.2:
            if names["int"] and self.random.random() < 0.7:
                return self.pick(*names["int"])
            return str(self.random.integers(-5, 12))
        a, b = (self.make_int(names, depth - 1) for _ in range(2))
        choice = self.random.integers(9)
        if choice < 4:
            return f"({a} {self.pick('+', '-', '&', '|', '^')} {b})"
        if choice == 4:
            return f"({a} * {self.pick('2', '3', '-1')}) % 1009"
        if choice == 5:
            return f"({a} {self.pick('//', '%')} {self.pick('3', '-4', '7')})"
        if choice == 6:
            return f"({a} if {self.make_bool(names, depth - 1)} else {b})"
        if choice == 7:
            return f"{self.pick('abs', '-', '~')}({a})"
        bounded = f"max(min({self.make_float(names, depth - 1)}, 1e6), -1e6)"
        return f"{self.pick('int', 'round', 'math.floor', 'math.ceil')}({bounded})"

    def make_bool(self, names, depth):
        if depth <= 0 or self.random.random() < 0.15:
            if names["bool"] and self.random.random() < 0.7:
                return self.pick(*names["bool"])
            kind = self.pick("float", "int")
            return f"{self.expression(kind, names, 0)} > {self.expression(kind, names, 0)}"
        choice = self.random.integers(4)
        kind = self.pick("float", "int")
        a, b = (self.expression(kind, names, depth - 1) for _ in range(2))
        symbol = self.pick("<", "<=", ">", ">=", "==", "!=")
        if choice < 2:
            return f"({a} {symbol} {b})"
        if choice == 2:
            p, q = (self.make_bool(names, depth - 1) for _ in range(2))
            return f"({p} {self.pick('and', 'or')} {q})"
        return f"(not {self.make_bool(names, depth - 1)})"

    # ----- statements

    def add(self, indent, text):
        self.lines.append("    " * indent + text)

    def assignment(self, names, indent):
        kind = self.pick("float", "float", "int", "bool")
        value = self.expression(kind, names, int(self.random.integers(1, 4)))
        if self.has_pair and self.random.random() < 0.15:
            self.count += 1
            self.add(indent, f"t{self.count} = {self.pair(names, 2)}")
            names["float"] += [f"t{self.count}[0]", f"t{self.count}[1]"]
            self.counters |= {*names["float"][-2:]}
            return
        known = [n for n in names[kind] if n not in self.counters]
        if known and self.random.random() < 0.6:
            name = self.pick(*known)
            if kind == "float" and self.random.random() < 0.4:
                self.add(indent, f"{name} {self.pick('+=', '-=', '*=')} {value}")
                return
            if kind == "float" and len(known) > 1 and self.random.random() < 0.3:
                other = self.pick(*known)
                if other != name:
                    self.add(indent, f"{name}, {other} = {other}, {value}")
                    return
        else:
            name = self.fresh(kind)
            names[kind].append(name)
        self.add(indent, f"{name} = {value if kind != 'float' else f'float({value})'}")

    def block(self, names, indent, in_loop):
        """Statements, of which the first is an assignment."""
        names = {kind: list(each) for kind, each in names.items()}
        self.assignment(names, indent)
        for _ in range(int(self.random.integers(0, 3))):
            self.statement(names, indent, in_loop)

    def statement(self, names, indent, in_loop):
        self.budget -= 1
        choice = self.random.integers(12) if self.budget > 0 and indent < 5 else 0
        if choice < 6:
            self.assignment(names, indent)
        elif choice < 9:
            self.branch(names, indent, in_loop)
        elif choice == 9:
            self.for_loop(names, indent)
        elif choice == 10:
            self.while_loop(names, indent)
        elif in_loop and self.random.random() < 0.6:
            self.add(indent, f"if {self.make_bool(names, 2)}:")
            self.add(indent + 1, self.pick("break", "continue"))
        elif self.random.random() < 0.4:
            self.add(indent, f"if {self.make_bool(names, 2)}:")
            self.add(indent + 1, self.returned(names))

    def branch(self, names, indent, in_loop):
        self.add(indent, f"if {self.make_bool(names, 2)}:")
        self.block(names, indent + 1, in_loop)
        if self.random.random() < 0.4:
            self.add(indent, f"elif {self.make_bool(names, 2)}:")
            self.block(names, indent + 1, in_loop)
        if self.random.random() < 0.6:
            self.add(indent, "else:")
            self.block(names, indent + 1, in_loop)

    def for_loop(self, names, indent):
        name = self.fresh("int")
        low = self.random.integers(-3, 4)
        bounds = self.pick(
            str(self.random.integers(0, 6)),
            f"{low}, {low + self.random.integers(0, 6)}, {self.random.integers(1, 4)}",
            f"{low + 5}, {low}, -{self.random.integers(1, 4)}",
            f"abs({self.make_int(names, 1)}) % 5",
        )
        self.add(indent, f"for {name} in range({bounds}):")
        self.counters.add(name)
        self.block({**names, "int": [*names["int"], name]}, indent + 1, True)

    def while_loop(self, names, indent):
        name = self.fresh("int")
        self.add(indent, f"{name} = {self.random.integers(0, 6)}")
        condition = self.make_bool(names, 1) if self.random.random() < 0.5 else "True"
        self.add(indent, f"while {name} > 0 and {condition}:")
        self.add(indent + 1, f"{name} -= 1")
        self.counters.add(name)
        self.block({**names, "int": [*names["int"], name]}, indent + 1, True)

    def returned(self, names):
        made = [f"float({self.make_float(names, 2)})" for _ in range(self.results)]
        return "return " + ", ".join(made)

    def write(self, name):
        self.counters = set()
        few = self.random.random() < 0.7
        floats = [*"xyzuvw"][: self.random.integers(1, 3) if few else self.random.integers(5, 7)]
        names = {"float": list(floats), "int": ["n"], "bool": []}
        head = ", ".join(f"{each}: float" for each in floats)
        self.add(0, f"def {name}({head}, n: int) -> float:")
        for _ in range(int(self.random.integers(2, 6))):
            self.statement(names, 1, False)
        self.add(1, self.returned(names))
        return "\n".join(self.lines) + "\n", len(floats)

    def write_pair(self):
        self.counters = set()
        self.add(0, "def pair(x: float, y: float, n: int) -> tuple[float, float]:")
        names = {"float": ["x", "y"], "int": ["n"], "bool": []}
        self.budget = 5
        for _ in range(int(self.random.integers(1, 4))):
            self.statement(names, 1, False)
        self.add(1, self.returned(names))
        return "\n".join(self.lines) + "\n\n\n"


def written(random, uses_functions=False, name="kernel"):
    """(text, number of float arguments) of a random kernel; its last argument is an int. Some call
    a function of two results."""
    writer, helper = Writer(random, uses_functions), ""
    if random.random() < 0.3:
        helper = Writer(random, uses_functions, 2).write_pair()
        writer.has_pair = True
    text, floats = writer.write(name)
    return helper + text, floats


def arguments_for(random, floats):
    values = [float(random.normal() * 2) for _ in range(floats)]
    if random.random() < 0.2:
        values[0] = float(random.integers(-2, 3))
    return (*values, int(random.integers(-3, 9)))


def close(a, b, relative):
    return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=relative, abs_tol=relative)
