// Elements of tensors, by integers.
#pragma once

#include "cell.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::python {

// The element that an integer for each axis names, counted from 0; nothing for any other key.
std::optional<std::vector<int64_t>> position_from(nb::handle key, const ir::Shape& shape);

}  // namespace composit::python
