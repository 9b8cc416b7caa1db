// composit/transforms/transforms.h, and the text form of graphs (ir/print.h, ir/parse.h).
#include "composit/transforms/transforms.h"

#include "bindings.h"
#include "casters.h"
#include "composit/functional/mapped_axes.h"
#include "composit/ir/parse.h"
#include "composit/ir/print.h"
#include "composit/transforms/fallible.h"
#include "location.h"
#include "node.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using Tensors = std::vector<Tensor>;

// Any output of each node stands for it.
Tensors tensors_of_nodes(const std::vector<NodeHandle>& nodes) {
    Tensors tensors;
    for (const NodeHandle& each : nodes) tensors.emplace_back(each.node, 0);
    return tensors;
}

nb::tuple lowered(const Tensors& outputs, const Tensors& inputs, const std::string& name, bool fuse,
                  bool inline_scalars, bool constants_are_inputs) {
    auto result = transforms::lower(outputs, inputs,
                                    {.name = name,
                                     .fuse = fuse,
                                     .inline_scalars = inline_scalars,
                                     .constants_are_inputs = constants_are_inputs});
    return nb::make_tuple(std::move(result.program), result.inputs);
}

}  // namespace

void bind_transforms(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    transforms::register_operations();
    nb::module_ inner = module.def_submodule("transforms", "Graph to graph, graph to program.");
    inner.def("vjp", &transforms::vjp, "outputs"_a, "cotangents"_a, "inputs"_a, located);
    inner.def("jvp", &transforms::jvp, "outputs"_a, "inputs"_a, "tangents"_a, located);
    inner.def("vmap", &transforms::vmap, "outputs"_a, "inputs"_a, "batched"_a, located);
    inner.def(
        "inline_calls", [](const Tensors& tensors) { return transforms::inline_calls(tensors); },
        "tensors"_a);
    inner.def("simplify", &transforms::simplify, "outputs"_a, located);
    inner.def("lower", lowered, "outputs"_a, "inputs"_a, "name"_a = "program", "fuse"_a = true,
              "inline_scalars"_a = false, "constants_are_inputs"_a = false);
    inner.def("plan_buffers", &transforms::plan_buffers, "program"_a, "reuse"_a = true);
    module.def("check_mapped_lengths", &functional::check_mapped_lengths, "axis_size"_a,
               "arguments"_a, "in_axes"_a, located);
    module.def("check_out_axes", &functional::check_out_axes, "results"_a, "out_axes"_a, located);
    module.def("check_same_for_all", &functional::check_same_for_all, "results"_a, "out_axes"_a,
               "mapped"_a, located);
    module.def(
        "print_graph", [](const Tensors& outputs) { return ir::print(outputs); }, "outputs"_a);
    module.def(
        "fallible_part",
        [](const std::vector<NodeHandle>& results, const std::vector<NodeHandle>& border,
           const std::vector<std::pair<std::vector<NodeHandle>, std::vector<NodeHandle>>>& within) {
            std::vector<transforms::WithinBounds> bounds;
            for (const auto& [ends, operands] : within)
                bounds.push_back({tensors_of_nodes(ends), tensors_of_nodes(operands)});
            const Ref<ir::Node> part = transforms::fallible_part(tensors_of_nodes(results),
                                                                 tensors_of_nodes(border), bounds);
            return part ? nb::cast(NodeHandle{part}) : nb::none();
        },
        "results"_a, "border"_a, "within"_a);
    module.def("large_constants", &ir::large_constants, "outputs"_a);
    module.def(
        "parse_graph",
        [](const std::string& text, const nb::dict& data, std::optional<int64_t> nodes,
           std::optional<int64_t> bytes, std::optional<int64_t> iterations,
           std::optional<int64_t> depth) {
            ir::TextLimits limits;
            limits.nodes = nodes.value_or(limits.nodes);
            limits.bytes = bytes.value_or(limits.bytes);
            limits.iterations = iterations.value_or(limits.iterations);
            limits.depth = depth.value_or(limits.depth);
            std::map<std::string, ir::Array> arrays;
            for (const auto& [name, value] : data)
                arrays[nb::cast<std::string>(name)] = array_from(numpy_attribute("asarray")(value));
            return ir::parse(text, arrays, limits);
        },
        "text"_a, "data"_a = nb::dict(), "most_nodes"_a = nb::none(), "most_bytes"_a = nb::none(),
        "most_iterations"_a = nb::none(), "most_depth"_a = nb::none());
}

}  // namespace composit::python
