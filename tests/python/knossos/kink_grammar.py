"""Random kernels of kinks, poles and ends of domains, as text, and numbers that lie there."""

AT = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 4.0]
POLES = [
    "math.sqrt({})", "math.sqrt(max({}, 0.0))", "max({}, 0.0) ** 0.5", "math.cbrt({})",
    "math.acos(min(max({}, -1.0), 1.0))", "math.asin({})",
    "math.sqrt(abs({}))", "abs({}) ** 1.5", "math.atanh(min({}, 0.5))", "math.sqrt(({}) * ({}))",
    "math.hypot({}, {})",
]  # fmt: skip
OTHERS = [
    "({} + {})", "({} - {})", "({} * {})", "({} * {})", "max({}, {})", "min({}, {})", "abs({})",
    "({} if {} > 0.0 else {})", "({} if {} < {} else 0.0)", "math.exp(-abs({}))", "({} * 0.5)",
]  # fmt: skip


def expression(random, names, depth):
    if depth <= 0:
        return str(names[random.integers(len(names))])
    forms = POLES if random.random() < 0.35 else OTHERS
    form = forms[random.integers(len(forms))]
    inner = [expression(random, names, depth - 1) for _ in range(form.count("{}"))]
    return form.format(*inner)


def written(random):
    """A function of x and y."""
    names, lines = ["x", "y"], []
    for i in range(int(random.integers(1, 5))):
        value = expression(random, names, int(random.integers(1, 3)))
        if random.random() < 0.3:
            lines.append(f"    v{i} = 0.0")
            lines.append(f"    if {expression(random, names, 1)} > 0.0:")
            lines.append(f"        v{i} = float({value})")
        else:
            lines.append(f"    v{i} = float({value})")
        names.append(f"v{i}")
    lines.append(f"    return {names[-1]} + {expression(random, names, 1)}")
    return "def kernel(x: float, y: float) -> float:\n" + "\n".join(lines) + "\n"
