// What flows into outputs when gradients are taken.
#pragma once

#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// A tensor, or several in a sequence, as a list.
nb::list listed_tensors(nb::handle value);

// RuntimeError, in PyTorch's words, where the gradient given for the output of that number has
// another shape, or one of the two is complex.
void check_flow(nb::handle output, nb::handle gradient, size_t number);

// RuntimeError for an output that ones, which no gradient stands for, cannot flow into.
void check_real_output(nb::handle output);

// The outputs, what is given for each, and what flows into their nodes.
struct Flows {
    nb::list outputs, given;
    std::vector<ir::Tensor> incoming;
};
Flows flows_into(nb::handle tensors, nb::handle gradients);

}  // namespace composit::python
