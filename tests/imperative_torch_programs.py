"""Random imperative programs of PyTorch's API: leaves, results and plain tensors that are written
in place, through views, `.data`, `detach` and under `no_grad`; hooks, optimisers, backward at any
time. A program is text, which runs under any module that is called `t`; its logs are compared."""

import contextlib
import functools
import itertools
import math
import operator

import torch
from imperative_programs import Text

import composit.torch as ours

# What both libraries say of a program that they refuse, by its beginning.
REFUSALS = {
    "one of the variables needed for gradient": "changed",
    "a leaf Variable that requires grad": "leaf",
    "a view of a leaf Variable": "leaf view",
    "Trying to backward through the graph a second": "freed",
    "element 0 of tensors does not require grad": "no grad",
    "One of the differentiated Tensors": "unused",
    "Output ": "view of several",
}


class Writer(Text):
    """Writes one program of PyTorch's API."""

    def __init__(self, seed, counts=None):
        super().__init__(seed, counts)
        self.leaves, self.tensors, self.optimizers = {}, {}, []  # names and shapes
        self.leaf_views = set()

    def program(self, statements=10):
        for shape in ((3,), (2, 3)):
            self.new_leaf(shape)
            self.new_tensor(shape)
        for _ in range(statements):
            self.statement()
        self.write_backward()
        for name in self.leaves:
            self.write(f"log({name}, {name}.grad)")
        for name in self.tensors:
            self.write(f"log({name})")
        return "\n".join(self.lines) + "\n"

    # ----- names

    def values(self, shape):
        if not shape:
            return self.draw.randint(-4, 4) / 2
        return [self.values(shape[1:]) for _ in range(shape[0])]

    def new_leaf(self, shape):
        name = self.name("w")
        self.write(f"{name} = t.tensor({self.values(shape)}).requires_grad_()")
        self.leaves[name] = shape
        return name

    def new_tensor(self, shape):
        name = self.name("x")
        self.write(f"{name} = t.tensor({self.values(shape)})")
        self.tensors[name] = shape
        return name

    # ----- pieces

    def leaf(self):
        return self.draw.choice(list(self.leaves))

    def tensor(self, shape=None):
        """Some tensor, of that shape if one is given."""
        every = {**self.leaves, **self.tensors}
        names = [name for name, its in every.items() if shape in (None, its)]
        return self.draw.choice(names) if names else f"t.full({shape}, {self.number()})"

    def written(self):
        return self.draw.choice(list(self.tensors))

    def shape(self, name):
        return self.leaves.get(name) or self.tensors[name]

    def number(self):
        return self.draw.choice([-1.0, -0.5, 0.25, 0.5, 2.0])

    def like(self, shape, depth=1):
        """An expression of that shape, or a number."""
        choice = self.draw.randrange(5)
        if choice == 0 or depth < 0:
            return str(self.number())
        name = self.tensor(shape)
        if choice < 3 or depth == 0:
            return name
        if choice == 3:
            return self.draw.choice(
                ["t.tanh({0}.clamp(-2, 2))", "-{0}", "{0}.abs()", "{0}.clamp(-2, 2).exp() * 0.1"]
            ).format(name)
        return f"({name} {self.draw.choice(['+', '-', '*'])} {self.like(shape, depth - 1)})"

    def view(self, shape):
        """What follows a tensor to make a view of it, and the view's shape."""
        if len(shape) == 1:
            choices = [
                ("[1:]", (shape[0] - 1,)),
                ("[0]", ()),
                ("[::2]", ((shape[0] + 1) // 2,)),
                (".view(-1, 1)", (shape[0], 1)),
                (".unbind()[-1]", ()),
                ("[:][::2]", ((shape[0] + 1) // 2,)),
                ("[:]", shape),
            ]
            if shape[0] > 1:
                choices += [(".unfold(0, 2, 2)[0]", (2,)), ("[1:][-1]", ())]
            return self.draw.choice(choices)  # fmt: skip
        rows, columns = shape
        return self.draw.choice(
            [("[0]", (columns,)), ("[:, -1]", (rows,)), (".t()", (columns, rows)),
             (".diagonal()", (min(shape),)), (".reshape(-1)", (rows * columns,)),
             ("[1:, ::2]", (rows - 1, (columns + 1) // 2)), (".reshape(-1)[1:]",
             (rows * columns - 1,)), (".t()[-1]", (rows,)), (".narrow(1, 0, 1)", (rows, 1)),
             ("[-1][-1]", ()), ("[0][-1:]", (1,)), (".view(-1)[::2]", ((rows * columns + 1) // 2,))]
        )  # fmt: skip

    def update(self, target, shape):
        """A statement that writes into the target, which may be an expression."""
        kind = self.draw.randrange(5)
        if kind == 0:
            return f"{target}.mul_({self.like(shape, 0)})"
        if kind == 1:
            return f"{target}.add_({self.like(shape, 0)}, alpha=0.5)"
        if kind == 2:
            return f"{target}.copy_({self.tensor(shape)})"
        if kind == 3:
            return f"{target}.clamp_(-1.5, 1.5)"
        return f"{target}.fill_({self.number()})"

    # ----- statements

    def statement(self):
        kinds = [
            "result", "result", "result", "view", "write", "write", "item", "view_write",
            "augmented", "no_grad", "no_grad", "data", "data",
            "detach", "assign_data", "backward", "grad",
            "zero", "optimizer", "step", "look", "branch", "loop", "hook", "clone", "rebind", "out",
            "shared_leaf",
        ]  # fmt: skip
        if self.depth >= 2:
            kinds = [kind for kind in kinds if kind not in ("loop", "branch")]
        if self.depth:  # names that are made here may not exist later
            kinds = [
                kind for kind in kinds if kind not in ("view", "clone", "optimizer", "shared_leaf")
            ]
        kind = self.draw.choice(kinds)
        self.count(kind)
        getattr(self, f"write_{kind}")()

    def write_result(self):
        source = self.tensor()
        shape = self.shape(source)
        name = self.written() if self.depth else self.name("x")
        if self.depth:
            shape, source = self.tensors[name], self.tensor(self.tensors[name])
        operator = self.draw.choice(["+", "-", "*"])
        self.write(f"{name} = {source} {operator} {self.like(shape)}")
        self.tensors[name] = shape

    def write_rebind(self):
        name = self.written()
        text = self.draw.choice(
            ["{0} * 0.5", "t.tanh({0}.clamp(-2, 2))", "{0} - {0}.mean() * 0.5", "{0}.detach()"]
        )
        self.write(f"{name} = {text.format(name)}")

    def write_view(self):
        source = self.tensor()
        text, shape = self.view(self.shape(source))
        # PyTorch gives views of leaves that are views no gradient once their memory was written.
        if len(shape) not in (1, 2) or 0 in shape or source in self.leaf_views:
            return self.write_look()
        name = self.name("x")
        self.write(f"{name} = {source}{text}")
        self.tensors[name] = shape

    def write_clone(self):
        source = self.tensor()
        text = self.draw.choice([".clone()", ".detach().clone()", ".contiguous()", ".detach()"])
        name = self.name("x")
        self.write(f"{name} = {source}{text}")
        self.tensors[name] = self.shape(source)

    def write_shared_leaf(self):
        """A leaf in memory that others see."""
        source = self.tensor()
        text, shape = self.view(self.shape(source))
        if len(shape) not in (1, 2) or 0 in shape or self.draw.random() < 0.5:
            text, shape = "", self.shape(source)
        name = self.name("w")
        made = self.draw.choice(
            ["{0}.detach(){1}.requires_grad_()", "{0}{1}.detach().requires_grad_()",
             "t.nn.Parameter({0}.detach(){1})", "t.nn.Parameter({0}{1})"]
        )  # fmt: skip
        self.write(f"{name} = {made.format(source, text)}")
        self.leaves[name] = shape
        if text and made.endswith("{1}.requires_grad_()"):
            self.leaf_views.add(name)

    def write_write(self):
        name = self.written()
        self.write(self.update(name, self.tensors[name]))

    def write_augmented(self):
        name = self.written()
        operator = self.draw.choice(["+=", "-=", "*="])
        self.write(f"{name} {operator} {self.like(self.tensors[name], 0)}")

    def write_item(self):
        name = self.written()
        value = self.draw.choice([str(self.number()), f"{self.tensor()}.sum() * 0.1"])
        index = "0" if len(self.tensors[name]) == 1 else self.draw.choice(["0, -1", "-1, 0", "0"])
        self.write(f"{name}[{index}] = {value}")

    def write_view_write(self):
        name = self.written()
        text, shape = self.view(self.tensors[name])
        if 0 in shape:
            text, shape = "", self.tensors[name]
        self.write(self.update(f"{name}{text}", shape))

    def write_no_grad(self):
        self.write("with t.no_grad():")
        self.depth += 1
        name = self.tensor()
        kind = self.draw.randrange(4)
        if kind == 0 and name in self.leaves:
            self.write(f"if {name}.grad is not None: {name} -= 0.1 * {name}.grad")
        elif kind == 1:
            text, shape = self.view(self.shape(name))
            if 0 in shape:
                text, shape = "", self.shape(name)
            self.write(self.update(f"{name}{text}", shape))
        else:
            self.write(self.update(name, self.shape(name)))
        self.depth -= 1

    def write_data(self):
        name = self.tensor()
        text, shape = self.view(self.shape(name))
        if 0 in shape or self.draw.random() < 0.5:
            text, shape = "", self.shape(name)
        self.write(self.update(f"{name}.data{text}", shape))

    def write_detach(self):
        name = self.tensor()
        self.write(
            self.update(f"{name}.detach()", self.shape(name)).replace("copy_(", "sub_(0.5 * ")
        )

    def write_assign_data(self):
        name = self.leaf()
        text = self.draw.choice(["{0}.detach() * 0.5", "{0}.detach() * 0.5", "{0}.detach()", "{0}"])
        self.write(f"{name}.data = {text.format(self.tensor(self.leaves[name]))}")

    def write_out(self):
        name = self.written()
        one = self.tensor(self.tensors[name])
        self.write(f"if not ({name}.requires_grad or {one}.requires_grad):")
        self.write(f"    t.add({one}, {self.number()}, out={name})")

    def write_backward(self):
        parts = " + ".join(
            f"({self.tensor()} * {self.number()}).sum()" for _ in range(self.draw.randint(1, 3))
        )
        self.write(f"loss = {parts} + ({self.leaf()} ** 2).sum() * 0.1")
        self.write("if loss.requires_grad: loss.backward(retain_graph=True)")

    def write_grad(self):
        name, leaf = self.tensor(), self.leaf()
        self.write(f"if {name}.requires_grad:")
        self.write(f"    log(t.autograd.grad({name}.sum() + {leaf}.sum(), {leaf}, "
                   "retain_graph=True)[0])")  # fmt: skip

    def write_zero(self):
        self.write(f"{self.leaf()}.grad = None")

    def write_optimizer(self):
        name = self.name("o")
        options = self.draw.choice(["", ", momentum=0.5", ", weight_decay=0.1"])
        self.write(f"{name} = t.optim.SGD([{self.leaf()}], 0.1{options})")
        self.optimizers.append(name)

    def write_step(self):
        if not self.optimizers:
            return self.write_backward()
        name = self.draw.choice(self.optimizers)
        self.write(f"{name}.step()" if self.draw.random() < 0.7 else f"{name}.zero_grad()")

    def write_look(self):
        self.write(f"log({self.tensor()}.sum().item())")

    def write_branch(self):
        # Between the sums that these numbers have exactly, so that rounding decides nothing.
        self.write(f"if {self.tensor()}.sum() > {self.number() + 0.0137}:")
        self.block()

    def write_loop(self):
        self.write(f"for i in range({self.draw.randint(2, 3)}):")
        self.block()

    def write_hook(self):
        name, factor = self.leaf(), self.number()  # PyTorch dies of some views' hooks
        self.write(f"{name}.register_hook(lambda g: g * {factor})")


def same(expected, found, close):
    """Whether a run is PyTorch's, by `close` of what was logged. PyTorch refuses some views of what
    has a gradient now, as leaves, depending on whether their grad_fn was looked at: those do not
    count. Neither does what follows a write that changes its own operand ("undefined"). Once
    PyTorch's gradients are NaN for inf * 0, ours may be numbers (docs/semantics.md 29): what
    follows the first value that is not finite does not count either."""
    overflow = next((k for k, value in enumerate(expected) if not is_finite(value)), None)
    if overflow is not None and expected != found:
        return close(expected[:overflow], found[:overflow])
    if expected and expected[-1] in ("leaf", "undefined") and expected != found:
        return close(expected[:-1], found[: len(expected) - 1])
    return close(expected, found)


def is_finite(value):
    """Whether all numbers of what was logged are finite; errors are."""
    if isinstance(value, list):
        return all(is_finite(part) for part in value)
    return not isinstance(value, float) or math.isfinite(value)


def differ(text, close):
    """Whether a program's run differs from PyTorch's, by `close` with a tolerance: 1e-6 in float32.
    Sums that cancel show how they were rounded: 1e-4 is enough where float64 agrees to 1e-8."""

    def is_same(dtype, tolerance):
        for t in (torch, ours):
            t.set_default_dtype(getattr(t, dtype))
        try:
            expected, found = (run(text, t) for t in (torch, ours))
        finally:
            for t in (torch, ours):
                t.set_default_dtype(t.float32)
        return same(expected, found, functools.partial(close, tolerance=tolerance))

    return not (is_same("float32", 1e-6) or (is_same("float32", 1e-4) and is_same("float64", 1e-8)))


class Undefined(Exception):
    """What a write gives depends on the order in which its elements are written, or a gradient is
    laid into memory by the places of other memory."""


class defined_writes(torch.overrides.TorchFunctionMode):
    """Undefined where PyTorch writes elements that an operand has at other positions: it refuses
    that where it is cheap to find out, and else reads some of them before and some after."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        target = kwargs.get("out")
        is_in_place = (name.endswith("_") and not name.startswith("__")) or name.startswith("__i")
        if target is None and args and is_in_place:
            target = args[0]
        if isinstance(target, torch.Tensor):
            for other in args:
                if isinstance(other, torch.Tensor) and _overlaps_elsewhere(target, other):
                    raise Undefined
        result = function(*args, **kwargs)
        # Only where gradients are recorded: PyTorch refuses to tell the `grad_fn` of some views
        # that `no_grad` made, and what it refuses here the program does not ask.
        is_recorded = torch.is_grad_enabled() and getattr(result, "requires_grad", False)
        if is_recorded and any(map(_is_left_elsewhere, args)):
            raise Undefined
        return result


def _is_left_elsewhere(x):
    """Whether x is a view of memory that its leaf has left and that was written since: PyTorch
    gives x's gradient to the places that x has there, counted in the leaf's new memory."""
    base = getattr(x, "_base", None)
    if base is None or base.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
        return False
    return x.grad_fn is not None and "AsStrided" in x.grad_fn.name()


def _overlaps_elsewhere(target, other):
    if target.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return False
    seen = [(x.storage_offset(), x.shape, x.stride()) for x in (target, other)]
    if seen[0] == seen[1] or all(map(_is_dense, (target, other))):
        return False
    places = [
        {start + sum(map(operator.mul, at, steps)) for at in itertools.product(*map(range, shape))}
        for start, shape, steps in seen
    ]
    return not places[0].isdisjoint(places[1])


def _is_dense(x):
    """Whether its elements fill their memory, each place once: PyTorch compares such places."""
    length = 1
    for step, size in sorted(zip(x.stride(), x.shape)):
        if size > 1 and step != length:
            return False
        length *= size
    return True


def run(text, t):
    """What the program logs, as plain lists and numbers; the error that ended it is the last."""
    logged = []

    def log(*values):
        for value in values:
            logged.append(value.tolist() if hasattr(value, "tolist") else value)

    try:
        with defined_writes() if t is torch else contextlib.nullcontext():
            exec(compile(text, "<program>", "exec"), {"t": t, "log": log})
    except Undefined:
        logged.append("undefined")
    except RuntimeError as error:
        said = str(error).split(" [<")[0]
        logged.append(
            next((what for text, what in REFUSALS.items() if said.startswith(text)), said)
        )
    return logged
