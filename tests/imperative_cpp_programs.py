"""Random imperative programs of composit::eager's Variables. A program is text of a small language,
which tests/cpp/programs interprets; imperative_cpp_reference says what it should print.

A line is a statement; loop, if and while have the lines behind them that are indented further.
Names stand for variables (x, x[1], x[::2,k1]: views), for numbers of C++ (s1) and indices (k1, i2).

    array a1 float64 2,3 VALUES         parameter w1 3 VALUES
    let a2 EXPRESSION                   something new
    view a3 a1[0]    detach a4 a3       shares memory
    copy a5 a3
    assign a1[0,k1] EXPRESSION          also add, subtract, multiply: in place
    swap a1[0] a2[1]
    number s1 EXPRESSION                a look, also `index k1 LENGTH EXPRESSION`
    take v1 EXPRESSION                  an array that is nobody's memory but its own
    print EXPRESSION
    backward EXPRESSION    step w1 0.5    forget w1
    history 10                          so few nodes are remembered behind values
    loop i1 3    if < EXPRESSION EXPRESSION    while 4 < EXPRESSION EXPRESSION

Expressions have their operators before them: `+ a1 * 0.5 sum a2[1:]`. Whatever is compared or cut
to a whole number is equal to what differs from it by less than 1e-9."""

import math
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path

import imperative_cpp_reference as reference
from imperative_programs import Text, smallest

import composit

RUNNER = Path(composit.__file__).parents[2] / "tests/cpp/program_runner"
FAULTS = ("views_copy", "copies_share", "swaps_keep_nothing", "detached_have_gradients",
          "results_are_bound", "numbers_are_late", "steps_forget", "taken_change")  # fmt: skip
OPERANDS = {**dict.fromkeys(reference.FUNCTIONS, 1), **dict.fromkeys(reference.OPERATORS, 2),
            "where": 3, "grad": 1}  # fmt: skip


class Writer(Text):
    """Writes one program: of values alone, or of parameters and gradients. Without sums, values are
    exact; sums are taken in another order than NumPy's."""

    def __init__(self, seed, counts=None):
        super().__init__(seed, counts)
        self.has_parameters = self.draw.random() < 0.5
        self.has_sums = self.has_parameters or self.draw.random() < 0.5
        self.variables = {}  # names: (dtype, shape)
        self.parameters, self.taken = {}, {}  # names: shape
        self.numbers, self.integers, self.loops = ["s1", "s2"], {"k1": 2, "k2": 3}, []

    def program(self, statements=10):
        self.new_array("float64", (self.draw.randint(3, 5),))
        self.new_array("float64", (2, 3))
        self.new_array("int64", (3,))
        if self.has_parameters:
            self.new_parameter((3,))
            self.new_parameter((2, 2))
        for name, (_, shape) in [*self.variables.items()][:2]:
            self.taken[taken := f"v{name[1:]}"] = shape
            self.write(f"take {taken} {name}")
        for name in self.numbers:
            self.write(f"number {name} {self.number()}")
        for name, length in self.integers.items():
            self.write(f"index {name} {length} 1.0")
        for _ in range(statements):
            self.statement()
        for name in self.parameters:
            self.write(f"print grad {name}")
        for name in [*self.variables, *self.parameters, *self.numbers, *self.taken]:
            self.write(f"print {name}")
        return "\n".join(self.lines) + "\n"

    # ----- names

    def values(self, shape, whole=False):
        count = math.prod(shape)
        if whole:
            return " ".join(str(self.draw.randint(-3, 5)) for _ in range(count))
        return " ".join(str(self.draw.randint(-8, 8) / 4) for _ in range(count))

    def new_array(self, dtype, shape):
        name = self.name("n" if dtype == "int64" else "a")
        lengths = ",".join(map(str, shape))
        self.write(f"array {name} {dtype} {lengths} {self.values(shape, dtype == 'int64')}")
        self.variables[name] = (dtype, shape)

    def new_parameter(self, shape):
        name = self.name("w")
        self.write(f"parameter {name} {','.join(map(str, shape))} {self.values(shape)}")
        self.parameters[name] = shape

    # ----- pieces

    def number(self):
        return str(self.draw.choice([-1.5, -1.0, -0.5, 0.25, 0.5, 2.0]))

    def all(self):
        return {**self.variables, **{n: ("float64", s) for n, s in self.parameters.items()}}

    def variable(self, dtype=None, shape=None, written=False):
        """A name, of those that hold such elements; parameters are written less often."""
        of = self.variables if written and self.draw.random() < 0.8 else self.all()
        names = [n for n, (d, s) in of.items() if dtype in (None, d) and shape in (None, s)]
        return self.draw.choice(names) if names else None

    def position(self, length, may_fail):
        if may_fail and (length == 0 or self.draw.random() < 0.02):
            return str(length)  # IndexError
        names = [n for n, count in [*self.loops, *self.integers.items()] if count <= length]
        if names and self.draw.random() < 0.6:
            return self.draw.choice(names)
        return str(self.draw.randrange(-length, length))

    def part(self, name, all_positions=False, may_fail=True):
        """x[…], and its shape. Now and then nothing is left of it."""
        entries, lengths = [], []
        for length in self.all()[name][1]:
            if all_positions or ((length or may_fail) and self.draw.random() < 0.4):
                entries.append(self.position(length, may_fail))
                continue
            step = self.draw.choice(["", "", "2", "-1"])
            low = str(self.draw.randrange(length + 1)) if self.draw.random() < 0.5 else ""
            if low and step == "-1":
                low = ""
            high = self.draw.choice(["", "", "-1"]) if step != "-1" else ""
            bounds = slice(*(int(b) if b else None for b in (low, high, step)))
            entries.append(f"{low}:{high}:{step}" if step else f"{low}:{high}")
            lengths.append(len(range(length)[bounds]))
        if not all_positions and self.draw.random() < 0.05:
            entries.insert(0, "None")
            lengths.insert(0, 1)
        return f"{name}[{','.join(entries)}]" if entries else name, tuple(lengths)

    def element(self, dtype=None, written=False):
        return self.part(self.variable(dtype, written=written), True)[0]

    def target(self):
        """What is written: x or x[…], its dtype and shape."""
        name = self.variable(written=True)
        dtype, shape = self.all()[name]
        if self.draw.random() < 0.3:
            return name, dtype, shape
        text, shape = self.part(name, self.draw.random() < 0.4)
        return text, dtype, shape

    def of_shape(self, shape, dtype=None):
        """x or x[…] of that shape, if some are found."""
        for _ in range(4):
            name = self.variable(dtype)
            if self.all()[name][1] == shape:
                return name
            text, its = self.part(name)
            if its == shape:
                return text
        return None

    def scalar(self):
        choice = self.draw.randrange(4)
        if choice == 0:
            return self.number()
        if choice == 1:
            return self.draw.choice(self.numbers)
        if choice == 2 and self.has_sums:
            return f"sum {self.variable('float64')}"
        return self.element()

    def expression(self, shape=(), depth=2):
        """Of that shape, or one that broadcasts to it. Products have a factor of at most a half,
        so that loops keep their numbers small."""
        choice = self.draw.randrange(10 if depth else 3)
        if choice == 0:
            return self.scalar()
        if choice < 3:
            taken = [name for name, its in self.taken.items() if its == shape]
            if taken and self.draw.random() < 0.3:
                return taken[0]
            return self.of_shape(shape) or self.scalar()
        if choice == 3:
            functions = ["neg", "squash", "tanh" if self.has_parameters else "abs"]
            return f"{self.draw.choice(functions)} {self.expression(shape, depth - 1)}"
        one, two = self.expression(shape, depth - 1), self.expression(shape, depth - 1)
        if choice == 4 and not self.has_parameters:  # whose gradients jump where they are equal
            return f"{self.draw.choice(['min', 'max'])} {one} {two}"
        if choice == 5:
            return f"where < {self.expression(shape, 0)} {self.number()} {one} {two}"
        if choice == 6:
            return f"* {one} squash {two}"
        if choice == 7 and self.has_parameters:
            name = self.draw.choice(list(self.parameters))
            if self.parameters[name] == shape:
                return f"* 0.25 grad {name}"
        return f"{self.draw.choice(['+', '-'])} {one} {two}"

    def written(self, dtype, shape):
        """An expression for what is written into such elements."""
        text = self.expression(shape)
        return text if dtype == "float64" else f"max -9.0 min 9.0 + 0.000000001 {text}"

    def comparison(self):
        comparison = self.draw.choice(["<", "<=", ">", ">="])
        return f"{comparison} {self.look()} {self.look()}"

    def look(self):
        """Of one element."""
        text = self.expression((), 1)
        return f"sum {text}" if self.has_sums and self.draw.random() < 0.2 else text

    # ----- statements

    def statement(self):
        kinds = ["assign"] * 4 + ["add", "subtract", "multiply"] + [
            "swap", "swap", "number", "number", "keep", "index", "view", "view", "copy", "detach",
            "detached_write", "let", "rebind", "mask", "print", "loop", "loop", "branch", "wrong",
            "repeat", "take", "from",
        ]  # fmt: skip
        if self.has_parameters:
            kinds += ["backward"] * 3 + ["step", "by_hand", "forget", "hidden", "hidden"]
        if self.depth >= 2:
            kinds = [kind for kind in kinds if kind not in ("loop", "branch", "repeat")]
        if self.depth:  # names that are made here may not exist later
            kinds = [
                kind for kind in kinds if kind not in ("view", "copy", "detach", "let", "from")
            ]
        kind = self.draw.choice(kinds)
        self.count(kind)
        getattr(self, f"write_{kind}")()

    def write_assign(self):
        text, dtype, shape = self.target()
        self.write(f"assign {text} {self.written(dtype, shape)}")

    def write_add(self):
        text, dtype, shape = self.target()
        self.write(f"add {text} {self.written(dtype, shape)}")

    def write_subtract(self):
        text, dtype, shape = self.target()
        self.write(f"subtract {text} {self.written(dtype, shape)}")

    def write_multiply(self):
        text, dtype, shape = self.target()
        factor = f"squash {self.expression(shape)}" if dtype == "float64" else "-1.0"
        self.write(f"multiply {text} {factor}")

    def write_swap(self):
        one, dtype, shape = self.target()
        two = self.of_shape(shape, dtype)
        if two is None or not shape:
            one, two = self.element("float64", True), self.element("float64", True)
        self.write(f"swap {one} {two}")

    def write_number(self):
        self.write(f"number {self.draw.choice(self.numbers)} {self.look()}")

    def write_take(self):
        name, shape = self.draw.choice(list(self.taken.items()))
        self.write(f"take {name} {self.of_shape(shape, 'float64') or name}")

    def write_from(self):
        """A variable over an array that was taken, which must not be written."""
        taken, shape = self.draw.choice(list(self.taken.items()))
        self.write(f"let {(name := self.name('a'))} {taken}")
        self.variables[name] = ("float64", shape)

    def write_keep(self):
        """Best so far: a number that must not change when its source does."""
        best, source = self.draw.choice(self.numbers), self.element()
        self.write(f"if < {source} {best}")
        self.write(f"    number {best} {source}")

    def write_index(self):
        name, length = self.draw.choice(list(self.integers.items()))
        self.write(f"index {name} {length} {self.element(self.draw.choice(['int64', None]))}")

    def write_view(self):
        source = self.variable()
        dtype, shape = self.all()[source]
        text = source
        if self.draw.random() < 0.85:
            text, shape = self.part(source, may_fail=False)
        self.write(f"view {(name := self.name('a'))} {text}")
        self.variables[name] = (dtype, shape)

    def write_copy(self):
        source = self.variable()
        text, shape = self.part(source, may_fail=False)
        self.write(f"copy {(name := self.name('a'))} {text}")
        self.variables[name] = (self.all()[source][0], shape)

    def write_detach(self):
        source = self.variable()
        self.write(f"detach {(name := self.name('a'))} {source}")
        self.variables[name] = self.all()[source]

    def write_detached_write(self):
        """A write that gradients do not see, into all or a part."""
        source = self.variable()
        dtype, shape = self.all()[source]
        self.write(f"detach d {source}")
        part = self.part(source)[0] if self.draw.random() < 0.5 else source
        self.write(f"assign {part.replace(source, 'd', 1)} {self.written(dtype, shape)}")

    def write_hidden(self):
        """Values that gradients do not see, in something made of a parameter: they go through."""
        name = self.variable("float64")
        part = self.part(name)[0] if self.draw.random() < 0.5 else name
        parameter = self.part(self.draw.choice(list(self.parameters)), True)[0]
        self.write(f"add {part} * {parameter} squash {self.expression((), 1)}")
        self.write(f"detach d {name}")
        if self.draw.random() < 0.5:
            part = self.part(name)[0]
        self.write(f"assign {part.replace(name, 'd', 1)} {self.expression((), 1)}")
        self.write_backward(name)

    def write_let(self):
        source = self.variable()
        dtype, shape = self.all()[source]
        name = self.name("a")
        self.write(f"copy {name} {source}")
        self.variables[name] = (dtype, shape)
        if dtype == "float64":
            self.write(f"let {name} + {source} {self.expression(shape)}")

    def write_rebind(self):
        name = self.variable()
        if name in self.parameters:
            return self.write_print()
        shape = self.variables[name][1]
        if self.variables[name][0] == "int64":
            self.write(f"let {name} {self.draw.choice(['neg', 'abs'])} {name}")
        else:
            self.write(f"let {name} - {name} {self.expression(shape)}")

    def write_mask(self):
        name = self.variable("float64", written=True) or self.variable("float64")
        shape = self.all()[name][1]
        other = self.expression(shape, 1)
        self.write(f"assign {name} where < {name} {self.number()} {other} {name}")

    def write_print(self):
        self.write(f"print {self.expression(self.all()[self.variable()][1], 1)}")

    def write_wrong(self):
        """An error that changes nothing, and the next line runs."""
        kind, name = self.draw.randrange(4), self.variable()
        if kind == 0:
            self.write(f"assign {name} a1[None,None,:]")
        elif kind == 1:
            self.write(f"print {name}[0,0,0]")
        elif kind == 2:
            self.write(f"number s1 {name}")
        else:
            self.write(f"backward {name}")

    def write_loop(self):
        name, count = self.name("i"), self.draw.randint(2, 4)
        self.write(f"loop {name} {count}")
        self.loops.append((name, count))
        self.block()
        self.loops.pop()

    def write_branch(self):
        self.write(f"if {self.comparison()}")
        self.block()

    def write_repeat(self):
        self.write(f"while {self.draw.randint(2, 4)} {self.comparison()}")
        self.block()

    def write_backward(self, name=None):
        name = name or self.variable("float64")
        other = self.of_shape(self.all()[name][1], "float64")
        parameter = self.draw.choice(list(self.parameters))
        self.write(f"backward + sum * {name} {other or name} sum * {parameter} {self.number()}")

    def write_step(self):
        self.write(f"step {self.draw.choice(list(self.parameters))} 0.125")

    def write_by_hand(self):
        name = self.draw.choice(list(self.parameters))
        self.write(f"assign {name} - {name} * 0.125 grad {name}")

    def write_forget(self):
        self.write(f"forget {self.draw.choice(list(self.parameters))}")


# ----- Running


def run(texts, *fault):
    """What each program prints, all of them in one process. If that died, the last one says so, and
    the programs behind it have not run."""
    given = "".join(f"{text}run\n" for text in texts)
    done = subprocess.run([RUNNER, *fault], input=given, capture_output=True, text=True)
    found, lines = [], iter(done.stdout.splitlines())
    for _ in texts:
        found.append([_entry(line) for line in takewhile(lambda line: line != "end", lines)])
    ended = done.stdout.count("end\n")
    if done.returncode != 0:
        del found[ended + 1 :]
        found[-1] = [*found[-1], f"the process ended with {done.returncode}: {done.stderr}"]
    return found


def _entry(line):
    dtype, _, rest = line.partition(" ")
    if dtype not in ("float64", "int64", "bool"):
        return line
    shape, _, values = rest.partition(" ")
    return dtype, shape, [float(value) for value in values.split()]


def difference(texts, *fault):
    """The number of the first program that prints something else than it should; None."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, texts, *fault)
        expected = [reference.run(text) for text in texts]
        found = running.result()
    for i, text in enumerate(texts[: len(found)]):
        if not same(text, expected[i], found[i]):
            return i
    return None


def shown(text, *fault):
    """The least of a program that differs, and what it prints. A program may differ only after
    others that ran in its process: then it is shown as it is."""

    def differs(text):
        try:
            return difference([text], *fault) is not None
        except (NameError, SyntaxError):
            return False

    if not differs(text):
        return f"after others in its process:\n{text}"
    text = smallest(text, differs, reference.blocks)
    simpler = iter([text])
    while (found := next(simpler, None)) is not None:
        if found == text or differs(found):
            text, simpler = found, _simpler(found)
    return f"{text}expected {reference.run(text)}\nfound    {run([text], *fault)[0]}\n"


def _simpler(text):
    """The texts in which one expression has given way to a part of it."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        words = line.split(" ")
        # A comparison of numbers stays one.
        first = {"print": 1, "backward": 1, "while": 3}.get(line.split()[0], 2)
        for at in range(len(line) - len(line.lstrip()) + first, len(words)):
            end = at + 1
            operands = []
            for _ in range(OPERANDS.get(words[at], 0)):
                operands.append(words[end : (end := _end(words, end))])
            for operand in operands if words[at] != "grad" else ():
                simpler = " ".join(words[:at] + operand + words[end:])
                yield "\n".join([*lines[:i], simpler, *lines[i + 1 :]]) + "\n"


def _end(words, at):
    """Where the expression that begins there ends."""
    end = at + 1
    for _ in range(OPERANDS.get(words[at], 0)):
        end = _end(words, end)
    return end


def same(text, expected, found):
    """Equal; where there are sums or gradients, to 1e-12 of the largest number beside them, or to
    a hundred times what rounding changes: what the reference prints otherwise where its numbers are
    a little off and its sums have another order."""
    if len(expected) != len(found):
        return False
    if "sum" not in text and "parameter" not in text:
        return expected == found
    if all(_close(*pair) for pair in zip(expected, found)):
        return True
    off = reference.run(text, off=True)
    return len(off) == len(expected) and all(map(_close, expected, found, off))


def _close(one, two, off=None):
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    if one[:2] != two[:2] or len(one[2]) != len(two[2]):
        return False
    bound = 1e-12 * max([1.0, *(abs(x) for x in one[2] if math.isfinite(x))])
    if off is not None and off[:2] == one[:2]:
        away = [abs(a - b) for a, b in zip(one[2], off[2])]
        bound = max([bound, *(100 * x for x in away if math.isfinite(x))])
    return all(a == b or (a != a and b != b) or abs(a - b) <= bound for a, b in zip(one[2], two[2]))
