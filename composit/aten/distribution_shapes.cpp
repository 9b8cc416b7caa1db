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

EventDims composed_event_dims(const std::vector<EventDims>& parts) {
    if (parts.empty()) return {0, 0};
    int64_t of_domain = parts.back().second, of_codomain = parts.front().first;
    for (size_t i = parts.size(); i-- > 0;)
        of_domain = std::max(of_domain + parts[i].first - parts[i].second, parts[i].first);
    for (const auto& [domain, codomain] : parts)
        of_codomain = std::max(of_codomain + codomain - domain, codomain);
    return {of_domain, of_codomain};
}

ir::Shape reshaped_event(const ir::Shape& shape, const ir::Shape& from, const ir::Shape& to) {
    user_check(shape.size() >= from.size(), "Too few dimensions on input");
    const ir::Shape last(shape.end() - static_cast<std::ptrdiff_t>(from.size()), shape.end());
    user_check(last == from, "Shape mismatch: expected ", last, " but got ", from);
    ir::Shape result = without(shape, from.size());
    result.insert(result.end(), to.begin(), to.end());
    return result;
}

ir::Shape matrices_of_below(const ir::Shape& shape) {
    user_check(!shape.empty(), "Too few dimensions on input");
    const int64_t count = shape.back();
    int64_t size = 1;  // one row has no element below its diagonal
    while (size * (size - 1) / 2 < count) ++size;
    user_check(size * (size - 1) / 2 == count, "Input is not a flattened lower-diagonal number");
    ir::Shape result = without(shape, 1);
    result.insert(result.end(), {size, size});
    return result;
}

ir::Shape below_of_matrices(const ir::Shape& shape) {
    user_check(shape.size() >= 2, "Too few dimensions on input");
    const int64_t size = shape.back();
    user_check(shape[shape.size() - 2] == size, "Input is not square");
    ir::Shape result = without(shape, 2);
    result.push_back(size * (size - 1) / 2);
    return result;
}

void check_mixture(const ir::Shape& kinds, int64_t count, const ir::Shape& components) {
    user_check(!components.empty(), "component_distribution.batch_shape is (). One dimension at ",
               "least is required, which counts the components.");
    const ir::Shape theirs = without(components, 1);
    for (size_t i = 1; i <= std::min(kinds.size(), theirs.size()); ++i) {
        const int64_t mine = kinds[kinds.size() - i], other = theirs[theirs.size() - i];
        user_check(mine == 1 || other == 1 || mine == other, "`mixture_distribution.batch_shape` (",
                   size_of(kinds), ") is not compatible with `component_distribution.batch_shape`(",
                   size_of(theirs), ")");
    }
    user_check(count == components.back(), "`mixture_distribution component` (", count,
               ") does not equal `component_distribution.batch_shape[-1]` (", components.back(),
               ")");
}

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

void check_transformed(const ir::Shape& base, int64_t domain) {
    user_check(static_cast<int64_t>(base.size()) >= domain,
               "base_distribution needs to have shape with size at least ", domain, ", but got ",
               size_of(base), ".");
}

void check_reinterpreted(int64_t count, int64_t batch_dims) {
    user_check(count <= batch_dims,
               "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual ",
               count, " vs ", batch_dims);
}

TransformedForm transformed_form(const ir::Shape& base, int64_t base_event, int64_t domain,
                                 int64_t codomain, const ir::Shape& forward,
                                 const ir::Shape& back) {
    check_transformed(base, domain);
    TransformedForm made;
    if (base != back) made.base_batch = without(back, static_cast<size_t>(base_event));
    made.independent = std::max<int64_t>(domain - base_event, 0);
    const int64_t event = std::max(codomain, base_event + codomain - domain);
    made.batch = without(forward, static_cast<size_t>(event));
    made.event.assign(forward.end() - static_cast<std::ptrdiff_t>(event), forward.end());
    return made;
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
