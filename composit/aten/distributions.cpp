#include "composit/aten/distributions.h"

#include "composit/aten/distribution_rows.h"
#include "composit/base/error.h"

#include <array>
#include <utility>

namespace composit::aten {
namespace {

const distributions::FormulaTable& distribution_table() {
    using namespace distributions;
    static const auto* const all =
        new FormulaTable(table_of(joined({real_rows(), positive_rows(), counted_rows(),
                                          bounded_rows(), vector_rows(), derived_rows()})));
    return *all;
}

}  // namespace

Formula distribution_formula(std::string_view family, std::string_view asked) {
    return distributions::formula_in(distribution_table(), family, asked);
}

std::vector<std::string> distribution_quantities(std::string_view family) {
    std::vector<std::string> names;
    const auto of = distribution_table().find(family);
    if (of == distribution_table().end()) return names;
    for (const auto& [name, formula] : of->second) names.push_back(name);
    return names;
}

Distribution::Distribution(std::string_view family,
                           std::map<std::string, formulas::Value> parameters)
    : family_(family), parameters_(parameters.begin(), parameters.end()) {
    user_check(distribution_table().contains(family), "Distribution: the family is '", family,
               "'. That of one of PyTorch's distributions, such as 'normal', is required.");
}

formulas::Value Distribution::operator()(std::string_view name) const {
    const auto given = parameters_.find(name);
    if (given != parameters_.end()) return given->second;
    const Formula formula = distribution_formula(family_, name);
    if (!formula && name == "stddev") return formulas::sqrt((*this)("variance"));
    user_check<NotSupported>(formula != nullptr, "Distribution: ", family_, " has no ", name, ".");
    return formula(*this, {});
}

Tensor Distribution::of(std::string_view asked, const Tensor& value) const {
    if (!value) return (*this)(asked).tensor();
    const Formula formula = distribution_formula(family_, asked);
    user_check<NotSupported>(formula != nullptr, "Distribution: ", family_, " has no ", asked, ".");
    const std::array<formulas::Value, 1> given{value};
    return formula(*this, given).tensor();
}

Tensor Distribution::log_prob(const Tensor& value) const { return of("log_prob", value); }
Tensor Distribution::cdf(const Tensor& value) const { return of("cdf", value); }
Tensor Distribution::icdf(const Tensor& probability) const { return of("icdf", probability); }
Tensor Distribution::entropy() const { return of("entropy"); }
Tensor Distribution::mean() const { return of("mean"); }
Tensor Distribution::mode() const { return of("mode"); }
Tensor Distribution::variance() const { return of("variance"); }
Tensor Distribution::stddev() const { return of("stddev"); }

Tensor kl_divergence(const Distribution& p, const Distribution& q) {
    const Divergence formula = divergence_formula(p.family(), q.family());
    user_check<NotSupported>(static_cast<bool>(formula), "kl_divergence: there is no formula for ",
                             p.family(), " and ", q.family(), ".");
    return formula(p, q).tensor();
}

}  // namespace composit::aten
