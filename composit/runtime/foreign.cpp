// The registry of foreign functions, and their calls.
#include "composit/runtime/foreign.h"

#include "composit/base/error.h"

#include <map>
#include <mutex>

namespace composit::runtime {
namespace {

struct Registry {
    std::mutex mutex;
    std::map<std::string, ForeignFunction> functions;
};

Registry& registry() {
    static Registry* const instance = new Registry;  // never destroyed, as that of back ends
    return *instance;
}

}  // namespace

void register_foreign_function(const std::string& name, ForeignFunction function) {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.functions[name] = function;
}

ForeignFunction find_foreign_function(const std::string& name) {
    Registry& r = registry();
    const std::lock_guard<std::mutex> lock(r.mutex);
    const auto found = r.functions.find(name);
    return found == r.functions.end() ? nullptr : found->second;
}

ForeignKernel::ForeignKernel(const ir::kernel::Foreign& kernel)
    : function_(find_foreign_function(kernel.function)) {
    user_check<NotSupported>(function_ != nullptr, "run: the foreign function ", kernel.function,
                             " is not registered. register_foreign_function is required.");
    call_.options = kernel.options;
    for (auto [from, to] :
         {std::pair(&kernel.inputs, &call_.inputs), std::pair(&kernel.outputs, &call_.outputs)})
        for (const auto& [access, extents] : *from) {
            to->push_back({nullptr, access.dtype, extents, access.strides});
            offsets_.push_back(access.offset * ir::size_of(access.dtype));
        }
}

void ForeignKernel::run(void* const* at) const {
    ForeignCall call = call_;
    size_t k = 0;
    for (auto* arrays : {&call.inputs, &call.outputs})
        for (ForeignArray& array : *arrays) {
            array.data = static_cast<char*>(at[k]) + offsets_[k];
            ++k;
        }
    function_(call);
}

}  // namespace composit::runtime
