// Memory read as complex numbers, or as what they are made of: views, no copies.
#include "composit/ops/storage.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/part.h"
#include "composit/ops/rules.h"

namespace composit::ops {

namespace {

// A leaf is bound as it lies in memory.
void lower_stored(const Node&, Lowering& lowering) { lowering.result(0, lowering.operand(0)); }

const ir::Operation& stored_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "stored",
        .doc = "The memory of a tensor: pairs of complex numbers, bits of short floats.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {storage_type(x[0].type())};
        },
        .lower = lower_stored,
        .check = [](const Tensors& operands,
                    const Attributes&) { ir::check_operand_count("stored", operands, 1); },
    });
    return operation;
}

}  // namespace

TensorType storage_type(const TensorType& type) {
    if (ir::is_short_float(type.dtype))
        return {type.shape, ir::unsigned_of_size(ir::size_of(type.dtype))};
    if (!ir::is_complex(type.dtype)) return {type.shape, type.dtype};
    TensorType result{type.shape, ir::real_part_of(type.dtype)};
    result.shape.push_back(2);
    return result;
}

Tensor stored(const Tensor& x) { return ir::make(stored_operation(), {x}); }

Components from_storage(const Tensor& memory, const TensorType& type) {
    if (ir::is_short_float(type.dtype)) return {short_of_bits(memory, type.dtype), {}};
    const int64_t last = memory.rank() - 1;
    const auto each = [&](int64_t which) {
        return reshape(part(memory, last, which, 1), type.shape);
    };
    return {each(0), each(1)};
}

Tensor to_storage(const Components& x, const TensorType& type) {
    if (ir::is_short_float(type.dtype)) return bits_of_short(x.re, type.dtype);
    if (!ir::is_complex(type.dtype)) return x.re;
    Shape column = type.shape;
    column.push_back(1);
    return concatenate({reshape(x.re, column), reshape(x.im, column)},
                       static_cast<int64_t>(type.shape.size()));
}

}  // namespace composit::ops
