// Elements of tensors, by integers.
#pragma once

#include "cell.h"
#include "composit/numpy/indexing.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::python {

// The element that an integer for each axis names, counted from 0; nothing for any other key.
std::optional<std::vector<int64_t>> position_from(nb::handle key, const ir::Shape& shape);

// The view of a known array by slices and integers, without nodes; not valid for all else.
nb::object known_view(const LazyTensor& tensor, const numpy::Index& index);

}  // namespace composit::python
