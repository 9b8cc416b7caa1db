#include "composit/backends/c_family/combining.h"

#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <limits>

namespace composit::c_family {

using ir::DType;
using ir::kernel::Combiner;

namespace {

// The least, or the greatest, number of a dtype.
std::string limit_of(const ScalarSpelling& spelling, DType dtype, bool is_least) {
    using ir::scalar::Bits;
    Bits bits{};
    const int size = ir::size_of(dtype);
    const uint64_t all = size == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
    if (dtype == DType::boolean) return is_least ? "0" : "1";
    if (dtype == DType::float32) bits[0] = is_least ? 0xff800000u : 0x7f800000u;
    if (dtype == DType::float64) bits[0] = is_least ? 0xfff0000000000000ull : 0x7ff0000000000000ull;
    if (ir::is_unsigned_integer(dtype)) bits[0] = is_least ? 0 : all;
    if (ir::is_signed_integer(dtype)) bits[0] = is_least ? all / 2 + 1 : all / 2;
    return literal(dtype, bits, spelling);
}

std::string nothing_of(const ScalarSpelling& spelling, Combiner combiner, DType dtype) {
    switch (combiner) {
        case Combiner::sum:
            return dtype == DType::float32 ? "-0.0f" : dtype == DType::float64 ? "-0.0" : "0";
        case Combiner::product:
            return dtype == DType::float32 ? "1.0f" : dtype == DType::float64 ? "1.0" : "1";
        case Combiner::any: return "0";
        case Combiner::all: return "1";
        case Combiner::maximum:
        case Combiner::argmax: return limit_of(spelling, dtype, true);
        case Combiner::minimum:
        case Combiner::argmin: return limit_of(spelling, dtype, false);
    }
    return "";
}

// In parentheses, but for a name, an element or a number.
std::string as_operand(const std::string& value) {
    int depth = 0;
    for (const char c : value) {
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (depth == 0 && (c == ' ' || c == '-' || c == '!')) return "(" + value + ")";
    }
    return value;
}

bool is_argmax(Combiner combiner) { return combiner == Combiner::argmax; }

}  // namespace

Combining::Combining(const ScalarSpelling& spelling, Combiner combiner, DType dtype,
                     std::string position_type, int64_t end)
    : spelling_(spelling),
      combiner_(combiner),
      dtype_(dtype),
      type_(combining_type(combiner, dtype)),
      position_type_(std::move(position_type)),
      nothing_(nothing_of(spelling, combiner, dtype)),
      end_(text(end)) {
    if (!spelling.is_plain || (combiner != Combiner::any && combiner != Combiner::all)) return;
    type_ = "bool";
    nothing_ = combiner == Combiner::any ? "false" : "true";
}

Combining::State Combining::claim(Names& names) const {
    return claim(names, std::string(name(combiner_)));
}

Combining::State Combining::claim(Names& names, const std::string& wish) const {
    State state{names.claim(finds_position() ? wish + "_value" : wish), ""};
    if (finds_position()) state.position = names.claim(wish + "_at");
    return state;
}

std::vector<std::string> Combining::declare(const State& state) const {
    std::vector<std::string> lines = {text(type_, " ", state.value, " = ", nothing_, ";")};
    if (finds_position())
        lines.push_back(text(position_type_, " ", state.position, " = ", end_, ";"));
    return lines;
}

std::vector<std::string> Combining::declare_array(const State& state, int64_t count,
                                                  const std::string& local) const {
    std::vector<std::string> lines = {text(local, type_, " ", state.value, "[", count, "];")};
    if (finds_position())
        lines.push_back(text(local, position_type_, " ", state.position, "[", count, "];"));
    return lines;
}

std::vector<std::string> Combining::clear(const State& state) const {
    std::vector<std::string> lines = {text(state.value, " = ", nothing_, ";")};
    if (finds_position()) lines.push_back(text(state.position, " = ", end_, ";"));
    return lines;
}

std::vector<std::string> Combining::assign(const State& to, const State& from) const {
    std::vector<std::string> lines = {to.value + " = " + from.value + ";"};
    if (finds_position()) lines.push_back(to.position + " = " + from.position + ";");
    return lines;
}

// Compilers warn of a sum of narrow integers that becomes one again.
std::string Combining::narrowed(const std::string& value) const {
    return spelling_.is_plain && ir::size_of(dtype_) < 4 ? "(" + type_ + ")(" + value + ")" : value;
}

std::string Combining::combined(const std::string& a, const std::string& b) const {
    const bool is_floating = ir::is_floating(dtype_);
    switch (combiner_) {
        case Combiner::sum: return narrowed(a + " + " + b);
        case Combiner::product:
            // C would multiply narrow integers as signed ones, which may overflow.
            return narrowed(ir::size_of(dtype_) < 4 ? "(uint32_t)" + a + " * " + b : a + " * " + b);
        case Combiner::any: return a + (spelling_.is_plain ? " || " : " | ") + b;
        case Combiner::all: return a + (spelling_.is_plain ? " && " : " & ") + b;
        case Combiner::maximum:
        case Combiner::minimum: {
            const std::string is_better = b + (combiner_ == Combiner::maximum ? " > " : " < ") + a;
            // NaN if either is NaN; of equal operands the first one, which decides between zeros.
            // In this order machines have an instruction for all but the NaN of b.
            const std::string is_nan = is_floating ? text(b, " != ", b, " ? ", b, " : ") : "";
            return text(is_nan, is_better, " ? ", b, " : ", a);
        }
        default: break;
    }
    fail<InternalError>("simt: ", name(combiner_), " has no value of its own");
}

std::vector<std::string> Combining::add(const State& state, const std::string& value,
                                        const std::string& position, Names names) const {
    const bool is_twice = combiner_ == Combiner::maximum || combiner_ == Combiner::minimum;
    const std::string converted = type_ == type_name(dtype_) ? "" : "(" + type_ + ")";
    if (!finds_position() && !is_twice)
        return {
            text(state.value, " = ", combined(state.value, converted + as_operand(value)), ";")};
    const std::string next = names.claim("value");
    const std::string line = text("const ", type_, " ", next, " = ", value, ";");
    if (is_twice) return {line, text(state.value, " = ", combined(state.value, next), ";")};
    // The first of equal ones, and the first NaN. Those that are as good as nothing, like -inf for
    // argmax, win only where nothing does: see result().
    const bool is_floating = ir::is_floating(dtype_);
    const std::string better =
        is_floating ? text("!(", next, is_argmax(combiner_) ? " <= " : " >= ", state.value, ") && ",
                           state.value, " == ", state.value)
                    : text(next, is_argmax(combiner_) ? " > " : " < ", state.value);
    if (spelling_.is_plain)
        return {line, text("if (", better, ") {"), text("    ", state.value, " = ", next, ";"),
                text("    ", state.position, " = ", position, ";"), "}"};
    // Choices instead of a branch: compilers make vectors of them.
    const std::string wins = names.claim("wins");
    return {line, text("const bool ", wins, " = ", better, ";"),
            text(state.value, " = ", wins, " ? ", next, " : ", state.value, ";"),
            text(state.position, " = ", wins, " ? ", position, " : ", state.position, ";")};
}

std::string Combining::result(const State& state) const {
    if (!finds_position()) return state.value;
    if (end_ == "0") return state.position;
    return text(state.position, " == ", end_, " ? 0 : ", state.position);
}

std::vector<std::string> Combining::combine(const State& state, const State& right) const {
    if (!finds_position())
        return {text(state.value, " = ", combined(state.value, right.value), ";")};
    const std::string better = is_argmax(combiner_) ? " > " : " < ";
    const std::string before = text(right.position, " < ", state.position);
    std::string wins = text(right.value, better, state.value, " || (", right.value,
                            " == ", state.value, " && ", before, ")");
    if (ir::is_floating(dtype_))
        wins = text("(", state.value, " == ", state.value, " && (", wins, ")) || (", right.value,
                    " != ", right.value, " && (", state.value, " == ", state.value, " || ", before,
                    "))");
    return {text("if (", wins, ") {"), text("    ", state.value, " = ", right.value, ";"),
            text("    ", state.position, " = ", right.position, ";"), "}"};
}

}  // namespace composit::c_family
