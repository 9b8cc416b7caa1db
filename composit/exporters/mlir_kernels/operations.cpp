// What each operation is in `arith` and `math`: none of them is allowed to change a bit.
#include "composit/exporters/mlir_kernels/operations.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/c_family/scalar_tables.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <limits>

namespace composit::mlir {

using ir::DType;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

bool is_signed(DType dtype) { return ir::is_signed_integer(dtype); }

class OperationWriter {
  public:
    OperationWriter(FunctionText& out, const Expr& expr, const std::vector<std::string>& x,
                    std::string_view wanted, bool is_of_index)
        : out_(out), expr_(expr), x_(x), wanted_(wanted), is_of_index_(is_of_index) {
        if (!expr.operands().empty()) dtype_ = expr.operands().back().dtype();
        is_float_ = ir::is_floating(dtype_);
    }

    std::string write() {
        const bool has_sign = is_signed(dtype_);
        switch (expr_.op()) {
            case Op::add: return same(is_float_ ? "arith.addf" : "arith.addi");
            case Op::subtract: return same(is_float_ ? "arith.subf" : "arith.subi");
            case Op::multiply: return same(is_float_ ? "arith.mulf" : "arith.muli");
            case Op::divide:
                return same(is_float_ ? "arith.divf" : has_sign ? "arith.divsi" : "arith.divui");
            case Op::remainder:
                return same(is_float_ ? "arith.remf" : has_sign ? "arith.remsi" : "arith.remui");
            case Op::negate:
                if (is_float_) return same("arith.negf");
                return on("arith.subi", {zero(), x_[0]});
            case Op::absolute:
                if (is_float_) return same("math.absf");
                return has_sign ? same("math.absi") : x_[0];
            case Op::fma: return same("math.fma");
            case Op::square_root: return same("math.sqrt");
            case Op::floor: return same("math.floor");
            case Op::ceil: return same("math.ceil");
            case Op::rint: return same("math.roundeven");
            case Op::trunc: return same("math.trunc");
            case Op::copysign: return same("math.copysign");
            case Op::nextafter:
                return out_.add(
                    wanted_, text("func.call @", next_after_symbol(dtype_), "(", join(x_), ") : (",
                                  type(), ", ", type(), ") -> ", type()));
            case Op::equal: return compare("oeq", "eq");
            case Op::not_equal: return compare("une", "ne");
            case Op::less: return compare("olt", has_sign ? "slt" : "ult");
            case Op::less_equal: return compare("ole", has_sign ? "sle" : "ule");
            case Op::greater: return compare("ogt", has_sign ? "sgt" : "ugt");
            case Op::greater_equal: return compare("oge", has_sign ? "sge" : "uge");
            case Op::bit_and: return same("arith.andi");
            case Op::bit_or: return same("arith.ori");
            case Op::bit_xor: return same("arith.xori");
            case Op::bit_not: return on("arith.xori", {x_[0], all_ones()});
            case Op::shift_left: return same("arith.shli");
            case Op::shift_right: return same(has_sign ? "arith.shrsi" : "arith.shrui");
            case Op::select:
                return out_.add(wanted_, text("arith.select ", join(x_), " : ", type()));
            case Op::cast: return cast(x_[0], dtype_, expr_.dtype(), wanted_);
            case Op::bitcast: return bitcast();
            case Op::lookup: return lookup();
            case Op::call: return call();
            case Op::constant:
            case Op::argument:
            case Op::loop: break;
        }
        fail<InternalError>("mlir: a scalar ", name(expr_.op()), " as an operation");
    }

  private:
    std::string type() const { return is_of_index_ ? "index" : scalar_type(dtype_); }
    std::string on(std::string_view operation, const std::vector<std::string>& operands) {
        return out_.add(wanted_, text(operation, " ", join(operands), " : ", type()));
    }
    std::string same(std::string_view operation) { return on(operation, x_); }
    std::string compare(std::string_view of_floats, std::string_view of_integers) {
        return is_float_ ? same(text("arith.cmpf ", of_floats, ","))
                         : same(text("arith.cmpi ", of_integers, ","));
    }
    std::string zero() { return out_.constant(dtype_, {0, 0}); }
    std::string all_ones() {
        return out_.constant(dtype_,
                             ir::scalar::evaluate({~Expr::constant_bits(dtype_, {0, 0})}, {})[0]);
    }

    std::string converted(std::string_view operation, const std::string& x, DType from, DType to,
                          std::string_view wanted) {
        return out_.add(wanted,
                        text(operation, " ", x, " : ", scalar_type(from), " to ", scalar_type(to)));
    }

    std::string cast(const std::string& x, DType from, DType to, std::string_view wanted) {
        const int width = ir::size_of(from), to_width = ir::size_of(to);
        if (to == DType::boolean) return truth(x, from);
        if (ir::is_floating(from) && ir::is_floating(to))
            return converted(width < to_width ? "arith.extf" : "arith.truncf", x, from, to, wanted);
        if (ir::is_floating(to))
            return converted(is_signed(from) ? "arith.sitofp" : "arith.uitofp", x, from, to,
                             wanted);
        if (ir::is_floating(from)) {
            // As C's text converts: by way of the integers that x86 has.
            const DType by = to_width < 4 ? DType::int32 : to == DType::uint32 ? DType::int64 : to;
            const bool is_last = by == to;
            const std::string made = converted(is_signed(by) ? "arith.fptosi" : "arith.fptoui", x,
                                               from, by, is_last ? wanted : "");
            return is_last ? made : converted("arith.trunci", made, by, to, wanted);
        }
        if (from == DType::boolean) return converted("arith.extui", x, from, to, wanted);
        if (width == to_width) return x;
        if (width > to_width) return converted("arith.trunci", x, from, to, wanted);
        return converted(is_signed(from) ? "arith.extsi" : "arith.extui", x, from, to, wanted);
    }

    std::string truth(const std::string& x, DType from) {
        if (from == DType::boolean) return x;
        const std::string nothing = out_.constant(from, {0, 0});
        return out_.add(
            wanted_, text(ir::is_floating(from) ? "arith.cmpf une, " : "arith.cmpi ne, ", x, ", ",
                          nothing, " : ", scalar_type(from)));
    }

    std::string bitcast() {
        const DType to = expr_.dtype();
        if (ir::is_floating(dtype_) == ir::is_floating(to)) return x_[0];  // integers: no sign here
        return converted("arith.bitcast", x_[0], dtype_, to, wanted_);
    }

    std::string lookup() {
        const std::string table = c_family::table_name(*expr_.table(), expr_.dtype());
        const std::string all =
            out_.add("table", text("memref.get_global @", table, " : ", table_type(expr_)));
        const bool has_sign = is_signed(dtype_);
        const std::string place =
            out_.add("", text(has_sign ? "arith.index_cast " : "arith.index_castui ", x_[0], " : ",
                              type(), " to index"));
        return out_.add(wanted_, text("memref.load ", all, "[", place, "] : ", table_type(expr_)));
    }

    std::string call() {
        const auto& called = c_family::specialisation_of(expr_);
        std::vector<std::string> types;
        for (const DType each : called.signature.operands) types.push_back(scalar_type(each));
        return out_.add(wanted_, text("func.call @", called.symbol, "(", join(x_), ") : (",
                                      join(types), ") -> ", scalar_type(expr_.dtype())));
    }

    FunctionText& out_;
    const Expr& expr_;
    const std::vector<std::string>& x_;
    const std::string_view wanted_;
    const bool is_of_index_;
    DType dtype_ = DType::float64;  // of the operands; of a choice, of what is chosen
    bool is_float_ = false;
};

}  // namespace

std::string write_operation(FunctionText& out, const Expr& expr,
                            const std::vector<std::string>& operands, std::string_view wanted,
                            bool is_of_index) {
    return OperationWriter(out, expr, operands, wanted, is_of_index).write();
}

std::string next_after_symbol(DType dtype) { return text("next_after_", dtype); }

Expr next_after(DType dtype) {
    const bool is_double = dtype == DType::float64;
    const DType integers = is_double ? DType::int64 : DType::int32;
    const Expr x = Expr::argument(0, dtype, "x"), y = Expr::argument(1, dtype, "y");
    const Expr zero = Expr::constant(dtype, 0), one = Expr::constant_integer(integers, 1);
    const Expr bits = Expr::bitcast(x, integers);
    const Expr approaches_zero = (y > x) ^ (x > zero);
    const Expr next = Expr::bitcast(select(approaches_zero, bits - one, bits + one), dtype);
    const Expr least = Expr::bitcast(one, dtype);
    const Expr moved = select(equal(x, zero), copysign(least, y), next);
    const Expr has_nan = not_equal(x, x) | not_equal(y, y);
    return select(has_nan, x + y, select(equal(x, y), y, moved));
}

std::string table_type(const Expr& lookup) {
    return text("memref<", lookup.table()->size(), "x", scalar_type(lookup.dtype()), ">");
}

}  // namespace composit::mlir
