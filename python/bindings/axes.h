// Axes as functions take them that NumPy makes of moveaxis.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace composit::python {

// Which axes these are, an integer or a list of them, counted from the front: AxisError beyond
// them, ValueError for one that is named twice.
std::vector<int64_t> places_from(const std::string& function, nanobind::handle axes, int rank);
// The one axis that an integer names, or a list of one. ValueError for several.
int64_t one_axis_from(const std::string& function, nanobind::handle axis, int rank);

}  // namespace composit::python
