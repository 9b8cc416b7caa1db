#include "composit/eager/leaf_cell.h"

#include "composit/eager/small.h"
#include "composit/execute/devices.h"
#include "composit/ir/body.h"
#include "composit/ir/constant_array.h"
#include "composit/nn/differentiation.h"

namespace composit::eager {
namespace {

Appearance own() {
    // What was written through a view of the leaf is made of the leaf's node, which the others are
    // not.
    Appearance made{own_node, [](const Tensor&, const Tensor& written) {
                        return ir::is_constant(written.node()) ? written
                                                               : nn::stop_gradient(written);
                    }};
    made.is_leaf = true;
    return made;
}

}  // namespace

Tensor own_node(const Tensor& tensor) {
    const ir::DeviceNumber device = tensor.node().device();
    if (ir::is_constant(tensor.node()))
        return execute::constant_on(ir::constant_array(tensor.node()).value(), device);
    const ir::ConstantArray kept = known(tensor);
    return kept ? constant_of_kept(kept.value(), device) : nn::stop_gradient(tensor);
}

Tensor constant_of_kept(const Array& value, ir::DeviceNumber device) {
    if (value.is_remote()) return execute::constant_on(value, device);
    // Views of the constant are made of it, not of its elements, which are not its own.
    const Array shared(value.dtype(), value.shape(), value.owner(), value.mutable_data(), true);
    return execute::constant_on(shared, device);
}

Ref<Cell> leaf_in(const Ref<Cell>& source) { return Cell::make_alias(own(), source); }

bool is_alone(const Cell& cell) {
    for (const Cell* at = &cell; at; at = at->origin())
        if (at->use_count() != 1) return false;
    return true;
}

void forget_origin(const Cell& leaf) {
    if (leaf.is_leaf() && !ir::is_constant(leaf.tensor().node()) && known(leaf.tensor()))
        leaf.show(own());
}

}  // namespace composit::eager
