// What an index means for a given shape: how x[index] is put together, and taken apart again.
#pragma once

#include "composit/numpy/indexing.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace composit::numpy {

// x[index] in four steps: `inserted` axes of length 1 are added to x (for 0-d masks); every axis is
// sliced; the axes `dropped` (integers) go; `indices` gather along `axes` of what is left. Then the
// result's dimensions are put in order.
struct IndexPlan {
    // x's shape with the axes that 0-d masks index; the axes that another mask indexes are one.
    Shape source;
    std::vector<int64_t> starts, lengths, steps;
    Shape sliced;                 // lengths without the dropped axes
    std::vector<Tensor> indices;  // int64, empty for basic indexing
    std::vector<int64_t> axes;    // of `sliced`, ascending
    Shape common;                 // what the indices broadcast to
    int64_t place = 0;            // of `common` among the other axes of the result
    Shape result;                 // with new axes

    [[nodiscard]] bool slices_nothing() const;
    [[nodiscard]] bool is_basic() const { return axes.empty(); }
    // The shape of gather's result: common, then the axes of `sliced` that are not indexed.
    [[nodiscard]] Shape gathered() const;
    // Gather's axes in the result's order (without new axes).
    [[nodiscard]] std::vector<int64_t> order() const;
};

// Whether NumPy's x[index] is a view of x: no entry is a tensor.
[[nodiscard]] inline bool is_basic(const Index& index) {
    return std::none_of(index.begin(), index.end(), [](const IndexEntry& entry) {
        return std::holds_alternative<Tensor>(entry);
    });
}

// IndexError and NotSupported as get_item says.
[[nodiscard]] IndexPlan plan_index(std::string_view function, const Shape& shape,
                                   const Index& index);

// An index of slices and integers alone, one for each of the first axes: nothing for any other, for
// one that is out of bounds, and where no element is left.
struct BasicPart {
    std::vector<int64_t> starts, lengths, steps;
    std::vector<bool> stays;  // an axis; the others are those of integers

    [[nodiscard]] Shape shape() const;
    [[nodiscard]] Tensor of(const Tensor& x) const;
};
[[nodiscard]] std::optional<BasicPart> basic_part(const Shape& shape, const Index& index);

// The positions of the true ones of an array in row-major order, an int64 array for each axis.
[[nodiscard]] std::vector<Tensor> chosen_positions(const bool* is_chosen, const Shape& shape);

// The value as x[index] = value stores it: of x's dtype and the shape of x[index].
[[nodiscard]] Tensor value_to_store(const Tensor& x, const Index& index, const Operand& value);

}  // namespace composit::numpy
