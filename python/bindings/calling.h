// Arrays into calls that compute, and out of them.
#pragma once

#include "composit/eager/pieces.h"
#include "composit/ir/array.h"
#include "interpreter_lock.h"

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

namespace composit::python {

// Of each of an iterable's values, tensors evaluated: ndarrays' own memory where it is contiguous.
std::vector<ir::Array> arrays_from(nanobind::handle values);
// Handed over without a second owner, so that the memory need not be copied.
nanobind::list ndarrays_from(std::vector<ir::Array> arrays);

// What `call`, which returns arrays, computes while other Python threads go on. A look, as a
// program that asks for values in each step does.
template <class Call>
nanobind::list computed(const Call& call) {
    std::vector<ir::Array> arrays;
    {
        const Released released;
        arrays = call();
    }
    eager::begin_piece();
    return ndarrays_from(std::move(arrays));
}

}  // namespace composit::python
