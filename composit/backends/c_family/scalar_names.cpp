// Names in printed C++: types, literals, and identifiers that collide with nothing.
#include "composit/backends/c_family/language_words.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
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

// Words of the language and of headers that every file includes, and the name of what holds numbers
// that a sweep takes back.
bool is_reserved_word(const std::string& name) {
    return is_keyword(name) || is_small_macro(name) || name == "Slot" || name == "std" ||
           name == "NAN" || name == "INFINITY" || name == "EOF" || name == "NULL";
}

// Functions and macros that a text defines outside of functions.
void add_defined(std::string_view text, std::unordered_set<std::string>& words) {
    constexpr std::string_view macro = "#define ";
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == ' ' || line[0] == '/') continue;
        size_t end = line.find('(');
        if (line.starts_with(macro))
            end = std::min(line.find_first_of(" (", macro.size()), line.size());
        else if (line[0] == '#' || end == std::string::npos)
            continue;
        size_t start = end;
        while (start > 0 && ascii::is_of_word(line[start - 1])) --start;
        if (start < end) words.insert(line.substr(start, end - start));
    }
}

// What files of kernels define for themselves, before the functions of these.
const std::unordered_set<std::string>& helpers() {
    static const std::unordered_set<std::string> words = [] {
        std::unordered_set<std::string> made;
        add_defined(scalar_prelude(), made);
        add_defined(array_functions(true, true), made);
        add_defined(run_functions(true), made);
        add_defined(taking_functions(true), made);
        for (const char* each : {"unless_zero",     "scaled_slope",
                                 "add_in_order",    "subtract_in_order",
                                 "taken",           "Same",
                                 "set_elements",    "add_elements",
                                 "product_or_zero", "vector_float64",
                                 "greater_of",      "lesser_of",
                                 "add_to_rounded",  "add_to_rounded_in_order",
                                 "zero_unless",     "zero_if",
                                 "power_slope",     "largest",
                                 "largest_of",      "largest_vjp",
                                 "least",           "least_of",
                                 "least_vjp"})
            made.insert(each);
        return made;
    }();
    return words;
}

// Whether functions of numbers that a file calls may be called so: cube_float64, whose names
// carry a dtype at their ends.
bool is_of_numbers(std::string_view name) {
    while (name.ends_with('_')) name.remove_suffix(1);
    const size_t at = name.rfind('_');
    if (at == std::string_view::npos) return false;
    static const std::unordered_set<std::string> dtypes = [] {
        std::unordered_set<std::string> made;
        for (const ir::DTypeTraits& row : ir::all_traits())
            if (!ir::is_complex(row.dtype)) made.emplace(row.name);
        return made;
    }();
    return dtypes.contains(std::string(name.substr(at + 1)));
}

// Types of C's headers, and their macros, which a file that includes others before this one's
// header has replaced: size_t, INT_MAX, M_PI.
bool is_of_headers(const std::string& name) {
    if (name.ends_with("_1")) return false;  // as this makes them
    if (name.ends_with("_t")) return true;
    const bool is_macro = std::none_of(name.begin(), name.end(), ascii::is_small);
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
std::string float_literal(Float value, Integer bits, Integer quiet_nan, const char* suffix,
                          const ScalarSpelling& spelling) {
    constexpr bool is_wide = sizeof(Float) == 8;
    if (spelling.is_c && !spelling.is_plain && !std::isfinite(value))
        return text(is_wide ? "as_double(" : "as_float(",
                    literal(is_wide ? DType::uint64 : DType::uint32, {bits, 0}, spelling), ")");
    if (value != value) {
        if (bits == quiet_nan) return text("__builtin_nan", suffix, "(\"\")");
        if (spelling.is_plain) {
            constexpr int mantissa = is_wide ? 52 : 23;
            const Integer payload = bits & ((Integer{1} << mantissa) - 1);
            const bool is_negative = (bits >> (8 * sizeof(Integer) - 1)) != 0;
            return text(is_negative ? "-" : "", "__builtin_nan", suffix, "(\"", payload, "\")");
        }
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
        default: break;
    }
    if (!ir::is_integer(dtype)) refuse(dtype);
    return text(dtype, "_t");
}

std::string literal(DType dtype, Bits bits, const ScalarSpelling& spelling) {
    const std::string_view wide = spelling.long_suffix;
    switch (dtype) {
        case DType::boolean: return bits[0] ? "true" : "false";
        case DType::uint64: return text(bits[0], "u", wide);
        case DType::uint32: return text(bits[0], "u");
        case DType::int32:
            if (static_cast<int32_t>(bits[0]) == INT32_MIN) return "(-2147483647 - 1)";
            return text(static_cast<int32_t>(bits[0]));
        case DType::int64: {
            const auto value = static_cast<int64_t>(bits[0]);
            if (value == INT64_MIN) return text("(-9223372036854775807", wide, " - 1)");
            return text(value, wide);
        }
        case DType::int8:
        case DType::int16:
        case DType::uint8:
        case DType::uint16: return text(static_cast<int>(ir::scalar::value_of(dtype, bits)));
        case DType::float32:
            return float_literal(static_cast<float>(ir::scalar::value_of(dtype, bits)),
                                 static_cast<uint32_t>(bits[0]), uint32_t{0x7fc00000}, "f",
                                 spelling);
        case DType::float64:
            return float_literal(ir::scalar::value_of(dtype, bits), bits[0],
                                 uint64_t{0x7ff8000000000000}, "", spelling);
        default: refuse(dtype);
    }
}

std::string unique_name(const std::string& wanted, TakenNames& taken, bool is_of_variable) {
    std::string stem;
    for (char c : in_ascii(wanted)) {
        const bool fits = ascii::is_letter_or_digit(c);
        if (fits || (!stem.empty() && stem.back() != '_')) stem += fits ? c : '_';
    }
    if (stem.empty()) stem = "t";
    if (ascii::is_digit(stem[0])) stem.insert(0, "t");
    const bool is_reserved = is_reserved_word(stem) || helpers().contains(stem) ||
                             is_of_numbers(stem) || is_of_headers(stem) ||
                             (is_of_variable && is_function_of_floats(stem));
    // Made again of its result, it is the same: no two underscores stand side by side.
    const std::string_view before =
        stem.back() == '_' ? std::string_view(stem).substr(0, stem.size() - 1) : stem;
    std::string name = is_reserved ? text(before, "_1") : stem;
    for (int i = 2; !taken.insert(name); ++i) name = text(before, "_", i);
    return name;
}

bool has_word(std::string_view text, std::string_view word) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !ascii::is_of_word(text[at - 1])) &&
            (end == text.size() || !ascii::is_of_word(text[end])))
            return true;
    }
    return false;
}

std::string namespace_name(const std::string& wanted) {
    TakenNames taken;
    return unique_name(is_of_library(wanted) ? wanted + "_1" : wanted, taken);
}

}  // namespace composit::c_family
