// Printing scalar expressions as C++17: one `const` per shared, named or long sub-expression.
#include "composit/backends/c_family/scalar_printer.h"

#include "composit/backends/c_family/loop_questions.h"
#include "composit/backends/c_family/scalar_roundings.h"
#include "composit/backends/c_family/scalar_tables.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::ExprNode;
using ir::scalar::Op;
using ir::scalar::Specialisation;

constexpr size_t longest_term = 64;

// How tightly a term binds. Where C's precedence surprises or compilers warn, parentheses are
// written.
enum class Binding : uint8_t { choice, other, comparison, sum, product, prefix, atom };

struct Term {
    std::string text;
    Binding binding = Binding::atom;
    bool chooses = false;  // whether it has a choice or a call written out
    // Of an integer that wraps: before it becomes signed again.
    std::string unwrapped = {};
    Binding unwrapped_binding = Binding::atom;
};

// Calls of one-operation rows replaced by their bodies.
std::vector<Expr> expand(const std::vector<Expr>& results) {
    std::unordered_map<const ExprNode*, Expr> expanded;
    for (const Expr& expr : ir::scalar::topological_order(results)) {
        std::vector<Expr> operands;
        bool changed = false;
        for (const Expr& operand : expr.operands()) {
            operands.push_back(expanded.at(operand.id()));
            changed |= !(operands.back() == operand);
        }
        Expr out = expr;
        if (expr.op() == Op::call && specialisation_of(expr).is_one_operation) {
            out = ir::scalar::substitute({specialisation_of(expr).body}, operands)[0];
            if (!expr.name().empty()) out = out.named(expr.name());
        } else if (changed) {
            out = expr.with_operands(std::move(operands));
        }
        expanded.emplace(expr.id(), out);
    }
    std::vector<Expr> out;
    for (const Expr& result : results) out.push_back(expanded.at(result.id()));
    return out;
}

// ----- terms

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

Term function(const std::string& name, const std::vector<Term>& arguments) {
    std::vector<std::string> texts;
    for (const Term& argument : arguments) texts.push_back(argument.text);
    return {name + "(" + join(texts) + ")", Binding::atom};
}

bool is_narrow(DType dtype) { return ir::size_of(dtype) < 4; }

// The unsigned type in which sums and products of an integer type are formed.
DType wrapping_type(DType dtype) { return ir::size_of(dtype) == 8 ? DType::uint64 : DType::uint32; }

class TermMaker {
  public:
    TermMaker(const Expr& expr, std::vector<Term> operands, const ScalarSpelling& spelling)
        : expr_(expr), x_(std::move(operands)), spelling_(spelling) {
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
                return is_floating(dtype_) ? named("float_remainder", "fmod") : quotient("%");
            case Op::negate: return negated();
            case Op::absolute: return magnitude();
            case Op::fma: return named("multiply_add", "fma");
            case Op::square_root: return named("square_root", "sqrt");
            case Op::floor: return named("round_down", "floor");
            case Op::ceil: return named("round_up", "ceil");
            case Op::rint: return named("round_to_even", "rint");
            case Op::trunc: return named("round_to_zero", "trunc");
            case Op::copysign: return named("copy_sign", "copysign");
            case Op::nextafter: return named("next_after", "next_after_" + type());
            case Op::equal: return compared("==");
            case Op::not_equal: return compared("!=");
            case Op::less: return compared("<");
            case Op::less_equal: return compared("<=");
            case Op::greater: return compared(">");
            case Op::greater_equal: return compared(">=");
            case Op::bit_and: return infix(x_[0], "&", x_[1], Binding::other);
            case Op::bit_or: return infix(x_[0], "|", x_[1], Binding::other);
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
    std::string written(DType dtype, Bits bits) const { return literal(dtype, bits, spelling_); }

    // The function of C++'s prelude, or of C.
    Term named(const std::string& in_cpp, const std::string& in_c) const {
        return function(spelling_.is_c ? in_c : in_cpp, x_);
    }
    Term converted(const std::string& type, const Term& x) const {
        const std::string to = spelling_.is_c ? "(" + type + ")" : type;
        return {to + "(" + x.text + ")", Binding::atom};
    }
    // The same bits.
    Term same_bits(DType to, const Term& x) const {
        if (!spelling_.is_c) return converted("bits_as<" + type_name(to) + ">", x);
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
        return !spelling_.is_c && operand.op() == Op::argument && operand.dtype() == DType::boolean;
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
        return is_zero && is_seen && !spelling_.is_c ? same_bits(dtype_, x_[i]) : x_[i];
    }

    Term arithmetic(const char* symbol, Binding binding) const {
        if (is_floating(dtype_)) return infix(behind_zero(0), symbol, behind_zero(1), binding);
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
        const DType wide = wrapping_type(dtype_);
        return wrapped(
            infix({written(wide, {0, 0}), Binding::atom}, "-", wrapping(0), Binding::sum));
    }

    Term magnitude() const {
        if (is_unsigned_integer(dtype_)) return x_[0];
        if (is_floating(dtype_)) return named("absolute", "fabs");
        const std::string wide = ir::size_of(dtype_) == 8 ? "int64_t" : "int32_t";
        const Term result =
            function(spelling_.is_c ? "absolute_" + wide : "absolute", {converted(wide, x_[0])});
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
        return converted(type_name(to), is_loaded(0) ? as_byte(x_[0]) : x_[0]);
    }

    Term bitcast() const {
        const DType to = expr_.dtype();
        if (is_integer(dtype_) && is_integer(to)) return converted(type_name(to), x_[0]);
        return same_bits(to, x_[0]);
    }

    const Expr& expr_;
    std::vector<Term> x_;
    const ScalarSpelling& spelling_;
    DType dtype_ = DType::float32;  // of the operands (select: of the branches)
};

// ----- statements

class StatementPrinter {
  public:
    StatementPrinter(const std::vector<Expr>& results, const std::vector<std::string>& arguments,
                     TakenNames& taken, const Roundings* roundings, LoopQuestion question,
                     const ScalarSpelling& spelling)
        : results_(expand(results)),
          order_(ir::scalar::topological_order(results_)),
          arguments_(arguments),
          taken_(taken),
          question_(question),
          spelling_(spelling) {
        if (roundings && !spelling.is_c) fusing_.emplace(*roundings);
        for (const Expr& expr : order_) {
            for (const Expr& operand : expr.operands()) ++uses_[operand.id()];
            if (expr.op() == Op::select)
                for (size_t branch : {1, 2}) branches_.insert(expr.operands()[branch].id());
        }
        for (const Expr& result : results_) ++uses_[result.id()];
    }

    Statements run() {
        Statements out;
        for (const Expr& expr : order_) {
            Term term = expr.op() == Op::loop ? print_loop(expr, out) : term_of(expr);
            if (becomes_statement(expr, term)) {
                const std::string name =
                    unique_name(expr.name().empty() ? "t" : expr.name(), taken_);
                out.lines.push_back("const " + type_name(expr.dtype()) + " " + name + " = " +
                                    term.text + ";");
                term = {name, Binding::atom};
            }
            terms_.emplace(expr.id(), std::move(term));
        }
        for (const Expr& result : results_) out.results.push_back(terms_.at(result.id()).text);
        return out;
    }

  private:
    bool becomes_statement(const Expr& expr, const Term& term) const {
        if (ir::scalar::arity_of(expr.op()) == 0 || expr.op() == Op::loop) return false;
        // Compilers join the condition of a choice that is written within a branch of another one
        // with the other's: one more comparison of vectors, which costs as much as two
        // multiplications with AVX-512. A value of its own is computed in any case.
        if (branches_.contains(expr.id()) && term.chooses) return true;
        if (results_.size() == 1 && expr == results_[0]) return uses_.at(expr.id()) > 1;
        return uses_.at(expr.id()) > 1 || !expr.name().empty() || term.text.size() > longest_term ||
               (term.binding == Binding::choice && term.text.size() > longest_term / 2);
    }

    // The state as variables, once for all values of one run, and the variable of this value.
    Term print_loop(const Expr& expr, Statements& out) {
        std::vector<std::string>& names = runs_[ir::scalar::run_of(expr)];
        if (names.empty()) names = print_run(expr, out);
        return {names[static_cast<size_t>(expr.index())], Binding::atom};
    }

    std::vector<std::string> print_run(const Expr& expr, Statements& out) {
        const ir::scalar::Loop& loop = *expr.loop();
        std::vector<std::string> names;
        for (size_t i = 0; i < loop.state.size(); ++i) {
            const std::string& wanted = loop.state[i].name();
            names.push_back(unique_name(wanted.empty() ? "state" : wanted, taken_));
            out.lines.push_back(type_name(loop.state[i].dtype()) + " " + names[i] + " = " +
                                terms_.at(expr.operands()[i].id()).text + ";");
        }
        const std::string count = unique_name("step", taken_);
        const LoopQuestion question = may_take_long(loop) ? question_ : LoopQuestion::none;
        const int64_t between = steps_between_questions(loop);
        const std::string goes_on = question == LoopQuestion::ending
                                        ? text(" && loop_goes_on(", count, ", ", between, ")")
                                        : "";
        out.lines.push_back(text("for (int64_t ", count, " = 0; ", count, " < ", loop.limit,
                                 goes_on, "; ++", count, ") {"));
        const auto add = [&out](const std::string& line) { out.lines.push_back("    " + line); };
        if (question == LoopQuestion::throwing)
            add(text("if (", count, " % ", between, " == ", between - 1,
                     ") ::composit_stop_if_asked();"));
        Roundings of_state;  // what a state may become is not known
        for (int i = 0; i < static_cast<int>(names.size()); ++i)
            for (std::set<int>* each : {&of_state.products, &of_state.negated, &of_state.constants})
                each->insert(i);
        const Roundings* roundings = fusing_ ? &of_state : nullptr;
        const Statements condition =
            StatementPrinter({loop.condition}, names, taken_, roundings, question_, spelling_)
                .run();
        for (const std::string& line : condition.lines) add(line);
        add("if (!(" + condition.results[0] + ")) break;");
        const Statements steps =
            StatementPrinter(loop.steps, names, taken_, roundings, question_, spelling_).run();
        for (const std::string& line : steps.lines) add(line);
        // All steps read the old state.
        std::vector<std::string> next;
        for (size_t i = 0; i < names.size(); ++i) {
            if (steps.results[i] == names[i]) continue;
            const std::string name = unique_name("next_" + names[i], taken_);
            add("const " + type_name(loop.state[i].dtype()) + " " + name + " = " +
                steps.results[i] + ";");
            next.push_back(names[i] + " = " + name + ";");
        }
        for (const std::string& line : next) add(line);
        out.lines.push_back("}");
        return names;
    }

    Term term_of(const Expr& expr) {
        if (expr.op() == Op::constant) {
            const std::string text = literal(expr.dtype(), expr.bits(), spelling_);
            return {text, text[0] == '-' ? Binding::prefix : Binding::atom};
        }
        if (expr.op() == Op::argument) {
            const auto index = static_cast<size_t>(expr.index());
            internal_check(index < arguments_.size(), "print_statements: argument ", index, " of ",
                           arguments_.size());
            return {arguments_[index], Binding::atom};
        }
        std::vector<Term> operands;
        for (const Expr& operand : expr.operands()) {
            operands.push_back(terms_.at(operand.id()));
            if (fusing_ && fusing_->is_rounded(expr, operands.size() - 1))
                operands.back() = function("rounded", {operands.back()});
        }
        bool chooses = expr.op() == Op::select || expr.op() == Op::call;
        for (const Term& operand : operands) chooses |= operand.chooses;
        if (fusing_) fusing_->shape_of(expr);  // in this order, so that none goes deep
        Term term = TermMaker(expr, std::move(operands), spelling_).make();
        term.chooses = chooses;
        return term;
    }

    std::vector<Expr> results_;
    std::vector<Expr> order_;
    const std::vector<std::string>& arguments_;
    TakenNames& taken_;
    const LoopQuestion question_;
    const ScalarSpelling& spelling_;
    std::optional<Fusing> fusing_;
    std::unordered_map<const ExprNode*, int> uses_;
    std::unordered_set<const ExprNode*> branches_;
    std::unordered_map<const ExprNode*, Term> terms_;
    std::map<ir::scalar::LoopRun, std::vector<std::string>> runs_;
};

// Names that the parameters of a body carry, for those that it uses.
std::vector<std::string> parameter_names(const Specialisation& specialisation, TakenNames& taken) {
    std::vector<std::string> names(specialisation.signature.operands.size());
    for (const Expr& expr : ir::scalar::topological_order({specialisation.body}))
        if (expr.op() == Op::argument && names[static_cast<size_t>(expr.index())].empty())
            names[static_cast<size_t>(expr.index())] =
                unique_name(expr.name().empty() ? "x" : expr.name(), taken);
    return names;
}

}  // namespace

std::string print_function(const Specialisation& specialisation, LoopQuestion question,
                           const ScalarSpelling& spelling) {
    std::set<std::string> words{specialisation.symbol};
    if (spelling.words) words.insert(spelling.words->begin(), spelling.words->end());
    TakenNames taken(std::move(words));
    std::vector<std::string> names = parameter_names(specialisation, taken);
    for (std::string& name : names)  // C has no parameters without one
        if (spelling.is_c && name.empty()) name = unique_name("unused", taken);
    Roundings roundings;  // products are rounded where they are given to a function
    for (int i = 0; i < static_cast<int>(names.size()); ++i)
        for (std::set<int>* each : {&roundings.negated, &roundings.constants}) each->insert(i);
    const Statements body =
        StatementPrinter({specialisation.body}, names, taken, &roundings, question, spelling).run();
    std::vector<std::string> parameters;
    for (size_t i = 0; i < names.size(); ++i)
        parameters.push_back(type_name(specialisation.signature.operands[i]) +
                             (names[i].empty() ? "" : " " + names[i]));
    std::string out;
    if (!specialisation.row->doc.empty())
        out += comment_line(specialisation.row->name + ": " + specialisation.row->doc);
    const bool asks = question != LoopQuestion::none && has_long_loop({specialisation.body});
    out += spelling.is_c ? std::string(spelling.function_start)
                         : std::string("static inline __attribute__((always_inline") +
                               (asks ? "" : ", const") + ")) ";
    out += type_name(specialisation.signature.result) + " " + specialisation.symbol + "(" +
           join(parameters) + ") {\n";
    for (const std::string& line : body.lines) out += "    " + line + "\n";
    return out + "    return " + body.results[0] + ";\n}\n";
}

Statements print_statements(const std::vector<Expr>& results,
                            const std::vector<std::string>& arguments, TakenNames& taken,
                            const Roundings* roundings, const ScalarSpelling& spelling) {
    return StatementPrinter(results, arguments, taken, roundings, LoopQuestion::none, spelling)
        .run();
}

}  // namespace composit::c_family
