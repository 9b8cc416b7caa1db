"""Plain exports that tests compile and run: sources with a main function behind them, which reads
and writes raw files."""

import subprocess

import numpy as np

import composit

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
COMPILERS = {"c": ("gcc", "clang"), "cpp": ("g++", "clang++")}
STANDARD = {"c": "-std=c99", "cpp": "-std=c++17"}
TYPES = {"float32": "float", "float64": "double", "bool": "bool"}


def main_of(name, function, language, inputs, outputs):
    """A main function that calls `function` with the files input_0, …, and writes output_0, …; its
    status is that of the call, or 100 where the selfcheck fails."""

    def array(direction, i, array):
        extents = "".join(f"[{max(n, 1)}]" for n in array.shape) or "[1]"
        kind = TYPES.get(array.dtype.name, f"{array.dtype.name}_t")
        return f"static {kind} {direction}_{i}{extents};\n"

    arrays = [("input", i, each) for i, each in enumerate(inputs)]
    arrays += [("output", i, each) for i, each in enumerate(outputs)]
    scope = f"{name}::" if language == "cpp" else ""
    arguments = ", ".join(
        f"(void *){way}_{i}" if language == "c" else f"{way}_{i}" for way, i, _ in arrays
    )
    lines = [f'#include "{name}.{"h" if language == "c" else "hpp"}"\n#include <stdio.h>\n']
    if language == "c":
        lines.append("#include <stdbool.h>\n")
    lines += [array(*each) for each in arrays]
    lines.append("static void move(const char *name, void *data, size_t bytes, int reads) {\n")
    lines.append('    FILE *file = fopen(name, reads ? "rb" : "wb");\n')
    lines.append("    if (reads) { if (fread(data, 1, bytes, file) != bytes) fclose(file); }\n")
    lines.append("    else fwrite(data, 1, bytes, file);\n    fclose(file);\n}\n")
    lines.append("int main(void) {\n    int status = 0;\n")
    for i, each in enumerate(inputs):
        lines.append(f'    move("input_{i}", input_{i}, {each.nbytes}, 1);\n')
    lines.append(f"    STATUS {scope}{function}({arguments});\n")
    for i, each in enumerate(outputs):
        lines.append(f'    move("output_{i}", output_{i}, {each.nbytes}, 0);\n')
    lines.append(f"    if ({scope}{name}_selfcheck() != 0) return 100;\n    return status;\n}}\n")
    return "".join(lines)


def export(compiled, folder, language, name, strict=False):
    """The header and the source of a plain export."""
    files = composit.export(
        folder, name, [compiled], style="plain", language=language, strict=strict
    )
    header, source = folder / files[0], folder / files[1]
    assert [header.suffix, source.suffix] == ([".h", ".c"] if language == "c" else [".hpp", ".cpp"])
    return header, source


def build(folder, name, function, language, compiler, inputs, outputs, flags=("-O2",), more=()):
    """A program of the export in the folder, compiled without a warning, also of those `more`."""
    source = f"{name}.{language}"
    can_fault = f"int {function}(" in (folder / source).read_text()
    main = main_of(name, function, language, inputs, outputs)
    main = main.replace("STATUS ", "status = " if can_fault else "")
    (folder / f"main.{language}").write_text(main)
    out = folder / f"run_{compiler}".replace("+", "x")
    object_file = folder / "plain.o"
    common = [compiler, STANDARD[language], *flags]
    subprocess.run([*common, *WARNINGS, *more, "-ffreestanding", "-c", source, "-o", object_file],
                   cwd=folder, check=True, timeout=100)  # fmt: skip
    subprocess.run([*common, f"main.{language}", object_file, "-o", out], cwd=folder, check=True)
    return out


def run(program, folder, inputs, outputs, emulator=()):
    """The status, and the results."""
    for i, each in enumerate(inputs):
        np.ascontiguousarray(each).tofile(folder / f"input_{i}")
    status = subprocess.run([*emulator, program], cwd=folder, timeout=100).returncode
    found = [
        np.fromfile(folder / f"output_{i}", each.dtype).reshape(each.shape)
        for i, each in enumerate(outputs)
    ]
    return status, found


def leaves(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def same_bits(one, other):
    if one.dtype.kind == "f":  # the sign of a NaN is the processor's
        nan = np.isnan(one) & np.isnan(other)
        one, other = np.where(nan, 0, one), np.where(nan, 0, other)
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def check(function, arguments, folder, language, compiler, flags=("-O2",), emulator=(), more=None):
    """Exports, builds and runs, and compares the results with the interpreter's. Returns the text
    of the source. With `more` warnings the export is strict."""
    compiled = composit.compile(function, *arguments, name="run", backend="interpreter")
    expected, inputs = leaves(compiled(*arguments)), leaves(list(arguments))
    _, source = export(compiled, folder, language, "model", strict=more is not None)
    program = build(folder, "model", "run", language, compiler, inputs, expected, flags, more or ())
    status, found = run(program, folder, inputs, expected, emulator)
    assert status == 0, status
    for i, (one, other) in enumerate(zip(found, expected)):
        assert same_bits(one, other), (i, one, other)
    return source.read_text()
