// Each operation's rule in log space, applied from the outputs to what has none.
#include "composit/cg/logspace.h"

#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/nn/differentiation.h"
#include "composit/ops/call_rules.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace composit::cg {

using ir::Array;
using ir::DType;
using ir::Node;
using ir::Shape;
using ir::Tensor;
using ops::Axes;
using ops::Combiner;
using Tensors = std::vector<Tensor>;

namespace {

Tensor apply(const char* row, Tensors operands) { return ops::map(row, std::move(operands)); }

// The dtype that a tensor's logarithm has.
DType dtype_of_log(const Tensor& x) {
    return ir::is_floating(x.dtype()) ? x.dtype() : DType::float64;
}

Tensor number(double value, DType dtype) { return ir::constant(Array::scalar(dtype, value)); }

// log(sum(exp(x))) over the axes, which are kept. The largest is taken out, so that nothing
// overflows and the largest does not underflow; where it is infinite nothing is taken out.
Tensor logsumexp(const Tensor& x, const Axes& axes) {
    const DType dtype = x.dtype();
    for (int64_t axis : axes)
        if (x.shape()[static_cast<size_t>(axis)] == 0) {
            Shape shape = x.shape();
            for (int64_t one : axes) shape[static_cast<size_t>(one)] = 1;
            return ops::full(shape, number(-std::numeric_limits<double>::infinity(), dtype));
        }
    const Tensor largest = ops::reduce(Combiner::maximum, x, axes, true);
    const Tensor taken = nn::stop_gradient(
        apply("where", {apply("isfinite", {largest}), largest, number(0, dtype)}));
    const Tensor rest = apply("exp", {apply("subtract", {x, taken})});
    const Tensor sum = ops::reduce(Combiner::sum, rest, axes, true);
    return apply("add", {apply("log", {sum}), taken});
}

// The running logsumexp along an axis: neighbours 1, 2, 4, … apart are added, so that nothing that
// comes early underflows beside what comes late.
Tensor running_logsumexp(Tensor x, int64_t axis) {
    const auto place = static_cast<size_t>(axis);
    const Shape shape = x.shape();
    const std::vector<int64_t> none(shape.size(), 0), ones(shape.size(), 1);
    for (int64_t apart = 1; apart < shape[place]; apart *= 2) {
        std::vector<int64_t> kept = shape, before = none;
        kept[place] -= apart;
        before[place] = apart;
        const Tensor nothing = number(-std::numeric_limits<double>::infinity(), x.dtype());
        const Tensor earlier =
            ops::pad(ops::slice(x, none, kept, ones), nothing, before, none, none);
        x = apply("logaddexp", {x, earlier});
    }
    return x;
}

Axes range(int64_t begin, int64_t end) {
    Axes result;
    for (int64_t i = begin; i < end; ++i) result.push_back(i);
    return result;
}

// A product of matrices: every pair of logarithms added, then summed over the contracted axes.
Tensor contract(const Node& node, const Tensor& a, const Tensor& b) {
    const auto [batch_a, batch_b, contracted_a, contracted_b] =
        ops::contraction_of(node.attributes());
    const Axes free_a = ops::free_axes(a, batch_a, contracted_a),
               free_b = ops::free_axes(b, batch_b, contracted_b);
    const auto joined = [](const Axes& x, const Axes& y, const Axes& z) {
        Axes result = x;
        result.insert(result.end(), y.begin(), y.end());
        result.insert(result.end(), z.begin(), z.end());
        return result;
    };
    const auto laid_out = [](const Tensor& x, const Axes& order, size_t at, size_t ones) {
        const Tensor moved = ops::transpose(x, order);
        Shape shape = moved.shape();
        shape.insert(shape.begin() + static_cast<long>(at), ones, 1);
        return ops::reshape(moved, shape);
    };
    const size_t batch = batch_a.size();
    const Tensor x = laid_out(a, joined(batch_a, free_a, contracted_a), batch + free_a.size(),
                              free_b.size()),
                 y = laid_out(b, joined(batch_b, free_b, contracted_b), batch, free_a.size());
    const auto kept = static_cast<int64_t>(batch + free_a.size() + free_b.size());
    const auto last = kept + static_cast<int64_t>(contracted_a.size());
    const Tensor sum = apply("add", {x, y});
    return ops::reshape(kept == last ? sum : logsumexp(sum, range(kept, last)),
                        node.types()[0].shape);
}

// log(exp(a) - exp(b)) for a >= b. Of nearly equal ones expm1 keeps the difference, of others
// log1p (Mächler, Accurately Computing log(1 - exp(-|a|)), 2012); nothing less nothing is nothing.
Tensor log_difference(const Tensor& a, const Tensor& b) {
    const DType dtype = a.dtype();
    const Tensor none = number(-std::numeric_limits<double>::infinity(), dtype);
    const Tensor difference =
        apply("where", {apply("equal", {b, none}), none, apply("subtract", {b, a})});
    const Tensor half = number(-std::log(2.0), dtype);
    const Tensor is_near = apply("greater", {difference, half});
    const Tensor near = apply("where", {is_near, difference, half}),
                 far = apply("where", {is_near, half, difference});
    const Tensor of_near = apply("log", {apply("negative", {apply("expm1", {near})})}),
                 of_far = apply("log1p", {apply("negative", {apply("exp", {far})})});
    return apply("add", {a, apply("where", {is_near, of_near, of_far})});
}

// The logarithm of a power: that of one, 0, to the power 0, whatever is raised.
Tensor log_power(const Tensor& log, const Tensor& exponent) {
    const Tensor zero = number(0, log.dtype()), is_zero = apply("equal", {exponent, zero});
    return apply("multiply", {exponent, apply("where", {is_zero, zero, log})});
}

using OfLogs = std::function<Tensor(const Tensors& logs, const Tensors& operands)>;

// What a row of the table does in log space: to which operands' logarithms, and what. Operands are
// of the result's dtype.
struct RowRule {
    std::vector<size_t> logs;
    OfLogs value;
};

Tensor times(const Tensor& x, double factor) {
    return apply("multiply", {x, number(factor, x.dtype())});
}

RowRule monotone(const char* row) {
    return {{0, 1}, [row](const Tensors& l, const Tensors&) { return apply(row, {l[0], l[1]}); }};
}

const std::map<std::string, RowRule>& row_rules() {
    using T = const Tensors&;
    static const std::map<std::string, RowRule> rules{
        {"multiply", {{0, 1}, [](T l, T) { return apply("add", {l[0], l[1]}); }}},
        {"divide", {{0, 1}, [](T l, T) { return apply("subtract", {l[0], l[1]}); }}},
        {"add", {{0, 1}, [](T l, T) { return apply("logaddexp", {l[0], l[1]}); }}},
        {"subtract", {{0, 1}, [](T l, T) { return log_difference(l[0], l[1]); }}},
        {"power", {{0}, [](T l, T x) { return log_power(l[0], x[1]); }}},
        {"float_power", {{0}, [](T l, T x) { return log_power(l[0], x[1]); }}},
        {"square", {{0}, [](T l, T) { return times(l[0], 2); }}},
        {"cube", {{0}, [](T l, T) { return times(l[0], 3); }}},
        {"sqrt", {{0}, [](T l, T) { return times(l[0], 0.5); }}},
        {"cbrt", {{0}, [](T l, T) { return times(l[0], 1.0 / 3); }}},
        {"reciprocal", {{0}, [](T l, T) { return apply("negative", {l[0]}); }}},
        {"positive", {{0}, [](T l, T) { return l[0]; }}},
        {"exp", {{}, [](T, T x) { return x[0]; }}},
        {"exp2", {{}, [](T, T x) { return times(x[0], 0.69314718055994530942); }}},
        {"sigmoid",
         {{},
          [](T, T x) {
              return apply("negative", {apply("softplus", {apply("negative", {x[0]})})});
          }}},
        {"maximum", monotone("maximum")},
        {"minimum", monotone("minimum")},
        {"fmax", monotone("fmax")},
        {"fmin", monotone("fmin")},
        {"where", {{1, 2}, [](T l, T x) { return apply("where", {x[0], l[0], l[1]}); }}},
    };
    return rules;
}

// What an operation does in log space; no value where it has no rule. The logarithms are of the
// dtype that the result's is to have.
struct Rule {
    std::vector<size_t> logs;  // the operands whose logarithms it takes
    std::function<Tensors(const Tensors& logs)> value;
};

Rule rule_of_row(const Node& node, DType dtype) {
    const auto found = row_rules().find(node.attributes().get<ir::scalar::RowRef>("row")->name);
    if (found == row_rules().end()) return {};
    return {found->second.logs, [&node, &rule = found->second, dtype](const Tensors& logs) {
                Tensors operands;
                for (const Tensor& x : node.operands())
                    operands.push_back(x.dtype() == DType::boolean ? x : ops::astype(x, dtype));
                return Tensors{rule.value(logs, operands)};
            }};
}

std::optional<Combiner> combiner_in_logs(const Node& node) {
    const auto combiner = static_cast<Combiner>(node.attributes().get<int64_t>("combiner"));
    switch (combiner) {
        case Combiner::product: return Combiner::sum;
        case Combiner::sum:
        case Combiner::maximum:
        case Combiner::minimum: return combiner;
        default: return {};
    }
}

bool is_sum(const Node& node) {
    return node.attributes().get<int64_t>("combiner") == static_cast<int64_t>(Combiner::sum);
}

Rule rule_of_reduction(const Node& node) {
    const std::optional<Combiner> combiner = combiner_in_logs(node);
    if (!combiner) return {};
    return {{0}, [&node, combiner](const Tensors& logs) {
                const Axes axes = node.attributes().get<Axes>("axes");
                const Tensor made = is_sum(node) ? logsumexp(logs[0], axes)
                                                 : ops::reduce(*combiner, logs[0], axes, true);
                return Tensors{ops::reshape(made, node.types()[0].shape)};
            }};
}

Rule rule_of_scan(const Node& node) {
    const std::optional<Combiner> combiner = combiner_in_logs(node);
    if (!combiner) return {};
    return {{0}, [&node, combiner](const Tensors& logs) {
                const auto axis = node.attributes().get<int64_t>("axis");
                return Tensors{is_sum(node) ? running_logsumexp(logs[0], axis)
                                            : ops::scan(*combiner, logs[0], axis)};
            }};
}

// `dtype`: that of the result's logarithm.
Rule rule_of(const Node& node, DType dtype) {
    const std::string& name = node.operation().name;
    if (node.operands().empty() || !ir::is_floating(node.types()[0].dtype)) return {};
    if (name == "map") return rule_of_row(node, dtype);
    if (name == "reduce") return rule_of_reduction(node);
    if (name == "scan") return rule_of_scan(node);
    if (name == "contract")
        return {{0, 1}, [&node](const Tensors& l) { return Tensors{contract(node, l[0], l[1])}; }};
    if (name == "stop_gradient")
        return {{0}, [](const Tensors& l) { return Tensors{nn::stop_gradient(l[0])}; }};
    if (name == "astype" && ir::is_floating(node.operand(0).dtype()))
        return {{0}, [](const Tensors& logs) { return logs; }};
    if (!node.operation().moves_elements) return {};
    Rule rule;
    for (size_t i = 0; i < node.operands().size(); ++i)
        if (ir::is_floating(node.operands()[i].dtype())) rule.logs.push_back(i);
    rule.value = [&node, places = rule.logs](const Tensors& logs) {
        Tensors operands = node.operands();
        for (size_t i = 0; i < places.size(); ++i) operands[places[i]] = logs[i];
        return ir::outputs_of(ir::make_node(node.operation(), operands, node.shared_attributes()));
    };
    return rule;
}

}  // namespace

Tensors logspace(const Tensors& outputs) {
    // What has a derivative of its own is computed as it is, with that.
    const Tensors plain = transforms::inline_calls(outputs, [](const Node& node) {
        return node.operation().name == "stop_gradient" ||
               (ops::body_of_call(node) && ir::vjp_of(node));
    });
    const std::vector<const Node*> order = ir::topological_order(plain);
    // Which nodes' logarithms are wanted, from the outputs down, and the dtype that they are to
    // have: a float32 that becomes a float64 has a logarithm of 64 bits.
    std::unordered_map<const Node*, DType> wanted;
    std::unordered_map<const Node*, Rule> rules;
    const auto want = [&](const Tensor& x, DType dtype) {
        const auto [found, is_new] = wanted.emplace(&x.node(), dtype);
        if (!is_new) found->second = ir::promote(found->second, dtype);
    };
    for (const Tensor& output : plain) {
        user_check<TypeError>(!ir::is_complex(output.dtype()), "logspace: the result is ",
                              output.dtype(), ". Real numbers are required.");
        want(output, dtype_of_log(output));
    }
    for (size_t i = order.size(); i-- > 0;) {
        const auto found = wanted.find(order[i]);
        if (found == wanted.end()) continue;
        const DType dtype = found->second;
        Rule& rule = rules[order[i]] = rule_of(*order[i], dtype);
        for (size_t place : rule.logs) {
            const Tensor& operand = order[i]->operands()[place];
            want(operand, ir::promote(dtype, dtype_of_log(operand)));
        }
    }
    std::unordered_map<const Node*, Tensors> logs;
    const auto log_of = [&](const Tensor& x, DType dtype) {
        return ops::astype(logs.at(&x.node())[static_cast<size_t>(x.output_index())], dtype);
    };
    for (const Node* node : order) {
        const auto found = wanted.find(node);
        if (found == wanted.end()) continue;
        const DType dtype = found->second;
        const ir::LocationScope scope(*node);
        const Rule& rule = rules.at(node);
        Tensors made;
        if (rule.value) {
            Tensors of_operands;
            for (size_t place : rule.logs)
                of_operands.push_back(log_of(node->operands()[place], dtype));
            made = rule.value(of_operands);
        } else {
            for (const Tensor& x : ir::outputs_of(Ref<Node>(node)))
                made.push_back(apply("log", {ops::astype(x, dtype)}));
        }
        logs.emplace(node, std::move(made));
    }
    Tensors result;
    for (const Tensor& output : plain) result.push_back(log_of(output, dtype_of_log(output)));
    return result;
}

}  // namespace composit::cg
