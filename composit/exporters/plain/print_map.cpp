// Maps and scans.
#include "composit/backends/c_family/combining.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

#include <algorithm>

namespace composit::plain {

using c_family::LoopNest;
using ir::kernel::Access;

namespace {

// Whether a map makes all bytes of an array of several axes zero.
bool clears(const ir::kernel::Program& program, const ir::kernel::Map& map) {
    if (map.values.size() != 1 || map.values[0].op() != ir::scalar::Op::constant) return false;
    const ir::scalar::Bits bits = map.values[0].bits();
    const Access& output = map.outputs[0];
    const auto& shape = program.buffers[static_cast<size_t>(output.buffer)].shape;
    return std::all_of(bits.begin(), bits.end(), [](auto byte) { return byte == 0; }) &&
           shape.size() > 1 && ir::element_count(shape) > 1 && output.offset == 0 &&
           map.extents == shape && output.strides == ir::row_major_strides(shape);
}

}  // namespace

bool clears_an_array(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program) {
    const auto* const map = std::get_if<ir::kernel::Map>(&kernel.body);
    return map != nullptr && ir::element_count(map->extents) > 0 && clears(program, *map);
}

MaybeText print_body(const Printing& printing, const ir::kernel::Map& map) {
    if (ir::element_count(map.extents) == 0) return {};
    if (clears(printing.program, map)) {
        KernelText text = printing.begin({{map.outputs[0], map.extents}});
        const Parameter& array = *std::find_if(
            text.parameters.begin(), text.parameters.end(),
            [&](const Parameter& each) { return each.buffer == map.outputs[0].buffer; });
        text.code.add(composit::text("memset(", array.name, ", 0, ", array.shape[0], " * sizeof ",
                                     array.name, "[0]);"));
        return text;
    }
    LoopNest nest{map.extents, map.inputs};
    nest.accesses.insert(nest.accesses.end(), map.outputs.begin(), map.outputs.end());
    nest = in_memory_order(nest, map.inputs.size());
    KernelText text = printing.begin(accesses_of(nest));
    const auto middle = nest.accesses.begin() + static_cast<std::ptrdiff_t>(map.inputs.size());
    const std::vector<std::string> indices = text.claim_indices(nest.extents.size(), "ijklmn");
    const auto computed =
        text.compute(map.values, {nest.accesses.begin(), middle}, nest.extents, indices);
    std::vector<std::string> body = computed.lines;
    for (size_t j = 0; j < map.outputs.size(); ++j)
        body.push_back(text.element(middle[static_cast<std::ptrdiff_t>(j)], nest.extents, indices) +
                       " = " + computed.results[j] + ";");
    text.code.nest(text.headers(indices, nest.extents), body);
    return text;
}

MaybeText print_body(const Printing& printing, const ir::kernel::Scan& scan) {
    if (ir::element_count(scan.extents) == 0) return {};
    const size_t outer = scan.extents.size() - 1;
    LoopNest nest{scan.extents, scan.inputs};
    nest.accesses.push_back(scan.output);
    KernelText text = printing.begin(accesses_of(nest));
    const std::vector<std::string> indices = text.claim_indices(scan.extents.size(), "ijklmn");
    const c_family::Combining c(text.spelling(), scan.combiner, scan.value.dtype(), text.index(),
                                0);
    const auto state = c.claim(text.names);
    const auto headers = text.headers(indices, scan.extents);
    text.open({headers.begin(), headers.begin() + static_cast<std::ptrdiff_t>(outer)});
    for (const std::string& line : c.declare(state)) text.code.add(line);
    text.code.open(headers.back());
    const auto computed = text.compute({scan.value}, scan.inputs, scan.extents, indices);
    for (const std::string& line : computed.lines) text.code.add(line);
    for (const std::string& line : c.add(state, computed.results[0], "", computed.names))
        text.code.add(line);
    const std::string type = c_family::type_name(scan.output.dtype);
    text.code.add(composit::text(
        text.element(scan.output, scan.extents, indices), " = ",
        type == c.type() ? state.value : converted(text.language(), type, state.value), ";"));
    text.code.close();
    text.close(outer);
    return text;
}

}  // namespace composit::plain
