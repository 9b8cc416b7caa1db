// Joining and splitting along axes.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {

Tensor concatenate(const std::vector<Tensor>& parts, std::optional<int64_t> axis,
                   std::optional<DType> dtype) {
    user_check(!parts.empty(), "concatenate: need at least one array to concatenate.");
    std::vector<Tensor> same = errors_as("concatenate", [&] { return promoted(parts, dtype); });
    if (!axis)
        for (Tensor& x : same) x = ravel(x);
    for (const Tensor& x : same)
        user_check(x.rank() > 0,
                   "concatenate: zero-dimensional arrays cannot be concatenated. "
                   "Use stack, or axis=None.");
    const int64_t along = normalize_axis("concatenate", axis.value_or(0), same[0].rank());
    return same.size() == 1 ? same[0] : ops::concatenate(same, along);
}

Tensor stack(const std::vector<Tensor>& parts, int64_t axis, std::optional<DType> dtype) {
    user_check(!parts.empty(), "stack: need at least one array to stack.");
    for (const Tensor& x : parts)
        user_check(x.shape() == parts[0].shape(),
                   "stack: all input arrays must have the same "
                   "shape: ",
                   parts[0].shape(), " and ", x.shape(), " differ.");
    const int64_t place = normalize_axis("stack", axis, parts[0].rank() + 1);
    std::vector<Tensor> layers;
    for (const Tensor& x : parts) layers.push_back(expand_dims(x, place));
    return errors_as("stack", [&] { return concatenate(layers, place, dtype); });
}

namespace {

std::vector<Tensor> each(const std::vector<Tensor>& parts, Tensor (*change)(const Tensor&)) {
    std::vector<Tensor> result;
    for (const Tensor& x : parts) result.push_back(change(x));
    return result;
}

std::vector<Tensor> split_lengths(const Tensor& x, const std::vector<int64_t>& lengths,
                                  int64_t axis) {
    return ops::split(x, lengths, axis);
}

}  // namespace

Tensor hstack(const std::vector<Tensor>& parts) {
    const auto flat = each(parts, atleast_1d);
    const int64_t axis = !flat.empty() && flat[0].rank() == 1 ? 0 : 1;
    return errors_as("hstack", [&] { return concatenate(flat, axis); });
}

Tensor vstack(const std::vector<Tensor>& parts) {
    return errors_as("vstack", [&] { return concatenate(each(parts, atleast_2d), 0); });
}

Tensor dstack(const std::vector<Tensor>& parts) {
    return errors_as("dstack", [&] { return concatenate(each(parts, atleast_3d), 2); });
}

Tensor append(const Tensor& x, const Tensor& values, std::optional<int64_t> axis) {
    return errors_as("append", [&] { return concatenate({x, values}, axis); });
}

std::vector<Tensor> split(const Tensor& x, int64_t sections, int64_t axis) {
    const int64_t along = normalize_axis("split", axis, x.rank());
    const int64_t length = x.shape()[static_cast<size_t>(along)];
    user_check<ZeroDivisionError>(sections != 0,
                                  "split: integer modulo by zero: number sections "
                                  "is 0. At least 1 is required.");
    user_check<ValueError>(sections > 0, "split: number sections must be larger than 0, not ",
                           sections, ".");
    user_check(length % sections == 0,
               "split: array split does not result in an equal division: "
               "length ",
               length, " into ", sections, ". Use array_split.");
    return array_split(x, sections, along);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& indices, int64_t axis) {
    const int64_t along = normalize_axis("split", axis, x.rank());
    const int64_t length = x.shape()[static_cast<size_t>(along)];
    std::vector<int64_t> starts{0}, lengths;
    for (int64_t index : indices)
        starts.push_back(std::clamp(index < 0 ? index + length : index, int64_t{0}, length));
    starts.push_back(length);
    bool is_partition = true;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
        lengths.push_back(std::max<int64_t>(0, starts[i + 1] - starts[i]));
        is_partition = is_partition && starts[i + 1] >= starts[i];
    }
    if (is_partition) return split_lengths(x, lengths, along);
    // Positions that go back: parts overlap, so each is a slice of its own.
    std::vector<Tensor> result;
    for (size_t i = 0; i < lengths.size(); ++i) {
        std::vector<int64_t> from(x.shape().size(), 0), steps(x.shape().size(), 1);
        Shape shape = x.shape();
        from[static_cast<size_t>(along)] = lengths[i] ? starts[i] : 0;
        shape[static_cast<size_t>(along)] = lengths[i];
        result.push_back(ops::slice(x, from, shape, steps));
    }
    return result;
}

std::vector<Tensor> array_split(const Tensor& x, int64_t sections, int64_t axis) {
    const int64_t along = normalize_axis("array_split", axis, x.rank());
    user_check(sections > 0, "array_split: number sections must be larger than 0, not ", sections,
               ".");
    const int64_t length = x.shape()[static_cast<size_t>(along)];
    std::vector<int64_t> lengths(static_cast<size_t>(sections), length / sections);
    for (int64_t i = 0; i < length % sections; ++i) ++lengths[static_cast<size_t>(i)];
    return split_lengths(x, lengths, along);
}

}  // namespace composit::numpy
