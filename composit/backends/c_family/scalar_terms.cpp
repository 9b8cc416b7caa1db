// Terms with the parentheses that C's precedence, and compilers' warnings, ask for.
#include "composit/backends/c_family/scalar_terms.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/c_family/scalar_tables.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/scalar/function.h"

#include <cmath>
#include <utility>

namespace composit::c_family {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::Op;

Term function(const std::string& name, const std::vector<Term>& arguments) {
    std::vector<std::string> texts;
    for (const Term& argument : arguments) texts.push_back(argument.text);
    return {name + "(" + join(texts) + ")", Binding::atom};
}

namespace {

std::string parenthesised(const Term& term) { return "(" + term.text + ")"; }

std::string at_least(const Term& term, Binding binding) {
    return term.binding >= binding ? term.text : parenthesised(term);
}

Term infix(const Term& a, const char* symbol, const Term& b, Binding binding) {
    // The left operand may bind as loosely as the operator itself, which groups to the left; the
    // right one may not.
    const bool groups = binding == Binding::sum || binding == Binding::product;
    const auto tighter = static_cast<Binding>(static_cast<int>(binding) + 1);
    const Binding right = binding == Binding::other ? Binding::prefix : tighter;
    const Binding left = binding == Binding::other ? Binding::prefix : groups ? binding : tighter;
    return {at_least(a, left) + " " + symbol + " " + at_least(b, right), binding};
}

bool is_narrow(DType dtype) { return ir::size_of(dtype) < 4; }

// The unsigned type in which sums and products of an integer type are formed.
DType wrapping_type(DType dtype) { return ir::size_of(dtype) == 8 ? DType::uint64 : DType::uint32; }

class TermMaker {
  public:
    // `wraps`: whether a sum or product of integers may leave its type.
    TermMaker(const Expr& expr, std::vector<Term> operands, const ScalarSpelling& spelling,
              bool wraps = true)
        : expr_(expr), x_(std::move(operands)), spelling_(spelling), wraps_(wraps) {
        if (!expr.operands().empty()) dtype_ = expr.operands().back().dtype();
    }

    Term make() const {
        switch (expr_.op()) {
            case Op::constant:
            case Op::argument: break;
            case Op::add: return arithmetic("+", Binding::sum);
            case Op::subtract: return arithmetic("-", Binding::sum);
            case Op::multiply: return arithmetic("*", Binding::product);
            case Op::divide: return quotient("/");
            case Op::remainder:
                if (!is_floating(dtype_)) return quotient("%");
                return named("float_remainder", "fmod" + of_devices());
            case Op::negate: return negated();
            case Op::absolute: return magnitude();
            case Op::fma: return named("multiply_add", "fma");
            case Op::square_root: return named("square_root", "sqrt");
            case Op::floor: return named("round_down", "floor" + of_devices());
            case Op::ceil: return named("round_up", "ceil" + of_devices());
            case Op::rint: return named("round_to_even", "rint" + of_devices());
            case Op::trunc: return named("round_to_zero", "trunc" + of_devices());
            case Op::copysign: return named("copy_sign", "copysign");
            case Op::nextafter: return named("next_after", "next_after" + of_devices());
            case Op::equal: return compared("==");
            case Op::not_equal: return compared("!=");
            case Op::less: return compared("<");
            case Op::less_equal: return compared("<=");
            case Op::greater: return compared(">");
            case Op::greater_equal: return compared(">=");
            case Op::bit_and: return infix(x_[0], is_logical() ? "&&" : "&", x_[1], Binding::other);
            case Op::bit_or: return infix(x_[0], is_logical() ? "||" : "|", x_[1], Binding::other);
            case Op::bit_xor:
                return infix(x_[0], dtype_ == DType::boolean ? "!=" : "^", x_[1], Binding::other);
            case Op::bit_not: return inverted();
            case Op::shift_left: return shifted_left();
            case Op::shift_right: return infix(x_[0], ">>", x_[1], Binding::other);
            case Op::select: return chosen();
            case Op::cast: return cast();
            case Op::bitcast: return bitcast();
            case Op::lookup:
                return {table_name(*expr_.table(), expr_.dtype()) + "[" + x_[0].text + "]",
                        Binding::atom};
            case Op::call: return function(specialisation_of(expr_).symbol, x_);
            case Op::loop: break;  // statements
        }
        fail<InternalError>("printing a scalar ", name(expr_.op()), " as an operation");
    }

  private:
    std::string type() const { return type_name(dtype_); }
    // Behind the name of a function that the texts for devices bring themselves.
    std::string of_devices() const { return spelling_.is_plain ? "" : "_" + type(); }
    // Compilers warn of `|` between bools.
    bool is_logical() const { return spelling_.is_plain && dtype_ == DType::boolean; }
    std::string written(DType dtype, Bits bits) const { return literal(dtype, bits, spelling_); }

    // The function of C++'s prelude, or of C.
    Term named(const std::string& in_cpp, const std::string& in_c) const {
        if (spelling_.is_plain) return function(text(in_c, "_", dtype_), x_);
        return function(spelling_.is_c ? in_c : in_cpp, x_);
    }
    Term converted(const std::string& type, const Term& x) const {
        if (spelling_.is_plain && !spelling_.has_cpp_casts)
            return {"(" + type + ")" + at_least(x, Binding::atom), Binding::prefix};
        if (spelling_.has_cpp_casts) return {type + "(" + x.text + ")", Binding::atom};
        const std::string to = spelling_.is_c ? "(" + type + ")" : type;
        return {to + "(" + x.text + ")", Binding::atom};
    }
    // The same bits.
    Term same_bits(DType to, const Term& x) const {
        if (!spelling_.is_c) return converted("bits_as<" + type_name(to) + ">", x);
        if (spelling_.is_plain && ir::size_of(to) >= 4) return function(text("as_", to), {x});
        switch (to) {
            case DType::float32: return function("as_float", {x});
            case DType::float64: return function("as_double", {x});
            case DType::int32: return function("as_int", {x});
            case DType::uint32: return function("as_uint", {x});
            case DType::int64: return function("as_long", {x});
            case DType::uint64: return function("as_ulong", {x});
            default: return converted(type_name(to), x);
        }
    }

    // A bool out of memory: compilers write vector instructions for a byte that is compared.
    bool is_loaded(size_t i) const {
        const Expr& operand = expr_.operands()[i];
        return !spelling_.is_c && operand.op() == Op::argument &&
               operand.dtype() == DType::boolean && !x_[i].is_computed;
    }
    static Term as_byte(const Term& x) {
        return {"bits_as<uint8_t>(" + x.text + ")", Binding::atom};
    }
    inline static const Term zero{"0", Binding::atom};

    // An operand as a value of the wrapping type.
    Term wrapping(size_t i) const {
        const Expr& operand = expr_.operands()[i];
        const DType wide = wrapping_type(dtype_);
        if (operand.op() == Op::constant)
            return {written(wide, cast_constant(operand, wide)), Binding::atom};
        if (operand.dtype() == wide) return x_[i];
        if (!x_[i].unwrapped.empty()) return {x_[i].unwrapped, x_[i].unwrapped_binding};
        return converted(type_name(wide), x_[i]);
    }

    static Bits cast_constant(const Expr& constant, DType dtype) {
        return ir::scalar::evaluate({Expr::cast(constant, dtype)}, {})[0];
    }

    // g++ 12 takes 0.0 - x for -x where it sees that x is never -0.0, which gives -0.0 for 0.0 in
    // place of 0.0: behind a function of the prelude it does not see it.
    Term behind_zero(size_t i) const {
        const Expr& zero_of = expr_.operands()[1 - i];
        const Expr* x = &expr_.operands()[i];
        const bool is_zero = zero_of.op() == Op::constant && zero_of.value() == 0.0 &&
                             !std::signbit(zero_of.value());
        if (expr_.op() == Op::add && x->op() == Op::negate)
            x = &x->operands()[0];
        else if (expr_.op() != Op::subtract || i == 0)
            return x_[i];
        const bool is_seen = x->op() == Op::cast || x->op() == Op::select;
        if (!is_zero || !is_seen) return x_[i];
        if (spelling_.is_plain) {
            const DType bits = ir::size_of(dtype_) == 8 ? DType::uint64 : DType::uint32;
            return same_bits(dtype_, same_bits(bits, x_[i]));
        }
        return spelling_.is_c ? x_[i] : same_bits(dtype_, x_[i]);
    }

    Term arithmetic(const char* symbol, Binding binding) const {
        if (is_floating(dtype_)) return infix(behind_zero(0), symbol, behind_zero(1), binding);
        if (!wraps_) return infix(x_[0], symbol, x_[1], binding);
        const Term sum = infix(wrapping(0), symbol, wrapping(1), binding);
        return wrapped(sum);
    }

    // What was computed in the wrapping type.
    Term wrapped(const Term& x) const {
        if (dtype_ == wrapping_type(dtype_)) return x;
        Term made = converted(type(), x);
        if (!is_narrow(dtype_)) {
            made.unwrapped = x.text;
            made.unwrapped_binding = x.binding;
        }
        return made;
    }

    Term quotient(const char* symbol) const {
        const Term result = infix(x_[0], symbol, x_[1], Binding::product);
        return is_integer(dtype_) && is_narrow(dtype_) ? converted(type(), result) : result;
    }

    Term negated() const {
        if (is_floating(dtype_)) return {"-" + at_least(x_[0], Binding::atom), Binding::prefix};
        if (!wraps_) return {"-" + at_least(x_[0], Binding::atom), Binding::prefix};
        const DType wide = wrapping_type(dtype_);
        return wrapped(
            infix({written(wide, {0, 0}), Binding::atom}, "-", wrapping(0), Binding::sum));
    }

    Term magnitude() const {
        if (is_unsigned_integer(dtype_)) return x_[0];
        if (is_floating(dtype_)) return named("absolute", "fabs");
        const std::string wide = ir::size_of(dtype_) == 8 ? "int64_t" : "int32_t";
        const std::string in_c =
            "absolute_" + wide.substr(0, wide.size() - (spelling_.is_plain ? 2 : 0));
        const Term result = function(spelling_.is_c ? in_c : "absolute", {converted(wide, x_[0])});
        return is_narrow(dtype_) ? converted(type(), result) : result;
    }

    Term compared(const char* symbol) const {
        if (dtype_ != DType::boolean) return infix(x_[0], symbol, x_[1], Binding::comparison);
        const auto number = [&](size_t i) {
            return is_loaded(i) ? as_byte(x_[i]) : converted("int", x_[i]);
        };
        return infix(number(0), symbol, number(1), Binding::comparison);
    }

    Term inverted() const {
        if (is_loaded(0)) return infix(as_byte(x_[0]), "==", zero, Binding::comparison);
        if (dtype_ == DType::boolean)
            return {"!" + at_least(x_[0], Binding::atom), Binding::prefix};
        const Term result{"~" + at_least(x_[0], Binding::atom), Binding::prefix};
        return is_narrow(dtype_) ? converted(type(), result) : result;
    }

    Term shifted_left() const { return wrapped(infix(wrapping(0), "<<", x_[1], Binding::other)); }

    Term chosen() const {
        const Term condition =
            is_loaded(0) ? infix(as_byte(x_[0]), "!=", zero, Binding::comparison) : x_[0];
        return {at_least(condition, Binding::comparison) + " ? " + at_least(x_[1], Binding::other) +
                    " : " + at_least(x_[2], Binding::other),
                Binding::choice};
    }

    Term cast() const {
        const DType from = dtype_;
        const DType to = expr_.dtype();
        if (to == DType::boolean)
            return infix(x_[0], "!=", {written(from, {0, 0}), Binding::atom}, Binding::comparison);
        if (is_floating(from) && is_integer(to)) {
            // The conversions that x86 has: all others are made of them.
            if (is_narrow(to)) return converted(type_name(to), converted("int32_t", x_[0]));
            if (to == DType::uint32) return converted("uint32_t", converted("int64_t", x_[0]));
        }
        if (spelling_.is_for_vectors && from == DType::int64 && to == DType::float64)
            return function("vector_float64", x_);
        return converted(type_name(to), is_loaded(0) ? as_byte(x_[0]) : x_[0]);
    }

    Term bitcast() const {
        const DType to = expr_.dtype();
        if (is_integer(dtype_) && is_integer(to)) return converted(type_name(to), x_[0]);
        // The functions of plain text take bits as unsigned integers.
        if (spelling_.is_plain && ir::is_signed_integer(dtype_) && ir::size_of(dtype_) >= 4)
            return same_bits(to, converted("u" + type_name(dtype_), x_[0]));
        return same_bits(to, x_[0]);
    }

    const Expr& expr_;
    std::vector<Term> x_;
    const ScalarSpelling& spelling_;
    const bool wraps_;
    DType dtype_ = DType::float32;  // of the operands (select: of the branches)
};

}  // namespace

Term term_of_operation(const Expr& expr, std::vector<Term> operands, const ScalarSpelling& spelling,
                       bool wraps) {
    return TermMaker(expr, std::move(operands), spelling, wraps).make();
}

}  // namespace composit::c_family
