"""Runs the test modules that NumPy ships, with composit.numpy in NumPy's place.

Of each module a copy is run whose `import numpy as np` and `from numpy import …` read from
composit.numpy what it has, from NumPy what it lacks (types, exceptions, printing). `--write` puts
the counts, and why tests fail, into docs/numpy-own-tests.md.
"""

import argparse
import ast
import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/numpy-own-tests.md"
MODULES = (
    "_core/tests/test_numeric.py",
    "_core/tests/test_umath.py",
    "_core/tests/test_indexing.py",
    "_core/tests/test_multiarray.py",
    "lib/tests/test_function_base.py",
    "lib/tests/test_shape_base.py",
    "lib/tests/test_arraysetops.py",
    "linalg/tests/test_linalg.py",
    "fft/tests/test_helper.py",
    "fft/tests/test_pocketfft.py",
)


@dataclass(frozen=True)
class LeftOut:
    """A kind of test that does not count where it fails: what marks the failure, and why."""

    kind: str
    why: str
    message: str = "(?!)"  # what the failure says, …
    statement: str = "(?!)"  # … the statement of the test that failed …
    name: str = "(?!)"  # … or its name


LEFT_OUT = (
    LeftOut(
        "refused dtypes",
        "objects, records, texts, times and long doubles are no dtypes of composit",
        r"dtype (object|void\d*|str\d*|bytes\d*|datetime64\S*|timedelta64\S*|float128|complex256"
        r"|rational|StringDType\d*) is not supported"
        r"|dtype=(object|'<U\d+'|'\|S\d+'|'datetime64|'timedelta64)"
        r"| is Fraction\(|'decimal\.Decimal'",
        r"\bobject\b|longdouble|datetime64|timedelta64|np\.(void|str_|bytes_)\b",
    ),
    LeftOut(
        "subclasses of ndarray",
        "a tensor has one class; matrices and masked arrays are subclasses",
        r"view: type=<class .* is not supported|(?!composit)\S+\.my\w+: no constructor",
        r"\bsubok\b|np\.(as)?matrix\b|\bma\.|masked|[Ss]ub_?[Cc]lass",
        r"[Mm]asked|[Ss]ub_?(class|type)",
    ),
    LeftOut(
        "memory",
        "a lazy tensor has no memory: no strides, byte order, owner, address, count of references",
        statement=r"\.(flags|strides|base|data|ctypes|setflags|__array_(interface|struct)__)\b"
        r"|\b(isnative|newbyteorder)\b"
        r"|\b(memoryview|(may_share|shares)_memory|getrefcount|weakref|nditer)\b|\bgc\.",
    ),
    LeftOut(
        "printing",
        "tensors print as NumPy's arrays do, by NumPy's own functions, which are not composit's",
        statement=r"array2string|printoptions",
    ),
    LeftOut("files", "tensors are written by NumPy", statement=r"to_?file|from_?file|pickle"),
)
# Why the others fail, by what the failure, the statement or (here) the class's name says.
REASONS = (
    LeftOut("", "signatures as NumPy's C functions describe themselves", name=r"TextSignatures"),
    LeftOut(
        "",
        "errors and warnings of values come with the values: the test evaluates later, or never",
        r"DID NOT WARN|FloatingPointError not raised",
        r"len\((w|r)\)",
    ),
    LeftOut(
        "",
        "a result without dimensions is a tensor: NumPy's scalar would need its value",
        statement=r"isscalar|isinstance\(.*np\.(int_|float64)|is np\.False_|\[0\] is a1"
        r"|(?<![a-z_])type\(",
    ),
    LeftOut(
        "",
        "`__array_wrap__`, `__array_priority__` and `__array_interface__` of other objects are not "
        "asked for: `__array__` alone is, and `__array_ufunc__` by ufuncs",
        r"object __array__ method|(argument|object|args|fill_value) is \(?<(test_|memory)|Coerced"
        r"|must be of ArrayType",
        r"\bf\(x, a\)",
    ),
    LeftOut("", "ufuncs made elsewhere take evaluated arrays", r"vectorized|always_error|Ufunc"),
    LeftOut(
        "",
        "a tensor has no buffer, size in memory, layout or byte order of its own",
        r"__init__: arguments of types|resize: cannot resize",
        r"getsizeof|newbyteorder|order=|\.format, '>|frombuffer|copy=|dot, f, v, r\.T|\.resize",
    ),
    LeftOut("", "tensors are hashed by what they are (semantics.md)", name="TestHashing"),
    LeftOut("", "it can always be written", name="TestFlags|TestPutmask"),
    LeftOut("", "dtypes or objects that are refused", r"An array of booleans, integers, floats"),
    LeftOut("", "another text of the same error", r"does not match|Regex pattern did not match"),
)
C_TESTS = LeftOut(
    "functions in C for tests",
    "they take NumPy's arrays for granted, and may end the process: not run",
)

PROXY = '''"""composit.numpy, with NumPy's own names where it has none."""
import functools, sys, types
import numpy, composit.numpy, composit

class Proxy(types.ModuleType):
    def __init__(self, name, ours, theirs):
        super().__init__(name)
        self.__dict__.update(_ours=ours, _theirs=theirs)

    def __getattr__(self, name):
        if name == "ndarray":
            return composit.numpy.LazyTensor
        theirs = getattr(self._theirs, name)
        ours = getattr(self._ours, name, None) if self._ours is not None else None
        if isinstance(theirs, types.ModuleType):
            inner = ours if isinstance(ours, types.ModuleType) else None
            return proxy(f"{self.__name__}.{name}", inner, theirs) if inner else theirs
        if isinstance(ours, types.FunctionType):  # no method where a class holds it
            if ours not in _partials:
                _partials[ours] = functools.update_wrapper(functools.partial(ours), ours)
            ours = _partials[ours]
        if name == "default_rng":
            return lambda *seed, **named: Draws(theirs(*seed, **named))
        return theirs if ours is None else ours

class Draws:
    """A generator of NumPy's, which draws tensors."""
    def __init__(self, generator):
        self._generator = generator

    def __getattr__(self, name):
        value = getattr(self._generator, name)
        return functools.partial(_drawn, value) if callable(value) else value

def _drawn(function, *args, **options):
    made = function(*args, **options)
    return composit.numpy.asarray(made) if isinstance(made, numpy.ndarray) else made

_partials = {}

_made = {}
def proxy(name, ours, theirs):
    if name not in _made:
        _made[name] = Proxy(name, ours, theirs)
    return _made[name]

import composit.numpy.testing, numpy.testing
np = proxy("np", composit.numpy, numpy)
linalg = np.linalg
fft = np.fft
'''


# A test that takes long is one that fails. Of a failure, the test's own statement is noted.
CONFTEST = """
import ast
import functools
import inspect
import re
import signal
from pathlib import Path
import pytest

@functools.cache
def _source(function):
    try:
        return inspect.getsource(function)
    except OSError:
        return ""

def pytest_collection_modifyitems(items):
    for item in items:
        if re.search("_multiarray_tests|array_indexing|lapack_lite", _source(item.function)):
            item.add_marker(pytest.mark.skip(reason="left out: @C_TESTS@"))

@functools.cache
def _spans(path):
    nodes = (n for n in ast.walk(ast.parse(Path(path).read_text())) if isinstance(n, ast.stmt))
    ends = ((n, n.body[0].lineno - 1 if hasattr(n, "body") else n.end_lineno) for n in nodes)
    return [(max(n.lineno, end) - n.lineno, n.lineno, max(n.lineno, end)) for n, end in ends]

def _statement(path, line):
    around = [s for s in _spans(path) if s[1] <= line <= s[2]]
    if not around:  # a decorator
        return ""
    _, first, last = min(around)
    return " ".join(Path(path).read_text().splitlines()[first - 1 : last])

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    def stop(*_):
        raise TimeoutError("stopped after 20 s")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.excinfo is None or not report.failed:
        return
    for entry in reversed(call.excinfo.traceback):
        if str(entry.path) == str(item.path):
            statement = _statement(str(item.path), entry.lineno + 1)
            item.user_properties.append(("statement", statement))
            break
""".replace("@C_TESTS@", C_TESTS.kind)


def swapped(source: str) -> str:
    """The module with NumPy's main, linalg and fft namespaces taken from the proxy."""
    tree = ast.parse(source)
    namespaces = {
        "numpy": "",
        "numpy.linalg": ".linalg",
        "numpy.fft": ".fft",
        "numpy.testing": ".testing",
    }
    lines = source.splitlines()
    for node in ast.walk(tree):
        new = None
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Import) and [a.name for a in node.names] == ["numpy"]:
            new = [f"from _proxy import np as {node.names[0].asname or 'numpy'}"]
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module in namespaces:
            module = "np" + namespaces[node.module]
            new = ["from _proxy import np as _np"]
            for alias in node.names:
                whole = f"_np{module[2:]}.{alias.name}"
                new.append(f"{alias.asname or alias.name} = {whole}")
        if new is not None:
            indent = " " * node.col_offset
            lines[node.lineno - 1] = indent + "; ".join(new)
            for line in range(node.lineno, node.end_lineno or node.lineno):
                lines[line] = ""
    return "\n".join(lines) + "\n"


def without(source: str, line: int) -> tuple[str, str]:
    """The module without the innermost function, class or statement around a line, and its name."""
    best: ast.stmt | None = None
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)])
        inside = first <= line <= (node.end_lineno or first)
        if inside and (best is None or isinstance(node, (ast.FunctionDef, ast.ClassDef))):
            best = node
    if best is None:
        raise ValueError(f"nothing is at line {line}")
    first = min([best.lineno, *(d.lineno for d in getattr(best, "decorator_list", []))])
    lines = source.splitlines()
    indent = " " * best.col_offset
    lines[first - 1 : best.end_lineno] = [indent + "pass"] + [""] * (
        (best.end_lineno or first) - first
    )
    return "\n".join(lines) + "\n", getattr(best, "name", f"line {first}")


def importable(path: Path, environment: dict[str, str]) -> dict[str, str]:
    """Takes out of the module at `path` what stops it from being imported; names and reasons."""
    lost: dict[str, str] = {}
    for _ in range(60):
        command = [sys.executable, "-c", f"import {path.stem}"]
        done = subprocess.run(
            command, cwd=path.parent, env=environment, capture_output=True, text=True
        )
        if done.returncode == 0:
            break
        at = re.findall(rf'{path.name}", line (\d+)', done.stderr)
        if not at:
            break
        text, name = without(path.read_text(), int(at[0 if len(at) == 1 else -1]))
        path.write_text(text)
        lost[name] = done.stderr.strip().rpartition("\n")[2]
    return lost


@dataclass
class Outcome:
    """What became of a module's tests; `reasons` counts first lines of messages by class."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    others: collections.Counter = field(default_factory=collections.Counter)
    classes: collections.Counter = field(default_factory=collections.Counter)
    reasons: dict = field(default_factory=lambda: collections.defaultdict(collections.Counter))
    stopped: str = ""

    @property
    def rate(self) -> float:
        return self.passed / max(1, self.passed + self.failed)


def reason_of(message: str, statement: str, name: str) -> str:
    """Why a test that counts fails; empty where nobody wrote it down."""
    for reason in REASONS:
        marks = (reason.message, message), (reason.statement, statement), (reason.name, name)
        if any(re.search(pattern, text) for pattern, text in marks):
            return reason.why
    return ""


def left_out(message: str, statement: str, name: str) -> str:
    """The kind of failure that does not count; empty where it does."""
    for group in LEFT_OUT:
        marks = (group.message, message), (group.statement, statement), (group.name, name)
        if any(re.search(pattern, text) for pattern, text in marks):
            return group.kind
    return ""


def run(module: str, jobs: int, seconds: int) -> Outcome:
    source = Path(numpy.__file__).parent / module
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "_proxy.py").write_text(PROXY)
        (here / source.name).write_text(swapped(source.read_text()))
        (here / "conftest.py").write_text(CONFTEST)
        (here / "pytest.ini").write_text(
            "[pytest]\nmarkers =\n    slow\n    xslow\n    leaks_references\n    parametrize\n"
            "    thread_unsafe\n    filterwarnings\n"
        )
        report = here / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
        command += [f"-n{jobs}", "--tb=line", f"--junitxml={report}", source.name]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, *sys.path[1:]])}
        outcome = Outcome()
        for name, reason in importable(here / source.name, environment).items():
            add_failure(outcome, name, name, reason)
        process = subprocess.Popen(
            command,
            cwd=here,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that workers can be stopped, too
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            outcome.stopped = f"stopped after {seconds} s"
        if not report.exists():
            outcome.stopped = outcome.stopped or "no report: the module cannot be imported"
            return outcome
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            count(outcome, case)
    return outcome


def count(outcome: Outcome, case: xml.etree.ElementTree.Element) -> None:
    group = case.get("classname", "").rpartition(".")[2]
    skipped = case.find("skipped")
    if skipped is not None:
        message = skipped.get("message") or ""
        kind = message.removeprefix("left out: ")
        if kind != message:
            outcome.others[kind] += 1
        else:
            outcome.skipped += 1
        return
    failures = [found for kind in ("failure", "error") if (found := case.find(kind)) is not None]
    if not failures:
        outcome.passed += 1
        return
    message = failures[0].get("message") or ""
    if message == "collection failure":
        message = (failures[0].text or "").strip().rpartition("\n")[2]
    noted = (p.get("value") for p in case.iter("property") if p.get("name") == "statement")
    add_failure(outcome, group, case.get("name", ""), message, next(noted, None) or "")


def add_failure(outcome: Outcome, group: str, name: str, message: str, statement: str = "") -> None:
    if kind := left_out(message, statement, name):
        outcome.others[kind] += 1
        return
    outcome.failed += 1
    outcome.classes[group] += 1
    why = reason_of(message, statement, group)
    if not why:  # what the failure says
        first = re.sub(r"0x[0-9a-f]+|\d+", "N", message.strip().partition("\n")[0])[:80]
        why = f"`{statement.strip()[:100]}`: {first}" if statement else first
    outcome.reasons[group][why] += 1


def page(outcomes: dict[str, Outcome]) -> str:
    """docs/numpy-own-tests.md."""
    lines = [
        "# NumPy's own tests",
        "",
        f"What `numpys_own_tests.py --write` found with NumPy {numpy.__version__}: test modules",
        "that NumPy installs, run with `composit.numpy` in NumPy's place. *Left out* are tests",
        "that fail for a reason that is not about functions of arrays of numbers, by what the",
        "failure, the statement that failed or (of subclasses) the test's name says:",
        "",
        "| left out | tests | reason |",
        "|---|---:|---|",
    ]
    for group in (*LEFT_OUT, C_TESTS):
        count = sum(o.others[group.kind] for o in outcomes.values())
        lines.append(f"| {group.kind} | {count} | {group.why} |")
    lines += [
        "",
        "| module | run | passed | rate | left out | skipped |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for module, o in outcomes.items():
        ran = o.passed + o.failed
        rate = o.stopped or f"{100 * o.rate:.1f} %"
        others = sum(o.others.values())
        lines.append(f"| {module} | {ran} | {o.passed} | {rate} | {others} | {o.skipped} |")
    passed = sum(o.passed for o in outcomes.values())
    ran = passed + sum(o.failed for o in outcomes.values())
    lines.append(f"| **all** | {ran} | {passed} | {100 * passed / max(1, ran):.1f} % | | |")
    lines += ["", "## Why classes fail", ""]
    for module, o in outcomes.items():
        if not o.classes:
            continue
        lines += [
            f"### {module}",
            "",
            "| class | failures | why |",
            "|---|---:|---|",
        ]
        for group, failures in o.classes.most_common():
            whys = [
                f"{count}: {why}" if count < failures else why
                for why, count in o.reasons[group].most_common()
            ]
            lines.append(
                f"| {group} | {failures} | {'; '.join(whys).replace('|', chr(92) + '|')} |"
            )
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="parts of names of modules; all without any")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=600, help="for each module")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    outcomes = {}
    for module in MODULES:
        if not arguments.modules or any(part in module for part in arguments.modules):
            outcomes[module] = o = run(module, arguments.jobs, arguments.seconds)
            print(
                f"{module}: {o.passed} of {o.passed + o.failed} pass, {o.skipped} skipped, "
                f"{sum(o.others.values())} left out {o.stopped}",
                flush=True,
            )
            for group, failures in o.classes.most_common(12):
                print(f"    {failures:4} {group}: {o.reasons[group].most_common(1)[0][0]}")
    if arguments.write:
        PAGE.write_text(page(outcomes))


if __name__ == "__main__":
    main()
