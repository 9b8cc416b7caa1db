// Programs of traces run, and their results given to tensors (composit/torch/steps.py).
#pragma once

#include "torch_objects.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::python {

// Results of a trace that live and have no values.
struct Wanted {
    std::vector<int64_t> places;
    bool has_views = false;
};
// Nothing where others are waiting for their values, or a result's graph is still wanted.
std::optional<Wanted> wanted_of(const TraceObject* trace, bool with_gradients);
nb::tuple tuple_of(const std::vector<int64_t>& places);
// A program's outputs as constants, from the constants of its inputs. Counts the runs: a program
// that ran often enough is compiled meanwhile.
std::vector<nb::object> run_program(nb::handle program, nb::handle leaves);
// Gives the results at those places the first of the values, and views of them what they see.
void set_values(nb::handle trace, const Wanted& wanted, const std::vector<nb::object>& values);

}  // namespace composit::python
