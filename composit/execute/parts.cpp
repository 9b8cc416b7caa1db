// Cuts a graph along its topological order.
#include "composit/execute/parts.h"

#include "composit/ir/operation.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace composit::execute {
namespace {

using ir::Node;
using ir::Tensor;

class Parts {
  public:
    Parts(const std::vector<Tensor>& outputs, const Evaluation& evaluate)
        : outputs_(outputs), evaluate_(evaluate), order_(ir::topological_order(outputs)) {
        count_ = (order_.size() + nodes_of_part - 1) / nodes_of_part;
        leaving_.resize(count_);
        ending_.resize(count_ + 1);
        part_of_.reserve(order_.size());
        for (size_t i = 0; i < order_.size(); ++i)
            part_of_.emplace(order_[i], static_cast<uint32_t>(i / nodes_of_part));
        for (const Node* node : order_)
            for (const Tensor& operand : node->operands()) use(operand, part_of_.at(node));
        for (const Tensor& output : outputs) use(output, count_);
        for (const auto& [key, last] : last_use_) ending_[last].push_back(key);
    }

    std::vector<ir::Array> run() {
        for (size_t part = 0; part < count_; ++part) {
            run_part(part);
            for (const Key& key : ending_[part]) values_.erase(key);
        }
        rebuilt_.clear();
        return evaluate_(all_now(outputs_, count_));
    }

  private:
    using Key = std::pair<const Node*, int>;  // an output of a node

    static bool is_leaf(const Node& node) { return ir::is_constant(node) || ir::is_input(node); }

    // Positions, or a smaller tensor's elements over and over: nothing that memory has to hold. Of
    // such of such there are few, as each has twice the elements of what it repeats.
    static bool repeats(const Node& node) {
        const std::string& name = node.operation().name;
        if (name != "broadcast_to") return name == "iota";
        const int64_t count = ir::element_count(node.types()[0].shape);
        return count > 0 && count >= 2 * node.operand(0).size();
    }

    void use(const Tensor& tensor, size_t part) {
        const Node& node = tensor.node();
        const size_t own = part_of_.at(&node);
        if (own == part || is_leaf(node)) return;
        if (repeats(node)) {
            for (const Tensor& operand : node.operands()) use(operand, part);
            return;
        }
        const auto [known, is_new] = last_use_.try_emplace({&node, tensor.output_index()}, part);
        if (is_new)
            leaving_[own].push_back(tensor);
        else
            known->second = std::max(known->second, part);
    }

    void run_part(size_t part) {
        rebuilt_.clear();
        const size_t end = std::min(order_.size(), (part + 1) * nodes_of_part);
        for (size_t i = part * nodes_of_part; i < end; ++i) rebuild(*order_[i], part);
        const std::vector<Tensor>& leaving = leaving_[part];
        if (leaving.empty()) return;
        std::vector<ir::Array> values = evaluate_(all_now(leaving, part));
        for (size_t k = 0; k < leaving.size(); ++k)
            values_.emplace(Key{&leaving[k].node(), leaving[k].output_index()},
                            leaf_of(leaving[k], std::move(values[k])));
    }

    // The type as it was: of a Python number's value, too.
    static Tensor leaf_of(const Tensor& tensor, ir::Array value) {
        Tensor leaf = ir::constant(std::move(value));
        if (leaf.type() == tensor.type() || tensor.node().output_count() != 1) return leaf;
        return {ir::make_typed_node(leaf.node().operation(), {}, leaf.node().shared_attributes(),
                                    tensor.node().shared_types()),
                0};
    }

    // The node over what its operands are in this part; itself where these are the same.
    void rebuild(const Node& node, size_t part) {
        bool differs = false;
        for (const Tensor& operand : node.operands()) differs |= !(now(operand, part) == operand);
        if (differs) rebuilt_[&node] = ir::with_operands(node, all_now(node.operands(), part));
    }

    Tensor now(const Tensor& tensor, size_t part) {
        const Node& node = tensor.node();
        if (is_leaf(node)) return tensor;
        const auto rebuilt = rebuilt_.find(&node);
        if (rebuilt != rebuilt_.end()) return {rebuilt->second, tensor.output_index()};
        if (part_of_.at(&node) == part) return tensor;
        if (!repeats(node)) return values_.at({&node, tensor.output_index()});
        rebuild(node, part);
        const auto made = rebuilt_.find(&node);
        return made == rebuilt_.end() ? tensor : Tensor(made->second, tensor.output_index());
    }

    std::vector<Tensor> all_now(const std::vector<Tensor>& tensors, size_t part) {
        std::vector<Tensor> result;
        result.reserve(tensors.size());
        for (const Tensor& tensor : tensors) result.push_back(now(tensor, part));
        return result;
    }

    const std::vector<Tensor>& outputs_;
    const Evaluation& evaluate_;
    const std::vector<const Node*> order_;
    size_t count_ = 0;  // of parts; the outputs are used behind the last
    std::unordered_map<const Node*, uint32_t> part_of_;
    std::vector<std::vector<Tensor>> leaving_;  // by part: what others read
    std::vector<std::vector<Key>> ending_;      // by part: what no part behind it reads
    std::map<Key, size_t> last_use_;
    std::map<Key, Tensor> values_;
    std::unordered_map<const Node*, Ref<Node>> rebuilt_;  // in the part at hand
};

}  // namespace

std::vector<ir::Array> evaluate_in_parts(const std::vector<Tensor>& outputs,
                                         const Evaluation& evaluate) {
    return Parts(outputs, evaluate).run();
}

}  // namespace composit::execute
