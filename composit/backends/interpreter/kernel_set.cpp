// Choosing the instruction set, and finding kernels by name.
#include "composit/backends/interpreter/kernel_set.h"

#include "composit/base/error.h"
#include "composit/runtime/ready_products.h"

#include <cstdlib>
#include <string_view>

namespace composit::interpreter {

namespace baseline {
extern const KernelSet set;
}
#if defined(__x86_64__)
namespace avx2 {
extern const KernelSet set;
}
namespace avx512 {
extern const KernelSet set;
}
#endif

namespace {

const KernelSet& choose_kernel_set() {
    const std::vector<const KernelSet*> usable = usable_kernel_sets();
    const char* wanted = std::getenv("COMPOSIT_ISA");
    if (wanted == nullptr || *wanted == '\0') return *usable.front();
    std::vector<std::string> names;
    for (const KernelSet* set : usable) {
        if (std::string_view(set->name) == wanted) return *set;
        names.emplace_back(set->name);
    }
    fail<NotSupported>("COMPOSIT_ISA: this CPU cannot run '", wanted, "'. Use one of ", join(names),
                       ".");
}

const void* products_of(int64_t vector_bytes) {
    for (const KernelSet* set : usable_kernel_sets())
        if (set->vector_bytes == vector_bytes) return set->products;
    return nullptr;
}

const bool has_registered_products = [] {
    runtime::register_ready_products(&products_of);
    return true;
}();

}  // namespace

std::vector<const KernelSet*> usable_kernel_sets() {
    std::vector<const KernelSet*> sets;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        sets.push_back(&avx512::set);
    if (has_v3) sets.push_back(&avx2::set);
#endif
    sets.push_back(&baseline::set);
    return sets;
}

const KernelSet& kernel_set() {
    static const KernelSet& chosen = choose_kernel_set();
    return chosen;
}

// The generated table is sorted by symbol.
VectorKernel KernelSet::find(const std::string& symbol) const {
    int64_t low = 0, high = named_count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = symbol.compare(named[middle].symbol);
        if (order == 0) return named[middle].run;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return nullptr;
}

std::string operation_symbol(ir::scalar::Op op, const std::vector<ir::DType>& operands,
                             ir::DType result) {
    using ir::scalar::Op;
    std::string symbol = text("op_", ir::scalar::name(op));
    for (ir::DType dtype : operands) symbol += text("_", dtype);
    if (op == Op::cast || op == Op::bitcast || op == Op::lookup) symbol += text("_", result);
    return symbol;
}

int size_class(ir::DType dtype) { return __builtin_ctz(static_cast<unsigned>(ir::size_of(dtype))); }

}  // namespace composit::interpreter
