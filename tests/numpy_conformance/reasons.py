"""Why calls deviate from NumPy's: every one that the page counts is explained here."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Explains calls of functions whose whole name is matched, and kinds of deviations likewise."""

    title: str
    functions: str
    kinds: str
    text: str
    dtypes: int = 1  # in so many, in place of one, a call may deviate on another CPU


ZERO = "another sign of zero"
SPECIAL = "other special values"
VALUES = "other values"
POWERS = r"(float_)?pow(er)?|operator\.i?pow"
MORE = (
    r"(nan)?cum(sum|prod)|cumulative_(sum|prod)|ndarray\.cum(sum|prod)|\w+\.(accumulate|reduceat)"
)
REASONS = (
    Reason(
        "Zeros of two signs", "(min|max)imum|f(min|max)", ZERO,
        "Of `+0` and `-0` composit takes the first, in every dtype. NumPy takes the second in "
        "its vector loops (`maximum` of float32 and float64 on x86), the first in its others "
        "(float16; rests of `fmax` that fill no vector): it depends on its instruction set, and"
        " on the length.",
    ),
    Reason(
        "Equals in any order", "unique(_counts|_inverse|_all)?|union1d|intersect1d|sort_complex",
        ZERO,
        "composit keeps the first of equal values, as its sorts are stable. NumPy's are not "
        "here, and which zero is left depends on its instruction set.",
        dtypes=3,  # float16, float32, float64: which NumPy sorts by vectors depends on the CPU
    ),
    Reason(
        "The order of hashes", "unique", VALUES,
        "`sorted=False` asks for any order: composit's is ascending, NumPy's that of a hash "
        "table.",
    ),
    Reason(
        "NaN of complex sets", "setxor1d", SPECIAL,
        "Which of several complex NaN is left: composit's first in order, NumPy's by hash.",
    ),
    Reason(
        "Angles beyond precision", POWERS, SPECIAL,
        "A power is e^(n log z). Where n log z has no digits after the point, or a part "
        "overflows, its angle is noise: NumPy's of complex64 is rounded to float32 before, "
        "composit's is not; products of infinities follow annex G of C in NumPy.",
    ),
    Reason(
        "More digits than NumPy", "exp2|log1p", f"{VALUES}|{SPECIAL}",
        "Complex `exp2` and `log1p` are computed in float64 from the operand itself. NumPy "
        "rounds z log 2 to float32, and takes log |1 + z|, which loses the digits of a small z.",
    ),
    Reason(
        "Order of products", r"(nan)?(cum)?prod|cumulative_prod|ndarray\.(cum)?prod|multiply\.\w+",
        SPECIAL,
        "A product with infinities and zeros among its factors is NaN or not as its order has "
        "it: composit multiplies complex values as a tree; running products of float16 are "
        "rounded at the end, NumPy's at each step, where they overflow.",
    ),
    Reason(
        "An output that is too large", MORE, "raises ValueError",
        "NumPy writes running results into the first places of an `out=` that is larger; "
        "composit requires the shape of the result.",
    ),
    Reason(
        "Folds that are not folds", r"(arctan2|power)\.(reduce|reduceat)", f"{VALUES}|{SPECIAL}",
        "NumPy's `power.reduce` and `arctan2.reduce` along contiguous memory are other values "
        "than the ends of its own `accumulate`. composit folds from first to last.",
    ),
    Reason(
        "Sums kept in out", r"(nan)?(mean|var)|ndarray\.(mean|var)|\w+\.reduce", VALUES,
        "Into an `out=` of narrow integers NumPy writes the sum first, where it overflows, then"
        " divides, and folds go on with what out holds; composit writes the result.",
    ),
    Reason(
        "NaN into integers", "median", "returns where NumPy raises TypeError",
        "NumPy refuses an integer `out=` if the values turn out to have NaN; composit does not "
        "look at values to check a call.",
    ),
    Reason(
        "Outputs that NumPy ignores", r"fft\.(ifft2|irfft2|hfft)", ".*",
        "NumPy 2.4 passes `out=None` on, whatever is given. composit writes into it.",
    ),
    Reason(
        "Negative numbers as unsigned ones", "geomspace|operator.setitem|ndarray.astype", VALUES,
        "The conversion of a negative float to an unsigned integer is not defined; composit's "
        "is, as `docs/semantics.md` has it.",
    ),
    Reason(
        "NumPy's own slips", "vecmat|unpackbits|triu|array_split|ldexp.*|random.Generator.permuted",
        ".*",
        "`vecmat(order='F')` of complex64 is a wrong product; `unpackbits(count=)` of nothing "
        "leaves what was in memory; `triu(k=1.5)` rounds its positions; `array_split` takes the"
        " length of a list for that of every axis; `permuted` takes the elements of a "
        "transposed view in the order of memory; `ldexp` folds bool alone, and takes dtypes by "
        "the order of its loops.",
    ),
    Reason(
        "Negative exponents on the way", r"power\.\w+", "returns where NumPy raises ValueError",
        "composit refuses integers to negative integer powers where the exponents are known; "
        "those of a fold are results.",
    ),
    Reason(
        "A remainder that is zero but for roundings", "polydiv", "another shape",
        "A leading coefficient below 1e-14 is dropped, and roundings decide whether it is.",
    ),
    Reason(
        "Layout of memory", r"isfortran|ndarray\.strides|lib\.stride_tricks\.as_strided",
        f"returns another value|{VALUES}",
        "A tensor has no strides: it counts as row-major, also as a view.",
    ),
    Reason(
        "Dates, and texts", r"arange|indices|fromfunction|random\.(\w+\.)?beta",
        "raises TypeError where NumPy raises ValueError",
        "composit refuses the dtype, or a text, and says what to do; NumPy complains of another"
        " argument first.",
    ),
    Reason(
        "Two mistakes in one call", r"operator\.(ipow|itruediv|setitem)",
        "raises \\w+ where NumPy raises TypeError",
        "Where the shapes, or the exponents, do not fit and the dtypes neither, NumPy complains"
        " of the dtypes first.",
    ),
)  # fmt: skip


def reason_for(function: str, kind: str) -> Reason | None:
    """What explains a kind of deviation of a function."""
    for reason in REASONS:
        if re.fullmatch(reason.functions, function) and re.fullmatch(reason.kinds, kind):
            return reason
    return None
