// Checks of vmap's axes.
#include "composit/functional/mapped_axes.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"

#include <algorithm>
#include <string>

namespace composit::functional {
namespace {

std::string as_tuple(const ir::Shape& shape) {
    return text('(', join(shape), shape.size() == 1 ? ",)" : ")");
}

bool is_in_range(int64_t axis, int64_t rank) { return -rank <= axis && axis < rank; }

}  // namespace

void check_mapped_lengths(int64_t axis_size, const Tensors& arguments, const InAxes& in_axes) {
    for (size_t i = 0; i < std::min(arguments.size(), in_axes.size()); ++i) {
        const ir::Shape& shape = arguments[i].shape();
        const auto rank = static_cast<int64_t>(shape.size());
        if (!in_axes[i] || !is_in_range(*in_axes[i], rank)) continue;
        const int64_t axis = *in_axes[i] + (*in_axes[i] < 0 ? rank : 0);
        user_check(shape[static_cast<size_t>(axis)] == axis_size, "vmap: axis_size is ", axis_size,
                   ", an argument of shape ", as_tuple(shape), " is mapped over axis ", *in_axes[i],
                   ". They must have the same length.");
    }
}

void check_out_axes(const Tensors& results, const InAxes& out_axes) {
    for (size_t i = 0; i < std::min(results.size(), out_axes.size()); ++i) {
        const int64_t rank = results[i].rank() + 1;
        user_check<AxisError>(!out_axes[i] || is_in_range(*out_axes[i], rank), "vmap: out_axes ",
                              out_axes[i].value_or(0), " is out of bounds for a result of ", rank,
                              " dimensions. Axes are ", -rank, " to ", rank - 1, ".");
    }
}

void check_same_for_all(const Tensors& results, const InAxes& out_axes, const Tensors& mapped) {
    Tensors others;
    for (const Tensor& x : mapped) others.push_back(ir::input("other", x.dtype(), x.shape()));
    for (size_t i = 0; i < std::min(results.size(), out_axes.size()); ++i) {
        if (out_axes[i]) continue;
        const Tensor changed = ir::substitute({results[i]}, mapped, others).at(0);
        user_check(&changed.node() == &results[i].node(),
                   "vmap: out_axes is None for a result of shape ", as_tuple(results[i].shape()),
                   " that depends on a mapped argument. An axis is required.");
    }
}

}  // namespace composit::functional
