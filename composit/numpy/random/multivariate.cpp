// Counts of several kinds that are drawn together.
#include "composit/base/error.h"
#include "composit/numpy/random/npyrandom.h"
#include "composit/numpy/random/stream.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy::random {
namespace {

Shape with_last(Shape shape, int64_t length) {
    shape.push_back(length);
    return shape;
}

// Where the i-th element of `shape` lies among the rows of `own`, which is broadcast to it.
int64_t row_of(int64_t i, const Shape& shape, const Shape& own) {
    int64_t place = 0, step = 1;
    for (size_t axis = 1; axis <= own.size(); ++axis) {
        const int64_t length = own[own.size() - axis], whole = shape[shape.size() - axis];
        if (length > 1) place += i % whole * step;
        i /= whole;
        step *= length;
    }
    return place;
}

}  // namespace

Array Stream::multinomial(const Tensor& n, const Tensor& p, const Size& size) {
    const Array counts = known("multinomial", "n", n, DType::int64);
    const Array weights = known("multinomial", "pvals", p, DType::float64);
    const int64_t kinds = weights.shape().empty() ? 0 : weights.shape().back();
    user_check(kinds > 0, "multinomial: pvals must have at least 1 dimension and the last ",
               "dimension of pvals must be greater than 0, not shape ", weights.shape(), ".");
    std::vector<double> rows(weights.data_as<double>(), weights.data_as<double>() + weights.size());
    for (const double weight : rows)
        user_check(weight >= 0 && weight <= 1, "multinomial: pvals < 0, > 1 or NaN: ", weight, ".");
    for (size_t row = 0; row < rows.size(); row += static_cast<size_t>(kinds)) {
        const double sum = compensated_sum(rows.data() + row, kinds - 1);
        user_check(sum <= 1.0 + 1e-12, "multinomial: sum(pvals[:-1]) > 1.0: ", sum,
                   ". They are summed as float64.");
    }
    const auto* first = counts.data_as<int64_t>();
    for (int64_t i = 0; i < counts.size(); ++i)
        user_check(first[i] >= 0, "multinomial: n < 0: ", first[i], ".");
    if (size) check_size("multinomial", *size);

    Shape own(weights.shape().begin(), weights.shape().end() - 1);
    const Shape inputs = ops::broadcast_shapes("multinomial", {counts.shape(), own});
    Shape shape = size ? *size : inputs;
    if (size && !inputs.empty())
        user_check(ops::broadcast_shapes("multinomial", {inputs, *size}) == *size,
                   "multinomial: Output size ", *size,
                   " is not compatible with broadcast dimensions of inputs ", inputs, ".");
    const int64_t draws = ir::element_count(shape);
    Array result = Array::zeros(DType::int64, with_last(shape, kinds));
    auto* out = static_cast<int64_t*>(result.mutable_data());
    BinomialSetup setup;
    const Locked locked(*bits_);
    for (int64_t i = 0; i < draws; ++i)
        random_multinomial(&source_, first[row_of(i, shape, counts.shape())], out + i * kinds,
                           rows.data() + row_of(i, shape, own) * kinds, kinds, &setup);
    return result;
}

Array Stream::multivariate_hypergeometric(const Tensor& colors, int64_t samples, const Size& size,
                                          std::string_view method) {
    const char* name = "multivariate_hypergeometric";
    const bool is_counted = method == "count";
    user_check(is_counted || method == "marginals", name, ": method is '", method,
               R"('. method must be "count" or "marginals".)");
    user_check(samples >= 0, name, ": nsample must be nonnegative, not ", samples, ".");
    const bool are_integers = ir::is_integer(colors.dtype()) || colors.size() == 0;
    user_check(colors.rank() == 1 && are_integers, name, ": colors must be a one-dimensional ",
               "sequence of nonnegative integers, not of shape ", colors.shape(), " and dtype ",
               colors.dtype(), ".");
    const int64_t kinds = colors.size();
    const Array values =
        kinds == 0 ? Array(DType::int64, {0})
                   : known(name, "colors", ops::astype(colors, DType::int64), DType::int64);
    std::vector<int64_t> urn(values.data_as<int64_t>(), values.data_as<int64_t>() + kinds);
    int64_t total = 0;
    for (const int64_t count : urn) {
        user_check(count >= 0, name, ": colors must be a one-dimensional sequence of nonnegative ",
                   "integers: ", count, " is among them.");
        user_check(!__builtin_add_overflow(total, count, &total), name,
                   ": sum(colors) must not exceed the maximum value of a 64 bit signed integer.");
    }
    user_check(is_counted || total < 1000000000, name, ": When method is \"marginals\", ",
               "sum(colors) must be less than 1000000000, not ", total, ".");
    user_check(!is_counted || total <= INT64_MAX / 8, name, ": When method is 'count', ",
               "sum(colors) must not exceed ", INT64_MAX / 8, ": ", total, ".");
    user_check(samples <= total, name, ": nsample > sum(colors): ", samples, " and ", total, ".");
    if (size) check_size(name, *size);
    Array result = Array::zeros(DType::int64, with_last(size.value_or(Shape{}), kinds));
    if (kinds == 0) return result;
    const auto draws = static_cast<size_t>(result.size() / kinds);
    auto* out = static_cast<int64_t*>(result.mutable_data());
    const auto count = static_cast<size_t>(kinds);
    const Locked locked(*bits_);
    if (is_counted)
        user_check<OutOfMemory>(
            random_multivariate_hypergeometric_count(&source_, total, count, urn.data(), samples,
                                                     draws, out) == 0,
            name, ": insufficient memory for method 'count' and sum(colors) = ", total, ".");
    else
        random_multivariate_hypergeometric_marginals(&source_, total, count, urn.data(), samples,
                                                     draws, out);
    return result;
}

}  // namespace composit::numpy::random
