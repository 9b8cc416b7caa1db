#include "composit/execute/fold_constants.h"

#include "composit/execute/execute.h"
#include "composit/ir/body.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace composit::execute {
namespace {

using ir::Node;
using ir::Tensor;

int64_t bytes_of(const Tensor& tensor) {
    return ir::element_count(tensor.shape()) * ir::size_of(tensor.dtype());
}

// Elements of one tensor elsewhere: kernels read most of these where they lie.
bool is_moved(const Node& node) {
    return node.operation().moves_elements && node.operands().size() == 1;
}

class Folding {
  public:
    explicit Folding(const std::vector<Tensor>& outputs) : outputs_(outputs) {
        const std::vector<const Node*> order = ir::topological_order(outputs);
        for (const Node* node : order) learn(*node);
        for (const Node* node : order) {
            if (!facts_.at(node).is_variable) continue;
            for (const Tensor& operand : node->operands()) look_at(operand);
        }
        for (const Tensor& output : outputs) look_at(output);
    }

    std::vector<Tensor> run() const {
        if (folded_.empty()) return outputs_;
        std::vector<Array> values;
        try {
            values = evaluate(folded_);
        } catch (const Error&) {
            return outputs_;  // a call of the program says what is wrong
        }
        const std::vector<std::string> names = names_of_folded();
        std::vector<Tensor> constants;
        for (size_t i = 0; i < folded_.size(); ++i)
            constants.push_back(ir::constant(values[i], names[i]));
        return ir::substitute(outputs_, folded_, constants);
    }

  private:
    struct Facts {
        bool is_variable = false;
        bool is_computed = false;  // more than a view of one constant
        int64_t bytes = 0;         // of the constants that it is made of, or a few times as much
    };

    static bool varies(const Node& node) {
        return node.is_open() || node.reads_borrowed() || node.may_fail() ||
               node.device() > ir::on_cpu || node.crosses_devices();
    }

    void learn(const Node& node) {
        Facts facts{varies(node), !node.operands().empty() && !is_moved(node), 0};
        if (ir::is_constant(node)) {
            facts.bytes = bytes_of(Tensor(Ref<Node>(&node), 0));
            bytes_left_ += facts.bytes;
        }
        for (const Tensor& operand : node.operands()) {
            const Facts& of_operand = facts_.at(&operand.node());
            facts.is_computed |= of_operand.is_computed;
            facts.bytes = std::min(most_bytes, facts.bytes + of_operand.bytes);
        }
        facts_.emplace(&node, facts);
    }

    // A tensor that is the same in every call, or those that it is made of: the last ones of which
    // no value is larger than what it is made of. All of them take no more memory than all
    // constants.
    void look_at(const Tensor& tensor) {
        std::vector<Tensor> left{tensor};
        while (!left.empty()) {
            const Tensor next = left.back();
            left.pop_back();
            const Node& node = next.node();
            const Facts& facts = facts_.at(&node);
            if (facts.is_variable || !facts.is_computed) continue;
            if (!seen_.insert({&node, next.output_index()}).second) continue;
            const int64_t bytes = bytes_of(next);
            // Numbers of Python adapt to the dtype of what they meet: no constant does.
            if (!next.type().weak && bytes <= facts.bytes && bytes <= bytes_left_) {
                folded_.push_back(next);
                bytes_left_ -= bytes;
            } else {
                left.insert(left.end(), node.operands().begin(), node.operands().end());
            }
        }
    }

    // That of the one constant with a name and dimensions that a tensor is made of, if nothing else
    // needs that constant; else the tensor's own.
    std::vector<std::string> names_of_folded() const {
        std::unordered_map<const Node*, int> uses;
        std::vector<const Node*> bearers;
        std::unordered_set<const Node*> inside;
        std::vector<std::string> names;
        for (const Tensor& tensor : folded_) names.push_back(tensor.node().name());
        size_t walked = 0;
        for (const Tensor& tensor : folded_) {
            std::vector<const Node*> named;
            for (const Node* node : ir::topological_order({tensor})) {
                inside.insert(node);
                ++walked;
                if (ir::is_constant(*node) && !node->name().empty() &&
                    !node->types()[0].shape.empty())
                    named.push_back(node);
            }
            for (const Node* node : named) ++uses[node];
            bearers.push_back(named.size() == 1 ? named[0] : nullptr);
            if (walked > most_nodes_for_names) return names;
        }
        for (const auto& [node, facts] : facts_) {  // who still needs it
            if (inside.count(node)) continue;
            for (const Tensor& operand : node->operands()) ++uses[&operand.node()];
        }
        for (const Tensor& output : outputs_) ++uses[&output.node()];
        for (size_t i = 0; i < folded_.size(); ++i)
            if (bearers[i] && uses.at(bearers[i]) == 1) names[i] = bearers[i]->name();
        return names;
    }

    static constexpr int64_t most_bytes = int64_t{1} << 60;
    static constexpr size_t most_nodes_for_names = 100000;  // of which names matter to nobody

    const std::vector<Tensor>& outputs_;
    std::unordered_map<const Node*, Facts> facts_;
    std::vector<Tensor> folded_;
    std::set<std::pair<const Node*, int>> seen_;
    int64_t bytes_left_ = 0;
};

}  // namespace

std::vector<Tensor> fold_constants(const std::vector<Tensor>& outputs) {
    return Folding(outputs).run();
}

}  // namespace composit::execute
