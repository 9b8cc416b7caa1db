// Memory read as complex numbers, or as what they are made of: views, no copies.
#include "composit/ops/storage.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/part.h"

namespace composit::ops {

using ir::Attributes;
using ir::Lowering;
using ir::Node;
using ir::TensorType;
using Tensors = std::vector<Tensor>;

namespace {

// Pairs, as each access counts elements of its own dtype.
Access in_pairs(const Access& x) {
    Access result{x.buffer, ir::real_part_of(x.dtype), 2 * x.offset, {}};
    for (int64_t stride : x.strides) result.strides.push_back(2 * stride);
    result.strides.push_back(1);
    return result;
}

DType complex_of(DType real) {
    return real == DType::float32 ? DType::complex64 : DType::complex128;
}

void lower_stored(const Node& node, Lowering& lowering) {
    const Nest x = lowering.operand(0);
    const bool is_leaf = !ir::is_complex(x.value.dtype());  // bound as it lies in memory
    lowering.result(0, is_leaf ? x : nest_of(node.types()[0].shape, in_pairs(lowering.memory(0))));
}

void lower_joined(const Node& node, Lowering& lowering) {
    const Access pairs = lowering.memory(0);
    internal_check(
        pairs.strides == ir::row_major_strides(node.operand(0).shape()) && pairs.offset == 0,
        "joined: the pairs are not row-major");
    const DType dtype = node.types()[0].dtype;
    const Shape& shape = node.types()[0].shape;
    lowering.result(0, nest_of(shape, row_major(pairs.buffer, dtype, shape)));
}

const ir::Operation& stored_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "stored",
        .doc = "The memory of a tensor: pairs of complex numbers, bits of 16-bit floats.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {storage_type(x[0].type())};
        },
        .lower = lower_stored,
        .check = [](const Tensors& operands,
                    const Attributes&) { ir::check_operand_count("stored", operands, 1); },
    });
    return operation;
}

const ir::Operation& joined_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "joined",
        .doc = "Pairs of real numbers in memory, as complex ones.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            Shape shape = x[0].shape();
            shape.pop_back();
            return {{shape, complex_of(x[0].dtype())}};
        },
        .lower = lower_joined,
        .check =
            [](const Tensors& operands, const Attributes&) {
                ir::check_operand_count("joined", operands, 1);
                const Shape& shape = operands[0].shape();
                user_check<TypeError>(!shape.empty() && shape.back() == 2 &&
                                          (operands[0].dtype() == DType::float32 ||
                                           operands[0].dtype() == DType::float64),
                                      "joined: x is ", operands[0].type(),
                                      ". Pairs of float32 or float64 are required.");
            },
    });
    return operation;
}

}  // namespace

TensorType storage_type(const TensorType& type) {
    if (ir::is_half(type.dtype)) return {type.shape, DType::uint16};
    if (!ir::is_complex(type.dtype)) return {type.shape, type.dtype};
    TensorType result{type.shape, ir::real_part_of(type.dtype)};
    result.shape.push_back(2);
    return result;
}

Tensor stored(const Tensor& x) { return ir::make(stored_operation(), {x}); }
Tensor joined(const Tensor& pairs) { return ir::make(joined_operation(), {pairs}); }

Components from_storage(const Tensor& memory, const TensorType& type) {
    if (ir::is_half(type.dtype)) return {half_of_bits(memory, type.dtype), {}};
    const int64_t last = memory.rank() - 1;
    const auto each = [&](int64_t which) {
        return reshape(part(memory, last, which, 1), type.shape);
    };
    return {each(0), each(1)};
}

Tensor to_storage(const Components& x, const TensorType& type) {
    if (ir::is_half(type.dtype)) return bits_of_half(x.re, type.dtype);
    if (!ir::is_complex(type.dtype)) return x.re;
    Shape column = type.shape;
    column.push_back(1);
    return concatenate({reshape(x.re, column), reshape(x.im, column)},
                       static_cast<int64_t>(type.shape.size()));
}

std::vector<Components> foreign_by_components(const Node& node,
                                              const std::vector<Components>& operands) {
    Tensors given;
    for (size_t i = 0; i < operands.size(); ++i) {
        const TensorType& type = node.operand(static_cast<int>(i)).type();
        const Tensor memory = to_storage(operands[i], type);
        given.push_back(ir::is_complex(type.dtype) ? joined(memory) : memory);
    }
    std::vector<Components> result;
    for (const Tensor& x : ir::outputs_of(
             ir::make_node(node.operation(), std::move(given), node.shared_attributes())))
        result.push_back(ir::is_complex(x.dtype()) ? from_storage(stored(x), x.type())
                                                   : Components{x, {}});
    return result;
}

}  // namespace composit::ops
