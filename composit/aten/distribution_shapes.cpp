// Checks of the shapes that distributions are made of and asked for.
#include "composit/aten/distributions.h"
#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace composit::aten {
namespace {

constexpr std::string_view forms[] = {"covariance_matrix", "precision_matrix", "scale_tril"};
constexpr std::string_view with_batches =
    "must be at least two-dimensional, with optional leading batch dimensions";

size_t only_form(const MatrixShapes& matrices) {
    size_t number = 0, count = 0;
    for (size_t i = 0; i < matrices.size(); ++i)
        if (matrices[i]) number = i, ++count;
    user_check(count == 1,
               "Exactly one of covariance_matrix or precision_matrix or scale_tril may "
               "be specified.");
    return number;
}

ir::Shape without(const ir::Shape& shape, size_t count) {
    return {shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(count)};
}

// As Python's torch.Size and tuples are shown.
std::string comma_separated(const ir::Shape& shape) {
    std::string text;
    for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return text;
}
std::string size_of(const ir::Shape& shape) {
    return "torch.Size([" + comma_separated(shape) + "])";
}

}  // namespace

void check_sample_shape(const ir::Shape& value, const ir::Shape& batch, const ir::Shape& event) {
    const size_t count = std::min(value.size(), event.size());
    const ir::Shape last(value.end() - static_cast<std::ptrdiff_t>(count), value.end());
    user_check(last == event,
               "The right-most size of value must match event_shape: ", size_of(value), " vs ",
               size_of(event), ".");
    ir::Shape expected = batch;
    expected.insert(expected.end(), event.begin(), event.end());
    for (size_t i = 1; i <= std::min(value.size(), expected.size()); ++i) {
        const int64_t a = value[value.size() - i], b = expected[expected.size() - i];
        user_check(a == 1 || b == 1 || a == b,
                   "Value is not broadcastable with batch_shape+event_shape: ", size_of(value),
                   " vs ", size_of(expected), ".");
    }
}

MatrixForm normal_form(const ir::Shape& loc, const MatrixShapes& matrices) {
    user_check(!loc.empty(), "loc must be at least one-dimensional.");
    const size_t number = only_form(matrices);
    user_check(matrices[number]->size() >= 2, forms[number], number == 2 ? " matrix " : " ",
               with_batches);
    return {number, numpy::broadcast_shapes({without(*matrices[number], 2), without(loc, 1)})};
}

MatrixForm wishart_form(const ir::Shape& df, const MatrixShapes& matrices) {
    const size_t number = only_form(matrices);
    user_check(matrices[number]->size() >= 2, "scale_tril ", with_batches);
    return {number, numpy::broadcast_shapes({without(*matrices[number], 2), df})};
}

ir::Shape low_rank_batch(const ir::Shape& loc, const ir::Shape& cov_factor,
                         const ir::Shape& cov_diag) {
    user_check(!loc.empty(), "loc must be at least one-dimensional.");
    user_check(cov_factor.size() >= 2, "cov_factor ", with_batches);
    const int64_t size = loc.back();
    user_check(cov_factor[cov_factor.size() - 2] == size,
               "cov_factor must be a batch of matrices with shape ", size, " x m");
    user_check(!cov_diag.empty() && cov_diag.back() == size,
               "cov_diag must be a batch of vectors with shape (", size, ",)");
    try {
        return numpy::broadcast_shapes(
            {without(loc, 1), without(cov_factor, 2), without(cov_diag, 1)});
    } catch (const ValueError&) {
        fail("Incompatible batch shapes: loc ", size_of(loc), ", cov_factor ", size_of(cov_factor),
             ", cov_diag ", size_of(cov_diag));
    }
}

}  // namespace composit::aten
