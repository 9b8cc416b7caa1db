// Applies the rewrites of simplify_rules.cpp and shares equal subexpressions, operands before
// users.
#include "composit/base/hash.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/runtime/interrupt.h"
#include "composit/transforms/simplify_rules.h"
#include "composit/transforms/transforms.h"

#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace composit::transforms {
namespace {

using ir::Attribute;
using ir::Node;

bool computes_the_same(const Node& a, const Node& b) {
    return &a.operation() == &b.operation() && a.operands() == b.operands() &&
           a.types() == b.types() && equal_attributes(a, b);
}

class Simplification {
  public:
    explicit Simplification(const std::vector<Tensor>& outputs)
        : order_(topological_order(outputs)) {
        for (const SimplifyRule& rule : simplify_rules()) rules_[rule.operation].push_back(&rule);
        // Tables that grow step by step are moved as often, which large graphs feel.
        replaced_.reserve(order_.size());
        by_work_.reserve(order_.size());
        known_.reserve(order_.size());
        const auto use = [&](const Tensor& tensor, std::string_view by) {
            if (may_be_swapped(tensor.node())) {
                ++uses_[&tensor.node()];
                if (by != "contract") used_as_array_.insert(&tensor.node());
            }
            if (tensor.node().output_count() > 1)
                used_outputs_[&tensor.node()].insert(tensor.output_index());
        };
        for (const Node* node : order_)
            for (const Tensor& operand : node->operands()) use(operand, node->operation().name);
        for (const Tensor& output : outputs) use(output, "");
    }

    void run() {
        for (const Node* node : order_) {
            runtime::check_interrupt();
            const Ref<Node> current = with_new_operands(*node);
            const Tensor part = only_part(*node, *current);
            if (part) {
                single_[node] = {part.output_index(), settled(part)};
                continue;
            }
            if (node->output_count() > 1) {
                replaced_[node] = share(current);
                continue;
            }
            Tensor result = settled(Tensor(current, 0));
            if (const Tensor product = written_in_place(*node, result)) result = settled(product);
            if (result.output_index() == 0)
                replaced_[node] = result.node_ref();
            else
                single_[node] = {0, result};
        }
    }

    Tensor now(const Tensor& tensor) const {
        const auto single = single_.find(&tensor.node());
        if (single != single_.end()) return single->second.second;
        return {replaced_.at(&tensor.node()), tensor.output_index()};
    }

  private:
    static bool may_be_swapped(const Node& node) {
        return node.operation().name == "transpose" || node.operation().name == "contract";
    }

    Ref<Node> with_new_operands(const Node& node) const {
        std::vector<Tensor> operands;
        bool changed = false;
        for (const Tensor& operand : node.operands()) {
            operands.push_back(now(operand));
            changed = changed || !(operands.back() == operand);
        }
        if (!changed) return Ref<Node>(&node);
        return with_operands(node, std::move(operands));
    }

    // A split of which one part is used is a slice.
    Tensor only_part(const Node& node, const Node& current) const {
        const auto used = used_outputs_.find(&node);
        if (node.operation().name != "split" || used == used_outputs_.end()) return {};
        if (used->second.size() != 1) return {};
        const int wanted = *used->second.begin();
        const auto axis = static_cast<size_t>(current.attributes().get<int64_t>("axis"));
        const auto& lengths = current.attributes().get<std::vector<int64_t>>("lengths");
        std::vector<int64_t> starts(current.operand(0).shape().size(), 0), steps(starts.size(), 1);
        for (int i = 0; i < wanted; ++i) starts[axis] += lengths[static_cast<size_t>(i)];
        const ir::LocationScope scope(node);
        return ops::slice(current.operand(0), starts,
                          current.types()[static_cast<size_t>(wanted)].shape, steps);
    }

    // A product that is only used transposed, as an array in memory, is computed transposed. Other
    // products read it either way.
    Tensor written_in_place(const Node& node, const Tensor& result) {
        const bool is_transpose = node.operation().name == "transpose";
        if (!is_transpose && node.operation().name != "contract") return {};
        const bool is_of_product = !is_transpose || of_product_.contains(&node.operand(0).node());
        if (is_of_product && uses_.at(&node) == 1) of_product_.insert(&node);
        if (!is_transpose || !is_of_product || !used_as_array_.contains(&node) ||
            result.node().operation().name != "transpose")
            return {};
        const ir::LocationScope scope(node);
        return swapped_product(result.node());
    }

    // Rules until none applies, then the first node that computes the same.
    Tensor settled(Tensor tensor) {
        for (;;) {
            if (known_.contains(&tensor.node())) return tensor;
            const Tensor next = rewritten(tensor.node());
            if (!next) break;
            tensor = next;
        }
        return {share(tensor.node_ref()), tensor.output_index()};
    }

    Tensor rewritten(const Node& node) const {
        const auto rules = rules_.find(node.operation().name);
        if (rules == rules_.end()) return {};
        const ir::LocationScope scope(node);
        for (const SimplifyRule* rule : rules->second)
            if (Tensor result = rule->apply(node)) return result;
        return {};
    }

    Ref<Node> share(const Ref<Node>& node) {
        known_.insert(node.get());
        if (ir::is_constant(*node) || ir::is_input(*node)) {
            leaves_.push_back(node);
            return node;
        }
        uint64_t hash = std::bit_cast<uint64_t>(&node->operation());
        for (const Tensor& operand : node->operands())
            hash = hash_combine(hash, std::bit_cast<uint64_t>(&operand.node()) +
                                          static_cast<uint64_t>(operand.output_index()));
        hash = hash_combine(hash, node->shared_attributes()->hash);
        const auto [first, last] = by_work_.equal_range(hash);
        for (auto entry = first; entry != last; ++entry)
            if (computes_the_same(*entry->second, *node)) {
                if (entry->second != node) known_.erase(node.get());
                return entry->second;
            }
        by_work_.emplace(hash, node);
        return node;
    }

    std::vector<const Node*> order_;
    std::unordered_map<std::string, std::vector<const SimplifyRule*>> rules_;
    std::unordered_map<const Node*, std::unordered_set<int>> used_outputs_;
    std::unordered_map<const Node*, int> uses_;      // of products and transposes
    std::unordered_set<const Node*> used_as_array_;  // of these, by anything but products
    std::unordered_set<const Node*> of_product_;     // or of its transpose, that are used once
    std::unordered_map<const Node*, Ref<Node>> replaced_;
    std::unordered_map<const Node*, std::pair<int, Tensor>>
        single_;  // whose one used output is a tensor
    std::unordered_multimap<uint64_t, Ref<Node>> by_work_;
    std::vector<Ref<Node>> leaves_;
    std::unordered_set<const Node*> known_;  // results of earlier steps, all alive
};

}  // namespace

bool equal_attributes(const Node& a, const Node& b) {
    const auto &x = a.attributes().items(), &y = b.attributes().items();
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i < x.size(); ++i) {
        if (x[i].first != y[i].first || x[i].second.index() != y[i].second.index()) return false;
        if (const auto* array = std::get_if<ir::ConstantArray>(&x[i].second)) {
            if (*array != std::get<ir::ConstantArray>(y[i].second)) return false;
        } else if (const auto* body = std::get_if<std::shared_ptr<const ir::Body>>(&x[i].second)) {
            if (*body != std::get<std::shared_ptr<const ir::Body>>(y[i].second)) return false;
        } else if (!ir::structurally_equal(x[i].second, y[i].second)) {
            return false;
        }
    }
    return true;
}

std::vector<Tensor> simplify(const std::vector<Tensor>& given) {
    const std::vector<Tensor> outputs = change_bodies(share_loops(given), simplify);
    Simplification simplification(outputs);
    simplification.run();
    std::vector<Tensor> simplified;
    for (const Tensor& output : outputs) simplified.push_back(simplification.now(output));
    return simplified;
}

}  // namespace composit::transforms
