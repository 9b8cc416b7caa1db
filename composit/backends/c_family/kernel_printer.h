// Prints a kernel as a C++ function that is written to be read.
//
// The text uses the prelude (prelude.h) and the scalar functions of scalar_printer.h; it is the
// same in the cpp back end and in exported programs.
#pragma once

#include "composit/backends/c_family/kernel_names.h"
#include "composit/ir/kernel/kernel.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::c_family {

// A pointer parameter of a kernel's function.
struct Parameter {
    std::vector<int> buffers;  // one, or two that share memory where a map works in place
    std::string name;
    ir::DType dtype = ir::DType::float32;
    bool is_written = false;
    bool may_overlap = false;  // with another parameter: not __restrict
};

// How a product by blocks reads its operands: those of one name share an instance of the prelude's
// template within a module, which knows the numbers of rows and columns of all of them.
struct ProductReading {
    std::string name;  // "PackLeft": of the type that the kernel's text uses
    std::string ways;  // "true, false, false"
    std::vector<int64_t> rows = {}, columns = {};  // how many are worked on together
    bool is_whole = false;                         // the left operand is packed as a whole
};
std::vector<std::string> reading_names();  // all that there are

struct PrintedKernel {
    std::string function;               // its name
    std::string text;                   // comment and definition; empty when there is nothing to do
    std::vector<Parameter> parameters;  // after begin and end, before scratch
    int64_t tasks = 0;  // the range of begin and end; 1: the function has no such parameters
    // Neighbours that share what a call copies: a thread is to get no fewer, if there are enough.
    int64_t tasks_together = 1;
    std::string
        scratch_bytes;       // a constant expression; empty: the function has no scratch parameter
    bool can_fault = false;  // returns an IndexFault (prelude/indices.h), else nothing
    bool is_any_order = false;         // uses COMPOSIT_ANY_ORDER
    bool is_in_vectors = false;        // is COMPOSIT_IN_VECTORS
    bool reads_panels = false;         // an operand is packed (prelude/contract_pack.h)
    bool needs_vectors = false;        // it or a member of it is, or uses COMPOSIT_IN_TURNS
    std::vector<std::string> prelude;  // the files it uses
    std::vector<ProductReading> readings = {};
};

// Why `kernel` cannot be printed: the dtypes that it needs and that C++ code does not exist for
// yet.
std::optional<std::string> unprintable(const ir::kernel::Kernel& kernel);

// Claims the function's name in `file_names`. Throws NotSupported when it is unprintable.
PrintedKernel print_kernel(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program,
                           Names& file_names);

}  // namespace composit::c_family
