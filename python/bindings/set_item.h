// x[key] = value, as NumPy writes it.
#pragma once

#include "cell.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// Writes a value, of whatever kind NumPy takes, into elements of a tensor. NumPy's errors.
void set_item(const LazyTensor& self, nanobind::handle key, nanobind::handle value);

// What `self` holds after self[key] = value, and the value as a tensor. Nothing is written.
struct WrittenItem {
    ir::Tensor written, source;
};
WrittenItem written_item(const LazyTensor& self, nanobind::handle key, nanobind::handle value);

}  // namespace composit::python
