"""What a program of imperative_cpp_programs prints: values by NumPy, whose views write into memory,
gradients by PyTorch in float64, whose operations write into nothing."""

import numpy as np
import torch

# Numbers that differ by less are equal to comparisons and for indices: composit rounds sums in
# another order.
CLOSE = 1e-9
FUNCTIONS = {
    "neg": (np.negative, torch.neg),
    "abs": (np.abs, torch.abs),
    "tanh": (np.tanh, torch.tanh),
    "sum": (np.sum, torch.sum),
    "squash": (lambda x: x / (x * x + 1.0),) * 2,
}
BACKWARDS = {
    **FUNCTIONS,
    "sum": (lambda x: np.sum(x.reshape(-1)[::-1]), lambda x: torch.sum(x.reshape(-1).flip(0))),
}
OPERATORS = {
    "+": (np.add, torch.add),
    "-": (np.subtract, torch.subtract),
    "*": (np.multiply, torch.mul),
    "<": (lambda a, b: a + CLOSE < b, None),
    "min": (np.minimum, torch.minimum),
    "max": (np.maximum, torch.maximum),
}
IN_PLACE = {"add": "+", "subtract": "-", "multiply": "*"}
COMPARISONS = {
    "<": lambda a, b: a + CLOSE < b,
    "<=": lambda a, b: a <= b + CLOSE,
    ">": lambda a, b: a > b + CLOSE,
    ">=": lambda a, b: a + CLOSE >= b,
}


class WithValues(torch.autograd.Function):
    """Values that were written where autograd does not see it: the gradient goes on."""

    @staticmethod
    def forward(ctx, before, values):
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Memory:
    """What views share: NumPy's array, and PyTorch's elements of it where these have a gradient.
    A parameter has a leaf for each time that it was written."""

    def __init__(self, array, is_parameter=False):
        self.array, self.is_parameter = array, is_parameter
        self.elements, self.sources, self.leaves = None, [], []
        self.has_gradient = False
        if is_parameter:
            self.new_leaf()

    def new_leaf(self):
        self.elements = self.flat().requires_grad_()
        self.leaves.append(self.elements)

    def flat(self):
        return torch.from_numpy(self.array.astype("float64").flatten())

    def gradient(self):
        found = sum(leaf.grad for leaf in self.leaves if leaf.grad is not None)
        if isinstance(found, int):
            return np.zeros(self.array.shape)
        return found.numpy().reshape(self.array.shape)


class Place:
    """What a name stands for: a part of a memory."""

    def __init__(self, memory, view, places, is_detached=False):
        self.memory, self.view, self.places = memory, view, places
        self.is_detached = is_detached

    def at(self, index):
        view, places = self.view[(*index, ...)], self.places[(*index, ...)]
        return Place(self.memory, view, places, self.is_detached)

    def read(self):
        elements, memory = None, self.memory
        if memory.elements is not None and not self.is_detached:
            elements = memory.elements[torch.from_numpy(self.places.copy())]
        sources = [memory] * memory.is_parameter + memory.sources
        return Value(self.view.copy(), elements, [] if self.is_detached else sources)

    def write(self, value):
        memory = self.memory
        if value.array.ndim > self.view.ndim:
            raise ValueError("more dimensions than there are")
        array = np.broadcast_to(value.array, self.view.shape)
        before = memory.flat() if memory.elements is None else memory.elements
        self.view[...] = array
        if memory.is_parameter:
            memory.new_leaf()
        elif self.is_detached:
            if memory.elements is not None:
                memory.elements = WithValues.apply(before, memory.flat())
        else:
            memory.sources += [s for s in value.sources if s not in memory.sources]
            has_gradient = memory.elements is not None or value.elements is not None
            if has_gradient and self.view.dtype == "float64":
                written = value.as_tensor().broadcast_to(self.view.shape).reshape(-1)
                places = torch.from_numpy(self.places.flatten())
                memory.elements = before.index_put((places,), written)


class Value:
    """What an expression gives."""

    def __init__(self, array, elements=None, sources=()):
        self.array, self.elements, self.sources = np.asarray(array), elements, sources

    def as_tensor(self):
        if self.elements is not None:
            return self.elements
        is_bool = self.array.dtype == bool
        return torch.from_numpy(self.array.astype("bool" if is_bool else "float64", order="C"))

    def number(self):
        if self.array.size != 1:
            raise ValueError("one element is required")
        return float(self.array.reshape(-1)[0])


def applied(functions, *values):
    of_arrays, of_tensors = functions
    array = of_arrays(*(value.array for value in values))
    elements = None
    if array.dtype == "float64" and any(value.elements is not None for value in values):
        elements = of_tensors(*(value.as_tensor() for value in values))
    return Value(array, elements, [s for value in values for s in value.sources])


class Program:
    """Runs the lines of a program; `printed` is what it prints. `off`: numbers that are no integers
    start off by 1e-15 of themselves, and sums begin at the other end."""

    def __init__(self, off=False):
        self.off, self.functions = off, BACKWARDS if off else FUNCTIONS
        self.places, self.numbers, self.integers, self.taken = {}, {}, {}, {}
        self.printed = []

    def run_block(self, block):
        for words, inner in block:
            try:
                getattr(self, f"run_{words[0]}")(iter(words[1:]), inner)
            except (ValueError, IndexError) as error:
                self.printed.append(type(error).__name__)

    # ----- expressions

    def place(self, text):
        name, bracket, index = text.partition("[")
        if name not in self.places:
            raise NameError(name)
        place = self.places[name]
        return place.at([self.entry(e) for e in index[:-1].split(",")]) if bracket else place

    def entry(self, text):
        if text in self.integers:
            return self.integers[text]
        if ":" in text:
            return slice(*(int(part) if part else None for part in text.split(":")))
        if text == "None":
            return None
        if not text.lstrip("-").isdigit():
            raise NameError(text)
        return int(text)

    def value(self, words):
        word = next(words)
        if word in self.numbers:
            return Value(self.numbers[word])
        if word.split("[")[0] in self.places:
            return self.place(word).read()
        if word in self.taken:
            return Value(self.taken[word].copy())
        if word == "grad":
            memory = self.place(next(words)).memory
            return Value(memory.gradient())
        if word in self.functions:
            return applied(self.functions[word], self.value(words))
        if word in OPERATORS:
            return applied(OPERATORS[word], self.value(words), self.value(words))
        if word == "where":
            parts = [self.value(words) for _ in range(3)]
            return applied((np.where, torch.where), *parts)
        try:
            return Value(float(word))
        except ValueError:
            raise NameError(word) from None

    def holds(self, words):
        comparison = next(words)
        one = self.value(words).number()
        return COMPARISONS[comparison](one, self.value(words).number())

    # ----- statements

    def bind(self, name, array, is_parameter=False):
        numbers = np.arange(array.size).reshape(array.shape)
        self.places[name] = Place(Memory(array, is_parameter), array, numbers)

    def run_array(self, words, _):
        name, dtype, shape = next(words), next(words), next(words)
        lengths = [int(length) for length in shape.split(",")]
        self.bind(name, self.numbers_of(words).astype(dtype).reshape(lengths))

    def run_parameter(self, words, _):
        name, shape = next(words), next(words)
        lengths = [int(length) for length in shape.split(",")]
        self.bind(name, self.numbers_of(words).reshape(lengths), True)

    def numbers_of(self, words):
        numbers = np.array([float(word) for word in words])
        is_integer = numbers == np.round(numbers)
        off = (np.arange(len(numbers)) % 5 - 2) * 2.0**-51
        return np.where(is_integer, numbers, numbers * (1 + off)) if self.off else numbers

    def run_let(self, words, _):
        name, value = next(words), self.value(words)
        self.bind(name, value.array.copy())
        self.places[name].memory.sources = list(dict.fromkeys(value.sources))
        if value.elements is not None:
            self.places[name].memory.elements = value.elements.reshape(-1)

    def run_view(self, words, _):
        name = next(words)
        self.places[name] = self.place(next(words))

    def run_detach(self, words, _):
        name, place = next(words), self.place(next(words))
        self.places[name] = Place(place.memory, place.view, place.places, True)

    def run_copy(self, words, _):
        self.run_let(words, _)

    def run_assign(self, words, _):
        place = self.place(next(words))
        place.write(self.value(words))

    def run_in_place(self, operator, words):
        place = self.place(next(words))
        value = self.value(words)
        place.write(applied(OPERATORS[operator], place.read(), value))

    def run_add(self, words, _):
        self.run_in_place("+", words)

    def run_subtract(self, words, _):
        self.run_in_place("-", words)

    def run_multiply(self, words, _):
        self.run_in_place("*", words)

    def run_swap(self, words, _):
        one, two = self.place(next(words)), self.place(next(words))
        values = one.read(), two.read()
        one.write(values[1])
        two.write(values[0])

    def run_number(self, words, _):
        name = next(words)
        self.numbers[name] = self.value(words).number()

    def run_history(self, words, _):
        pass

    def run_take(self, words, _):
        name = next(words)
        self.taken[name] = self.value(words).array.copy()

    def run_index(self, words, _):
        name, length = next(words), int(next(words))
        self.integers[name] = int((self.value(words).number() + CLOSE) % length)

    def run_print(self, words, _):
        value = self.value(words)
        if value.elements is not None:  # NumPy's views and PyTorch's elements are one program
            assert np.allclose(value.elements.detach().numpy(), value.array, 1e-9, 1e-9)
        shape = "".join(f"{length}," for length in value.array.shape)
        self.printed.append(
            (value.array.dtype.name, shape, value.array.astype(float).reshape(-1).tolist())
        )

    def run_backward(self, words, _):
        value = self.value(words)
        if not value.sources or value.array.size != 1:
            raise ValueError("backward")
        for source in value.sources:
            source.has_gradient = True
        if value.elements is not None and value.elements.requires_grad:
            value.elements.sum().backward(retain_graph=True)

    def run_forget(self, words, _):
        memory = self.place(next(words)).memory
        memory.has_gradient = False
        for leaf in memory.leaves:
            leaf.grad = None

    def run_step(self, words, _):
        place, rate = self.place(next(words)), float(next(words))
        if place.memory.has_gradient:
            place.write(Value(place.view - rate * place.memory.gradient()))

    def run_loop(self, words, block):
        name = next(words)
        for i in range(int(next(words))):
            self.integers[name] = i
            self.run_block(block)

    def run_if(self, words, block):
        if self.holds(words):
            self.run_block(block)

    def run_while(self, words, block):
        words = list(words)
        for _ in range(int(words[0])):
            if not self.holds(iter(words[1:])):
                break
            self.run_block(block)


def blocks(text):
    """The lines of a text as (words, lines of its block). SyntaxError where they do not fit."""
    outer = []
    open_blocks = [outer]
    for line in text.splitlines():
        words = line.split()
        depth = (len(line) - len(line.lstrip())) // 4
        if depth >= len(open_blocks):
            raise SyntaxError(line)
        del open_blocks[depth + 1 :]
        block = []
        open_blocks[-1].append((words, block))
        if words[0] in ("loop", "if", "while"):
            open_blocks.append(block)
    return outer


def run(text, off=False):
    """What the program prints: errors' names, and (dtype, shape, values)."""
    program = Program(off)
    with np.errstate(all="ignore"):
        program.run_block(blocks(text))
    return program.printed
