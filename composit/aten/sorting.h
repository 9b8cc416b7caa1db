// PyTorch's sorting: elements and their places (int64), of which equal ones keep their order and
// NaN come last.
//
//   const auto [values, places] = topk(x, 5);
//
// `dim` may be negative. A tensor without dimensions is one element, at place 0.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace composit::aten {

using ir::Tensor;

// Places of the elements in order.
[[nodiscard]] Tensor argsort(const Tensor& x, int64_t dim = -1, bool descending = false);
// The elements in order, and their places.
[[nodiscard]] std::pair<Tensor, Tensor> sort(const Tensor& x, int64_t dim = -1,
                                             bool descending = false);
// The first k of the elements in descending, or ascending, order. ValueError: "selected index k out
// of range".
[[nodiscard]] std::pair<Tensor, Tensor> topk(const Tensor& x, int64_t k, int64_t dim = -1,
                                             bool largest = true);
// The kth smallest element, 1 for the first. ValueError where there are less.
[[nodiscard]] std::pair<Tensor, Tensor> kthvalue(const Tensor& x, int64_t k, int64_t dim = -1,
                                                 bool keepdim = false);
// The middle element, the lower of two, of a dimension that is not empty (IndexError); NaN, at its
// first place, where there is one. Without `dim` of the flattened tensor, of which NaN is the
// middle where it is empty.
[[nodiscard]] std::pair<Tensor, Tensor> median(const Tensor& x, std::optional<int64_t> dim = {},
                                               bool keepdim = false);

// Where each element of `values` belongs among `sorted` (int64, values' shape): before its equals,
// or behind them. `sorted` has one dimension, or rows beside those of `values`: all dimensions but
// the last are the same ones. `sorter` (int64, sorted's shape) puts it in order. NaN belongs at the
// end. RuntimeError, in PyTorch's words, for other shapes.
[[nodiscard]] Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false,
                                  const Tensor& sorter = {});

// Runs of equal elements (of slices along `dim`, where it is given), one of each: the elements, the
// run of each element of x, and the runs' lengths. Values decide the shape: x is evaluated now.
struct Runs {
    Tensor values, inverse, counts;
};
[[nodiscard]] Runs unique_consecutive(const Tensor& x, std::optional<int64_t> dim = {});

}  // namespace composit::aten
