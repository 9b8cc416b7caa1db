// x[mask] and x[mask] = value of known arrays: computed by going through the mask, without nodes.
// What they make depends on the mask's values, so that no function is compiled for them.
//
//     std::optional<SmallArray> found = chosen({x, ...}, {mask, ...});
//     found->now->tensor();     // the gather that numpy::get_item would have made
#pragma once

#include "composit/eager/loops.h"
#include "composit/eager/small_arrays.h"

#include <optional>

namespace composit::eager {

// An array of values in host memory, in row-major order.
struct KnownArray {
    Ref<Deferred> now;
    ir::TensorType type;
    const void* memory = nullptr;
};

// Nothing where the mask is not of the first axes of x, chooses nothing, or such values take much
// memory already.
std::optional<SmallArray> chosen(const KnownArray& x, const KnownArray& mask);

// What x holds after x[mask] = value, one of Python's numbers. Nothing also where it may not fit.
std::optional<SmallArray> with_chosen(const KnownArray& x, const KnownArray& mask,
                                      const Scalar& value);

}  // namespace composit::eager
