#include "composit/aten/transforms.h"

#include "composit/aten/distribution_rows.h"
#include "composit/base/error.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace composit::aten {
namespace {

using namespace formulas;
using distributions::log_2;
using distributions::P;
using distributions::Row;
using distributions::X;

constexpr const char* forward = "forward";
constexpr const char* inverse = "inverse";
constexpr const char* jacobian = "log_abs_det_jacobian";

double tiny_of(const Value& x) { return least_normal(x.dtype()); }
double eps_of(const Value& x) { return epsilon_of(x.dtype()); }

// Of `event_dim` dimensions that are transformed together, their sum.
Value affine_jacobian(P p, const Value& x) {
    const Value scale = p("scale");
    const auto size = [&] {
        return std::abs(scale.real() ? *scale.real() : static_cast<double>(*scale.integer()));
    };
    const Value found = scale.is_number() ? full_like(x, std::log(size())) : log(abs(scale));
    const int64_t together = *p("event_dim").integer();
    ir::Shape shape = x.shape();
    shape.resize(shape.size() - static_cast<size_t>(together));
    return expand(sum_rightmost(found, together), shape);
}

std::vector<Row> elementwise_rows() {
    return {
        {"exp", forward, [](P, X x) { return exp(x[0]); }},
        {"exp", inverse, [](P, X y) { return log(y[0]); }},
        {"exp", jacobian, [](P, X x) { return x[0]; }},
        {"power", forward, [](P p, X x) { return pow(x[0], p("exponent")); }},
        {"power", inverse, [](P p, X y) { return pow(y[0], 1 / p("exponent")); }},
        {"power", jacobian, [](P p, X x) { return log(abs(p("exponent") * x[1] / x[0])); }},
        {"sigmoid", forward,
         [](P, X x) { return clamp(sigmoid(x[0]), tiny_of(x[0]), 1.0 - eps_of(x[0])); }},
        {"sigmoid", inverse,
         [](P, X given) {
             const Value y = clamp(given[0], tiny_of(given[0]), 1.0 - eps_of(given[0]));
             return log(y) - log1p(-y);
         }},
        {"sigmoid", jacobian, [](P, X x) { return -softplus(-x[0]) - softplus(x[0]); }},
        {"softplus", forward, [](P, X x) { return softplus(x[0]); }},
        {"softplus", inverse, [](P, X y) { return log(-expm1(-y[0])) + y[0]; }},
        {"softplus", jacobian, [](P, X x) { return -softplus(-x[0]); }},
        {"tanh", forward, [](P, X x) { return tanh(x[0]); }},
        {"tanh", inverse, [](P, X y) { return atanh(y[0]); }},
        {"tanh", jacobian, [](P, X x) { return 2.0 * (log_2 - x[0] - softplus(-2.0 * x[0])); }},
        {"abs", forward, [](P, X x) { return abs(x[0]); }},
        {"abs", inverse, [](P, X y) { return y[0]; }},
        {"affine", forward, [](P p, X x) { return p("loc") + p("scale") * x[0]; }},
        {"affine", inverse, [](P p, X y) { return (y[0] - p("loc")) / p("scale"); }},
        {"affine", jacobian, [](P p, X x) { return affine_jacobian(p, x[0]); }},
    };
}

// n, n - 1, … of as many numbers as the last dimension has.
Value counted_down(const Value& like, int64_t from) { return from - cumsum(ones_like(like), -1); }

// All but the last element, behind a one.
Value shifted(const Value& x) { return padded(narrow(x, -1, 0, x.size(-1) - 1), {1, 0}, 1); }

Value stick_forward(P, X given) {
    const Value& x = given[0];
    const Value z = sigmoid(x - log(counted_down(x, x.size(-1) + 1)));
    return padded(z, {0, 1}, 1) * padded(cumprod(1 - z, -1), {1, 0}, 1);
}

Value without_last(const Value& x) { return narrow(x, -1, 0, x.size(-1) - 1); }

Value stick_inverse(P, X y) {
    const Value cropped = without_last(y[0]), offset = counted_down(cropped, y[0].size(-1));
    const Value left = clamp_min(1 - cumsum(cropped, -1), tiny_of(y[0]));
    return log(cropped) - log(left) + log(offset);
}

Value stick_jacobian(P, X x) {
    const Value moved = x[0] - log(counted_down(x[0], x[0].size(-1) + 1));
    return sum(-moved + logsigmoid(moved) + log(without_last(x[1])), -1);
}

std::vector<Row> simplex_rows() {
    return {
        {"softmax", forward,
         [](P, X x) {
             const Value probs = exp(x[0] - apply("largest", {x[0], -1}));
             return probs / sum(probs, -1, true);
         }},
        {"softmax", inverse, [](P, X y) { return log(y[0]); }},
        {"stick_breaking", forward, stick_forward},
        {"stick_breaking", inverse, stick_inverse},
        {"stick_breaking", jacobian, stick_jacobian},
    };
}

Value correlation_forward(P, X given) {
    const Value x = tanh(given[0]);
    const double eps = eps_of(x);
    const Value r = lower_of_vector(clamp(x, -1 + eps, 1 - eps), -1);
    // What is left of each row's length 1 after its earlier elements.
    const Value left = cumprod(sqrt(1 - r * r), -1);
    return (r + eye_like(r, r.size(-1))) * shifted(left);
}

Value correlation_inverse(P, X y) {
    const Value left = 1 - cumsum(y[0] * y[0], -1);
    const Value t = vector_of_lower(y[0], -1) / sqrt(vector_of_lower(shifted(left), -1));
    return (log1p(t) - log1p(-t)) / 2;
}

Value correlation_jacobian(P, X x) {
    const Value left = 1 - cumsum(x[1] * x[1], -1);
    const Value of_rows = 0.5 * sum(log(vector_of_lower(left, -2)), -1);
    return of_rows + -2 * sum(x[0] + softplus(-2 * x[0]) - log_2, -1);
}

// Below the diagonal as it is.
Value with_diagonal(const Value& x, const Value& diagonal) {
    return apply("tril", {x, -1}) + diag_embed(diagonal);
}

Value lower_forward(P, X x) { return with_diagonal(x[0], exp(diagonal(x[0]))); }
Value lower_logarithm(const Value& y) { return with_diagonal(y, log(diagonal(y))); }
Value lower_inverse(P, X y) { return lower_logarithm(y[0]); }

std::vector<Row> matrix_rows() {
    return {
        {"corr_cholesky", forward, correlation_forward},
        {"corr_cholesky", inverse, correlation_inverse},
        {"corr_cholesky", jacobian, correlation_jacobian},
        {"lower_cholesky", forward, lower_forward},
        {"lower_cholesky", inverse, lower_inverse},
        {"positive_definite", forward,
         [](P p, X x) {
             const Value factor = lower_forward(p, x);
             return matmul(factor, transpose(factor, -2, -1));
         }},
        {"positive_definite", inverse, [](P, X y) { return lower_logarithm(cholesky(y[0])); }},
    };
}

const distributions::FormulaTable& transform_table() {
    using namespace distributions;
    static const auto* const all =
        new FormulaTable(table_of(joined({elementwise_rows(), simplex_rows(), matrix_rows()})));
    return *all;
}

}  // namespace

Formula transform_formula(std::string_view transform, std::string_view asked) {
    return distributions::formula_in(transform_table(), transform, asked);
}

Transform::Transform(std::string_view name, std::map<std::string, Value> parameters)
    : name_(name), parameters_(parameters.begin(), parameters.end()) {
    user_check(transform_table().contains(name), "Transform: the name is '", name,
               "'. That of one of PyTorch's transforms, such as 'affine', is required.");
    parameters_.emplace("event_dim", 0);
}

Value Transform::operator()(std::string_view parameter) const {
    const auto given = parameters_.find(parameter);
    user_check(given != parameters_.end(), "Transform: ", name_, " needs '", parameter,
               "', which is not given.");
    return given->second;
}

Tensor Transform::operator()(const Tensor& x) const {
    const std::array<Value, 1> given{x};
    return transform_formula(name_, forward)(*this, given).tensor();
}

Tensor Transform::inverse(const Tensor& y) const {
    const std::array<Value, 1> given{y};
    return transform_formula(name_, "inverse")(*this, given).tensor();
}

Tensor Transform::log_abs_det_jacobian(const Tensor& x, const Tensor& y) const {
    const Formula formula = transform_formula(name_, jacobian);
    user_check<NotSupported>(formula != nullptr, "Transform: ", name_,
                             " has no log_abs_det_jacobian.");
    const std::array<Value, 2> given{x, y};
    return formula(*this, given).tensor();
}

Tensor transformed_log_prob(const Distribution& base, const std::vector<Transform>& transforms,
                            const Tensor& value) {
    Value total = 0.0;
    Tensor y = value;
    for (auto transform = transforms.rbegin(); transform != transforms.rend(); ++transform) {
        const Tensor x = transform->inverse(y);
        total = total - Value(transform->log_abs_det_jacobian(x, y));
        y = x;
    }
    return (total + Value(base.log_prob(y))).tensor();
}

}  // namespace composit::aten
