// What composit.torch's steps by structure (python/composit/torch/steps.py) ask of the core: types
// of leaves as numbers, lines as numbers, and programs run from the constants that tensors hold.
#include "bindings.h"
#include "casters.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/constant_array.h"
#include "content.h"
#include "following.h"
#include "location.h"

#include <nanobind/stl/unique_ptr.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using execute::Compiled;

// -1 for what is no constant, or has an origin it is read from; -2 for a Python scalar.
int64_t leaf_type(const LazyTensor& tensor) {
    const Tensor& held = tensor.tensor();
    if (held.type().weak) return -2;
    return ir::is_constant(held.node()) ? number_of_type(held.type()) : -1;
}

// The line of the user's that runs, as a number.
uintptr_t site() { return reinterpret_cast<uintptr_t>(user_location()); }

// A number that site() gave, or 0 for the line that runs indeed; returns the one before.
uintptr_t set_site(uintptr_t line) {
    return reinterpret_cast<uintptr_t>(set_replayed_line(reinterpret_cast<ir::Interned>(line)));
}

// The program's outputs, as tensors that hold constants, from the constants that `leaves` hold,
// whose types are known to fit.
nb::list run_step(const Compiled& compiled, const nb::list& leaves) {
    std::vector<std::shared_ptr<const void>> held;
    std::vector<const void*> inputs;
    held.reserve(leaves.size());
    inputs.reserve(leaves.size());
    for (nb::handle leaf : leaves) {
        const Tensor& tensor = content_of<LazyTensor>(leaf).tensor();
        held.push_back(ir::constant_array(tensor.node()).row_major());
        inputs.push_back(held.back().get());
    }
    std::vector<ir::Array> arrays;
    {
        const nb::gil_scoped_release released;
        arrays = compiled.run(inputs);
    }
    nb::list results;
    for (ir::Array& array : arrays) results.append(wrap_copy(ir::constant(std::move(array))));
    return results;
}

// A program that the C++ back end compiles while other threads go on.
std::unique_ptr<Compiled> compiled_step(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                                        int threads) {
    execute::Options options;
    options.backend = "cpp";
    options.threads = threads;
    const nb::gil_scoped_release released;
    return std::make_unique<Compiled>("step", std::move(inputs), std::move(outputs), options);
}

}  // namespace

// Guarded by the interpreter's lock.
int64_t number_of_type(const ir::TensorType& type) {
    static auto* numbers = new std::map<std::pair<ir::Shape, ir::DType>, int64_t>;
    const auto next = static_cast<int64_t>(numbers->size());
    return numbers->emplace(std::pair(type.shape, type.dtype), next).first->second;
}

void bind_steps(nb::module_& module) {
    module.def("leaf_type", leaf_type, "A number for a constant's dtype and shape; below 0: none.");
    module.def("site", site, "A number for the user's line that runs.");
    module.def("set_site", set_site, "Nodes made from now on are of that line; 0: of their own.");
    module.def("compiled_step", compiled_step, nb::arg("inputs"), nb::arg("outputs"),
               nb::arg("threads"), "A program of the C++ back end.");
    module.def("run_step", run_step, nb::arg("compiled"), nb::arg("leaves"),
               "A program's outputs as constants, from the constants of its inputs.");
}

}  // namespace composit::python
