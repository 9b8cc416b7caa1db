#include "composit/eager/writing.h"

#include "composit/base/error.h"
#include "composit/eager/leaf_cell.h"
#include "composit/execute/devices.h"
#include "composit/ir/body.h"
#include "composit/ir/dtype_traits.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

#include <string>
#include <utility>

namespace composit::eager {

namespace {

// Of kinds, each holds those before it.
int kind_of(ir::DType dtype) {
    if (dtype == ir::DType::boolean) return 0;
    if (ir::is_integer(dtype)) return 1;
    return ir::is_complex(dtype) ? 3 : 2;
}

std::string listed(const ir::Shape& shape) {
    std::string made = "[";
    for (size_t d = 0; d < shape.size(); ++d) made += (d ? ", " : "") + std::to_string(shape[d]);
    return made + "]";
}

}  // namespace

Tensor value_to_write(const Tensor& target, const Tensor& value) {
    Tensor made = execute::beside(numpy::strong(value), target);
    if (made.dtype() != target.dtype()) made = numpy::astype(made, target.dtype());
    if (made.shape() != target.shape()) made = ops::broadcast_to(made, target.shape());
    return made;
}

void write(const Write& write, const Tensor& given) {
    Tensor value = value_to_write(write.target->tensor(), given);
    const bool is_unseen = write.of_owner == Write::Owner::unseen;
    const bool is_leaf = write.of_owner == Write::Owner::leaf;
    const Tensor before = is_unseen ? write.owner->tensor() : Tensor();
    if (is_unseen && !write.has_gradient) value = nn::stop_gradient(value);
    if (write.alias)
        write_with_gradient(*write.alias, *write.target, value);
    else
        write.target->replace(is_leaf && ir::is_constant(value.node()) ? own_node(value)
                                                                       : std::move(value));
    const Tensor& held = write.owner->tensor();
    if (is_leaf && !ir::is_constant(held.node())) write.owner->replace(nn::stop_gradient(held));
    if (is_unseen) write.owner->replace(ops::with_values(before, held));
}

void write_with_gradient(const Cell& name, const Cell& target, const Tensor& value) {
    const Tensor whole = name.written_through(
        target, value, [](const Tensor& made) { return nn::stop_gradient(made); });
    name.show(shown_by(
        [whole](const Tensor& seen) { return ops::with_values(whole, nn::stop_gradient(seen)); }));
}

void hold_back(const Cell& cell) {
    if (cell.is_plain()) return cell.replace(nn::stop_gradient(cell.tensor()));
    cell.show(shown_by([](const Tensor& x) { return nn::stop_gradient(x); }));
}

Tensor without_gradient(const Tensor& value) {
    return ir::is_constant(value.node()) ? own_node(value) : nn::stop_gradient(value);
}

bool is_same_place(const Cell& a, const Cell& b) {
    if (a.memory() != b.memory() || a.type().shape != b.type().shape) return false;
    const Region &one = a.region(), &other = b.region();
    return one.offset == other.offset && one.strides == other.strides;
}

void check_result_in_place(const ir::TensorType& target, const ir::TensorType& result) {
    user_check<RuntimeError>(kind_of(result.dtype) <= kind_of(target.dtype), "result type ",
                             ir::scalar_type_name(result.dtype),
                             " can't be cast to the desired output type ",
                             ir::scalar_type_name(target.dtype));
    user_check<RuntimeError>(target.shape == result.shape, "output with shape ",
                             listed(target.shape), " doesn't match the broadcast shape ",
                             listed(result.shape));
}

}  // namespace composit::eager
