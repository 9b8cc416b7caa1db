// Readable text of scalar functions: one line per shared or named sub-expression.
#include "composit/base/text.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <unordered_map>

namespace composit::ir::scalar {
namespace {

constexpr size_t line_length = 90;

std::string number(const Expr& constant) {
    const DType dtype = constant.dtype();
    const Bits bits = constant.bits();
    if (dtype == DType::boolean) return bits[0] ? "true" : "false";
    if (is_complex(dtype)) return text("bits(", bits[0], ", ", bits[1], ")");
    if (dtype == DType::uint64) return text(bits[0]);
    if (dtype == DType::int64) return text(static_cast<int64_t>(bits[0]));
    const double value = constant.value();
    if (is_integer(dtype)) return text(static_cast<int64_t>(value));
    return dtype == DType::float64 ? number_text(value) : number_text(static_cast<float>(value));
}

class Printer {
  public:
    Printer(std::vector<Expr> results, std::vector<std::string> parameter_names)
        : results_(std::move(results)),
          order_(topological_order(results_)),
          parameters_(std::move(parameter_names)) {
        for (const Expr& expr : order_) {
            for (const Expr& operand : expr.operands()) ++uses_[operand.id()];
        }
        for (const Expr& result : results_) ++uses_[result.id()];
        for (const std::string& parameter : parameters_) names_.emplace(parameter, true);
    }

    std::string run() {
        for (const Expr& expr : order_) {
            std::string term = term_of(expr);
            const bool is_leaf = arity_of(expr.op()) == 0;
            const bool stands_alone =
                uses_[expr.id()] > 1 || !expr.name().empty() || term.size() > line_length;
            if (!is_leaf && stands_alone && !is_only_result(expr)) {
                const std::string name = unique_name(expr.name());
                lines_ += text("let ", name, ": ", expr.dtype(), " = ", term, "\n");
                term = name;
            }
            terms_[expr.id()] = std::move(term);
        }
        std::vector<std::string> results;
        for (const Expr& result : results_) results.push_back(terms_.at(result.id()));
        const std::string last = results.size() == 1 ? results[0] : "(" + join(results) + ")";
        return lines_ + last;
    }

  private:
    bool is_only_result(const Expr& expr) { return results_.size() == 1 && expr == results_[0]; }

    std::string parameter(int index) const {
        const auto i = static_cast<size_t>(index);
        return i < parameters_.size() ? parameters_[i] : text("x", index);
    }

    std::string unique_name(const std::string& wanted) {
        const std::string stem = wanted.empty() ? text("t", next_++) : wanted;
        std::string name = stem;
        for (int i = 2; !names_.emplace(name, true).second; ++i) name = text(stem, "_", i);
        return name;
    }

    // Among constants only, the dtype must be said.
    std::string operand(const Expr& expr, size_t index, bool typed) {
        const Expr& operand = expr.operands()[index];
        const std::string& term = terms_.at(operand.id());
        if (operand.op() != Op::constant || !typed) return term;
        return text(operand.dtype(), "(", term, ")");
    }

    std::string term_of(const Expr& expr) {
        switch (expr.op()) {
            case Op::constant:
                return std::find(results_.begin(), results_.end(), expr) != results_.end()
                           ? text(expr.dtype(), "(", number(expr), ")")
                           : number(expr);
            case Op::argument: return parameter(expr.index());
            case Op::cast: return text(expr.dtype(), "(", operand(expr, 0, true), ")");
            case Op::bitcast:
                return text("bitcast<", expr.dtype(), ">(", operand(expr, 0, true), ")");
            case Op::lookup: {
                std::vector<std::string> entries;
                for (const Bits& bits : *expr.table()) {
                    if (entries.size() == 4) {
                        entries.push_back(text("… ", expr.table()->size(), " in all"));
                        break;
                    }
                    entries.push_back(number(Expr::constant_bits(expr.dtype(), bits)));
                }
                return text("lookup([", join(entries), "], ", operand(expr, 0, true), ")");
            }
            case Op::loop: return loop_text(expr);
            default: break;
        }
        // Constants without a dtype have that of the others.
        const Expr* other = nullptr;
        for (const Expr& operand : expr.operands())
            if (!other && operand.op() != Op::constant && operand.dtype() != DType::boolean)
                other = &operand;
        std::vector<std::string> operands;
        for (size_t i = 0; i < expr.operands().size(); ++i) {
            const DType own = expr.operands()[i].dtype();
            const bool is_clear = other && (own == other->dtype() || own == DType::boolean);
            operands.push_back(operand(expr, i, !is_clear));
        }
        return text(function_of(expr), "(", join(operands), ")");
    }

    // "numpy.remainder", where an operation of that name means something else.
    static std::string function_of(const Expr& expr) {
        if (expr.op() != Op::call) return std::string(name(expr.op()));
        const std::string& own = expr.row()->name;
        std::vector<DType> dtypes;
        for (const Expr& operand : expr.operands()) dtypes.push_back(operand.dtype());
        for (int i = 0; i < op_count; ++i) {
            if (name(static_cast<Op>(i)) != own) continue;
            const Specialisation& known = specialise(expr.row(), dtypes);
            const bool is_the_same =
                known.is_one_operation && known.body.op() == static_cast<Op>(i);
            return is_the_same ? own : "numpy." + own;
        }
        return own;
    }

    // loop(a = x, b = y; while not_equal(b, 0); b, remainder(a, b); at most 93)[0]
    std::string loop_text(const Expr& expr) {
        const Loop& loop = *expr.loop();
        std::vector<std::string> names, initial;
        for (size_t i = 0; i < loop.state.size(); ++i) {
            const std::string& wanted = loop.state[i].name();
            std::string name = wanted.empty() ? text("s", i) : wanted;
            while (std::find(names.begin(), names.end(), name) != names.end()) name += "_";
            names.push_back(name);
            initial.push_back(name + " = " + operand(expr, i, true));
        }
        const auto inside = [&names](const std::vector<Expr>& values) {
            std::string body = Printer(values, names).run();
            for (size_t at; (at = body.find('\n')) != std::string::npos;) body.replace(at, 1, "; ");
            return body;
        };
        return text("loop(", join(initial), "; while ", inside({loop.condition}), "; ",
                    inside(loop.steps), "; at most ", loop.limit, ")[", expr.index(), "]");
    }

    std::vector<Expr> results_;
    std::vector<Expr> order_;
    std::vector<std::string> parameters_;
    std::unordered_map<const ExprNode*, int> uses_;
    std::unordered_map<const ExprNode*, std::string> terms_;
    std::unordered_map<std::string, bool> names_;
    std::string lines_;
    int next_ = 0;
};

}  // namespace

std::string print(const Expr& expr, const std::vector<std::string>& parameter_names) {
    if (!expr) return "0";
    return Printer({expr}, parameter_names).run();
}

std::string print(const Function& function) {
    std::vector<std::string> names;
    std::vector<std::string> parameters;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
        names.push_back(i < function.parameter_names.size() ? function.parameter_names[i]
                                                            : text("x", i));
        parameters.push_back(text(names.back(), ": ", function.parameters[i]));
    }
    std::string body = Printer(function.results, names).run();
    const std::string head = text("(", join(parameters), ") ->");
    if (body.find('\n') == std::string::npos) return text(head, " ", body);
    std::string indented;
    for (size_t start = 0; start < body.size();) {
        const size_t end = std::min(body.find('\n', start), body.size());
        indented += "\n    " + body.substr(start, end - start);
        start = end + 1;
    }
    return head + indented;
}

}  // namespace composit::ir::scalar
