// The meaning of scalar expressions, one element at a time: slow, obvious, and the reference of
// tests.
#include "composit/base/default_floating_point.h"
#include "composit/ir/scalar/complex.h"
#include "composit/ir/scalar/values.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace composit::ir::scalar {
namespace {

template <class T>
T integer_binary(Op op, T a, T b) {
    using U = std::make_unsigned_t<T>;
    // Arithmetic in at least 32 unsigned bits: narrower types would promote to int and could
    // overflow there.
    using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, U>;
    const Wide x = static_cast<Wide>(a);
    const Wide y = static_cast<Wide>(b);
    switch (op) {
        case Op::add: return static_cast<T>(x + y);
        case Op::subtract: return static_cast<T>(x - y);
        case Op::multiply: return static_cast<T>(x * y);
        case Op::divide:
        case Op::remainder: {
            const bool overflows = std::is_signed_v<T> && b == static_cast<T>(-1);
            internal_check(b != 0, "scalar ", name(op), " by zero");
            if (op == Op::divide)
                return overflows ? static_cast<T>(Wide{0} - x) : static_cast<T>(a / b);
            return overflows ? T{0} : static_cast<T>(a % b);
        }
        case Op::bit_and: return static_cast<T>(a & b);
        case Op::bit_or: return static_cast<T>(a | b);
        case Op::bit_xor: return static_cast<T>(a ^ b);
        case Op::shift_left:
        case Op::shift_right: {
            internal_check(static_cast<U>(b) < 8 * sizeof(T), "scalar shift by ", +b, " of ",
                           8 * sizeof(T), " bits");
            return op == Op::shift_left ? static_cast<T>(x << b) : static_cast<T>(a >> b);
        }
        default: break;
    }
    fail<InternalError>("scalar ", name(op), " evaluated on integers");
}

template <class T>
T next_after_short(T from, T towards) {
    if (std::isnan(from.value) || std::isnan(towards.value)) return T{std::nan("")};
    if (from.value == towards.value) return from;  // of zeros the first, as NumPy's
    const uint64_t bits = store(from)[0];
    if (from.value == 0) return load<T>({1 | store(T{std::copysign(0.0, towards.value)})[0], 0});
    const bool grows = (towards.value > from.value) == (from.value > 0);
    return load<T>({grows ? bits + 1 : bits - 1, 0});
}

template <class T>
T float_binary(Op op, T a, T b) {
    switch (op) {
        case Op::add: return a + b;
        case Op::subtract: return a - b;
        case Op::multiply: return a * b;
        case Op::divide: return a / b;
        case Op::remainder: return std::fmod(a, b);
        case Op::copysign: return std::copysign(a, b);
        case Op::nextafter: return std::nextafter(a, b);
        default: break;
    }
    fail<InternalError>("scalar ", name(op), " evaluated on floats");
}

template <class T>
T binary(Op op, T a, T b) {
    if constexpr (std::is_same_v<T, bool>) {
        switch (op) {
            case Op::bit_and: return a && b;
            case Op::bit_or: return a || b;
            case Op::bit_xor: return a != b;
            default: break;
        }
        fail<InternalError>("scalar ", name(op), " evaluated on bool");
    } else if constexpr (is_short<T>) {
        return op == Op::nextafter ? next_after_short(a, b) : T{float_binary(op, a.value, b.value)};
    } else if constexpr (std::is_integral_v<T>) {
        return integer_binary(op, a, b);
    } else {
        return float_binary(op, a, b);
    }
}

template <class T>
T float_unary(Op op, T x) {
    switch (op) {
        case Op::negate: return -x;
        case Op::absolute: return std::fabs(x);
        case Op::square_root: return std::sqrt(x);
        case Op::floor: return std::floor(x);
        case Op::ceil: return std::ceil(x);
        case Op::rint: return std::nearbyint(x);
        case Op::trunc: return std::trunc(x);
        default: break;
    }
    fail<InternalError>("scalar ", name(op), " evaluated on floats");
}

template <class T>
T unary(Op op, T x) {
    if constexpr (std::is_same_v<T, bool>) {
        internal_check(op == Op::bit_not, "scalar ", name(op), " evaluated on bool");
        return !x;
    } else if constexpr (is_short<T>) {
        return T{float_unary(op, x.value)};
    } else if constexpr (std::is_integral_v<T>) {
        if (op == Op::bit_not) return static_cast<T>(~x);
        internal_check(op == Op::negate || op == Op::absolute, "scalar ", name(op),
                       " evaluated on integers");
        return op == Op::absolute && x >= 0 ? x : integer_binary(Op::subtract, T{0}, x);
    } else {
        return float_unary(op, x);
    }
}

// a * b is exact in double for short floats; the sum is rounded to odd, so that rounding it again
// is harmless.
double fused_for_short(double a, double b, double c) {
    const double product = a * b;
    const double sum = product + c;
    if (!std::isfinite(sum)) return sum;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (c - back);
    const auto bits = std::bit_cast<uint64_t>(sum);
    if (error == 0 || (bits & 1)) return sum;
    return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <class T>
T fused(T a, T b, T c) {
    if constexpr (is_short<T>)
        return T{fused_for_short(a.value, b.value, c.value)};
    else if constexpr (std::is_floating_point_v<T>)
        return std::fma(a, b, c);
    else
        fail<InternalError>("scalar fma evaluated on integers");
}

template <class T>
bool compare_values(Op op, T a, T b) {
    switch (op) {
        case Op::equal: return a == b;
        case Op::not_equal: return a != b;
        case Op::less: return a < b;
        case Op::less_equal: return a <= b;
        case Op::greater: return a > b;
        case Op::greater_equal: return a >= b;
        default: break;
    }
    fail<InternalError>("scalar ", name(op), " evaluated as a comparison");
}

template <class T>
bool compare(Op op, T a, T b) {
    if constexpr (is_short<T>)
        return compare_values(op, a.value, b.value);
    else
        return compare_values(op, a, b);
}

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::greater_equal; }

Bits arithmetic(const Expr& expr, const std::vector<Bits>& x) {
    const Op op = expr.op();
    return with_type(expr.operand(0).dtype(), name(op), [&](auto tag) -> Bits {
        using T = decltype(tag);
        const T a = load<T>(x[0]);
        if (x.size() == 1) return store(unary(op, a));
        const T b = load<T>(x[1]);
        if (x.size() == 3) return store(fused(a, b, load<T>(x[2])));
        return is_comparison(op) ? store(compare(op, a, b)) : store(binary(op, a, b));
    });
}

std::vector<Bits> evaluate_loop(const Loop& loop, std::vector<Bits> state) {
    const Evaluator condition({loop.condition}), steps(loop.steps);
    for (int64_t step = 0; step < loop.limit; ++step) {
        if (!condition(state)[0][0]) break;
        state = steps(state);
    }
    return state;
}

bool touches_complex(const Expr& expr) {
    const auto& operands = expr.operands();
    return is_complex(expr.dtype()) ||
           std::any_of(operands.begin(), operands.end(),
                       [](const Expr& x) { return is_complex(x.dtype()); });
}

// Of a row's body for some dtypes: kernels that are interpreted call the same ones again and again.
std::shared_ptr<const Evaluator> evaluator_of(const Expr& body) {
    constexpr size_t most = 1000;
    using Known = std::unordered_map<const ExprNode*, std::shared_ptr<const Evaluator>>;
    thread_local Known known;  // which hold the nodes
    const auto place = known.find(body.id());
    if (place != known.end()) return place->second;
    if (known.size() >= most) known.clear();
    return known[body.id()] = std::make_shared<const Evaluator>(std::vector<Expr>{body});
}

// The call of a row on complex numbers, or giving one: its parts, put together.
Bits evaluate_parts(const RowRef& row, const std::vector<DType>& dtypes,
                    const std::vector<Bits>& x) {
    std::vector<Bits> all;
    for (size_t i = 0; i < x.size(); ++i) {
        const bool is_narrow = dtypes[i] == DType::complex64;
        all.push_back(is_narrow ? Bits{x[i][0] & 0xffffffff, 0} : Bits{x[i][0], 0});
        if (is_complex(dtypes[i]))
            all.push_back(is_narrow ? Bits{x[i][0] >> 32, 0} : Bits{x[i][1], 0});
    }
    const auto value = [&](const RowOfPart& part) {
        std::vector<Bits> operands;
        for (int use : part.uses) operands.push_back(all[static_cast<size_t>(use)]);
        const Signature signature = part.row->types(part.row->name, {});
        return (*evaluator_of(specialise(part.row, signature.operands).body))(operands)[0];
    };
    const SplitRow& split = split_row(row, dtypes);
    const Bits re = value(split.re);
    if (!split.im.row) return re;
    const Bits im = value(split.im);
    const bool is_single = row->types(row->name, dtypes).result == DType::complex64;
    return is_single ? Bits{re[0] | im[0] << 32, 0} : Bits{re[0], im[0]};
}

Bits evaluate_node(const Expr& expr, const std::vector<Bits>& x,
                   const std::vector<Bits>& arguments) {
    switch (expr.op()) {
        case Op::constant: return expr.bits();
        case Op::argument: {
            const auto index = static_cast<size_t>(expr.index());
            internal_check(index < arguments.size(), "evaluate: argument ", index, " of ",
                           arguments.size());
            return arguments[index];
        }
        case Op::select: return x[0][0] ? x[1] : x[2];
        case Op::cast: return cast_bits(expr.operand(0).dtype(), expr.dtype(), x[0]);
        case Op::bitcast: return x[0];
        case Op::lookup: {
            const Bits index = cast_bits(expr.operand(0).dtype(), DType::uint64, x[0]);
            internal_check(index[0] < expr.table()->size(), "lookup at ", index[0], " of ",
                           expr.table()->size());
            return (*expr.table())[index[0]];
        }
        case Op::call: {  // one that touches complex numbers: others are steps of their own
            std::vector<DType> dtypes;
            for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
            return evaluate_parts(expr.row(), dtypes, x);
        }
        default: return arithmetic(expr, x);
    }
}

}  // namespace

Evaluator::Evaluator(std::vector<Expr> results) {
    std::unordered_map<const ExprNode*, size_t> number;
    for (const Expr& expr : topological_order(results)) {
        Step step{expr, {}, {}};
        for (const Expr& operand : expr.operands())
            step.operands.push_back(number.at(operand.id()));
        if (expr.op() == Op::call && !touches_complex(expr)) {
            std::vector<DType> dtypes;
            for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
            step.called = evaluator_of(specialise(expr.row(), dtypes).body);
        }
        number.emplace(expr.id(), steps_.size());
        steps_.push_back(std::move(step));
    }
    for (const Expr& result : results) results_.push_back(number.at(result.id()));
}

std::vector<Bits> Evaluator::operator()(const std::vector<Bits>& arguments) const {
    const DefaultFloatingPoint floating_point;
    std::vector<Bits> values, operands;
    values.reserve(steps_.size());
    std::map<LoopRun, std::vector<Bits>> runs;
    for (const Step& step : steps_) {
        operands.clear();
        for (const size_t operand : step.operands) operands.push_back(values[operand]);
        if (step.called) {
            values.push_back((*step.called)(operands)[0]);
            continue;
        }
        if (step.expr.op() == Op::loop) {
            std::vector<Bits>& state = runs[run_of(step.expr)];
            if (state.empty()) state = evaluate_loop(*step.expr.loop(), operands);
            values.push_back(state[static_cast<size_t>(step.expr.index())]);
            continue;
        }
        values.push_back(evaluate_node(step.expr, operands, arguments));
    }
    std::vector<Bits> out;
    out.reserve(results_.size());
    for (const size_t result : results_) out.push_back(values[result]);
    return out;
}

std::vector<Bits> evaluate(const std::vector<Expr>& results, const std::vector<Bits>& arguments) {
    return Evaluator(results)(arguments);
}

}  // namespace composit::ir::scalar
