#include "composit/eager/loops.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/node.h"
#include "composit/ir/scalar/values.h"
#include "composit/ops/components.h"

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace composit::eager {
namespace {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::RowRef;
using ir::scalar::Specialisation;

// Expressions in the order of their evaluation, made once; null for what has loops, which a plan
// computes: many times as quickly, and until somebody interrupts it. Specialisations live as long
// as the process.
const ir::scalar::Evaluator* evaluator_of(const Specialisation& function) {
    thread_local std::unordered_map<const Specialisation*, std::optional<ir::scalar::Evaluator>>
        known;
    auto found = known.find(&function);
    if (found == known.end()) {
        std::optional<ir::scalar::Evaluator> made;
        if (!ir::scalar::reaches_loop(function.body)) made.emplace(std::vector{function.body});
        found = known.emplace(&function, std::move(made)).first;
    }
    return found->second ? &*found->second : nullptr;
}

// Warnings of their own, and integers divided by zero, raise no flags: plans find them.
bool is_reported_by_value(const Specialisation& function) {
    const auto& signals = function.row->signals;
    const bool is_inexact = ir::is_inexact(function.signature.operands[0]);
    return !signals.warning.empty() || (!signals.poles.empty() && !is_inexact);
}

// What is computed here rather than by the expression's evaluator.
enum class Quick : uint8_t {
    none,
    add,
    subtract,
    multiply,
    divide,
    floor_divide,
    remainder,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    negative,
    absolute,
    square,
    sqrt,
    maximum,
    minimum,
};

Quick quick_of(const Specialisation& function) {
    constexpr std::pair<std::string_view, Quick> names[] = {
        {"add", Quick::add},
        {"subtract", Quick::subtract},
        {"multiply", Quick::multiply},
        {"divide", Quick::divide},
        {"floor_divide", Quick::floor_divide},
        {"remainder", Quick::remainder},
        {"less", Quick::less},
        {"less_equal", Quick::less_equal},
        {"greater", Quick::greater},
        {"greater_equal", Quick::greater_equal},
        {"equal", Quick::equal},
        {"not_equal", Quick::not_equal},
        {"negative", Quick::negative},
        {"absolute", Quick::absolute},
        {"square", Quick::square},
        {"sqrt", Quick::sqrt},
        {"maximum", Quick::maximum},
        {"minimum", Quick::minimum},
    };
    const DType dtype = function.signature.operands[0];
    for (const DType operand : function.signature.operands)
        if (operand != dtype) return Quick::none;
    if (dtype != DType::float64 && dtype != DType::int64) return Quick::none;
    for (const auto& [name, quick] : names)
        if (name == function.row->name) return quick;
    return Quick::none;
}

// How a row is computed for operands of some dtypes.
struct Loop {
    const ir::scalar::Row* row = nullptr;
    uint32_t dtypes = 0;
    const Specialisation* function = nullptr;  // null: not here
    Quick quick = Quick::none;
};

uint32_t dtypes_of(std::span<const Scalar> operands) {
    uint32_t all = 0;
    for (const Scalar& x : operands)
        all = (all << 8) | (static_cast<uint32_t>(x.dtype) << 1) | (x.is_weak ? 1u : 0u);
    return all;
}

const Specialisation* function_of(const RowRef& row, std::span<const Scalar> operands) {
    std::vector<DType> dtypes;
    bool any_strong = false;
    DType strong = DType::boolean;
    for (const Scalar& x : operands) {
        if (x.is_weak) continue;
        strong = any_strong ? ir::promote(strong, x.dtype) : x.dtype;
        any_strong = true;
    }
    if (!any_strong) return nullptr;
    for (const Scalar& x : operands) {
        const DType dtype = x.is_weak ? ops::strengthened(x.dtype, strong) : x.dtype;
        const bool may_not_fit = x.is_weak && ir::is_integer(dtype) && dtype != DType::int64;
        if (may_not_fit) return nullptr;
        dtypes.push_back(dtype);
    }
    const auto is_wanted = [](DType dtype) {
        return !ir::is_complex(dtype) && ir::size_of(dtype) <= 8;
    };
    try {
        const Specialisation& found = ir::scalar::specialise(row, dtypes);
        for (const DType dtype : found.signature.operands)
            if (!is_wanted(dtype)) return nullptr;
        return is_wanted(found.signature.result) ? &found : nullptr;
    } catch (const Error&) {  // whoever makes the node says what is wrong
        return nullptr;
    }
}

const Loop& loop_of(const RowRef& row, std::span<const Scalar> operands) {
    constexpr size_t most = 256;
    thread_local std::array<Loop, most> lately;
    const uint32_t dtypes = dtypes_of(operands);
    Loop& loop = lately[mix(reinterpret_cast<uintptr_t>(row.get()) + dtypes) % most];
    if (loop.row != row.get() || loop.dtypes != dtypes) {
        const Specialisation* const function = function_of(row, operands);
        loop = {row.get(), dtypes, function, function ? quick_of(*function) : Quick::none};
    }
    return loop;
}

Bits wide(uint64_t bits) { return {bits, 0}; }

uint64_t converted(const Scalar& x, DType to) {
    return x.dtype == to ? x.bits : ir::scalar::cast_bits(x.dtype, to, wide(x.bits))[0];
}

template <class T>
uint64_t bits_from(T value) {
    return ir::scalar::store<T>(value)[0];
}

// Of a divisor that is not 0: as the table's floor_remainder and float_floor_quotient.
double floor_remainder(double a, double b) {
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
double floor_quotient(double a, double b) {
    const double rest = std::fmod(a, b);
    const double exact = (a - rest) / b;
    const double lowered = rest != 0 && (rest < 0) != (b < 0) ? exact - 1 : exact;
    if (lowered == 0) return std::copysign(0.0, a / b);
    const double below = std::floor(lowered);
    return lowered - below > 0.5 ? below + 1 : below;
}

// Nothing where flags may have been raised.
std::optional<uint64_t> quick_floats(Quick quick, double a, double b, bool is_under_reported) {
    double value = 0;
    switch (quick) {
        case Quick::add: value = a + b; break;
        case Quick::subtract: value = a - b; break;
        case Quick::multiply: value = a * b; break;
        case Quick::divide: value = a / b; break;
        case Quick::negative: value = -a; break;
        case Quick::absolute: value = std::abs(a); break;
        case Quick::square: value = a * a; break;
        case Quick::sqrt: value = std::sqrt(a); break;
        case Quick::floor_divide:
        case Quick::remainder:
            if (b == 0 || is_under_reported) return {};
            value = quick == Quick::remainder ? floor_remainder(a, b) : floor_quotient(a, b);
            break;
        case Quick::maximum:
        case Quick::minimum:
            if (std::isnan(a) || std::isnan(b) || a == b) return {};  // zeros of two signs
            value = (a > b) == (quick == Quick::maximum) ? a : b;
            break;
        case Quick::none: return {};
        default: {
            if (std::isnan(a) || std::isnan(b)) return {};
            const bool is = quick == Quick::less            ? a < b
                            : quick == Quick::less_equal    ? a <= b
                            : quick == Quick::greater       ? a > b
                            : quick == Quick::greater_equal ? a >= b
                            : quick == Quick::equal         ? a == b
                                                            : a != b;
            return bits_from(is);
        }
    }
    const bool may_be_under =
        is_under_reported && std::abs(value) < 1e-300 &&
        (quick == Quick::multiply || quick == Quick::divide || quick == Quick::square);
    if (!std::isfinite(value) || may_be_under) return {};
    return bits_from(value);
}

std::optional<uint64_t> quick_integers(Quick quick, int64_t a, int64_t b) {
    const auto wrapped = [](uint64_t value) { return std::optional(value); };
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    const bool can_divide = b != 0 && (b != -1 || a != std::numeric_limits<int64_t>::min());
    const bool rounds = can_divide && a % b != 0 && (a < 0) != (b < 0);
    switch (quick) {
        case Quick::add: return wrapped(x + y);
        case Quick::subtract: return wrapped(x - y);
        case Quick::multiply: return wrapped(x * y);
        case Quick::negative: return wrapped(0 - x);
        case Quick::floor_divide:
            if (!can_divide) return {};
            return wrapped(static_cast<uint64_t>(a / b - (rounds ? 1 : 0)));
        case Quick::remainder:
            if (!can_divide) return {};
            return wrapped(static_cast<uint64_t>(a % b + (rounds ? b : 0)));
        case Quick::less: return bits_from(a < b);
        case Quick::less_equal: return bits_from(a <= b);
        case Quick::greater: return bits_from(a > b);
        case Quick::greater_equal: return bits_from(a >= b);
        case Quick::equal: return bits_from(a == b);
        case Quick::not_equal: return bits_from(a != b);
        case Quick::absolute: return wrapped(a < 0 ? 0 - x : x);
        case Quick::square: return wrapped(x * x);
        case Quick::maximum: return bits_from(a > b ? a : b);
        case Quick::minimum: return bits_from(a < b ? a : b);
        case Quick::divide:
        case Quick::sqrt:
        case Quick::none: break;
    }
    return {};
}

}  // namespace

std::optional<Bits> computed(const Specialisation& function, const std::vector<Bits>& operands,
                             uint8_t reported) {
    const ir::scalar::Evaluator* const evaluator = evaluator_of(function);
    if (!evaluator) return {};
    if (reported == 0) return (*evaluator)(operands)[0];
    if (is_reported_by_value(function)) return {};
    std::feclearexcept(FE_ALL_EXCEPT);
    const Bits result = (*evaluator)(operands)[0];
    const bool under = (reported & ir::ErrorHandling::under) != 0;
    const int loud = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | (under ? FE_UNDERFLOW : 0);
    if (std::fetestexcept(loud) != 0) return {};
    return result;
}

namespace {

std::optional<Scalar> quickly(const Loop& loop, std::span<const Scalar> operands,
                              uint8_t reported) {
    if (loop.quick == Quick::none) return {};
    const ir::scalar::Signature& signature = loop.function->signature;
    const uint64_t a = converted(operands[0], signature.operands[0]);
    const uint64_t b =
        operands.size() > 1 ? converted(operands[1], signature.operands[1]) : uint64_t{0};
    const std::optional<uint64_t> bits =
        signature.operands[0] == DType::float64
            ? quick_floats(loop.quick, std::bit_cast<double>(a), std::bit_cast<double>(b),
                           (reported & ir::ErrorHandling::under) != 0)
            : quick_integers(loop.quick, static_cast<int64_t>(a), static_cast<int64_t>(b));
    if (!bits) return {};
    return Scalar{signature.result, false, *bits};
}

}  // namespace

std::optional<Scalar> computed_quickly(const RowRef& row, std::span<const Scalar> operands,
                                       uint8_t reported) {
    return quickly(loop_of(row, operands), operands, reported);
}

std::optional<Scalar> computed(const RowRef& row, std::span<const Scalar> operands,
                               uint8_t reported) {
    const Loop& loop = loop_of(row, operands);
    if (!loop.function) return {};
    if (const std::optional<Scalar> found = quickly(loop, operands, reported)) return found;
    const ir::scalar::Signature& signature = loop.function->signature;
    std::vector<Bits> x;
    x.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
        x.push_back(wide(converted(operands[i], signature.operands[i])));
    const std::optional<Bits> bits = computed(*loop.function, x, reported);
    if (!bits) return {};
    return Scalar{signature.result, false, (*bits)[0]};
}

}  // namespace composit::eager
