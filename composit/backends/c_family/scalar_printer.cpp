// Printing scalar expressions as C++17: one `const` per shared, named or long sub-expression.
#include "composit/backends/c_family/scalar_printer.h"

#include "composit/backends/c_family/loop_questions.h"
#include "composit/backends/c_family/scalar_roundings.h"
#include "composit/backends/c_family/scalar_tables.h"
#include "composit/backends/c_family/scalar_terms.h"
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

// What is longer has a name: in a line, and in the lines that a statement of a procedure is broken
// into.
constexpr size_t longest_term = 64, longest_broken_term = 150;

// 1 * x as x
Expr without_one(const Expr& product) {
    if (product.op() == Op::multiply && is_floating(product.dtype()))
        for (const size_t i : {0, 1}) {
            const Expr& factor = product.operands()[i];
            if (factor.op() == Op::constant && factor.value() == 1)
                return product.operands()[1 - i];
        }
    return product;
}

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
            out = without_one(ir::scalar::substitute({specialisation_of(expr).body}, operands)[0]);
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

// ----- statements

class StatementPrinter {
  public:
    StatementPrinter(const std::vector<Expr>& results, const std::vector<std::string>& arguments,
                     TakenNames& taken, const Roundings* roundings, LoopQuestion question,
                     const ScalarSpelling& spelling, bool is_of_procedure = false)
        : results_(expand(results)),
          order_(ir::scalar::topological_order(results_)),
          arguments_(arguments),
          taken_(taken),
          question_(question),
          spelling_(spelling),
          is_of_procedure_(is_of_procedure) {
        static const Roundings nothing_known;
        if (roundings && (!spelling.is_c || spelling.is_plain)) fusing_.emplace(*roundings);
        if (!fusing_ && (!spelling.is_c || spelling.is_plain)) narrowing_.emplace(nothing_known);
        if (is_of_procedure) {
            integers_ = &roundings->integers;
            computed_ = &roundings->computed;
        }
        for (const Expr& expr : order_)
            for (const Expr& operand : expr.operands()) ++uses_[operand.id()];
        for (const Expr& result : results_) ++uses_[result.id()];
        for (const Expr& expr : order_) {
            if (expr.op() != Op::select) continue;
            if (fusing_ && is_of_procedure && !spelling_.is_c) {
                take_together(expr);
                take_power_slope(expr);
                take_extreme(expr);
                take_zero_choice(expr);
            }
            if (!scaled_.contains(expr.id()) && !power_slopes_.contains(expr.id()) &&
                !extremes_.contains(expr.id()))
                for (size_t branch : {1, 2}) branches_.insert(expr.operands()[branch].id());
        }
    }

    Statements run() {
        Statements out;
        for (const Expr& expr : order_) {
            Term term = expr.op() == Op::loop ? print_loop(expr, out) : term_of(expr);
            if (becomes_statement(expr, term)) {
                const std::string name =
                    unique_name(expr.name().empty() ? "t" : expr.name(), taken_, is_of_procedure_);
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
    // x == 0 ? x : x * y is one call, of x and y; x == 0 ? x : z is one of x and z, and where z is
    // y == 0 ? y : y * x, one of y and x.
    void take_together(const Expr& expr) {
        const Expr &test = expr.operands()[0], &factor = expr.operands()[1],
                   &product = expr.operands()[2];
        const auto is_own = [this](const Expr& each) {
            return uses_.at(each.id()) == 1 && each.name().empty();
        };
        const bool is_guard = is_floating(expr.dtype()) && test.op() == Op::equal &&
                              test.operand(0) == factor && test.operand(1).op() == Op::constant &&
                              test.operand(1).value() == 0 && is_own(test);
        if (!is_guard) return;
        together_.insert(test.id());
        --uses_[factor.id()];
        size_t other = 2;
        if (product.op() == Op::multiply && is_own(product) &&
            (product.operand(0) == factor) != (product.operand(1) == factor)) {
            other = product.operand(0) == factor ? 1 : 0;
            together_.insert(product.id());
            --uses_[factor.id()];
        }
        const auto inner = scaled_.find(product.id());
        if (inner != scaled_.end() && inner->second < 2 && is_own(product) &&
            product.operand(2).operand(inner->second) == factor) {
            together_.insert(product.id());
            --uses_[factor.id()];
            other = 3;
        }
        scaled_[expr.id()] = other;
    }

    // n == 0 ? 0 : n * power(x, n - 1) is one call, of x and n.
    void take_power_slope(const Expr& expr) {
        static const ir::scalar::RowRef& power = ir::scalar::table_row("power");
        const Expr &test = expr.operands()[0], &product = expr.operands()[2];
        const auto is_own = [this](const Expr& each) { return uses_.at(each.id()) == 1; };
        const auto is_number = [](const Expr& each, double value) {
            return each.op() == Op::constant && each.value() == value;
        };
        if (!is_floating(expr.dtype()) || !is_number(expr.operands()[1], 0) ||
            test.op() != Op::equal || !is_number(test.operand(1), 0) || !is_own(test) ||
            product.op() != Op::multiply || !is_own(product) ||
            !(product.operand(0) == test.operand(0)))
            return;
        const Expr &n = product.operand(0), &call = product.operand(1);
        if (call.op() != Op::call || call.row() != power || !is_own(call)) return;
        const Expr& less = call.operand(1);
        if (less.op() != Op::subtract || !(less.operand(0) == n) ||
            !is_number(less.operand(1), 1) || !is_own(less))
            return;
        for (const Expr* each : {&test, &product, &call, &less}) together_.insert(each->id());
        uses_[n.id()] -= 2;
        power_slopes_.insert(expr.id());
    }

    // x > y ? x : y is one call, of x and y, where one of them would need a name; so with <.
    void take_extreme(const Expr& expr) {
        const Expr &test = expr.operands()[0], &x = expr.operands()[1], &y = expr.operands()[2];
        const bool compares = test.op() == Op::greater || test.op() == Op::less;
        if (!compares || !is_floating(expr.dtype())) return;
        const auto are_same = [](const Expr& one, const Expr& other) {
            return one == other || (one.op() == Op::constant && other.op() == Op::constant &&
                                    one.dtype() == other.dtype() && one.bits() == other.bits());
        };
        const bool is_first = are_same(test.operand(0), x) && are_same(test.operand(1), y);
        const bool is_second = are_same(test.operand(0), y) && are_same(test.operand(1), x);
        const auto would_need_name = [this](const Expr& each) {
            return ir::scalar::arity_of(each.op()) > 0 && each.op() != Op::loop &&
                   uses_.at(each.id()) == 2 && each.name().empty();
        };
        if (is_first == is_second || uses_.at(test.id()) != 1 || !expr.name().empty() ||
            (!would_need_name(x) && !would_need_name(y)))
            return;
        together_.insert(test.id());
        for (const Expr& each : {test.operand(0), test.operand(1)}) --uses_[each.id()];
        extremes_[expr.id()] = (test.op() == Op::greater) == is_first ? "greater_of" : "lesser_of";
    }

    // c ? x : 0 is one call, of c and x, where x would need a name as it is computed in any case;
    // so is c ? 0 : x.
    void take_zero_choice(const Expr& expr) {
        if (!is_floating(expr.dtype()) || scaled_.contains(expr.id()) ||
            power_slopes_.contains(expr.id()) || extremes_.contains(expr.id()))
            return;
        const auto is_zero = [](const Expr& each) {
            return each.op() == Op::constant && each.value() == 0 && !std::signbit(each.value());
        };
        for (const size_t other : {1, 2}) {
            const Expr& x = expr.operands()[other];
            if (is_zero(expr.operands()[3 - other]) && uses_.at(x.id()) == 1 && x.name().empty())
                beside_zero_.emplace(x.id(), expr.id());
        }
    }

    bool becomes_statement(const Expr& expr, const Term& term) {
        if (ir::scalar::arity_of(expr.op()) == 0 || expr.op() == Op::loop) return false;
        if (together_.contains(expr.id())) return false;
        // -x is as short as a name for it.
        if (is_of_procedure_ && expr.op() == Op::negate &&
            ir::scalar::arity_of(expr.operands()[0].op()) == 0)
            return false;
        // Compilers join the condition of a choice that is written within a branch of another one
        // with the other's: one more comparison of vectors, which costs as much as two
        // multiplications with AVX-512. A value of its own is computed in any case.
        const bool would_be_alone =
            branches_.contains(expr.id()) && (term.chooses || term.text.size() > longest_term);
        const auto beside = beside_zero_.find(expr.id());
        if (would_be_alone && beside != beside_zero_.end() &&
            term.text.size() <= longest_broken_term) {
            calls_beside_zero_.insert(beside->second);
            return false;
        }
        if (branches_.contains(expr.id()) && term.chooses) return true;
        if (results_.size() == 1 && expr == results_[0]) return uses_.at(expr.id()) > 1;
        const size_t longest =
            is_of_procedure_ && !branches_.contains(expr.id()) ? longest_broken_term : longest_term;
        return uses_.at(expr.id()) > 1 || !expr.name().empty() || term.text.size() > longest ||
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
            Term term{arguments_[index], Binding::atom};
            term.is_computed = computed_ && computed_->contains(expr.index());
            return term;
        }
        if (const auto found = scaled_.find(expr.id()); found != scaled_.end())
            return scaled(expr, found->second);
        if (power_slopes_.contains(expr.id())) return power_slope(expr);
        if (calls_beside_zero_.contains(expr.id())) return beside_zero(expr);
        if (const auto found = extremes_.find(expr.id()); found != extremes_.end()) {
            fusing_->shape_of(expr);
            Term made = function(found->second, {terms_.at(expr.operands()[1].id()),
                                                 terms_.at(expr.operands()[2].id())});
            made.chooses = true;
            return made;
        }
        std::vector<Term> operands;
        for (const Expr& operand : expr.operands()) {
            operands.push_back(terms_.at(operand.id()));
            const size_t i = operands.size() - 1;
            if (auto& shapes = fusing_ ? fusing_ : narrowing_;
                shapes && shapes->is_narrowed(expr, i))
                operands.back() = function("narrowed", {operands.back()});
            else if (fusing_ && fusing_->is_rounded(expr, i))
                operands.back() =
                    function(spelling_.is_plain ? text("rounded_", operand.dtype()) : "rounded",
                             {operands.back()});
        }
        bool chooses = expr.op() == Op::select || expr.op() == Op::call;
        for (const Term& operand : operands) chooses |= operand.chooses;
        // In this order, so that none goes deep.
        if (fusing_) fusing_->shape_of(expr);
        if (narrowing_) narrowing_->shape_of(expr);
        const bool wraps = !integers_ || !interval_of(expr, *integers_);
        Term term = term_of_operation(expr, std::move(operands), spelling_, wraps);
        term.chooses = chooses;
        return term;
    }

    // `other`: which operand of the product is not the factor; 2: there is no such product; 3: it
    // is that of another call, which is 0 where either factor is.
    Term scaled(const Expr& expr, size_t other) {
        const Expr& product = expr.operands()[2];
        if (other == 3) {
            fusing_->shape_of(expr);
            const Term &slope = terms_.at(expr.operands()[1].id()),
                       &factor = terms_.at(product.operand(1).id());
            const bool is_of_power =
                power_slopes_.contains(expr.operands()[1].id()) && slope.text.ends_with(")");
            Term made = is_of_power ? function("power_slope", {{operands_in(slope.text)}, factor})
                                    : function("product_or_zero", {factor, slope});
            made.chooses = factor.chooses || slope.chooses;
            return made;
        }
        const Term& by = terms_.at((other < 2 ? product.operands()[other] : product).id());
        fusing_->shape_of(expr);
        const Term& factor = terms_.at(expr.operands()[1].id());
        Term made = function(other < 2 ? "scaled_slope" : "unless_zero", {factor, by});
        // A slope that is scaled by several factors is one call of all of them.
        constexpr std::string_view head = "scaled_slope(";
        const auto inner = other < 2 ? scaled_.find(product.operands()[other].id()) : scaled_.end();
        if (inner != scaled_.end() && inner->second < 2 && by.text.starts_with(head))
            made.text = text(head, factor.text, ", ", by.text.substr(head.size()));
        made.chooses = factor.chooses || by.chooses;
        return made;
    }

    Term beside_zero(const Expr& expr) {
        const std::vector<Expr>& operands = expr.operands();
        const bool is_first = operands[2].op() == Op::constant;
        fusing_->shape_of(expr);
        Term made =
            function(is_first ? "zero_unless" : "zero_if",
                     {terms_.at(operands[0].id()), terms_.at(operands[is_first ? 1 : 2].id())});
        made.chooses = true;
        return made;
    }

    // What stands in the parentheses of a call.
    static std::string operands_in(const std::string& call) {
        const size_t begin = call.find('(') + 1;
        return call.substr(begin, call.size() - begin - 1);
    }

    Term power_slope(const Expr& expr) {
        const Expr &n = expr.operands()[0].operand(0), &call = expr.operands()[2].operand(1);
        Term base = terms_.at(call.operand(0).id());
        if (fusing_->is_rounded(call, 0)) base = function("rounded", {base});
        fusing_->shape_of(expr);
        Term made =
            function("slope_of_" + specialisation_of(call).symbol, {base, terms_.at(n.id())});
        made.chooses = true;
        return made;
    }

    std::vector<Expr> results_;
    std::vector<Expr> order_;
    const std::vector<std::string>& arguments_;
    TakenNames& taken_;
    const LoopQuestion question_;
    const ScalarSpelling& spelling_;
    const bool is_of_procedure_;
    std::optional<Fusing> fusing_;
    std::optional<Fusing> narrowing_;  // where products are not rounded
    const std::map<int, Interval>* integers_ = nullptr;
    const std::set<int>* computed_ = nullptr;
    std::unordered_map<const ExprNode*, int> uses_;
    std::unordered_set<const ExprNode*> branches_;
    std::unordered_set<const ExprNode*> together_;        // parts of such calls
    std::unordered_map<const ExprNode*, size_t> scaled_;  // such calls
    std::unordered_set<const ExprNode*> power_slopes_;
    std::unordered_map<const ExprNode*, std::string> extremes_;         // greater_of, lesser_of
    std::unordered_map<const ExprNode*, const ExprNode*> beside_zero_;  // x, and its choice
    std::unordered_set<const ExprNode*> calls_beside_zero_;
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
    if (spelling.is_plain)
        for (const std::string& name : names)
            if (name.starts_with("unused")) out += text("    (void)", name, ";\n");
    for (const std::string& line : body.lines) out += "    " + line + "\n";
    return out + "    return " + body.results[0] + ";\n}\n";
}

Statements print_statements(const std::vector<Expr>& results,
                            const std::vector<std::string>& arguments, TakenNames& taken,
                            const Roundings* roundings, const ScalarSpelling& spelling) {
    return StatementPrinter(results, arguments, taken, roundings, LoopQuestion::none, spelling,
                            roundings != nullptr)
        .run();
}

}  // namespace composit::c_family
