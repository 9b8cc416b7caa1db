// Names in printed C++: types, literals, and identifiers that collide with nothing.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_set>
#include <vector>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::scalar::Bits;

[[noreturn]] void refuse(DType dtype) {
    fail<NotSupported>("C++ back end: ", dtype,
                       " has no kernels yet. bool, an integer of 8 to 64 bits, float32 or "
                       "float64 is required.");
}

const std::unordered_set<std::string>& reserved_words() {
    static const std::unordered_set<std::string> words{
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "compl",
        "concept",
        "const",
        "consteval",
        "constexpr",
        "constinit",
        "const_cast",
        "continue",
        "co_await",
        "co_return",
        "co_yield",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "requires",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
        "xor",
        "xor_eq",
        "main",
        "bits_as",
        "checked_extent",
        "checked_index",
        "fill_zeros",
        "take_last",
        "wrapped_index",
        "dot_product",
        "add_multiple",
        "set_multiple",
        "place_of_largest",
        "place_of_least",
        "multiply_add",
        "rounded",
        "square_root",
        "round_down",
        "round_up",
        "round_to_even",
        "round_to_zero",
        "copy_sign",
        "float_remainder",
        "absolute",
        "next_after",
        "Slot",
        "next_after_bits",
        "linux",
        "unix",
        "i386",
        "errno",
        "std",
        "assert",
        "stdin",
        "stdout",
        "stderr",
        "NAN",
        "INFINITY",
        "EOF",
        "NULL",
    };
    return words;
}

// What headers of C's library declare outside of namespaces, as far as a kernel may be called so.
const std::unordered_set<std::string>& library_names() {
    static const std::unordered_set<std::string> words = {
        "abort",      "abs",       "access",    "acos",    "acosh",       "acosl",     "alarm",
        "alloca",     "asctime",   "asin",      "asinh",   "atan",        "atan2",     "atanh",
        "atexit",     "atof",      "atoi",      "atol",    "bcmp",        "bcopy",     "brk",
        "bsearch",    "bzero",     "cabs",      "calloc",  "cbrt",        "ceil",      "chdir",
        "chmod",      "clearerr",  "clock",     "close",   "confstr",     "copysign",  "cos",
        "cosh",       "ctime",     "difftime",  "div",     "drem",        "dup",       "erf",
        "erfc",       "exit",      "exp",       "exp10",   "exp2",        "expm1",     "fabs",
        "fclose",     "fdim",      "feof",      "ferror",  "ffs",         "fgetc",     "fgets",
        "fileno",     "finite",    "floor",     "fma",     "fmax",        "fmin",      "fmod",
        "fopen",      "fork",      "fprintf",   "fputc",   "fputs",       "fread",     "free",
        "frexp",      "fscanf",    "fseek",     "ftell",   "fwrite",      "gamma",     "getc",
        "getchar",    "getenv",    "getopt",    "gets",    "gmtime",      "hypot",     "ilogb",
        "index",      "isalnum",   "isalpha",   "isdigit", "islower",     "isspace",   "isupper",
        "isinf",      "isnan",     "j0",        "j1",      "jn",          "kill",      "labs",
        "ldexp",      "ldiv",      "lgamma",    "link",    "llabs",       "lldiv",     "llrint",
        "llround",    "localtime", "log",       "log10",   "log1p",       "log2",      "logb",
        "longjmp",    "lrint",     "lround",    "malloc",  "memchr",      "memcmp",    "memcpy",
        "memmove",    "memset",    "mktime",    "modf",    "nan",         "nearbyint", "nextafter",
        "nexttoward", "nice",      "pause",     "perror",  "pipe",        "pow",       "pow10",
        "printf",     "putc",      "puts",      "qsort",   "raise",       "rand",      "random",
        "read",       "realloc",   "remainder", "remove",  "remquo",      "rename",    "rewind",
        "rindex",     "rint",      "round",     "scalb",   "scalbln",     "scalbn",    "scanf",
        "select",     "setbuf",    "setjmp",    "signal",  "significand", "sin",       "sincos",
        "sinh",       "sleep",     "sprintf",   "sqrt",    "srand",       "srandom",   "sscanf",
        "stat",       "std",       "strcat",    "strchr",  "strcmp",      "strcpy",    "strlen",
        "strstr",     "strtod",    "strtok",    "strtol",  "swab",        "sync",      "system",
        "tan",        "tanh",      "tgamma",    "time",    "tmpfile",     "tolower",   "toupper",
        "trunc",      "truncate",  "ungetc",    "unlink",  "usleep",      "wait",      "write",
        "y0",         "y1",        "yn"};
    return words;
}

// Types of C's headers, and their macros, which a file that includes others before this one's
// header has replaced: size_t, INT_MAX, M_PI.
bool is_of_headers(const std::string& name) {
    if (name.ends_with("_1")) return false;  // as this makes them
    if (name.ends_with("_t")) return true;
    const bool is_macro = std::none_of(name.begin(), name.end(),
                                       [](unsigned char c) { return std::islower(c) != 0; });
    if (!is_macro) return name == "signgam" || name == "signbit";
    static const std::vector<std::string> beginnings = {
        "BUFSIZ", "CHAR_", "CLOCKS_",  "DBL_",  "DECIMAL_", "EDOM",   "EILSEQ", "ERANGE", "EXIT_",
        "FLT_",   "FP_",   "HUGE_",    "INT",   "LC_",      "LDBL_",  "LLONG_", "LONG_",  "M_",
        "MATH_",  "MB_",   "PTRDIFF_", "RAND_", "SCHAR_",   "SEEK_",  "SHRT_",  "SIG",    "SIZE_",
        "SSIZE_", "TMP_",  "UCHAR_",   "UINT",  "ULLONG_",  "ULONG_", "USHRT_", "WCHAR_", "WINT_"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const std::string& each) { return name.starts_with(each); });
}

template <class Float, class Integer>
std::string float_literal(Float value, Integer bits, Integer quiet_nan, const char* suffix) {
    if (value != value) {
        if (bits == quiet_nan) return text("__builtin_nan", suffix, "(\"\")");
        return text("bits_as<", sizeof(Float) == 4 ? "float" : "double", ">(",
                    literal(sizeof(Float) == 4 ? DType::uint32 : DType::uint64, {bits, 0}), ")");
    }
    const std::string number = number_text(value);
    if (number == "inf") return text("__builtin_inf", suffix, "()");
    if (number == "-inf") return text("-__builtin_inf", suffix, "()");
    return number.find('.') == std::string::npos && number.find('e') == std::string::npos
               ? number + ".0" + suffix
               : number + suffix;
}

}  // namespace

std::string type_name(DType dtype) {
    switch (dtype) {
        case DType::float32: return "float";
        case DType::float64: return "double";
        case DType::boolean: return "bool";
        case DType::float16:
        case DType::bfloat16:
        case DType::complex64:
        case DType::complex128: refuse(dtype);
        default: return text(dtype, "_t");
    }
}

std::string literal(DType dtype, Bits bits) {
    switch (dtype) {
        case DType::boolean: return bits[0] ? "true" : "false";
        case DType::uint64: return text(bits[0], "ull");
        case DType::uint32: return text(bits[0], "u");
        case DType::int32:
            if (static_cast<int32_t>(bits[0]) == INT32_MIN) return "(-2147483647 - 1)";
            return text(static_cast<int32_t>(bits[0]));
        case DType::int64: {
            const auto value = static_cast<int64_t>(bits[0]);
            if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
            return text(value, "ll");
        }
        case DType::int8:
        case DType::int16:
        case DType::uint8:
        case DType::uint16: return text(static_cast<int>(ir::scalar::value_of(dtype, bits)));
        case DType::float32:
            return float_literal(static_cast<float>(ir::scalar::value_of(dtype, bits)),
                                 static_cast<uint32_t>(bits[0]), uint32_t{0x7fc00000}, "f");
        case DType::float64:
            return float_literal(ir::scalar::value_of(dtype, bits), bits[0],
                                 uint64_t{0x7ff8000000000000}, "");
        default: refuse(dtype);
    }
}

std::string unique_name(const std::string& wanted, TakenNames& taken) {
    std::string stem;
    for (char c : wanted) {
        const bool fits =
            std::isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128;
        if (fits || (!stem.empty() && stem.back() != '_')) stem += fits ? c : '_';
    }
    if (stem.empty()) stem = "t";
    if (std::isdigit(static_cast<unsigned char>(stem[0]))) stem.insert(0, "t");
    const bool is_reserved = reserved_words().contains(stem) || is_of_headers(stem);
    std::string name = is_reserved ? stem + "_1" : stem;
    for (int i = 2; !taken.insert(name); ++i) name = text(stem, "_", i);
    return name;
}

bool has_word(std::string_view text, std::string_view word) {
    const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
            return true;
    }
    return false;
}

std::string namespace_name(const std::string& wanted) {
    TakenNames taken;
    return library_names().contains(wanted) ? wanted + "_1" : unique_name(wanted, taken);
}

}  // namespace composit::c_family
