// ndarrays that a caller gives up: their memory for results, and what is left of them.
#pragma once

#include "arrays.h"
#include "composit/execute/execute.h"

#include <vector>

namespace composit::python {

// The arguments of one call, of which `compiled` takes some. Whatever the call does, those are
// given up from here on: a thread that gives one of them meanwhile, too, finds it given up.
class Donation {
  public:
    // `arguments` are what the user gave for compiled.inputs(), and live longer. ValueError where
    // another thread has taken one since they were looked at.
    Donation(const execute::Compiled& compiled, const std::vector<nb::object>& arguments);
    Donation(const Donation&) = delete;
    Donation& operator=(const Donation&) = delete;

    // For Compiled::run: memory of arguments that are exactly what plain_array takes and belong to
    // themselves, not to another array, a file or another library. Empty where there are none.
    const std::vector<ir::Array>& given() const { return given_; }
    // The result as an ndarray: over its argument's memory, where it lies there.
    nb::object result_from(ir::Array value) const;

  private:
    const std::vector<size_t>& donated_;
    const std::vector<nb::object>& arguments_;
    std::vector<ir::Array> given_;
    std::vector<nb::object> dtypes_;  // that the donated arguments had; null for what is no ndarray
};

}  // namespace composit::python
