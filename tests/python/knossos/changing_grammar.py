"""Random kernels whose loops change arrays after they have read them, with jumps."""

from array_grammar import Writer


class ChangingWriter(Writer):
    """Writes loops that change arrays of their own, by names of an iteration, under conditions
    within conditions, which may leave the iteration, the loop or the kernel."""

    def statement(self):
        if self.depth < 2 and self.random.integers(3):
            self.changing()
        else:
            super().statement()

    def changing(self):
        """An array, and a loop that changes it, or one that stands around such a loop."""
        u = self.new("u")
        first = self.pick(["x.copy()", "x * y", f"np.sin({self.pick(self.arrays)})"])
        self.line(f"{u} = {first}")
        known = list(self.scalars), list(self.arrays), list(self.counters)
        nested = 1 + self.chance(0.4)
        depth = self.depth
        self.arrays.append(u)
        for _ in range(nested):
            self.head(u)
            self.depth += 1
        if self.chance(0.6):
            name = self.new("w")
            self.line(f"{name} = math.tanh({self.value()})")
            self.scalars.append(name)
        for _ in range(1 + self.random.integers(3)):
            self.change(u, 0)
        if nested > 1 and self.chance(0.4):
            self.depth -= 1
            del self.scalars[len(known[0]) :]
            self.counters = known[2]
            self.change(u, 1)
        self.depth = depth
        self.scalars, self.arrays, self.counters = known
        self.arrays.append(u)

    def head(self, u):
        """Its counters, and names for what an iteration is about."""
        i, v = self.new("i"), self.new("v")
        others = [each for each in self.arrays if each != u]
        kind = self.random.integers(5)
        if kind == 0:
            self.line(f"for {v} in {self.pick(others)}:")
            self.scalars.append(v)
        elif kind == 1:
            self.line(f"for {i}, {v} in enumerate({self.pick(others)}):")
            self.scalars.append(v)
            self.counters.append(i)
        elif kind == 2:
            j = self.new("j")
            self.line(f"for {j} in range({self.pick(['len(x)', 'k + 1', '1, len(x)'])}):")
            self.line(f"    {i} = ({j} * 3 + k) % len(x)")
            self.counters.append(i)
        elif kind == 3:
            self.line(f"{i} = 0")
            self.line(f"while {i} < len(x):")
            j = self.new("j")
            self.line(f"    {j} = {i}")
            self.line(f"    {i} += 1")
            self.counters.append(j)
        else:
            rest = self.pick(["len(x)", "len(x) - 1, -1, -1", "0, len(x), 2"])
            self.line(f"for {i} in range({rest}):")
            self.counters.append(i)

    def bound(self):
        """A condition on counters or on what is computed."""
        if self.counters and self.chance(0.5):
            return f"{self.pick(self.counters)} {self.pick(['> 0', '> k', '< 2', '== 1'])}"
        return self.pick([f"k > {self.random.integers(3)}", self.condition(),
                          f"{self.condition()} and k > 0"])  # fmt: skip

    def change(self, u, depth):
        kind = self.random.integers(8)
        if kind == 6:
            self.exchange(u)
            return
        if kind == 7:
            self.leave_or_go_on(u)
            return
        if kind < 3 or depth > 2:
            name = self.pick([u, u, f"{u}[{self.index()}]"]) if kind else self.pick(["a", "b"])
            if name in ("a", "b"):
                self.line(f"{name} = 0.5 * {name} + 0.1 * math.sin({self.value()})")
            elif name == u and self.chance(0.2):
                self.line(f"{u} = np.sin({u}) * {self.pick(self.scalars)} * 0.5")
            else:
                at = f"{u}[{self.index()}]"
                self.line(f"{at} = 0.5 * math.tanh({at} * {self.value()} + {self.value()})")
            return
        self.line(f"if {self.bound()}:")
        self.depth += 1
        if kind == 3:
            jump = self.pick(
                [
                    "continue",
                    "break",
                    "continue",
                    f"return {self.atom()} * a, np.sin({self.pick(self.arrays)})",
                ]
            )
            if self.chance(0.5):
                self.change(u, depth + 1)
            self.line(f"if {self.bound()}:")
            self.line(f"    {jump}")
        else:
            self.change(u, depth + 1)
        self.depth -= 1
        if self.chance(0.4):
            self.line("else:")
            self.depth += 1
            self.change(u, depth + 1)
            self.depth -= 1

    def exchange(self, u):
        """Elements that take each other's place in one statement."""
        first, second = f"{u}[{self.index()}]", f"{u}[{self.index()}]"
        value = self.pick([first, f"{first} * 0.5 + {second}", f"{first} * {self.atom()}"])
        self.line(f"{first}, {second} = {second}, 0.5 * math.tanh({value})")

    def leave_or_go_on(self, u):
        """A number that a branch assigns in a loop or a branch of its own before it jumps, and that
        is assigned anew behind it."""
        name, v = self.pick("ab"), self.new("q")
        self.line(f"if {self.bound()}:")
        if self.chance(0.5):
            self.line(f"    for {v} in {self.pick(self.arrays)}:")
            self.line(f"        {name} = {v} * {self.atom()} * 0.3")
        else:
            self.line(f"    if {self.condition()}:")
            self.line(f"        {name} = 0.3 * math.sin({self.value()})")
            self.line("    else:")
            self.line(f"        {name} = 0.2 * {self.atom()} * {u}[{self.index()}]")
        self.line(f"    {self.pick(['break', 'break', 'continue'])}")
        self.line(f"{name} = 0.1 * {self.atom()} + 0.5 * math.sin({u}[{self.index()}])")
