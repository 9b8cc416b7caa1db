// Functions that are no part of composit's own meaning, which kernels of the kind Foreign call.
//
// A library's routines, for example: what they compute is outside the promise of equal bits
// (docs/semantics.md 1). Every back end calls the same function, in the process that runs it.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::runtime {

// An operand in memory, of the type that the function was promised.
struct ForeignArray {
    void* data = nullptr;  // element 0, …, 0
    ir::DType dtype = ir::DType::float64;
    ir::kernel::Extents shape;
    std::vector<int64_t> strides;  // in elements; of outputs row-major
    // complex128: float64 in two pieces of memory, `data` and strides of the real parts
    void* imaginary = nullptr;
    std::vector<int64_t> imaginary_strides = {};
};

struct ForeignCall {
    std::vector<int64_t> options;
    std::vector<ForeignArray> inputs, outputs;
};

// Reads the inputs and writes every element of the outputs; any thread may call it. Throws what is
// wrong with the values (LinAlgError), or what is missing to run it (NotSupported).
using ForeignFunction = void (*)(const ForeignCall& call);

// The registry. A second registration of a name replaces the first.
void register_foreign_function(const std::string& name, ForeignFunction function);
// Null: there is none of that name.
ForeignFunction find_foreign_function(const std::string& name);

// A kernel, ready to run. Throws NotSupported when its function is not registered.
class ForeignKernel {
  public:
    explicit ForeignKernel(const ir::kernel::Foreign& kernel);

    // at[k]: where the buffer of operand k starts, inputs first.
    void run(void* const* at) const;

  private:
    ForeignFunction function_;
    ForeignCall call_;              // without addresses
    std::vector<int64_t> offsets_;  // in bytes
};

}  // namespace composit::runtime
