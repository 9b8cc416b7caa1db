// What calls of procedures do for each item of their batch.
#include "composit/backends/simt/items.h"

#include "composit/backends/simt/item_text.h"
#include "composit/base/error.h"
#include "composit/ir/procedure/callable.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace composit::simt {

using ir::kernel::Foreign;
using ir::kernel::Kernel;
using ir::procedure::Callable;
using ir::procedure::Procedure;
using Role = ir::procedure::ArrayVariable::Role;

namespace {

const Callable& callable_of(const Foreign& call) {
    return *ir::procedure::find_callable(call.options[0]);
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
    made.procedure = for_items(*own);
    return made;
}

bool is_call_of_procedure(const Foreign& call) { return call.function == "procedure"; }

const CalledForItems& called_in(const Foreign& call) {
    struct Known {
        std::mutex mutex;
        std::map<int64_t, std::unique_ptr<const CalledForItems>> all;
    };
    static Known& known = *new Known;
    const std::lock_guard lock(known.mutex);
    auto& made = known.all[call.options[0]];
    if (!made)
        made =
            std::make_unique<const CalledForItems>(called_for_items(callable_of(call).procedure()));
    return *made;
}

size_t axes_of_items(const Foreign& call) {
    return static_cast<size_t>(call.options[1]) + called_in(call).rows;
}

Foreign of_item(const Foreign& call, int64_t item) {
    Foreign made = call;
    const size_t axes = axes_of_items(call);
    for (auto* operands : {&made.inputs, &made.outputs})
        for (Foreign::Operand& operand : *operands) {
            int64_t rest = item;
            for (size_t axis = axes; axis-- > 0;) {
                operand.access.offset +=
                    rest % operand.extents[axis] * operand.access.strides[axis];
                rest /= operand.extents[axis];
                operand.extents[axis] = 1;
            }
        }
    return made;
}

std::string name_in_call(const Kernel& kernel, int buffer) {
    const auto* call = std::get_if<Foreign>(&kernel.body);
    if (!call || !is_call_of_procedure(*call)) return "";
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

}  // namespace composit::simt
