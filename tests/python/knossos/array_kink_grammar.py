"""Random kernels with arrays of kinks, poles and ends of domains, as text."""

ARRAYS = [
    "np.sqrt(np.maximum({}, 0.0))", "(np.maximum({}, 0.0) ** 0.5)", "(np.abs({}) ** 1.5)",
    "np.arccos(np.clip({}, -1.0, 1.0))", "np.sqrt({} * {})", "np.hypot({}, {})", "np.cbrt({})",
    "({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})",
    "np.abs({})", "np.where({} > 0.0, {}, {})", "np.exp(-np.abs({}))", "({} * s)", "np.sort({})",
    "np.where({} > 0.0, np.sqrt(np.abs({})), 0.5)", "np.cumsum({})", "({})[::-1]",
]  # fmt: skip
NUMBERS = [
    "np.sum({})", "np.max({})", "np.min({})", "np.linalg.norm({})", "np.mean({})", "np.prod({})",
    "math.sqrt(abs({}[0]))", "np.median({})", "(({}) @ ({}))", "np.std({})",
    "math.sqrt(max({}[-1], 0.0))",
]  # fmt: skip
LOOPS = [
    "for i in range(1, len(x)):\n        {v}[i] = max({v}[i - 1] * {a}[i], 0.0)",
    "for i in range(len(x)):\n        if {a}[i] > 0.0:\n            {v}[i] = math.sqrt({a}[i])",
    "for i in range(len(x)):\n        {v}[i] += math.sqrt(abs({a}[i])) * {v}[i]",
    "for i in range(len(x)):\n        t = math.hypot({a}[i], {v}[i])\n        "
    "{v}[i] = {a}[i] / t if t > 0.5 else t",
    "for i in range(len(x)):\n        t = abs({a}[i]) ** 0.5\n        if {v}[i] > 0.0:\n"
    "            {v}[i] = t",
]  # fmt: skip


def expression(random, names, depth):
    if depth <= 0:
        return str(names[random.integers(len(names))])
    form = ARRAYS[random.integers(len(ARRAYS))]
    inner = [expression(random, names, depth - 1) for _ in range(form.count("{}"))]
    return form.format(*inner)


def written(random, name="kernel"):
    """A function of x, y and s: an array and a number."""
    names, lines = ["x", "y"], []
    for i in range(int(random.integers(1, 4))):
        lines.append(f"v{i} = {expression(random, names, int(random.integers(1, 3)))} * 1.0")
        if random.random() < 0.5:
            loop = LOOPS[random.integers(len(LOOPS))]
            lines.append(loop.format(v=f"v{i}", a=expression(random, names, 0)))
        names.append(f"v{i}")
    form = NUMBERS[random.integers(len(NUMBERS))]
    number = form.format(*(expression(random, names, 0) for _ in range(form.count("{}"))))
    lines.append(f"return {expression(random, names[-1:], 1)}, {number} * s")
    head = (
        f'def {name}(x: "Tensor[float, n]", y: "Tensor[float, n]", s: float)'
        ' -> "tuple[Tensor[float, n], float]":\n    '
    )
    return head + "\n    ".join(lines) + "\n"
