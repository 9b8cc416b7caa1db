// A loop that another goes through as well, on its way to more: a function's value beside its
// derivative, which saves states or carries tangents along.
#include "composit/ir/operation.h"
#include "composit/transforms/loop.h"
#include "composit/transforms/simplify_rules.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <unordered_map>

namespace composit::transforms {
namespace {

using ir::Node;
using Tensors = std::vector<Tensor>;

// Whether tensors of two bodies compute the same, their parameters being what `twins` says.
class Twins {
  public:
    void pair(const Tensor& a, const Tensor& b) { twins_[&a.node()] = &b.node(); }

    bool are(const Tensor& a, const Tensor& b) {
        std::vector<std::pair<Tensor, Tensor>> open{{a, b}};
        while (!open.empty()) {
            const auto [x, y] = std::move(open.back());
            open.pop_back();
            if (x.output_index() != y.output_index()) return false;
            const auto [known, is_new] = twins_.emplace(&x.node(), &y.node());
            if (known->second != &y.node()) return false;
            if (!is_new || x.node_ref() == y.node_ref()) continue;
            if (!look_alike(x.node(), y.node())) return false;
            for (size_t k = 0; k < x.node().operands().size(); ++k)
                open.emplace_back(x.node().operands()[k], y.node().operands()[k]);
        }
        return true;
    }

  private:
    // Leaves are bound at each evaluation: those that look alike may hold other values next time.
    static bool look_alike(const Node& x, const Node& y) {
        return &x.operation() == &y.operation() && !ir::is_constant(x) && !ir::is_input(x) &&
               x.operands().size() == y.operands().size() && x.types() == y.types() &&
               equal_attributes(x, y);
    }

    std::unordered_map<const Node*, const Node*> twins_;
};

// Whether the first states of `more` are those of `one`, with as many others behind them, and so
// what is the same in all iterations.
bool goes_through(const Node& more, const Node& one) {
    const LoopParts m(more), o(one);
    const size_t fixed = o.operands() - o.states;
    if (m.states <= o.states || m.operands() < m.states + fixed || m.begin != o.begin ||
        m.end != o.end)
        return false;
    Twins twins;
    twins.pair(o.counter(), m.counter());
    for (size_t k = 0; k < o.operands(); ++k) {
        const size_t there = k < o.states ? k : m.states + (k - o.states);
        if (!(one.operands()[k] == more.operands()[there])) return false;
        twins.pair(o.parameter(k), m.parameter(there));
    }
    for (size_t k = 0; k < o.states; ++k)
        if (!twins.are(o.body.results[k], m.body.results[k])) return false;
    return true;
}

bool depends_on(const Node& node, const Node& other) {
    const auto order = ir::topological_order(ir::outputs_of(Ref<Node>(&node)));
    return std::find(order.begin(), order.end(), &other) != order.end();
}

}  // namespace

Tensors share_loops(const Tensors& outputs) {
    std::vector<const Node*> loops;
    for (const Node* node : ir::topological_order(outputs))
        if (is_loop(*node)) loops.push_back(node);
    for (const Node* one : loops)
        for (const Node* more : loops)
            if (goes_through(*more, *one) && !depends_on(*more, *one)) {
                const Tensors from = ir::outputs_of(Ref<Node>(one));
                Tensors to = ir::outputs_of(Ref<Node>(more));
                to.resize(from.size());
                return share_loops(ir::substitute(outputs, from, to));
            }
    return outputs;
}

}  // namespace composit::transforms
