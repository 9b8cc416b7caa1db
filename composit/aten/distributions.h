// PyTorch's distributions: densities, moments, distribution functions, divergences.
//
// A distribution is a family and parameters under PyTorch's names. All that families tell are rows
// of one table, by the family and what is asked: a row is a formula over values (formulas.h).
//
//   const Distribution normal("normal", {{"loc", loc}, {"scale", scale}});
//   normal.log_prob(x);
//   kl_divergence(normal, Distribution("laplace", {{"loc", 0.0}, {"scale", 1.0}}));
//
// Parameters and values broadcast. Nothing is checked: a density outside of the support is that of
// the formula.
#pragma once

#include "composit/aten/formulas.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

// Whom a formula asks for parameters, and for what follows from them: "scale", "mean".
class Parameters {
  public:
    virtual ~Parameters() = default;
    [[nodiscard]] virtual formulas::Value operator()(std::string_view name) const = 0;
};

// Of a distribution's parameters, and of what is given beside them: a value, or nothing.
using Formula = formulas::Value (*)(const Parameters& of, std::span<const formulas::Value> given);

// The formula of a family for what is asked ("log_prob", "cdf", "icdf", "entropy", "mean", "mode",
// "variance", "stddev", or a parameter that follows from others); null where PyTorch has none.
// Families have the names of PyTorch's classes with underscores: "student_t".
[[nodiscard]] Formula distribution_formula(std::string_view family, std::string_view asked);
// What a family has formulas for.
[[nodiscard]] std::vector<std::string> distribution_quantities(std::string_view family);

// The mean under p of log p - log q, of p's and q's families. It is a ValueError, PyTorch's words,
// of vectors of different lengths; of two binomial distributions p's count must not be less than
// q's.
using Divergence = std::function<formulas::Value(const Parameters& p, const Parameters& q)>;
// Empty where there is no formula for the families.
[[nodiscard]] Divergence divergence_formula(std::string_view p, std::string_view q);
// All pairs of families that have one.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> divergence_pairs();

// How a distribution of vectors or matrices is given, checked. ValueError, PyTorch's words.
//
// The matrix that is there of a covariance, a precision and a Cholesky factor, 0 to 2, and the
// batch shape. Of normal vectors `other` is the mean's shape, of Wishart's matrices that of df.
struct MatrixForm {
    size_t number;
    ir::Shape batch;
};
using MatrixShapes = std::vector<std::optional<ir::Shape>>;
[[nodiscard]] MatrixForm normal_form(const ir::Shape& other, const MatrixShapes& matrices);
[[nodiscard]] MatrixForm wishart_form(const ir::Shape& other, const MatrixShapes& matrices);
// The batch shape of a normal distribution of low rank.
[[nodiscard]] ir::Shape low_rank_batch(const ir::Shape& loc, const ir::Shape& cov_factor,
                                       const ir::Shape& cov_diag);

// ValueError, PyTorch's words, unless a value's shape ends with that of an event and broadcasts
// with the batch.
void check_sample_shape(const ir::Shape& value, const ir::Shape& batch, const ir::Shape& event);

// How many dimensions an event of the domain has, and one of the codomain, of transforms one after
// the other, from those of each.
using EventDims = std::pair<int64_t, int64_t>;
[[nodiscard]] EventDims composed_event_dims(const std::vector<EventDims>& parts);
// A shape whose last dimensions are `from`, with `to` in their place. ValueError: it ends
// otherwise.
[[nodiscard]] ir::Shape reshaped_event(const ir::Shape& shape, const ir::Shape& from,
                                       const ir::Shape& to);
// (…, n) elements below the diagonal as the shape of the matrices (…, m, m) with so many of them,
// and back. ValueError for a number that no matrix has, and for matrices that are not square.
[[nodiscard]] ir::Shape matrices_of_below(const ir::Shape& shape);
[[nodiscard]] ir::Shape below_of_matrices(const ir::Shape& shape);

// ValueError, PyTorch's words, unless a mixture of so many kinds, with this batch shape, fits
// components of that batch shape, whose last dimension counts them.
void check_mixture(const ir::Shape& kinds, int64_t count, const ir::Shape& components);

// How a distribution of a base's transformed draws is shaped: the base's batch and its event are
// `base`, of which the last `base_event` dimensions are the event's; the transforms take events of
// `domain` dimensions, give those of `codomain`, and make `forward` of the base's shape, and `back`
// of that. ValueError, PyTorch's words, for a base of fewer dimensions than the domain's.
struct TransformedForm {
    ir::Shape batch, event;
    std::optional<ir::Shape> base_batch;  // to which the base has to be expanded
    int64_t independent;                  // how many of its dimensions become part of the event
};
[[nodiscard]] TransformedForm transformed_form(const ir::Shape& base, int64_t base_event,
                                               int64_t domain, int64_t codomain,
                                               const ir::Shape& forward, const ir::Shape& back);
// ValueError for a base of fewer dimensions than an event of the transforms' domain.
void check_transformed(const ir::Shape& base, int64_t domain);
// ValueError unless so many last batch dimensions can become part of the event.
void check_reinterpreted(int64_t count, int64_t batch_dims);

class Distribution : public Parameters {
  public:
    // ValueError for a family that is not known.
    Distribution(std::string_view family, std::map<std::string, formulas::Value> parameters);

    // The logarithm of the density, or of the probability, at a value.
    [[nodiscard]] Tensor log_prob(const Tensor& value) const;
    // The probability of what is at most the value, and the value of a probability.
    [[nodiscard]] Tensor cdf(const Tensor& value) const;
    [[nodiscard]] Tensor icdf(const Tensor& probability) const;
    [[nodiscard]] Tensor entropy() const;  // in nats
    [[nodiscard]] Tensor mean() const;
    [[nodiscard]] Tensor mode() const;
    [[nodiscard]] Tensor variance() const;
    [[nodiscard]] Tensor stddev() const;

    [[nodiscard]] const std::string& family() const { return family_; }
    // A parameter that was given, or what follows from those. NotImplementedError: the family has
    // no formula for it.
    [[nodiscard]] formulas::Value operator()(std::string_view name) const override;

  private:
    [[nodiscard]] Tensor of(std::string_view asked, const Tensor& value = {}) const;
    std::string family_;
    std::map<std::string, formulas::Value, std::less<>> parameters_;
};

// The mean under p of log p - log q. NotImplementedError: there is no formula for the pair.
[[nodiscard]] Tensor kl_divergence(const Distribution& p, const Distribution& q);

}  // namespace composit::aten
