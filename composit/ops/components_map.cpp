// Elementwise functions in components: a row splits into a row for each part of its result.
#include "composit/ir/scalar/complex.h"
#include "composit/ops/components.h"

#include <algorithm>

namespace composit::ops {

using ir::Node;
using ir::scalar::RowRef;

namespace {

// One part of the result, of the whole result's shape. A part that is one of the operands' is no
// node.
Tensor part_of(const ir::scalar::RowOfPart& part, const std::vector<Tensor>& all,
               const Shape& shape) {
    std::vector<Tensor> operands;
    std::vector<DType> dtypes;
    for (int use : part.uses) {
        operands.push_back(all[static_cast<size_t>(use)]);
        dtypes.push_back(operands.back().dtype());
    }
    const auto& body = ir::scalar::specialise(part.row, dtypes).body;
    const bool is_operand = body.op() == ir::scalar::Op::argument;
    return broadcast_to(is_operand ? operands[0] : map(part.row, operands), shape);
}

}  // namespace

bool has_components(const Node& node) {
    const auto is_one = [](const auto& typed) { return has_components(typed.dtype()); };
    for (const ir::TensorType& type : node.types())
        if (has_components(type.dtype)) return true;
    if (std::any_of(node.operands().begin(), node.operands().end(), is_one)) return true;
    if (!is_map(node)) return false;
    const std::vector<DType>& computed = map_signature(node).operands;
    return std::any_of(computed.begin(), computed.end(),
                       [](DType dtype) { return has_components(dtype); });
}

std::vector<Components> map_by_components(const Node& node,
                                          const std::vector<Components>& operands) {
    const RowRef& row = node.attributes().get<RowRef>("row");
    const ir::TensorType& type = node.types()[0];
    const ir::scalar::Signature& signature = map_signature(node);
    std::vector<Tensor> all;
    bool is_split = has_components(type.dtype);
    for (size_t i = 0; i < operands.size(); ++i) {
        const DType dtype = signature.operands[i];
        const Components x =
            converted(operands[i], node.operand(static_cast<int>(i)).dtype(), dtype);
        all.push_back(x.re);
        if (x.im) all.push_back(x.im);
        is_split = is_split || has_components(dtype);
    }
    if (!is_split) return {{map(row, all), {}}};
    const ir::scalar::SplitRow& split = ir::scalar::split_row(row, signature.operands);
    return {{part_of(split.re, all, type.shape),
             split.im.row ? part_of(split.im, all, type.shape) : Tensor()}};
}

std::vector<Components> astype_by_components(const Node& node,
                                             const std::vector<Components>& operands) {
    return {converted(operands[0], node.operand(0).dtype(), node.types()[0].dtype)};
}

}  // namespace composit::ops
