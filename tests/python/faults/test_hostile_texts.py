"""Texts of strangers in names, source lines, files and docstrings stay where generated C++, SVG,
HTML and file names put them: nothing becomes code, an element, or a way to another folder."""

import html.parser
import linecache
import re
import shutil
import types
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from cpp_tokens import code, unprintable
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import composit
from composit import _core, knossos, mosaic
from composit.graph import parse
from composit.visualization import default_visualize_node, html_of, svg_of, visualize

MARK = "INJECTED"
HOSTILE = [
    f"m.py\rint {MARK};//",
    f"m.py\nint {MARK};//",
    f"m.py\vint {MARK};\f//",
    f"m.py\u2028int {MARK};\u2029//\x85\x1c",
    f"*/ int {MARK}; /*",
    f"**/*/int {MARK};/*//",
    f"{MARK} ends with a backslash\\",
    f"{MARK} ends with one and blanks\\ \t ",
    f"{MARK} ends with a trigraph??/",
    f"{MARK}\\" + " \\" * 120,
    f"{MARK} ??/" * 30,
    f'"; int {MARK}; //',
    f"'\\\"; int {MARK}; //",
    f'")); #define {MARK} "',
    f"\r#include </{MARK}>\r",
    f"\u202e{MARK}\u2066\u200f\u061c\u200b\ufeff\U000e0041",
    f"\x00\x01{MARK}\x1b[31m\x7f\x9b",
    f"../../{MARK}",
    f"/tmp/{MARK}\\..\\x.tmp-1",
    f"<script>{MARK}</script>",
    f"]]></title><g onload='{MARK}'>\"&lt;&#8238;&{MARK};",
    f"<{MARK}>",
    f"\\N\\G\\l{MARK}\\",
    f"%n$({MARK})`{MARK}`",
    f"__{MARK}__ é ß α \U0001f600 \ufffe",
]
PIECES = ["\r", "\n", "\\", "*/", "//", "/*", "??/", '"', "'", "<", ">", "&", "#", ";", "\u2028",
          "\u202e", "\x00", "\x85", " ", "../", "R\"(", ")\"", "%", "{", "}", "a", "é"]  # fmt: skip
texts = st.lists(st.sampled_from([*PIECES, MARK]), max_size=12).map("".join)
hostile = texts.map(lambda text: text + f";{MARK};") | texts.map(lambda text: f";{MARK};" + text)
quick = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def each_hostile(test):
    for text in HOSTILE:
        test = example(text=text)(test)
    return quick(given(text=hostile)(test))


def plain(text):
    """An identifier in the place of a hostile name, as long as what becomes of that one."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def without_mark(spelling):
    """Identifiers and words of strings that hold the mark, as one: all that names may change."""
    return re.sub(rf"\w*{MARK}\w*", "NAME", spelling)


def same_code(written, harmless):
    """Whether a hostile name changed nothing but identifiers and comments."""
    assert not unprintable(written)
    found, wanted = (
        [(kind, without_mark(spelling)) for kind, spelling in code(text)]
        for text in (written, harmless)
    )
    assert found == wanted
    assert all(spelling.isascii() for _, spelling in found)


def escaped(text):
    return "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\x{byte:02x}"
        for byte in text.encode()
    )


def graph_of(text, path=None):
    """Every place of a graph's text that holds a name, a source line or a module's path."""
    name = escaped(text)
    path = name if path is None else path
    rest = f'"{name}" at "{name}"'
    scans = "".join(  # of a module of that path: as many as make a function of an exported project
        f"%{i} = scan(%{i - 1 if i > 7 else 5}){{axis=0, combiner=0}} : float64[3] "
        f'"{name}" at "{path}, {name}"\n'
        for i in range(7, 12)
    )
    axes = "batch_a=[], batch_b=[], contracted_a=[0], contracted_b=[0]"
    return f"""composit graph 1
body 0 "{name}"(%0) {{
  %0 = input{{dtype=float64, shape=[3]}} : float64[3] {rest}
  %1 = map(%0){{row=row("tanh")}} : float64[3] {rest}
  return %1
}}
%2 = input{{dtype=float64, shape=[3]}} : float64[3] {rest}
%3 = constant{{value=float64[3]{{1.0, 2.0, 3.0}}}} : float64[3] {rest}
%4 = map(%2, %3){{row=row("add")}} : float64[3] {rest}
%5 = call(%4){{body=body(0)}} : float64[3] "{name}" at "{path}, m.py:1"
%6 = contract(%5, %3){{{axes}}} : float64[] {rest}
{scans}return %5, %11
"""


def compiled(text, **options):
    outputs = parse(graph_of(text))
    (given,) = (node for node in outputs[0].graph if node.is_input)

    def function(x):
        return tuple(_core.substitute(outputs, given.outputs, [x]))

    return composit.compile(function, np.ones(3), backend="interpreter", name=text, **options)


def exported(text, folder):
    folder.mkdir(exist_ok=True)
    program = compiled(text)
    names = composit.export(folder, text, [program])
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    assert all(re.fullmatch(r"[A-Za-z0-9_]+\.(cpp|hpp|weights|txt)", name) for name in names)
    found = {}
    for name in names:
        suffix = name if name in ("main.cpp", "CMakeLists.txt") else name.rpartition(".")[2]
        found[suffix] = (folder / name).read_bytes().decode()
    shutil.rmtree(folder)
    return found


@each_hostile
def test_exported_projects(text, tmp_path):
    written, harmless = exported(text, tmp_path / "a"), exported(plain(text), tmp_path / "b")
    assert list(written) == list(harmless)
    for suffix in written:
        if suffix == "CMakeLists.txt":
            assert without_mark(written[suffix]) == without_mark(harmless[suffix])
        elif suffix != "weights":
            same_code(written[suffix], harmless[suffix])


def procedure_of(text, name):
    """A function of numbers and one of arrays, whose file, docstring and name are hostile."""
    source = (
        "def f(x: float, n: int) -> 'tuple[float, int]':\n"
        f"    {text!r}\n"
        "    y = x * 2.0\n"
        "    return y, n\n"
        "def g(x: 'Tensor[float, n]') -> 'Tensor[float, n]':\n"
        f"    {text!r}\n"
        "    y = np.zeros(len(x))\n"
        "    for i in range(len(x)):\n"
        "        y[i] = x[i] * 2.0\n"
        "    return y\n"
    )
    file = text.replace("/", "_").replace("\x00", "\x01")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": np, "Tensor": knossos.Tensor, "__name__": __name__}
    exec(compile(source, file, "exec"), space)
    kernels = []
    for function in ("f", "g"):
        made = types.FunctionType(space[function].__code__, space, name)
        made.__annotations__, made.__doc__ = space[function].__annotations__, text
        made.__qualname__ = name
        kernels.append(knossos.register(made))
    return kernels


def printed_kernels(text):
    printed = []
    for kernel in procedure_of(text, text):
        families = kernel._families()
        printed += [kernel.source, _core.procedure.print_loadable(text, families)]
        printed += _core.procedure.print_file(plain(text), families)
    named = knossos.from_text("bend", f"({MARK}: float) -> multiply({MARK}, {MARK})")
    printed.append(named.source)
    return printed


@each_hostile
def test_kernels_as_statements(text):
    for written, harmless in zip(printed_kernels(text), printed_kernels(plain(text)), strict=True):
        same_code(written, harmless)


def test_names_are_no_paths(tmp_path, monkeypatch):
    cache = tmp_path / "a" / "b" / "cache"
    monkeypatch.setenv("COMPOSIT_CACHE", str(cache))
    others = [tmp_path / "a" / "b" / "other.tmp-1", tmp_path / "x.failed"]
    for other in others:
        other.mkdir(parents=True)
    names = [f"../../{MARK}", f"{tmp_path}/x", "", "é\r" * 300]
    for name in names:
        function, arrays = procedure_of(MARK, name)
        assert function(3.0, 2) == (6.0, 2)
        np.testing.assert_array_equal(arrays(np.ones(2)), [2, 2])
        program = composit.compile(lambda x: x + 5, np.ones(2), name=name)
        np.testing.assert_array_equal(program(np.zeros(2)), [5, 5])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "x.failed"]
    assert sorted(path.name for path in cache.parent.iterdir()) == ["cache", "other.tmp-1"]
    (version,) = cache.iterdir()
    entries = [path.name for path in version.iterdir()]
    # Kernels' names of files stand in comments, which no entry is known by.
    assert len(names) < len(entries) <= 3 * len(names)
    assert all(re.fullmatch("[A-Za-z0-9_]{1,61}-[0-9a-f]{16}", name) for name in entries)


@pytest.mark.parametrize("name", ["../../x", "a b", "", "a\r", "x/y"])
def test_a_kernel_of_a_text_has_an_identifier_as_its_name(name):
    with pytest.raises(ValueError) as caught:
        knossos.from_text(name, "(x: float) -> x")
    message = f"from_text: {name!r} cannot name a function. An identifier is required. ["
    assert str(caught.value).startswith(message)


def elements(picture):
    """The elements of an SVG with their attributes' names, if it is well-formed XML."""
    return [(each.tag, sorted(each.attrib)) for each in ElementTree.fromstring(picture).iter()]


def words(picture):
    return [word for word in ElementTree.fromstring(picture).itertext() if MARK in word]


@each_hostile
def test_pictures_of_buffers(text):
    pictures = [
        mosaic.compile(parse(graph_of(name))[1], target="interpreter", fuse=False).buffers.picture
        for name in (text, plain(text))
    ]
    assert elements(pictures[0]) == elements(pictures[1])
    assert not unprintable(pictures[0])


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted(name for name, _ in attrs)))


@pytest.mark.long_tail
@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
@pytest.mark.parametrize("text", HOSTILE)
def test_pictures_of_graphs(text):
    tensors = [parse(graph_of(name, "m"))[0] for name in (text, plain(text))]
    drawn = [svg_of([tensor], 2) for tensor in tensors]
    assert elements(drawn[0]) == elements(drawn[1])
    assert not unprintable(drawn[0])
    seen = set(words(drawn[0]))
    assert seen and all(plain(word)[:20] in plain(text) for word in seen)
    pages = [html_of(tensor) for tensor in tensors]
    assert Tags(pages[0]).tags == Tags(pages[1]).tags
    assert not unprintable(pages[0])
    by_node = [
        visualize(t, render=False, visualize_node=default_visualize_node).pipe("svg").decode()
        for t in tensors
    ]
    assert elements(by_node[0]) == elements(by_node[1])
