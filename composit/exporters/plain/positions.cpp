#include "composit/exporters/plain/positions.h"

#include "composit/ir/scalar/convert.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace composit::plain {
namespace {

using ir::DType;
using ir::kernel::Access;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Program;

// Element p of an array: first + step * p.
struct Counted {
    int64_t first = 0, step = 0;
    DType dtype = DType::int64;
};

std::optional<Counted> counted_by(const Kernel& kernel, const Program& program) {
    const auto* const map = std::get_if<Map>(&kernel.body);
    if (map == nullptr || map->inputs.size() != 1 || map->values.size() != 1) return {};
    const Access &from = map->inputs[0], &to = map->outputs[0];
    const auto& buffer = program.buffers[static_cast<size_t>(to.buffer)];
    if (from.buffer != Access::position || buffer.kind != ir::kernel::BufferKind::temporary ||
        !ir::is_integer(buffer.dtype) || to.offset != 0 ||
        ir::element_count(map->extents) != ir::element_count(buffer.shape))
        return {};
    const auto position = ir::scalar::Expr::argument(0, DType::int64);
    if (!ir::scalar::structurally_equal(map->values, {ir::scalar::convert(position, buffer.dtype)}))
        return {};
    Counted made{from.offset, 0, buffer.dtype};
    bool is_first = true;
    for (size_t d = 0; d < map->extents.size(); ++d) {
        if (map->extents[d] == 1) continue;
        const int64_t step = to.strides[d] == 0 ? 0 : from.strides[d] / to.strides[d];
        if (step * to.strides[d] != from.strides[d] || (!is_first && step != made.step)) return {};
        made.step = step;
        is_first = false;
    }
    return made;
}

Access as_position(const Access& access, const Counted& counted) {
    Access made;
    made.offset = counted.first + counted.step * access.offset;
    for (const int64_t stride : access.strides) made.strides.push_back(counted.step * stride);
    return made;
}

using All = std::map<int, Counted>;  // by buffer

void put_in_place(std::vector<Access>& indices, const All& all) {
    for (Access& index : indices) {
        const auto found = all.find(index.buffer);
        if (found != all.end() && found->second.dtype == DType::int64)
            index = as_position(index, found->second);
    }
}

void put_in_place(Map& map, const All& all) {
    std::vector<ir::scalar::Expr> arguments;
    bool changes = false;
    for (size_t k = 0; k < map.inputs.size(); ++k) {
        Access& input = map.inputs[k];
        const auto found = all.find(input.buffer);
        const auto number = static_cast<int>(k);
        if (found == all.end()) {
            arguments.push_back(ir::scalar::Expr::argument(number, input.dtype));
            continue;
        }
        changes = true;
        input = as_position(input, found->second);
        arguments.push_back(ir::scalar::convert(ir::scalar::Expr::argument(number, DType::int64),
                                                found->second.dtype));
    }
    if (changes) map.values = ir::scalar::substitute(map.values, arguments);
}

}  // namespace

Program with_positions_in_place(Program program) {
    std::map<int, int> writers;
    for (const Kernel& kernel : program.kernels)
        for (const int b : ir::kernel::buffers_written(kernel)) ++writers[b];
    All all;
    for (Kernel& kernel : program.kernels) {
        if (auto* const map = std::get_if<Map>(&kernel.body)) put_in_place(*map, all);
        if (auto* const gather = std::get_if<ir::kernel::Gather>(&kernel.body))
            put_in_place(gather->indices, all);
        if (auto* const scatter = std::get_if<ir::kernel::Scatter>(&kernel.body))
            put_in_place(scatter->indices, all);
        const auto counted = counted_by(kernel, program);
        if (!counted) continue;
        const int b = std::get<Map>(kernel.body).outputs[0].buffer;
        if (writers[b] == 1) all[b] = *counted;
    }
    std::map<int, bool> is_read;
    for (const Kernel& kernel : program.kernels)
        for (const int b : ir::kernel::buffers_read(kernel)) is_read[b] = true;
    std::erase_if(program.kernels, [&](const Kernel& kernel) {
        const auto written = ir::kernel::buffers_written(kernel);
        return written.size() == 1 && all.contains(written[0]) && !is_read[written[0]];
    });
    return program;
}

}  // namespace composit::plain
