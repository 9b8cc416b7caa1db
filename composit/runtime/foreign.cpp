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
         {std::pair(&kernel.inputs, &call_.inputs), std::pair(&kernel.outputs, &call_.outputs)}) {
        bool is_imaginary = false;
        for (const auto& operand : *from) {
            const auto& [access, extents, is_real_part] = operand;
            offsets_.push_back(access.offset * ir::size_of(access.dtype));
            if (is_imaginary) {
                to->back().dtype = ir::DType::complex128;
                to->back().imaginary_strides = access.strides;
            } else {
                to->push_back({nullptr, access.dtype, extents, access.strides});
            }
            is_imaginary = is_real_part;
        }
    }
}

void ForeignKernel::run(void* const* at) const {
    ForeignCall call = call_;
    size_t k = 0;
    const auto next = [&] {
        void* const start = static_cast<char*>(at[k]) + offsets_[k];
        ++k;
        return start;
    };
    for (auto* arrays : {&call.inputs, &call.outputs})
        for (ForeignArray& array : *arrays) {
            array.data = next();
            if (array.dtype == ir::DType::complex128) array.imaginary = next();
        }
    function_(call);
}

}  // namespace composit::runtime
