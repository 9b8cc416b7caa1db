#include "composit/ir/body.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/operation.h"

#include <unordered_map>

namespace composit::ir {

std::vector<Tensor> substitute(const std::vector<Tensor>& results, const std::vector<Tensor>& from,
                               const std::vector<Tensor>& to) {
    internal_check(from.size() == to.size(), "substitute: ", from.size(), " tensors for ",
                   to.size());
    std::unordered_multimap<const Node*, size_t> places;
    for (size_t i = 0; i < from.size(); ++i) places.emplace(&from[i].node(), i);
    const auto given = [&](const Tensor& tensor) -> const Tensor* {
        const auto [first, last] = places.equal_range(&tensor.node());
        for (auto place = first; place != last; ++place)
            if (from[place->second] == tensor) return &to[place->second];
        return nullptr;
    };
    std::unordered_map<const Node*, Ref<Node>> rebuilt;  // null: the node itself
    const auto replacement = [&](const Tensor& tensor) -> Tensor {
        if (const Tensor* instead = given(tensor)) return *instead;
        const Ref<Node>& node = rebuilt.at(&tensor.node());
        return node ? Tensor(node, tensor.output_index()) : tensor;
    };
    struct Frame {
        const Node* node;
        size_t next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](const Tensor& tensor) {  // what is behind a replaced tensor is no matter
        if (!given(tensor) && rebuilt.try_emplace(&tensor.node()).second)
            stack.push_back({&tensor.node(), 0});
    };
    std::vector<Tensor> replaced;
    for (const Tensor& result : results) {
        enter(result);
        while (!stack.empty()) {
            Frame& frame = stack.back();
            const Node& node = *frame.node;
            if (frame.next < node.operands().size()) {
                enter(node.operands()[frame.next++]);
                continue;
            }
            stack.pop_back();
            std::vector<Tensor> operands;
            for (const Tensor& operand : node.operands()) operands.push_back(replacement(operand));
            if (operands != node.operands())
                rebuilt[&node] = with_operands(node, std::move(operands));
        }
        replaced.push_back(replacement(result));
    }
    return replaced;
}

std::vector<Tensor> inline_body(const Body& body, const std::vector<Tensor>& arguments) {
    return substitute(body.results, body.parameters, arguments);
}

uint64_t structural_hash(const Body& body) {
    uint64_t h = hash_text(body.name);
    for (const Tensor& result : body.results)
        h = hash_combine(
            h, result.node().structural_hash() + static_cast<uint64_t>(result.output_index()));
    return h;
}

bool structurally_equal(const Body& a, const Body& b) {
    if (a.name != b.name || a.results.size() != b.results.size() ||
        a.parameters.size() != b.parameters.size())
        return false;
    return same_structure(a.results, a.parameters, b.results, b.parameters);
}

bool same_structure(const std::vector<Tensor>& a, const std::vector<Tensor>& a_first,
                    const std::vector<Tensor>& b, const std::vector<Tensor>& b_first) {
    if (a.size() != b.size() || a_first.size() != b_first.size()) return false;
    std::vector<Tensor> roots_a = a_first, roots_b = b_first;
    roots_a.insert(roots_a.end(), a.begin(), a.end());
    roots_b.insert(roots_b.end(), b.begin(), b.end());
    const auto order_a = topological_order(roots_a), order_b = topological_order(roots_b);
    if (order_a.size() != order_b.size()) return false;
    std::unordered_map<const Node*, const Node*> twin;
    const auto twins = [&](const Tensor& x, const Tensor& y) {
        const auto found = twin.find(&x.node());
        return found != twin.end() && found->second == &y.node() &&
               x.output_index() == y.output_index();
    };
    for (size_t i = 0; i < order_a.size(); ++i) {
        const Node &x = *order_a[i], &y = *order_b[i];
        if (x.structural_hash() != y.structural_hash() || &x.operation() != &y.operation() ||
            x.types() != y.types() || x.operands().size() != y.operands().size() ||
            x.attributes().items().size() != y.attributes().items().size())
            return false;
        for (size_t k = 0; k < x.operands().size(); ++k)
            if (!twins(x.operands()[k], y.operands()[k])) return false;
        for (size_t k = 0; k < x.attributes().items().size(); ++k) {
            const auto &p = x.attributes().items()[k], &q = y.attributes().items()[k];
            if (p.first != q.first || !structurally_equal(p.second, q.second)) return false;
        }
        twin.emplace(&x, &y);
    }
    for (size_t i = 0; i < roots_a.size(); ++i)
        if (!twins(roots_a[i], roots_b[i])) return false;
    return true;
}

}  // namespace composit::ir
