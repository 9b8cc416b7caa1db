// Bounds of positions, checked now or by a gather.
#include "composit/numpy/checked.h"

#include "composit/base/error.h"
#include "composit/numpy/elementwise.h"
#include "composit/ops/ops.h"

namespace composit::numpy {

Tensor checked_positions(const OutOfBounds& error, const Tensor& positions, int64_t length,
                         std::string_view mode) {
    const Tensor x = ops::astype(positions, DType::int64);
    if (mode == "wrap") return apply("remainder", {x, length});
    if (mode == "clip") return apply("minimum", {apply("maximum", {x, 0}), length - 1});
    user_check(mode == "raise", error.function, ": clipmode '", mode,
               "' not understood. Available: raise, wrap, clip.");
    if (!ir::is_constant(positions.node())) {
        // Gathering from the range 0, 1, … leaves positions as they are, and refuses others;
        // negative ones, which gather would count from the end, are made too large.
        const Tensor moved = apply("where", {apply("less", {x, 0}), length, x});
        return ops::gather(ops::iota({length}, 0), {moved}, {0});
    }
    const Array values = concrete(error.function, "the positions", x);
    for (int64_t i = 0; i < values.size(); ++i) {
        const int64_t value = values.data_as<int64_t>()[i];
        user_check(value >= 0 && value < length, error.function, ": ", error.what, ": ", value,
                   " is not between 0 and ", length - 1, ".");
    }
    return x;
}

bool is_violated(const Tensor& condition) {
    return !depends_on_placeholder(condition) && !*concrete("", "", condition).data_as<bool>();
}

}  // namespace composit::numpy
