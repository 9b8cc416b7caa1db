// loop: a body applied again and again, with its rules. They transform the body, so the operation
// stands here and not among the primitives.
#include "composit/transforms/loop.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/batching.h"
#include "composit/ops/lift.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace composit::transforms {

using ir::Array;
using ir::Attributes;
using ir::Body;
using ir::DType;
using ir::Node;
using ir::Shape;
using ir::TensorType;
using BodyRef = std::shared_ptr<const Body>;
using Tensors = std::vector<Tensor>;
using Flags = std::vector<bool>;

namespace {

// Parameters, states and results of a loop while it is put together.
class Draft {
  public:
    explicit Draft(std::string name) { body_.name = std::move(name); }

    Tensor counter() {
        internal_check(body_.parameters.empty(), "loop: the counter comes first");
        body_.parameters.push_back(ir::input("i", DType::int64, {}));
        return body_.parameters[0];
    }
    // A parameter for `operand`: states first.
    Tensor parameter(const Tensor& operand, const std::string& name) {
        operands_.push_back(operand);
        body_.parameters.push_back(ir::input(name, operand.dtype(), operand.shape()));
        return body_.parameters.back();
    }
    void result(Tensor x) { body_.results.push_back(std::move(x)); }
    Tensors make(int64_t begin, int64_t end) {
        return loop(std::make_shared<const Body>(std::move(body_)), operands_, begin, end);
    }

  private:
    Body body_;
    Tensors operands_;
};

void check_loop(const Tensors& operands, const Attributes& attributes) {
    const Body& body = *ir::checked_attribute<BodyRef>("loop", attributes, "body");
    for (const char* name : {"begin", "end"}) {
        const int64_t high = ir::checked_attribute<int64_t>("loop", attributes, name) >> 61;
        user_check(high == 0 || high == -1, "loop: ", name, " is beyond 2^61. Less is required.");
    }
    user_check<TypeError>(!body.parameters.empty() &&
                              body.parameters.size() == operands.size() + 1 &&
                              body.results.size() <= operands.size(),
                          "loop: a body of ", body.parameters.size(), " parameters and ",
                          body.results.size(), " results is given for ", operands.size(),
                          " operands. A counter, a parameter for each operand, and no more results "
                          "than operands are required.");
    const TensorType counter{{}, DType::int64};
    user_check(body.parameters[0].type() == counter, "loop: the counter has type ",
               body.parameters[0].type(), ". ", counter, " is required.");
}

std::vector<TensorType> infer_loop(const Tensors& operands, const Attributes& attributes) {
    const Body& body = *attributes.get<BodyRef>("body");
    std::vector<TensorType> types;
    for (size_t k = 0; k < operands.size(); ++k) {
        const TensorType& wanted = body.parameters[k + 1].type();
        user_check<TypeError>(
            operands[k].shape() == wanted.shape && operands[k].dtype() == wanted.dtype,
            "loop: operand ", k, " has type ", operands[k].type(), ". ", wanted, " is required.");
        if (k >= body.results.size()) continue;
        const Tensor& result = body.results[k];
        user_check<TypeError>(result.shape() == wanted.shape && result.dtype() == wanted.dtype,
                              "loop: state ", k, " has type ", wanted, " before an iteration and ",
                              result.type(), " after it. Equal types are required.");
        types.push_back({wanted.shape, wanted.dtype});
    }
    return types;
}

// ----- derivatives

bool is_used(const Tensor& parameter, const Tensors& results) {
    const auto nodes = ir::topological_order(results);
    return std::find(nodes.begin(), nodes.end(), &parameter.node()) != nodes.end();
}

std::string name_of_saved(const Tensor& value) {
    return (value.name().empty() ? value.node().operation().name : value.name()) + "_saved";
}

Tensor number(int64_t value) { return ir::constant(Array::scalar(DType::int64, value)); }

Tensor empty_stack(int64_t iterations, const Tensor& row) {
    Shape shape{iterations};
    shape.insert(shape.end(), row.shape().begin(), row.shape().end());
    return ops::full(shape, ir::constant(Array::zeros(row.dtype(), {})));
}

// Values of each iteration, states at its beginning or what it computes, stacked: the loop once
// more.
Tensors saved_values(const Node& node, const LoopParts& parts, const Tensors& values) {
    Draft draft(parts.body.name + "_saved");
    const Tensor counter = draft.counter();
    Tensors from{parts.counter()}, to{counter};
    Tensors stacks;
    const auto pass = [&](size_t k) {
        from.push_back(parts.parameter(k));
        to.push_back(draft.parameter(node.operands()[k], parts.parameter(k).name()));
    };
    for (size_t k = 0; k < parts.states; ++k) pass(k);
    for (const Tensor& value : values)
        stacks.push_back(
            draft.parameter(empty_stack(parts.iterations(), value), name_of_saved(value)));
    for (size_t k = parts.states; k < parts.operands(); ++k) pass(k);
    Tensors made = parts.body.results;
    made.insert(made.end(), values.begin(), values.end());
    made = ir::substitute(made, from, to);
    for (size_t k = 0; k < parts.states; ++k) draft.result(made[k]);
    const Tensor place = ops::map("subtract", {counter, number(parts.begin)});
    for (size_t v = 0; v < values.size(); ++v)
        draft.result(ops::scatter(stacks[v], {place}, {0}, made[parts.states + v], false));
    const Tensors all = draft.make(parts.begin, parts.end);
    return {all.begin() + static_cast<std::ptrdiff_t>(parts.states), all.end()};
}

// What a derivative reads of the iterations: states, and products, which take longer to compute
// than to read, if they take little more memory than those.
Tensors values_to_save(const LoopParts& parts, const Tensors& back) {
    constexpr int64_t most_of_states = 4;
    const auto states_in = [&](const Tensors& results) {
        Tensors used;
        for (size_t k = 0; k < parts.states; ++k)
            if (is_used(parts.parameter(k), results)) used.push_back(parts.parameter(k));
        return used;
    };
    int64_t bytes = 0;
    for (const Tensor& state : states_in(back)) bytes += state.size() * ir::size_of(state.dtype());
    const Tensors products = products_to_save(parts, back, most_of_states * bytes);
    Tensors instead;
    for (const Tensor& product : products)
        instead.push_back(ir::input("saved", product.dtype(), product.shape()));
    Tensors values = states_in(ir::substitute(back, products, instead));
    values.insert(values.end(), products.begin(), products.end());
    return values;
}

bool is_scatter(const Tensor& x, bool add) {
    const Node& node = x.node();
    return node.operation().name == "scatter" && node.attributes().get<bool>("add") == add;
}

bool is_zeros(Tensor x) {
    while (x.node().operation().name == "broadcast_to") x = x.node().operand(0);
    if (!ir::is_constant(x.node()) || x.size() != 1) return false;
    const Array value = ir::constant_value(x.node());
    const auto* bytes = static_cast<const unsigned char*>(value.data());
    return std::all_of(bytes, bytes + ir::size_of(value.dtype()), [](auto b) { return b == 0; });
}

// sum + x. Rows scattered into zeros are added where they lie: an iteration that reads one row of
// a table has a gradient of one row, and does not go through the whole table for it.
Tensor accumulated(const Tensor& sum, const Tensor& x) {
    if (!is_scatter(x, true) || !is_zeros(x.node().operand(0))) return ops::map("add", {sum, x});
    const Tensors& all = x.node().operands();
    return ops::scatter(sum, {all.begin() + 1, all.end() - 1},
                        x.node().attributes().get<std::vector<int64_t>>("axes"), all.back(), true);
}

// A cotangent that is the product of two values of an iteration, seen through transposes and
// reshapes. Its sum over the iterations is one product of those values in stacks, which runs along
// them as well: no matrix of weights is added to in every iteration.
struct Product {
    Tensor product;                     // within the body
    std::array<Tensor, 2> factors;      // likewise
    std::array<Tensor, 2> stacks = {};  // in the loop that goes back; none where states are saved
    std::array<Tensor, 2> all = {};     // the factors of all iterations

    // The cotangent's sum.
    Tensor sum(const Tensor& cotangent) const {
        const Attributes& attributes = product.node().attributes();
        const auto axes = [&](const char* name, bool is_contracted) {
            std::vector<int64_t> moved = attributes.get<std::vector<int64_t>>(name);
            for (int64_t& axis : moved) ++axis;
            if (is_contracted) moved.insert(moved.begin(), 0);
            return moved;
        };
        const Tensor whole =
            ops::contract(all[0], all[1],
                          {axes("batch_a", false), axes("batch_b", false),
                           axes("contracted_a", true), axes("contracted_b", true)});
        return ir::substitute({cotangent}, {product}, {whole})[0];
    }
};

// Where that moves fewer elements than the sum: in the stacks, of what is not saved.
std::optional<Product> product_of(const Tensor& cotangent, const LoopParts& parts) {
    if (parts.iterations() < 2) return std::nullopt;
    Tensor x = cotangent;
    while (x.node().operation().name == "transpose" || x.node().operation().name == "reshape")
        x = x.node().operand(0);
    if (x.node().operation().name != "contract") return std::nullopt;
    Product found{x, {x.node().operand(0), x.node().operand(1)}};
    int64_t stacked = 0;
    for (const Tensor& factor : found.factors) {
        const size_t k = parts.number_of(factor);
        if (k >= parts.states && k < parts.operands()) return std::nullopt;  // always the same
        if (k >= parts.states) stacked += factor.size();
    }
    if (stacked >= cotangent.size()) return std::nullopt;
    return found;
}

// From the last iteration to the first: cotangents of the state, and sums of those of what is the
// same in all iterations.
Tensors loop_vjp(const Node& node, const Tensors& gradients, const Flags& wanted) {
    const LoopParts parts(node);
    if (parts.iterations() == 0) {
        Tensors result = gradients;
        result.resize(parts.operands());
        return result;
    }
    const Flags useful = useful_states(parts, gradients);
    std::vector<size_t> smooth, summed;  // numbers of states, of the others
    Tensors results, cotangents, sources;
    for (size_t k = 0; k < parts.operands(); ++k) {
        const Tensor& parameter = parts.parameter(k);
        if (!ir::is_inexact(parameter.dtype()) || !(k < parts.states ? useful[k] : wanted[k]))
            continue;
        (k < parts.states ? smooth : summed).push_back(k);
        sources.push_back(parameter);
        if (k >= parts.states) continue;
        results.push_back(parts.body.results[k]);
        cotangents.push_back(
            ir::input("d_" + parameter.name(), parameter.dtype(), parameter.shape()));
    }
    if (results.empty()) return Tensors(parts.operands());
    const Tensors back = vjp(results, cotangents, sources);
    const Tensors values = values_to_save(parts, back);
    const Tensors stacks = saved_values(node, parts, values);
    Tensors saved(parts.states);
    for (size_t v = 0; v < values.size(); ++v)
        if (parts.is_state(values[v])) saved[parts.number_of(values[v])] = stacks[v];

    // Rows of a gradient that the iteration wrote are read, then cleared: last, where they lie.
    std::vector<size_t> early, late;  // numbers of `smooth`
    for (size_t s = 0; s < smooth.size(); ++s)
        (is_scatter(back[s], false) ? late : early).push_back(s);

    Draft draft(parts.body.name + "_back");
    const Tensor step = draft.counter();
    const Tensor place = ops::map("subtract", {number(parts.iterations() - 1), step});
    Tensors from{parts.counter()}, to{ops::map("add", {place, number(parts.begin)})};
    const auto pass_gradients = [&](const std::vector<size_t>& some) {
        for (size_t s : some) {
            const Tensor& gradient = gradients[smooth[s]];
            from.push_back(cotangents[s]);
            to.push_back(draft.parameter(gradient ? gradient : ops::zeros_like(results[s]),
                                         cotangents[s].name()));
        }
    };
    pass_gradients(early);
    Tensors sums;  // none where there is a product
    std::vector<std::optional<Product>> products;
    for (size_t c = 0; c < summed.size(); ++c) {
        const Tensor& parameter = parts.parameter(summed[c]);
        products.push_back(product_of(back[smooth.size() + c], parts));
        sums.push_back(products[c]
                           ? Tensor()
                           : draft.parameter(ops::zeros_like(parameter), "d_" + parameter.name()));
    }
    for (auto& product : products)
        for (size_t f = 0; product && f < 2; ++f)
            if (!parts.is_state(product->factors[f]))
                product->stacks[f] = draft.parameter(
                    empty_stack(parts.iterations(), product->factors[f]), "factors");
    pass_gradients(late);
    for (size_t v = 0; v < values.size(); ++v) {
        from.push_back(values[v]);
        to.push_back(
            ops::gather(draft.parameter(stacks[v], name_of_saved(values[v])), {place}, {0}));
    }
    for (size_t k = parts.states; k < parts.operands(); ++k) {
        from.push_back(parts.parameter(k));
        to.push_back(draft.parameter(node.operands()[k], parts.parameter(k).name()));
    }
    Tensors changed;
    for (size_t s : early) changed.push_back(back[s]);
    for (size_t c = 0; c < summed.size(); ++c)
        if (!products[c]) changed.push_back(back[smooth.size() + c]);
    for (const auto& product : products)
        for (size_t f = 0; product && f < 2; ++f)
            if (product->stacks[f]) changed.push_back(product->factors[f]);
    for (size_t s : late) changed.push_back(back[s]);
    changed = ir::substitute(changed, from, to);
    auto now = changed.begin() + static_cast<long>(early.size());
    for (size_t c = 0; c < summed.size(); ++c)
        if (!products[c]) *now = accumulated(sums[c], *now), ++now;
    for (const auto& product : products)
        for (size_t f = 0; product && f < 2; ++f)
            if (product->stacks[f])
                *now = ops::scatter(product->stacks[f], {place}, {0}, *now, false), ++now;
    for (const Tensor& x : changed) draft.result(x);
    const Tensors made = draft.make(0, parts.iterations());
    Tensors result(parts.operands());
    auto next = made.begin();
    for (size_t s : early) result[smooth[s]] = *next++;
    for (size_t c = 0; c < summed.size(); ++c)
        if (!products[c]) result[summed[c]] = *next++;
    for (auto& product : products)
        for (size_t f = 0; product && f < 2; ++f)
            product->all[f] =
                product->stacks[f] ? *next++ : saved[parts.number_of(product->factors[f])];
    for (size_t c = 0; c < summed.size(); ++c)
        if (products[c]) result[summed[c]] = products[c]->sum(back[smooth.size() + c]);
    for (size_t s : late) result[smooth[s]] = *next++;
    return result;
}

// The state and its tangent, side by side.
Tensors loop_jvp(const Node& node, const Tensors& tangents) {
    const LoopParts parts(node);
    Tensors result(parts.states);
    if (parts.iterations() == 0)
        return {tangents.begin(), tangents.begin() + static_cast<long>(parts.states)};
    const Flags moving = moving_states(parts, tangents);
    Flags is_smooth;
    for (size_t k = 0; k < parts.operands(); ++k)
        is_smooth.push_back(ir::is_inexact(parts.parameter(k).dtype()) &&
                            (k < parts.states ? moving[k] : static_cast<bool>(tangents[k])));
    Draft draft(parts.body.name + "_tangent");
    Tensors from{parts.counter()}, to{draft.counter()}, sources, directions;
    const auto pass = [&](size_t k) {
        from.push_back(parts.parameter(k));
        to.push_back(draft.parameter(node.operands()[k], parts.parameter(k).name()));
    };
    const auto pass_tangent = [&](size_t k) {
        if (!is_smooth[k]) return;
        const Tensor& parameter = parts.parameter(k);
        sources.push_back(parameter);
        directions.push_back(draft.parameter(tangents[k] ? tangents[k] : ops::zeros_like(parameter),
                                             "d_" + parameter.name()));
    };
    for (size_t k = 0; k < parts.states; ++k) pass(k);
    for (size_t k = 0; k < parts.states; ++k) pass_tangent(k);
    for (size_t k = parts.states; k < parts.operands(); ++k) pass(k);
    for (size_t k = parts.states; k < parts.operands(); ++k) pass_tangent(k);
    Tensors all = jvp(parts.body.results, sources, directions);
    all.insert(all.begin(), parts.body.results.begin(), parts.body.results.end());
    all = ir::substitute(all, from, to);
    for (size_t k = 0; k < parts.states; ++k) draft.result(all[k]);
    for (size_t k = 0; k < parts.states; ++k)
        if (is_smooth[k]) draft.result(all[parts.states + k]);
    const Tensors made = draft.make(parts.begin, parts.end);
    for (size_t k = 0, next = parts.states; k < parts.states; ++k)
        if (is_smooth[k]) result[k] = made[next++];
    return result;
}

// ----- batching

// Which results depend on one of the parameters that are batched.
Flags dependent(const LoopParts& parts, const Flags& batched) {
    std::unordered_set<const Node*> reached;
    for (size_t k = 0; k < parts.operands(); ++k)
        if (batched[k]) reached.insert(&parts.parameter(k).node());
    for (const Node* node : ir::topological_order(parts.body.results))
        for (const Tensor& operand : node->operands())
            if (reached.contains(&operand.node())) reached.insert(node);
    Flags result;
    for (const Tensor& x : parts.body.results) result.push_back(reached.contains(&x.node()));
    return result;
}

Tensors batch_loop(const Node& node, const Tensors& operands, const Flags& given, int64_t size) {
    const LoopParts parts(node);
    Flags batched = given;  // a state is as soon as one iteration makes it so
    for (bool grows = true; grows;) {
        grows = false;
        const Flags next = dependent(parts, batched);
        for (size_t k = 0; k < parts.states; ++k)
            if (next[k] && !batched[k]) batched[k] = grows = true;
    }
    Draft draft(parts.body.name + "_batched");
    Tensors from{parts.counter()}, to{draft.counter()}, inputs, with_axis;
    for (size_t k = 0; k < parts.operands(); ++k) {
        const Tensor& parameter = parts.parameter(k);
        const Tensor operand =
            batched[k] ? ops::with_batch(operands[k], given[k], size) : operands[k];
        const Tensor made = draft.parameter(operand, parameter.name());
        (batched[k] ? inputs : from).push_back(parameter);
        (batched[k] ? with_axis : to).push_back(made);
    }
    Tensors many;
    for (size_t k = 0; k < parts.states; ++k)
        if (batched[k]) many.push_back(parts.body.results[k]);
    if (!many.empty()) many = vmap(many, inputs, with_axis);
    many = ir::substitute(many, from, to);
    const Tensors one = ir::substitute(parts.body.results, from, to);
    for (size_t k = 0, next = 0; k < parts.states; ++k)
        draft.result(batched[k] ? many[next++] : one[k]);
    Tensors results = draft.make(parts.begin, parts.end);
    for (size_t k = 0; k < parts.states; ++k)
        results[k] = ops::with_batch(results[k], batched[k], size);
    return results;
}

const ir::Operation& loop_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "loop",
        .doc = "A body applied again and again, to a state and what is the same in all iterations.",
        .infer = infer_loop,
        .vjp = loop_vjp,
        .jvp = loop_jvp,
        .batch = batch_loop,
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                const LoopParts parts(node);
                lowering.repeat(parts.body, parts.begin, parts.end);
            },
        .label = [](const Node& node) { return node.attributes().get<BodyRef>("body")->name; },
        .check = check_loop,
    });
    return operation;
}

}  // namespace

Tensors loop(std::shared_ptr<const Body> body, const Tensors& operands, int64_t begin,
             int64_t end) {
    Attributes attributes{{"body", std::move(body)}, {"begin", begin}, {"end", end}};
    check_loop(operands, attributes);
    return ir::outputs_of(ir::make_node(loop_operation(), operands, std::move(attributes)));
}

LoopParts::LoopParts(const Node& node)
    : body(*node.attributes().get<BodyRef>("body")),
      begin(node.attributes().get<int64_t>("begin")),
      end(node.attributes().get<int64_t>("end")),
      states(body.results.size()) {}

bool is_loop(const Node& node) { return &node.operation() == &loop_operation(); }

void register_operations() { loop_operation(); }

Tensors change_bodies(const Tensors& tensors,
                      const std::function<Tensors(const Tensors& results)>& change) {
    const auto order = ir::topological_order(tensors);
    if (std::none_of(order.begin(), order.end(), [](const Node* node) { return is_loop(*node); }))
        return tensors;
    std::unordered_map<const Body*, BodyRef> changed_body;
    std::unordered_map<const Node*, Tensors> rebuilt;
    const auto current = [&](const Tensor& x) {
        const auto found = rebuilt.find(&x.node());
        return found == rebuilt.end() ? x : found->second[static_cast<size_t>(x.output_index())];
    };
    for (const Node* node : order) {
        Tensors operands;
        for (const Tensor& operand : node->operands()) operands.push_back(current(operand));
        if (!is_loop(*node)) {
            if (operands != node->operands())
                rebuilt.emplace(node, ir::outputs_of(ir::with_operands(*node, operands)));
            continue;
        }
        const LoopParts parts(*node);
        BodyRef& body = changed_body[&parts.body];
        if (!body) {
            const Tensors results = change(parts.body.results);
            body = results == parts.body.results
                       ? node->attributes().get<BodyRef>("body")
                       : std::make_shared<const Body>(
                             Body{parts.body.name, parts.body.parameters, results});
        }
        if (body.get() == &parts.body && operands == node->operands()) continue;
        const ir::LocationScope scope(*node);
        Attributes attributes{{"body", body}, {"begin", parts.begin}, {"end", parts.end}};
        rebuilt.emplace(node, ir::outputs_of(ir::make_node(loop_operation(), operands,
                                                           std::move(attributes), node->name())));
    }
    Tensors result;
    for (const Tensor& x : tensors) result.push_back(current(x));
    return result;
}

}  // namespace composit::transforms
