// A kernel's function in plain text while it is printed: parameters with their shapes, loops,
// elements and scalar bodies.
#pragma once

#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/kernel_text.h"
#include "composit/exporters/plain/language.h"
#include "composit/ir/kernel/kernel.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::plain {

class Procedures;  // procedures.h

struct Parameter {
    int buffer = -1;
    std::string name;
    ir::DType dtype = ir::DType::float32;
    std::vector<int64_t> shape;  // that the function's text gives it
    bool is_written = false;
    // C takes no array of arrays of variables for one of constants.
    bool is_const = false;
};

// The names of a function's parameters and local variables, which its kernels share.
struct FunctionScope {
    c_family::Names names;
    std::map<int, std::string> buffers;
    std::set<int> scalars;  // buffers of one element that are local variables
};

// A kernel in its function: the lines of it, and what it needs of the function.
struct PrintedKernel {
    std::vector<std::string> lines;  // none: there is nothing to do
    std::vector<Parameter> parameters;
    bool can_fault = false;         // has `return 1;` for an index out of bounds
    bool has_other_faults = false;  // has `return 2;`, for what else does not hold
};

class KernelText {
  public:
    // `accesses`: as they are printed, for the shapes of parameters.
    KernelText(Language language, const ir::kernel::Kernel& kernel,
               const ir::kernel::Program& program,
               const std::vector<ir::kernel::AccessInLoops>& accesses, FunctionScope& scope);

    c_family::Lines code;
    c_family::Names names;
    std::vector<Parameter> parameters;
    bool can_fault = false, has_other_faults = false;

    Language language() const { return language_; }
    const c_family::ScalarSpelling& spelling() const { return spelling_of(language_); }
    const std::string& index() const { return index_; }  // the type of indices: "int"

    std::vector<std::string> claim_indices(size_t count, const std::string& letters);
    // "for (int i = 0; i < 16; ++i)"
    std::string header(const std::string& i, int64_t extent) const;
    std::string header(const std::string& i, const std::string& begin, const std::string& end,
                       int64_t step = 1) const;
    std::vector<std::string> headers(const std::vector<std::string>& indices,
                                     const ir::kernel::Extents& extents) const;
    // "const int k = e / 12, l = e % 12;": the indices of loops at place e of all.
    std::string taken_apart(const std::string& e, const std::vector<std::string>& indices,
                            const ir::kernel::Extents& extents) const;
    void open(const std::vector<std::string>& headers);
    void close(size_t count);

    // "x[i][j + 3]", of the loops that the access's strides belong to; or its address as int64.
    std::string element(const ir::kernel::Access& access, const ir::kernel::Extents& loops,
                        const std::vector<std::string>& indices) const;
    c_family::ComputedValues compute(const std::vector<ir::scalar::Expr>& values,
                                     const std::vector<ir::kernel::Access>& inputs,
                                     const ir::kernel::Extents& loops,
                                     const std::vector<std::string>& indices,
                                     const std::optional<c_family::ValueRead>& first = {}) const;
    // The code, and the parameters that it names.
    PrintedKernel finish();

  private:
    const Parameter& parameter(int buffer) const;

    Language language_;
    std::string index_ = "int";
    std::set<int> scalars_;
};

// "const float x[4][16]", "float y[restrict 16]".
std::string parameter_text(Language language, const Parameter& parameter);

// The loops of more than one iteration, and the accesses' strides over them.
c_family::LoopNest without_single(const c_family::LoopNest& nest);
// The same in the order in which accesses[leader] goes through memory.
c_family::LoopNest in_memory_order(const c_family::LoopNest& nest, size_t leader);
std::vector<ir::kernel::AccessInLoops> accesses_of(const c_family::LoopNest& nest);
// Strides `first` … of an access as an access of its own.
ir::kernel::Access part_of(const ir::kernel::Access& access, size_t first, size_t count);

// Whether a kernel does nothing but make all bytes of an array zero.
bool clears_an_array(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program);
// Of any kind but Fused, Pack, Repeat and Foreign. `procedures`: what it calls.
PrintedKernel print_kernel(Language language, const ir::kernel::Kernel& kernel,
                           const ir::kernel::Program& program, const Procedures& procedures,
                           FunctionScope& scope);

// ----- one function for each kind
// What they print with: the kernel, and the function that it becomes part of.
struct Printing {
    Language language;
    const ir::kernel::Kernel& kernel;
    const ir::kernel::Program& program;
    const Procedures& procedures;
    FunctionScope& scope;

    KernelText begin(const std::vector<ir::kernel::AccessInLoops>& accesses) const {
        return {language, kernel, program, accesses, scope};
    }
};
using MaybeText = std::optional<KernelText>;
MaybeText print_body(const Printing& printing, const ir::kernel::Map& map);
MaybeText print_body(const Printing& printing, const ir::kernel::Reduce& reduce);
MaybeText print_body(const Printing& printing, const ir::kernel::Scan& scan);
MaybeText print_body(const Printing& printing, const ir::kernel::Contract& contract);
MaybeText print_body(const Printing& printing, const ir::kernel::Gather& gather);
MaybeText print_body(const Printing& printing, const ir::kernel::Scatter& scatter);
MaybeText print_body(const Printing& printing, const ir::kernel::Fold& fold);
MaybeText print_body(const Printing& printing, const ir::kernel::Sort& sort);
MaybeText print_body(const Printing& printing, const ir::kernel::Search& search);
MaybeText print_body(const Printing& printing, const ir::kernel::Call& call);

}  // namespace composit::plain
