// Expressions of the scalar language, operation by operation.
#include "composit/base/error.h"
#include "composit/ir/scalar/table_values.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <cstring>
#include <unordered_map>

namespace composit::onnx::saving {
namespace {

using ir::scalar::Expr;
using ir::scalar::Op;

class ExpressionSaver {
  public:
    ExpressionSaver(GraphWriter& out, const ManyWritten& arguments)
        : out_(out), arguments_(arguments) {}

    // Operands before what is made of them; without recursion, as expressions may be deep.
    Written written(const Expr& root) {
        std::vector<Expr> stack{root};
        while (!stack.empty()) {
            const Expr x = stack.back();
            if (known_.contains(x.id())) {
                stack.pop_back();
                continue;
            }
            bool is_ready = true;
            for (const Expr& operand : x.operands())
                if (!known_.contains(operand.id())) {
                    stack.push_back(operand);
                    is_ready = false;
                }
            if (!is_ready) continue;
            known_.emplace(x.id(), made(x));
            stack.pop_back();
        }
        return known_.at(root.id());
    }

  private:
    Written made(const Expr& x) {
        ManyWritten of;
        for (const Expr& operand : x.operands()) of.push_back(known_.at(operand.id()));
        const bool is_bool = !of.empty() && of[0].dtype == DType::boolean;
        switch (x.op()) {
            case Op::argument: return arguments_[static_cast<size_t>(x.index())];
            case Op::constant: {
                ir::Array value(x.dtype(), {});
                const ir::scalar::Bits bits = x.bits();
                std::memcpy(value.mutable_data(), bits.data(),
                            static_cast<size_t>(ir::size_of(x.dtype())));
                return out_.constant(value);
            }
            case Op::add: return out_.binary("Add", of[0], of[1]);
            case Op::subtract: return out_.binary("Sub", of[0], of[1]);
            case Op::multiply: return out_.binary("Mul", of[0], of[1]);
            case Op::divide: return out_.binary("Div", of[0], of[1]);
            case Op::remainder:
                return out_.add("Mod", of, {x.dtype(), broadcast(of)},
                                {integer_attribute("fmod", 1)});
            case Op::negate:
                if (ir::is_unsigned_integer(x.dtype()))
                    return out_.binary("Sub", out_.scalar(x.dtype(), 0), of[0]);
                return out_.unary("Neg", of[0]);
            case Op::absolute: return out_.unary("Abs", of[0]);
            case Op::fma: return fused(of);
            case Op::square_root: return out_.unary("Sqrt", of[0]);
            case Op::floor: return out_.unary("Floor", of[0]);
            case Op::ceil: return out_.unary("Ceil", of[0]);
            case Op::rint: return out_.unary("Round", of[0]);
            case Op::trunc: return row("trunc", of);
            case Op::copysign: return row("copysign", of);
            case Op::equal: return out_.compare("Equal", of[0], of[1]);
            case Op::not_equal: return out_.unary("Not", out_.compare("Equal", of[0], of[1]));
            case Op::less: return out_.compare("Less", of[0], of[1]);
            case Op::less_equal: return out_.compare("LessOrEqual", of[0], of[1]);
            case Op::greater: return out_.compare("Greater", of[0], of[1]);
            case Op::greater_equal: return out_.compare("GreaterOrEqual", of[0], of[1]);
            case Op::bit_and: return out_.binary(is_bool ? "And" : "BitwiseAnd", of[0], of[1]);
            case Op::bit_or: return out_.binary(is_bool ? "Or" : "BitwiseOr", of[0], of[1]);
            case Op::bit_xor: return out_.binary(is_bool ? "Xor" : "BitwiseXor", of[0], of[1]);
            case Op::bit_not: return out_.unary(is_bool ? "Not" : "BitwiseNot", of[0]);
            case Op::shift_left: return shifted(of, "LEFT");
            case Op::shift_right: return shifted(of, "RIGHT");
            case Op::select: return out_.where(of[0], of[1], of[2]);
            case Op::cast: return out_.cast(of[0], x.dtype());
            case Op::bitcast:
                return out_.add(
                    "BitCast", of, {x.dtype(), of[0].shape},
                    {integer_attribute("to", static_cast<int64_t>(element_type(x.dtype())))}, 26);
            case Op::lookup: return looked_up(x, of[0]);
            case Op::call: return save_row(out_, *x.row(), of);
            case Op::nextafter:
            case Op::loop: break;
        }
        fail<NotSupported>("onnx.save: ", ir::scalar::name(x.op()), " of ", x.dtype(),
                           " has no operator of ONNX. A graph without it is required.");
    }

    static Shape broadcast(const ManyWritten& of) {
        std::vector<Shape> shapes;
        for (const Written& each : of) shapes.push_back(each.shape);
        return ops::broadcast_shapes("onnx.save", shapes);
    }

    Written row(std::string_view name, const ManyWritten& of) {
        return save_row(out_, *ir::scalar::table_row(name), of);
    }

    // float32 in float64, where the product is exact and the sum is rounded twice, the second time
    // as fma does; float64 with two roundings.
    Written fused(const ManyWritten& of) {
        const DType dtype = of[0].dtype;
        ManyWritten wide;
        for (const Written& each : of) wide.push_back(out_.cast(each, DType::float64));
        const Written sum = out_.binary("Add", out_.binary("Mul", wide[0], wide[1]), wide[2]);
        return out_.cast(sum, dtype);
    }

    // ONNX shifts unsigned integers.
    Written shifted(const ManyWritten& of, const char* direction) {
        const DType dtype = of[0].dtype;
        if (ir::is_signed_integer(dtype) && direction == std::string_view("RIGHT")) {
            // The sign is kept: not(not(x) >> n) where x is negative.
            const Written negative = out_.compare("Less", of[0], out_.scalar(dtype, 0));
            const Written turned = out_.unary("BitwiseNot", of[0]);
            const Written inner =
                as_unsigned_shift(out_.where(negative, turned, of[0]), of[1], direction);
            return out_.where(negative, out_.unary("BitwiseNot", inner), inner);
        }
        return as_unsigned_shift(of[0], of[1], direction);
    }
    Written as_unsigned_shift(const Written& x, const Written& count, const char* direction) {
        const DType dtype =
            ir::is_integer(x.dtype) ? ir::unsigned_of_size(ir::size_of(x.dtype)) : x.dtype;
        const ManyWritten of{out_.cast(x, dtype), out_.cast(count, dtype)};
        return out_.cast(out_.add("BitShift", of, {dtype, broadcast(of)},
                                  {text_attribute("direction", direction)}),
                         x.dtype);
    }

    Written looked_up(const Expr& x, const Written& index) {
        return out_.gather(out_.constant(ir::scalar::table_values(x)),
                           out_.cast(index, DType::int64), 0);
    }

    GraphWriter& out_;
    const ManyWritten& arguments_;
    std::unordered_map<const ir::scalar::ExprNode*, Written> known_;
};

}  // namespace

Written save_expression(GraphWriter& out, const Expr& expression, const ManyWritten& arguments) {
    return ExpressionSaver(out, arguments).written(expression);
}

}  // namespace composit::onnx::saving
