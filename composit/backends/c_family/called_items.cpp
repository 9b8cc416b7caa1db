// What calls of procedures do for each item of their batch.
#include "composit/backends/c_family/called_items.h"

#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/base/error.h"
#include "composit/ir/procedure/callable.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace composit::c_family {

using ir::kernel::Call;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::procedure::Callable;
using ir::procedure::Procedure;
using ir::scalar::Bits;
using ir::scalar::Expr;
using Role = ir::procedure::ArrayVariable::Role;

namespace {

const Callable& callable_of(const Call& call) {
    return *ir::procedure::find_callable(call.procedure);
}

}  // namespace

CalledForItems called_for_items(const Procedure& called) {
    CalledForItems made;
    const Procedure* own = &called;
    for (size_t k = 0; k < own->results.size(); ++k) made.outputs.push_back(static_cast<int>(k));
    for (const int array : own->arrays_of(Role::output)) made.outputs.push_back(-1 - array);
    for (; own->of_each_row; own = own->of_each_row.get(), ++made.rows) {
        const std::vector<int> arrays = own->arrays_of(Role::output);
        for (int& output : made.outputs) {
            const auto place = std::find(arrays.begin(), arrays.end(), -1 - output);
            internal_check(place != arrays.end(), own->name, ": output ", output,
                           " of each row is none of its arrays");
            output = own->outputs_of_row[static_cast<size_t>(place - arrays.begin())];
        }
    }
    const Callable callable(*own);
    made.operands = callable.operands();
    std::vector<int> inputs;  // of the kernel, that are arrays
    for (size_t i = 0; i < made.operands.size(); ++i)
        if (made.operands[i] < 0) inputs.push_back(static_cast<int>(i));
    for (size_t i = 0; i < own->parameters; ++i)
        if (const Callable::Extent extent = callable.extent_of(i); extent.array >= 0)
            made.extents.push_back(
                {static_cast<int>(i), inputs[static_cast<size_t>(extent.array)], extent.axis});
    made.procedure = for_c(*own);
    return made;
}

const CalledForItems& called_in(const Call& call) {
    struct Known {
        std::mutex mutex;
        std::map<int64_t, std::unique_ptr<const CalledForItems>> all;
    };
    static Known& known = *new Known;
    const std::lock_guard lock(known.mutex);
    auto& made = known.all[call.procedure];
    if (!made)
        made =
            std::make_unique<const CalledForItems>(called_for_items(callable_of(call).procedure()));
    return *made;
}

Extents items_of(const Call& call) {
    Extents items = call.batch;
    const Extents& first = call.outputs[0].extents;
    const auto rows = static_cast<std::ptrdiff_t>(called_in(call).rows);
    items.insert(items.end(), first.begin(), first.begin() + rows);
    return items;
}

Call of_item(const Call& call, int64_t item) {
    Call made = call;
    const Extents items = items_of(call);
    for (int64_t& extent : made.batch) extent = 1;
    for (auto* operands : {&made.inputs, &made.outputs})
        for (Call::Operand& operand : *operands) {
            int64_t rest = item;
            for (size_t axis = items.size(); axis-- > 0; rest /= items[axis]) {
                operand.access.offset += rest % items[axis] * operand.access.strides[axis];
                if (axis >= made.batch.size()) operand.extents[axis - made.batch.size()] = 1;
            }
        }
    return made;
}

std::map<int, Bits> known_extents(const Call& call) {
    const CalledForItems& called = called_in(call);
    std::map<int, Bits> known;
    for (const auto& [parameter, input, axis] : called.extents)
        known[parameter] = ir::scalar::bits_of_integer(
            ir::DType::int64, call.inputs[static_cast<size_t>(input)].extents[called.rows + axis]);
    return known;
}

namespace {

// The number that all of a buffer is set to, by one kernel alone.
std::optional<Bits> filled_with(int buffer, const ir::kernel::Program& program) {
    std::optional<Bits> value;
    int writers = 0;
    for (const Kernel& kernel : program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            const std::vector<int> written = ir::kernel::buffers_written(step);
            if (std::find(written.begin(), written.end(), buffer) == written.end()) return;
            ++writers;
            const auto* map = std::get_if<ir::kernel::Map>(&step.body);
            for (size_t k = 0; map && k < map->outputs.size(); ++k)
                if (map->outputs[k].buffer == buffer &&
                    map->values[k].op() == ir::scalar::Op::constant)
                    value = map->values[k].bits();
        });
    return writers == 1 ? value : std::nullopt;
}

}  // namespace

std::map<int, Bits> known_numbers(const Call& call, const ir::kernel::Program& program) {
    const CalledForItems& called = called_in(call);
    const bool is_one = ir::element_count(items_of(call)) == 1;
    std::map<int, Bits> known;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const ir::kernel::Access& access = call.inputs[i].access;
        if (called.operands[i] < 0 || access.buffer < 0) continue;
        const ir::kernel::Buffer& buffer = program.buffers[static_cast<size_t>(access.buffer)];
        const bool is_same = is_one || std::all_of(access.strides.begin(), access.strides.end(),
                                                   [](int64_t stride) { return stride == 0; });
        if (buffer.kind == ir::kernel::BufferKind::temporary) {
            if (const auto bits = filled_with(access.buffer, program))
                known[called.operands[i]] = *bits;
        } else if (is_same && buffer.value && buffer.is_in_memory()) {
            const ir::Array value = buffer.value.value();
            const auto size = static_cast<int64_t>(ir::size_of(access.dtype));
            std::memcpy(known[called.operands[i]].data(),
                        value.data_as<char>() + access.offset * size, static_cast<size_t>(size));
        }
    }
    return known;
}

std::vector<std::pair<Expr, int64_t>> extents_of_numbers(const Call& call) {
    const CalledForItems& called = called_in(call);
    const auto reads_number = [&](const Expr& extent) {
        const std::set<int> read = read_by({extent});
        return std::any_of(read.begin(), read.end(), [&](int parameter) {
            return std::none_of(called.extents.begin(), called.extents.end(),
                                [&](const auto& each) { return each.parameter == parameter; });
        });
    };
    std::vector<std::pair<Expr, int64_t>> found;
    const auto look = [&](const Call::Operand& operand, int place) {
        if (place >= 0) return;
        const auto& shape = called.procedure.arrays[static_cast<size_t>(-1 - place)].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis)
            if (reads_number(shape[axis]))
                found.emplace_back(shape[axis], operand.extents[called.rows + axis]);
    };
    for (size_t i = 0; i < call.inputs.size(); ++i) look(call.inputs[i], called.operands[i]);
    for (size_t k = 0; k < called.outputs.size(); ++k) look(call.outputs[k], called.outputs[k]);
    return found;
}

std::string name_in_call(const Kernel& kernel, int buffer) {
    const auto* call = std::get_if<Call>(&kernel.body);
    if (!call) return "";
    const CalledForItems& called = called_in(*call);
    const auto array = [&](int number) {
        return called.procedure.arrays[static_cast<size_t>(-1 - number)].name;
    };
    for (size_t i = 0; i < call->inputs.size(); ++i)
        if (const int operand = called.operands[i]; call->inputs[i].access.buffer == buffer)
            return "all_" + (operand < 0
                                 ? array(operand)
                                 : called.procedure.variables[static_cast<size_t>(operand)].name);
    for (size_t k = 0; k < call->outputs.size(); ++k)
        if (const int output = called.outputs[k]; call->outputs[k].access.buffer == buffer)
            return "all_" + (output < 0
                                 ? array(output)
                                 : called.procedure.results[static_cast<size_t>(output)].name);
    return "";
}

}  // namespace composit::c_family
