#include "composit/aten/loss_scaling.h"

#include "composit/aten/number.h"
#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

namespace composit::aten {

LossScale::LossScale(const LossScaleOptions& given) : options(given), value_(given.initial) {
    user_check<AssertionError>(given.growth_factor > 1, "The growth factor must be > 1.0.");
    user_check<AssertionError>(given.backoff_factor < 1, "The backoff factor must be < 1.0.");
}

void LossScale::set(double value, int64_t updates_since_change) {
    value_ = value;
    updates_ = updates_since_change;
}

bool LossScale::unscale(std::vector<Tensor>& gradients) {
    for (Tensor& gradient : gradients) gradient = gradient * (1 / value_);
    const bool are_finite = Number(all_finite(gradients)).value() != 0;
    note(are_finite);
    return are_finite;
}

void LossScale::note(bool are_finite) { are_finite_ = are_finite_.value_or(true) && are_finite; }

void LossScale::update() {
    user_check<AssertionError>(are_finite_.has_value(),
                               "No inf checks were recorded prior to update.");
    if (!*are_finite_) {
        set(value_ * options.backoff_factor, 0);
    } else if (++updates_ == options.growth_interval) {
        set(value_ * options.growth_factor, 0);
    }
    are_finite_.reset();
}

Tensor all_finite(const std::vector<Tensor>& tensors) {
    Tensor found = numpy::scalar(ir::DType::boolean, 1);
    for (const Tensor& tensor : tensors)
        found =
            numpy::apply("logical_and", {found, numpy::all(numpy::apply("isfinite", {tensor}))});
    return found;
}

}  // namespace composit::aten
