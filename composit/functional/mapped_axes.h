// What vmap asks of axes: that arguments have one length along theirs, that results' axes exist,
// and that results without an axis are the same for all.
#pragma once

#include "composit/functional/functional.h"

#include <cstdint>

namespace composit::functional {

// ValueError where an argument has another length than `axis_size` along its axis. Axes that are
// out of range are left to vmap_function.
void check_mapped_lengths(int64_t axis_size, const Tensors& arguments, const InAxes& in_axes);

// AxisError where a result, with one dimension more, does not have its axis.
void check_out_axes(const Tensors& results, const InAxes& out_axes);

// ValueError where a result without an axis depends on one of the arguments that are mapped.
void check_same_for_all(const Tensors& results, const InAxes& out_axes, const Tensors& mapped);

}  // namespace composit::functional
