#include "composit/backends/c_family/procedure_lanes.h"

#include "composit/backends/c_family/loop_questions.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <map>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::scalar::Expr;
using ir::scalar::Op;

constexpr int lanes = 16;
// More would not stay in registers and the first cache.
constexpr size_t most_values = 16, most_operations = 1000;

bool divides_integers(const Expr& expr) {
    return (expr.op() == Op::divide || expr.op() == Op::remainder) &&
           !ir::is_floating(expr.dtype());
}

// Whether it may be computed for a lane that does not need it, and vectors of lanes can be.
bool is_for_lanes(const std::vector<Expr>& values) {
    std::vector<Expr> all = ir::scalar::all_expressions(values);
    for (const ir::scalar::Specialisation* used : functions_used(values)) {
        const std::vector<Expr> own = ir::scalar::all_expressions({used->body});
        all.insert(all.end(), own.begin(), own.end());
    }
    return all.size() <= most_operations && std::ranges::none_of(all, [](const Expr& expr) {
               return expr.op() == Op::loop || divides_integers(expr);
           });
}

// The values with `by` in place of some.
std::vector<Expr> replaced(const std::vector<Expr>& values,
                           const std::map<const ir::scalar::ExprNode*, Expr>& by) {
    std::map<const ir::scalar::ExprNode*, Expr> made;
    for (const Expr& expr : ir::scalar::topological_order(values)) {
        if (const auto found = by.find(expr.id()); found != by.end()) {
            made[expr.id()] = found->second;
            continue;
        }
        std::vector<Expr> operands;
        for (const Expr& operand : expr.operands()) operands.push_back(made.at(operand.id()));
        const bool is_same = std::equal(operands.begin(), operands.end(), expr.operands().begin());
        made[expr.id()] = is_same ? expr : expr.with_operands(std::move(operands));
    }
    std::vector<Expr> out;
    for (const Expr& value : values) out.push_back(made.at(value.id()));
    return out;
}

class Lanes {
  public:
    Lanes(const std::vector<std::string>& parameters, std::string element, TakenNames& taken)
        : element_(std::move(element)), lane_(unique_name("lane", taken)), taken_(taken) {
        for (const std::string& name : parameters)
            values_.push_back(text(name, "[", element_, " + ", lane_, "]"));
    }

    // False where it cannot be.
    bool add_loops(const std::vector<Expr>& results) {
        bool is_floating = false;
        for (const Expr& expr : ir::scalar::topological_order(results)) {
            if (expr.op() != Op::loop) continue;
            const auto run = ir::scalar::run_of(expr);
            auto found = first_.find(run);
            if (found == first_.end()) {
                if (!add_loop(expr)) return false;
                found = first_.emplace(run, values_.size() - expr.loop()->state.size()).first;
            }
            const size_t place = found->second + static_cast<size_t>(expr.index());
            by_[expr.id()] = Expr::argument(static_cast<int>(place), expr.dtype());
            is_floating |= std::ranges::any_of(expr.loop()->state, [](const Expr& state) {
                return ir::is_floating(state.dtype());
            });
        }
        return is_floating;
    }

    bool add_results(const std::vector<Expr>& given, const std::vector<std::string>& results) {
        const std::vector<Expr> own = replaced(given, by_);
        if (!is_for_lanes(own)) return false;
        std::vector<std::string> targets;
        for (const std::string& name : results)
            targets.push_back(text(name, "[", element_, " + ", lane_, "]"));
        for_each_lane(print(own, targets, {}));
        return true;
    }

    const std::string& body() const { return body_; }

  private:
    void line(int indent, const std::string& what) {
        body_ += std::string(static_cast<size_t>(4 * indent), ' ') + what + "\n";
    }
    void for_each_lane(const std::vector<std::string>& lines, int indent = 2) {
        line(indent,
             text("for (int64_t ", lane_, " = 0; ", lane_, " < ", lanes, "; ++", lane_, ") {"));
        for (const std::string& each : lines) line(indent + 1, each);
        line(indent, "}");
    }

    // target = value for all values; with a condition, before them, target keeps its own if not.
    std::vector<std::string> print(const std::vector<Expr>& values,
                                   const std::vector<std::string>& targets,
                                   const std::string& going) {
        TakenNames taken = taken_;
        const Statements printed = print_statements(values, values_, taken);
        std::vector<std::string> lines = printed.lines;
        const size_t first = going.empty() ? 0 : 1;
        const std::string goes_on = unique_name("goes_on", taken);
        if (first) lines.push_back("const bool " + goes_on + " = " + printed.results[0] + ";");
        std::vector<std::string> news;
        for (size_t i = first; i < values.size(); ++i) {
            const std::string name = unique_name("next", taken);
            lines.push_back("const " + type_name(values[i].dtype()) + " " + name + " = " +
                            printed.results[i] + ";");
            news.push_back(name);
        }
        for (size_t i = 0; i < targets.size(); ++i)
            lines.push_back(targets[i] + " = " +
                            (first ? goes_on + " ? " + news[i] + " : " + targets[i] : news[i]) +
                            ";");
        if (first) lines.push_back(going + " |= " + goes_on + ";");
        return lines;
    }

    bool add_loop(const Expr& expr) {
        const ir::scalar::Loop& loop = *expr.loop();
        std::vector<Expr> moved = loop.steps;
        moved.insert(moved.begin(), loop.condition);
        const std::vector<Expr> initial = replaced(expr.operands(), by_);
        if (loop.state.size() > most_values || !is_for_lanes(moved) || !is_for_lanes(initial))
            return false;
        std::vector<std::string> arrays, read;
        for (const Expr& state : loop.state) {
            // Bools as wide as the rest: vectors of one width.
            const bool is_bool = state.dtype() == DType::boolean;
            const std::string name = unique_name("value", taken_);
            line(2,
                 text(is_bool ? "int64_t" : type_name(state.dtype()), " ", name, "[", lanes, "];"));
            arrays.push_back(text(name, "[", lane_, "]"));
            read.push_back(is_bool ? "(" + arrays.back() + " != 0)" : arrays.back());
        }
        for_each_lane(print(initial, arrays, {}));
        const std::string step = unique_name("step", taken_), going = unique_name("any", taken_);
        line(2,
             text("for (int64_t ", step, " = 0; ", step, " < ", loop.limit, "ll; ++", step, ") {"));
        if (may_take_long(loop))
            line(3, text("if (", step, " % 64 == 63) ::composit_stop_if_asked();"));
        line(3, "int64_t " + going + " = 0;");
        std::swap(values_, read);
        const std::vector<std::string> lines = print(moved, arrays, going);
        std::swap(values_, read);
        for_each_lane(lines, 3);
        line(3, "if (" + going + " == 0) break;");
        line(2, "}");
        values_.insert(values_.end(), read.begin(), read.end());
        return true;
    }

    const std::string element_, lane_;
    TakenNames& taken_;
    std::vector<std::string> values_;  // parameters, then values of loops: what arguments stand for
    std::map<ir::scalar::LoopRun, size_t> first_;
    std::map<const ir::scalar::ExprNode*, Expr> by_;
    std::string body_;
};

}  // namespace

std::string print_lanes(const ir::procedure::Procedure& procedure,
                        const std::vector<std::string>& parameters,
                        const std::vector<std::string>& results, const std::string& element,
                        const std::string& count, TakenNames& taken) {
    const std::vector<Expr> values = ir::procedure::flatten(procedure);
    Lanes made(parameters, element, taken);
    if (!made.add_loops(values) || !made.add_results(values, results)) return "";
    return text("    for (; ", element, " + ", lanes, " <= ", count, "; ", element, " += ", lanes,
                ") {\n        if (", element, " % 64 == 0) ::composit_stop_if_asked();\n",
                made.body(), "    }\n");
}

}  // namespace composit::c_family
