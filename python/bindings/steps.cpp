// What composit.torch's steps by structure (python/composit/torch/steps.py) ask of the core: types
// of leaves as numbers, lines as numbers, and programs run from the constants that tensors hold.
#include "steps.h"

#include "bindings.h"
#include "casters.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/constant_array.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "following.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/unique_ptr.h>

#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using execute::Compiled;

// The line of the user's that runs, as a number.
uintptr_t site() { return reinterpret_cast<uintptr_t>(user_location()); }

// A number that site() gave, or 0 for the line that runs indeed; returns the one before.
uintptr_t set_site(uintptr_t line) {
    return reinterpret_cast<uintptr_t>(set_replayed_line(reinterpret_cast<ir::Interned>(line)));
}

// A program that the C++ back end compiles while other threads go on.
std::unique_ptr<Compiled> compiled_step(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                                        int threads) {
    execute::Options options;
    options.backend = "cpp";
    options.threads = threads;
    const Released released;
    return std::make_unique<Compiled>("step", std::move(inputs), std::move(outputs), options);
}

}  // namespace

namespace {

// Guarded by the interpreter's lock.
struct Numbers {
    std::map<std::tuple<ir::Shape, ir::DType, ir::DeviceNumber>, int64_t> of_types;
    std::deque<LeafType> types;  // by number
};

Numbers& numbers() {
    static auto* all = new Numbers;
    return *all;
}

}  // namespace

int64_t number_of_type(const ir::TensorType& type, ir::DeviceNumber device) {
    Numbers& all = numbers();
    const auto next = static_cast<int64_t>(all.types.size());
    const auto [found, is_new] =
        all.of_types.emplace(std::tuple(type.shape, type.dtype, device), next);
    if (is_new) all.types.push_back({{type.shape, type.dtype}, device});
    return found->second;
}

const LeafType& type_of_number(int64_t number) {
    return numbers().types.at(static_cast<size_t>(number));
}

int64_t leaf_type(const LazyTensor& tensor) {
    const Tensor& held = tensor.tensor();
    if (held.type().weak) return -2;
    return ir::is_constant(held.node()) ? number_of_type(held.type(), held.node().device()) : -1;
}

void bind_steps(nb::module_& module) {
    module.def("leaf_type", leaf_type,
               "A number for a constant's dtype, shape and device; below 0: none.");
    module.def(
        "input_like",
        [](const std::string& name, const Tensor& leaf) {
            const Tensor made = ir::input(name, leaf.dtype(), leaf.shape());
            const ir::DeviceNumber device = leaf.node().device();
            const bool is_placed = device != ir::anywhere && device != ir::on_cpu;
            Tensor there = is_placed ? ops::transfer(made, ir::device_name(device)) : made;
            return nb::make_tuple(wrap_array(made), wrap_array(std::move(there)));
        },
        "A placeholder of a leaf's dtype and shape, and the same on the device where that lies.");
    module.def("site", site, "A number for the user's line that runs.");
    module.def("set_site", set_site, "Nodes made from now on are of that line; 0: of their own.");
    module.def("compiled_step", compiled_step, nb::arg("inputs"), nb::arg("outputs"),
               nb::arg("threads"), "A program of the C++ back end.");
}

}  // namespace composit::python
