// Expressions over dtypes that kernels have, operation by operation: complex ones are taken apart,
// short floats are float32 that is rounded. And rows of the parts.
#include "composit/base/error.h"
#include "composit/ir/scalar/complex.h"
#include "composit/ir/scalar/convert.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/short_float_values.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

namespace composit::ir::scalar {
namespace {

using complex::Z;

Z parts_of_constant(const Expr& x) {
    const Bits bits = x.bits();
    if (x.dtype() == DType::complex128)
        return {Expr::constant_bits(DType::float64, {bits[0], 0}),
                Expr::constant_bits(DType::float64, {bits[1], 0})};
    return {Expr::constant_bits(DType::float32, {bits[0] & 0xffffffff, 0}),
            Expr::constant_bits(DType::float32, {bits[0] >> 32, 0})};
}

// The dtype of a part.
DType part_dtype(DType dtype) {
    return ir::is_short_float(dtype) ? DType::float32 : real_part_of(dtype);
}

Z cast_parts(const Z& x, DType dtype) {
    if (ir::is_short_float(dtype))
        return {x.re.dtype() == DType::boolean ? Expr::cast(x.re, DType::float32)
                                               : rounded_to_short(x.re, dtype),
                {}};
    if (dtype == DType::boolean && x.im)
        return {Expr::cast(x.re, dtype) | Expr::cast(x.im, dtype), {}};
    const DType real = real_part_of(dtype);
    const Expr re = convert(x.re, real);
    if (!is_complex(dtype)) return {re, {}};
    return {re, x.im ? Expr::cast(x.im, real) : Expr::constant(real, 0)};
}

bool touches(const Expr& expr, bool (*is_one)(DType)) {
    if (is_one(expr.dtype())) return true;
    for (const Expr& operand : expr.operands())
        if (is_one(operand.dtype())) return true;
    return false;
}

Z split_call(const Expr& call, const std::vector<Z>& x) {
    const bool any_complex = touches(call, is_complex);
    if (any_complex && call.row()->complex.value) return call.row()->complex.value(x);
    std::vector<DType> dtypes;
    for (const Expr& operand : call.operands()) dtypes.push_back(operand.dtype());
    return split(specialise(call.row(), dtypes).body, x);
}

// The neighbour of x on the way to `to`, by its bits, which count through the values of either
// sign.
Expr next_short(const Expr& x, const Expr& to, DType dtype) {
    const auto one = [](const Expr& bits) { return Expr::constant_integer(bits.dtype(), 1); };
    const Expr bits = bits_of_short(x, dtype);
    const Expr grows = equal(x < to, x > 0);
    const Expr beside = short_of_bits(select(grows, bits + one(bits), bits - one(bits)), dtype);
    const Expr least = copysign(short_of_bits(one(bits), dtype), to);
    const Expr moved = select(equal(x, 0), least, beside);
    const Expr is_number = equal(x, x) & equal(to, to);
    return select(is_number, select(equal(x, to), x, moved), x + to);  // of zeros the first
}

// Each operation in float32, where none of them is rounded to a neighbour that float16 would round
// the other way, and from there to the short float.
Z short_operation(const Expr& expr, const std::vector<Z>& x, const std::vector<Expr>& real) {
    const DType dtype = expr.dtype();
    switch (expr.op()) {
        case Op::constant: return {Expr::constant(DType::float32, expr.value()), {}};
        case Op::nextafter: return {next_short(real[0], real[1], dtype), {}};
        case Op::cast: return cast_parts(x[0], dtype);
        case Op::call: return split_call(expr, x);
        case Op::bitcast:
            return {
                ir::is_short_float(dtype)
                    ? short_of_bits(Expr::cast(real[0], unsigned_of_size(size_of(dtype))), dtype)
                    : Expr::cast(bits_of_short(real[0], expr.operand(0).dtype()), dtype),
                {}};
        case Op::fma:
        case Op::lookup:
        case Op::loop:
            fail<NotSupported>(name(expr.op()), ": ", dtype,
                               " is not supported. Convert to float32 before.");
        default: {
            const Expr wide = Expr::make(expr.op(), real);
            return {ir::is_short_float(dtype) ? rounded_to_short(wide, dtype) : wide, {}};
        }
    }
}

Z split_operation(const Expr& expr, const std::vector<Z>& x) {
    switch (expr.op()) {
        case Op::constant: return parts_of_constant(expr);
        case Op::add: return {x[0].re + x[1].re, x[0].im + x[1].im};
        case Op::subtract: return {x[0].re - x[1].re, x[0].im - x[1].im};
        case Op::multiply: return complex::multiply(x[0], x[1]);
        case Op::divide: return complex::divide(x[0], x[1]);
        case Op::negate: return {-x[0].re, -x[0].im};
        case Op::equal:
        case Op::not_equal:
        case Op::less:
        case Op::less_equal:
        case Op::greater:
        case Op::greater_equal: return {complex::compare(expr.op(), x[0], x[1]), {}};
        case Op::select: return complex::select(x[0].re, x[1], x[2]);
        case Op::cast: return cast_parts(x[0], expr.dtype());
        case Op::call: return split_call(expr, x);
        default:
            fail<NotSupported>(name(expr.op()), ": ", expr.dtype(),
                               " is not supported. A real dtype is required.");
    }
}

// The row whose definition is `part`, over the arguments that it uses.
RowOfPart row_of_part(const std::string& name, const std::string& doc, const Expr& part,
                      const std::vector<DType>& dtypes) {
    std::vector<bool> is_used(dtypes.size());
    for (const Expr& expr : topological_order({part}))
        if (expr.op() == Op::argument) is_used[static_cast<size_t>(expr.index())] = true;
    if (std::find(is_used.begin(), is_used.end(), true) == is_used.end()) is_used.back() = true;
    RowOfPart made;
    Signature signature{{}, part.dtype()};
    std::vector<Expr> arguments;
    for (size_t i = 0; i < dtypes.size(); ++i) {
        arguments.push_back(Expr::argument(static_cast<int>(made.uses.size()), dtypes[i]));
        if (!is_used[i]) continue;
        made.uses.push_back(static_cast<int>(i));
        signature.operands.push_back(dtypes[i]);
    }
    const Expr body = substitute({part}, arguments)[0];
    Row row;
    row.name = name;
    row.arity = static_cast<int>(made.uses.size());
    row.doc = doc;
    row.types = [signature](std::string_view, const std::vector<DType>&) { return signature; };
    row.value = [body](const std::vector<Expr>& x) { return substitute({body}, x)[0]; };
    made.row = std::make_shared<const Row>(std::move(row));
    return made;
}

SplitRow make_split_row(const RowRef& row, const std::vector<DType>& operands) {
    std::vector<DType> dtypes;
    std::vector<Expr> x;
    std::vector<Z> parts;
    const auto argument = [&](DType dtype) {
        dtypes.push_back(dtype);
        return Expr::argument(static_cast<int>(dtypes.size()) - 1, dtype);
    };
    for (size_t i = 0; i < operands.size(); ++i) {
        const DType real = part_dtype(operands[i]);
        x.push_back(Expr::argument(static_cast<int>(i), operands[i]));
        const Expr re = argument(real);
        parts.push_back({re, is_complex(operands[i]) ? argument(real) : Expr()});
    }
    const Z result = split(Expr::call(row, x), parts);
    SplitRow made;
    const auto found = std::find_if(operands.begin(), operands.end(), ir::is_short_float);
    if (found != operands.end() && dtypes.size() == operands.size()) {
        const std::string_view name = ir::name(*found);
        made.re = row_of_part(text(row->name, "_", name), text(row->name, " of ", name), result.re,
                              dtypes);
        return made;
    }
    made.re = row_of_part(row->name + "_re", "the real part of " + row->name, result.re, dtypes);
    if (result.im)
        made.im =
            row_of_part(row->name + "_im", "the imaginary part of " + row->name, result.im, dtypes);
    return made;
}

}  // namespace

ComplexExpr split(const Expr& expr, const std::vector<ComplexExpr>& arguments) {
    std::unordered_map<const ExprNode*, Z> done;
    for (const Expr& e : topological_order({expr})) {
        if (e.op() == Op::argument) {
            done.emplace(e.id(), arguments[static_cast<size_t>(e.index())]);
            continue;
        }
        std::vector<Z> operands;
        std::vector<Expr> real;
        for (const Expr& operand : e.operands()) {
            operands.push_back(done.at(operand.id()));
            real.push_back(operands.back().re);
        }
        if (touches(e, is_complex))
            done.emplace(e.id(), split_operation(e, operands));
        else if (touches(e, ir::is_short_float))
            done.emplace(e.id(), short_operation(e, operands, real));
        else
            done.emplace(e.id(), Z{real.empty() ? e : e.with_operands(real), {}});
    }
    return done.at(expr.id());
}

const SplitRow& split_row(const RowRef& row, const std::vector<DType>& operands) {
    static std::mutex mutex;
    static auto& made = *new std::map<std::pair<RowRef, std::vector<DType>>, SplitRow>;
    const std::pair key(row, operands);
    {
        const std::lock_guard lock(mutex);
        const auto found = made.find(key);
        if (found != made.end()) return found->second;
    }
    // Definitions run without the lock: they look up other rows.
    SplitRow fresh = make_split_row(row, operands);
    const std::lock_guard lock(mutex);
    return made.emplace(key, std::move(fresh)).first->second;
}

}  // namespace composit::ir::scalar
