#include "composit/execute/fold_constants.h"

#include "composit/execute/execute.h"
#include "composit/ir/body.h"

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
        for (const Node* node : ir::topological_order(outputs)) {
            if (!is_variable(*node)) continue;
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
        std::vector<Tensor> constants;
        for (size_t i = 0; i < folded_.size(); ++i)
            constants.push_back(ir::constant(values[i], name_of(folded_[i])));
        return ir::substitute(outputs_, folded_, constants);
    }

  private:
    static bool is_variable(const Node& node) {
        return node.is_open() || node.reads_borrowed() || node.may_fail() ||
               node.device() > ir::on_cpu || node.crosses_devices();
    }

    // A tensor that is the same in every call, or one that is made of such: the last ones of which
    // no value is larger than what it is made of.
    void look_at(const Tensor& tensor) {
        std::vector<Tensor> left{tensor};
        while (!left.empty()) {
            const Tensor next = left.back();
            left.pop_back();
            const Node& node = next.node();
            if (is_variable(node) || node.operands().empty()) continue;
            if (!seen_.insert({&node, next.output_index()}).second) continue;
            if (is_worth_it(next))
                folded_.push_back(next);
            else
                left.insert(left.end(), node.operands().begin(), node.operands().end());
        }
    }

    // Not numbers of Python, which adapt to the dtype of what they meet.
    static bool is_worth_it(const Tensor& tensor) {
        if (tensor.type().weak) return false;
        int64_t of_constants = 0;
        bool is_computed = false;
        for (const Node* node : ir::topological_order({tensor})) {
            if (ir::is_constant(*node)) of_constants += bytes_of(Tensor(Ref<Node>(node), 0));
            is_computed |= !node->operands().empty() && !is_moved(*node);
        }
        return is_computed && bytes_of(tensor) <= of_constants;
    }

    // That of the one constant with a name and dimensions, if there is one.
    static std::string name_of(const Tensor& tensor) {
        std::set<std::string> names;
        for (const Node* node : ir::topological_order({tensor}))
            if (ir::is_constant(*node) && !node->name().empty() && !node->types()[0].shape.empty())
                names.insert(node->name());
        return names.size() == 1 ? *names.begin() : tensor.node().name();
    }

    const std::vector<Tensor>& outputs_;
    std::vector<Tensor> folded_;
    std::set<std::pair<const Node*, int>> seen_;
};

}  // namespace

std::vector<Tensor> fold_constants(const std::vector<Tensor>& outputs) {
    return Folding(outputs).run();
}

}  // namespace composit::execute
