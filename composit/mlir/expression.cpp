// Expressions of the scalar language, operation by operation.
#include "composit/base/error.h"
#include "composit/ir/scalar/table_values.h"
#include "composit/jax/rules.h"
#include "composit/mlir/graph_printer.h"

#include <cstring>
#include <map>
#include <unordered_map>

namespace composit::mlir {
namespace {

using ir::scalar::Expr;
using ir::scalar::Op;

class ExpressionPrinter {
  public:
    ExpressionPrinter(Writer& out, const Values& arguments, Shape shape)
        : out_(out), arguments_(arguments), shape_(std::move(shape)) {}

    // Operands before what is made of them; without recursion, as expressions may be deep.
    Value printed(const Expr& root) {
        for (const Expr& x : ir::scalar::topological_order({root}))
            if (!known_.contains(x.id())) known_.emplace(x.id(), made(x));
        return known_.at(root.id());
    }

  private:
    Value made(const Expr& x) {
        Values of;
        for (const Expr& operand : x.operands()) of.push_back(known_.at(operand.id()));
        switch (x.op()) {
            case Op::argument: return arguments_[static_cast<size_t>(x.index())];
            case Op::constant: return bits(x.dtype(), x.bits());
            case Op::add: return sum("add", x, of);
            case Op::subtract: return sum("subtract", x, of);
            case Op::multiply: return out_.binary("multiply", of[0], of[1]);
            case Op::divide: return out_.binary("divide", of[0], of[1]);
            case Op::remainder: return out_.binary("remainder", of[0], of[1]);
            case Op::negate: return out_.unary("negate", of[0]);
            case Op::absolute:
                return ir::is_unsigned_integer(x.dtype()) ? of[0] : out_.unary("abs", of[0]);
            case Op::fma: return fused(of);
            case Op::square_root: return out_.unary("sqrt", of[0]);
            case Op::floor: return out_.unary("floor", of[0]);
            case Op::ceil: return out_.unary("ceil", of[0]);
            case Op::rint: return out_.unary("round_nearest_even", of[0]);
            case Op::trunc: {
                const Value down = out_.unary("floor", out_.unary("abs", of[0]));
                return with_sign(down, of[0]);
            }
            case Op::copysign: return with_sign(of[0], of[1]);
            case Op::nextafter: return neighbour(of[0], of[1]);
            case Op::equal: return out_.compare("EQ", of[0], of[1]);
            case Op::not_equal: return out_.compare("NE", of[0], of[1]);
            case Op::less: return out_.compare("LT", of[0], of[1]);
            case Op::less_equal: return out_.compare("LE", of[0], of[1]);
            case Op::greater: return out_.compare("GT", of[0], of[1]);
            case Op::greater_equal: return out_.compare("GE", of[0], of[1]);
            case Op::bit_and: return out_.binary("and", of[0], of[1]);
            case Op::bit_or: return out_.binary("or", of[0], of[1]);
            case Op::bit_xor: return out_.binary("xor", of[0], of[1]);
            case Op::bit_not: return out_.unary("not", of[0]);
            case Op::shift_left: return out_.binary("shift_left", of[0], of[1]);
            case Op::shift_right:
                return out_.binary(ir::is_unsigned_integer(x.dtype()) ? "shift_right_logical"
                                                                      : "shift_right_arithmetic",
                                   of[0], of[1]);
            case Op::select: return out_.select(of[0], of[1], of[2]);
            case Op::cast: return out_.convert(of[0], x.dtype());
            case Op::bitcast: return out_.bitcast(of[0], x.dtype());
            case Op::lookup: return looked_up(x, of[0]);
            case Op::call: return print_row(out_, *x.row(), of);
            case Op::loop: return looped(x, of);
        }
        fail<InternalError>("mlir.text: no such operation");
    }

    // A constant added to a sum with one: XLA would add the constants first, which rounds elsewhere
    // and undoes what (x + c) - c is written for.
    static bool adds_constant(const Expr& x) {
        return (x.op() == Op::add || x.op() == Op::subtract) && ir::is_floating(x.dtype()) &&
               (x.operand(0).op() == Op::constant || x.operand(1).op() == Op::constant);
    }
    Value sum(std::string_view operation, const Expr& x, Values of) {
        if (adds_constant(x))
            for (size_t i = 0; i < 2; ++i)
                if (adds_constant(x.operand(static_cast<int>(i))))
                    of[i] = out_.unary("optimization_barrier", of[i]);
        return out_.binary(operation, of[0], of[1]);
    }

    Value bits(DType dtype, const ir::scalar::Bits& bits) {
        ir::Array one(dtype, {});
        std::memcpy(one.mutable_data(), bits.data(), static_cast<size_t>(ir::size_of(dtype)));
        return out_.splat(one, shape_);
    }
    Value number(DType dtype, double value) { return out_.number({dtype, shape_}, value); }

    // float32 in float64, where the product is exact and the sum is rounded twice, the second time
    // as fma does; float64 with two roundings.
    Value fused(const Values& of) {
        const ValueType type = of[0].type();
        const auto sum = [&](const Values& x) {
            Values wide;
            for (const Value& each : x) wide.push_back(out_.convert(each, DType::float64));
            return out_.binary("add", out_.binary("multiply", wide[0], wide[1]), wide[2]);
        };
        if (type.dtype == DType::float64) return sum(of);
        const std::string key = "fma " + type_text(type);
        if (!out_.find(key)) {
            const Values inside =
                out_.begin_function("fma", {{"a", type}, {"b", type}, {"c", type}}, false);
            // XLA leaves out conversions to float32 and back, which is where the sum is rounded.
            const Value rounded = out_.convert(sum(inside), type.dtype);
            out_.keep(key, out_.end_function({out_.unary("optimization_barrier", rounded)}));
        }
        return out_.call(*out_.find(key), of)[0];
    }

    Value with_sign(const Value& size, const Value& sign) {
        const DType whole = ir::unsigned_of_size(ir::size_of(size.dtype));
        const auto width = 8 * static_cast<uint64_t>(ir::size_of(size.dtype));
        const uint64_t sign_bit = uint64_t{1} << (width - 1);
        const Value kept = out_.binary("and", out_.bitcast(size, whole), bits(whole, {~sign_bit}));
        const Value taken = out_.binary("and", out_.bitcast(sign, whole), bits(whole, {sign_bit}));
        return out_.bitcast(out_.binary("or", kept, taken), size.dtype);
    }

    // The float next to x in the direction of y: its bits as an integer, one more or one less.
    Value neighbour(const Value& x, const Value& y) {
        const DType whole = ir::size_of(x.dtype) == 4 ? DType::int32 : DType::int64;
        const Value zero = number(x.dtype, 0), one = number(whole, 1);
        const Value pattern = out_.bitcast(x, whole);
        const Value grows =
            out_.binary("xor", out_.compare("LT", x, y), out_.compare("LT", x, zero));
        const Value next = out_.bitcast(out_.select(grows, out_.binary("add", pattern, one),
                                                    out_.binary("subtract", pattern, one)),
                                        x.dtype);
        const Value least = with_sign(out_.bitcast(one, x.dtype), y);
        const Value moved = out_.select(out_.compare("EQ", x, zero), least, next);
        const Value is_nan = out_.binary("or", out_.compare("NE", x, x), out_.compare("NE", y, y));
        return out_.select(is_nan, out_.binary("add", x, y),
                           out_.select(out_.compare("EQ", x, y), y, moved));
    }

    Value looked_up(const Expr& x, const Value& index) {
        return out_.apply_generic(
            "gather", {out_.constant(ir::scalar::table_values(x)), index},
            "dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = " +
                std::to_string(index.rank()) +
                ">, indices_are_sorted = false, slice_sizes = array<i64: 1>",
            {x.dtype(), index.shape});
    }

    // All values of one run are one loop, in which those elements change whose condition holds.
    Value looped(const Expr& x, const Values& of) {
        const ir::scalar::LoopRun run = ir::scalar::run_of(x);
        auto found = runs_.find(run);
        if (found == runs_.end()) {
            const ir::scalar::Loop& loop = *x.loop();
            Values initial{out_.number(DType::int64, 0)};
            initial.insert(initial.end(), of.begin(), of.end());
            const auto holds = [&](const Values& state) {
                return print_expression(out_, loop.condition,
                                        Values(state.begin() + 1, state.end()), shape_);
            };
            const Value limit = out_.number(DType::int64, static_cast<double>(loop.limit));
            const Value one = out_.number(DType::int64, 1);
            const Value no = out_.number(DType::boolean, 0);
            Axes all;
            for (size_t d = 0; d < shape_.size(); ++d) all.push_back(static_cast<int64_t>(d));
            const Values after = out_.loop(
                initial,
                [&](const Values& state) {
                    const Value any =
                        all.empty() ? holds(state) : out_.reduce("or", holds(state), no, all);
                    return Values{out_.binary("and", any, out_.compare("LT", state[0], limit))};
                },
                [&](const Values& state) {
                    const Value is_on = holds(state);
                    Values next{out_.binary("add", state[0], one)};
                    const Values inner(state.begin() + 1, state.end());
                    ExpressionPrinter step(out_, inner, shape_);
                    for (size_t i = 0; i < inner.size(); ++i)
                        next.push_back(out_.select(is_on, step.printed(loop.steps[i]), inner[i]));
                    return next;
                });
            found = runs_.emplace(run, Values(after.begin() + 1, after.end())).first;
        }
        return found->second[static_cast<size_t>(x.index())];
    }

    Writer& out_;
    const Values& arguments_;
    Shape shape_;
    std::unordered_map<const ir::scalar::ExprNode*, Value> known_;
    std::map<ir::scalar::LoopRun, Values> runs_;
};

}  // namespace

Value print_expression(Writer& out, const Expr& expression, const Values& arguments,
                       const Shape& shape) {
    return ExpressionPrinter(out, arguments, shape).printed(expression);
}

}  // namespace composit::mlir
