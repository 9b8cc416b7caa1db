"""What a C++ compiler sees of a text: comments, strings, and code."""

import re
import unicodedata

TRIGRAPHS = {"??/": "\\", "??=": "#", "??(": "[", "??)": "]", "??'": "^", "??<": "{",
             "??!": "|", "??>": "}", "??-": "~"}  # fmt: skip
# A line ends where g++ or clang++ ends one (a lone \r among them), and where an editor may.
LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*"|(?<![\w])'(?:\\.|[^'\\\n])*')
      | (?P<word>[^\W\d]\w*)
      | (?P<number>\.?\d(?:['\w.]|(?<=[eEpP])[+-])*)
      | (?P<blank>\s+)
      | (?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)


def lines_as_read(text):
    """After trigraphs, ends of lines and lines that a backslash (with blanks behind it) joins."""
    for written, meant in TRIGRAPHS.items():
        text = text.replace(written, meant)
    return re.sub(r"\\[ \t]*\n", "", LINE_END.sub("\n", text))


def tokens(text):
    """Pairs of a kind (comment, string, word, number, sign) and a spelling, in order."""
    found = []
    for match in TOKEN.finditer(lines_as_read(text)):
        if match.lastgroup != "blank":
            found.append((match.lastgroup, match.group()))
    return found


def code(text):
    """The tokens that are no comments; strings are among them."""
    return [token for token in tokens(text) if token[0] != "comment"]


def unprintable(text):
    """The characters that no generated text may hold: controls, separators, marks of direction."""
    joiners = "\u200c\u200d"
    return {
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cn", "Cs")
        and character not in joiners
        and character != "\n"
    }
