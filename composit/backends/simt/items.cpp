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

using ir::kernel::Call;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::procedure::Callable;
using ir::procedure::Procedure;
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
    made.procedure = for_items(*own);
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

}  // namespace composit::simt
