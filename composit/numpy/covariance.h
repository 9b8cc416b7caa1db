// Covariances and correlations of variables.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::numpy {

// How observations are counted; NumPy's arguments of these names.
struct Covariance {
    bool rowvar = true;  // variables are rows, and not columns
    bool bias = false;   // over the count, and not one less, unless ddof is given
    std::optional<int64_t> ddof = {};
    Tensor fweights = {};  // how often each observation was made
    Tensor aweights = {};  // how much each counts
    std::optional<DType> dtype = {};
};

// numpy.cov: the covariance of every pair of variables, those of x and then of y (0 to 2
// dimensions); 0-d for one variable. float64, or the result_type with it. Without degrees of
// freedom, infinities and NaN. One node. ValueError: more than two dimensions; negative weights.
// TypeError: fweights that are not whole. Weights that depend on a placeholder are not checked.
[[nodiscard]] Tensor cov(const Tensor& x, const Tensor& y = {}, const Covariance& how = {});

// Whether the weights and ddof leave no degree of freedom; false where that cannot be known now.
[[nodiscard]] bool lacks_freedom(const Tensor& x, const Covariance& how);

// numpy.corrcoef: the covariances over the products of the standard deviations, from -1 to 1; NaN
// for a variable that does not vary.
[[nodiscard]] Tensor corrcoef(const Tensor& x, const Tensor& y = {}, bool rowvar = true,
                              std::optional<DType> dtype = {});

}  // namespace composit::numpy
