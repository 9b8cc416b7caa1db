#include "composit/eager/operation_strides.h"

#include "composit/ir/attribute.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace composit::eager {
namespace {

using ir::Node;
using ir::Shape;
using ir::Tensor;
using BodyRef = std::shared_ptr<const ir::Body>;

bool is_applied_to_elements(const Node& node) {
    const std::string& name = node.operation().name;
    return name == "map" || name == "astype";
}
// What has the elements of one of its operands, in their order: that operand.
const Tensor* operand_passed(const Node& node) {
    const std::string& name = node.operation().name;
    if (name == "stop_gradient") return &node.operand(0);
    if (name == "with_values") return &node.operand(1);
    return nullptr;
}
bool is_layout_operation(const Node& node) {
    const std::string& name = node.operation().name;
    return name == "reshape" || name == "transpose" || name == "slice" || name == "broadcast_to";
}

// Of a result of that shape, which some operand has a say in.
Strides strides_of_first(const Shape& shape, const std::vector<Laid>& operands) {
    const auto is_dense_as_first = [&](const Laid& operand) {
        return operand.shape == shape && operand.strides == operands[0].strides &&
               strides_of_copy(shape, operand.strides) == operand.strides;
    };
    if (std::all_of(operands.begin(), operands.end(), is_dense_as_first))
        return operands[0].strides;
    const auto step_of = [&](const Laid& operand, size_t axis) -> int64_t {
        const size_t added = shape.size() - operand.shape.size();
        if (axis < added || (operand.shape[axis - added] == 1 && shape[axis] != 1)) return 0;
        return operand.strides[axis - added];
    };
    // Below zero where axis `a` is the faster one, above where `b` is, zero where nothing tells.
    const auto compared = [&](size_t a, size_t b) {
        for (const Laid& operand : operands) {
            const int64_t step_a = step_of(operand, a), step_b = step_of(operand, b);
            if (step_a == 0 || step_b == 0) continue;
            if (step_a != step_b) return step_a < step_b ? -1 : 1;
            if (shape[a] > shape[b]) return 1;
        }
        return 0;
    };
    std::vector<size_t> order(shape.size());  // of axes, the fastest first
    std::iota(order.rbegin(), order.rend(), size_t{0});
    for (size_t i = 1; i < order.size(); ++i)
        for (size_t place = i, before = i; before-- > 0;) {
            const int found = compared(order[before], order[place]);
            if (found < 0) break;
            if (found == 0) continue;
            std::swap(order[before], order[place]);
            place = before;
        }
    Strides strides(shape.size());
    int64_t step = 1;
    for (const size_t axis : order) {
        strides[axis] = step;
        step *= std::max<int64_t>(shape[axis], 1);
    }
    return strides;
}

class Layouts {
  public:
    void put(const Tensor& tensor, Strides strides) {
        known_.emplace(key_of(tensor), std::move(strides));
    }

    const Strides& of(const Tensor& result) {
        std::vector<const Tensor*> open = {&result};
        while (!open.empty()) {
            const Tensor& tensor = *open.back();
            const size_t before = open.size();
            if (!known_.contains(key_of(tensor)))
                for (const Tensor& operand : tensor.node().operands())
                    if (!known_.contains(key_of(operand))) open.push_back(&operand);
            if (open.size() > before) continue;
            open.pop_back();
            if (!known_.contains(key_of(tensor))) put(tensor, made(tensor));
        }
        return known_.at(key_of(result));
    }

  private:
    using Key = std::pair<const Node*, int>;
    static Key key_of(const Tensor& tensor) { return {&tensor.node(), tensor.output_index()}; }
    // Numbers without dimensions have no say either.
    bool is_silent(const Tensor& tensor) const { return known_.at(key_of(tensor)).empty(); }

    // None for what depends on no operand.
    Strides made(const Tensor& tensor) {
        const Node& node = tensor.node();
        if (std::all_of(node.operands().begin(), node.operands().end(),
                        [&](const Tensor& operand) { return is_silent(operand); }))
            return {};
        if (const Tensor* passed = operand_passed(node)) return known_.at(key_of(*passed));
        if (is_layout_operation(node)) {
            const Tensor& source = node.operand(0);
            const auto region = region_through(source, {0, known_.at(key_of(source))}, tensor);
            return region ? region->strides : ir::row_major_strides(tensor.shape());
        }
        if (node.operation().name == "call") {
            const ir::Body& body = *node.attributes().get<BodyRef>("body");
            Layouts inner;
            for (size_t i = 0; i < body.parameters.size(); ++i)
                inner.put(body.parameters[i], known_.at(key_of(node.operands()[i])));
            return inner.of(body.results[static_cast<size_t>(tensor.output_index())]);
        }
        if (!is_applied_to_elements(node)) return ir::row_major_strides(tensor.shape());
        std::vector<Laid> laid;
        for (const Tensor& operand : node.operands())
            if (!is_silent(operand)) laid.push_back({operand.shape(), known_.at(key_of(operand))});
        return strides_of_first(tensor.shape(), laid);
    }

    std::map<Key, Strides> known_;
};

}  // namespace

std::optional<Strides> operation_strides(const Tensor& result,
                                         const std::vector<PlacedOperand>& operands) {
    const Node& node = result.node();
    Layouts layouts;
    for (const PlacedOperand& operand : operands) {
        if (operand.tensor == result)
            return elementwise_strides(result.shape(), {{result.shape(), operand.strides}});
        layouts.put(operand.tensor, operand.strides);
    }
    if (!is_applied_to_elements(node) && node.operation().name != "call") return {};
    const Strides& found = layouts.of(result);
    return found.empty() ? std::nullopt : std::optional(found);
}

}  // namespace composit::eager
