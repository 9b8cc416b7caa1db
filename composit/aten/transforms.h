// PyTorch's transforms of distributions: functions with inverses, and the logarithms of their
// Jacobians' determinants.
//
// A transform is a name and parameters. What transforms tell are rows of one table, as
// distributions' are (distributions.h).
//
//   const Transform affine("affine", {{"loc", 1.0}, {"scale", scale}});
//   const Tensor y = affine(x);
//   affine.log_abs_det_jacobian(x, y);
#pragma once

#include "composit/aten/distributions.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

// The formula of a transform ("exp", "power", "sigmoid", "softplus", "tanh", "abs", "affine",
// "softmax", "stick_breaking", "corr_cholesky", "lower_cholesky", "positive_definite") for what is
// asked: "forward" of x, "inverse" of y, "log_abs_det_jacobian" of x and y. Null where there is
// none. "affine" takes "loc", "scale" and "event_dim", how many dimensions are transformed together
// (0); "power" takes "exponent".
[[nodiscard]] Formula transform_formula(std::string_view transform, std::string_view asked);

class Transform : public Parameters {
  public:
    // ValueError for a transform that is not known.
    explicit Transform(std::string_view name,
                       std::map<std::string, formulas::Value> parameters = {});

    [[nodiscard]] Tensor operator()(const Tensor& x) const;
    [[nodiscard]] Tensor inverse(const Tensor& y) const;
    // NotImplementedError for transforms that are no bijections.
    [[nodiscard]] Tensor log_abs_det_jacobian(const Tensor& x, const Tensor& y) const;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] formulas::Value operator()(std::string_view parameter) const override;

  private:
    std::string name_;
    std::map<std::string, formulas::Value, std::less<>> parameters_;
};

// Of transforms of single elements, one after the other, over a distribution's draws: the logarithm
// of their density at a value.
[[nodiscard]] Tensor transformed_log_prob(const Distribution& base,
                                          const std::vector<Transform>& transforms,
                                          const Tensor& value);

}  // namespace composit::aten
