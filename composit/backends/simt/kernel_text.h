// What the printers of the kinds of kernels share: functions with their parameters, index
// arithmetic, and scalar bodies.
//
//     FunctionText f(kernel, kernel.kernel.name);
//     f.index_type({…});                                    // int, or int64_t where that is short
//     const auto at = f.thread_indices({rows, columns});    // one thread an element
//     f.code.add(f.element(output, at) + " = …;");
//     f.launch_over(rows * columns);
#pragma once

#include "composit/backends/c_family/combining.h"
#include "composit/backends/simt/kernel_printer.h"
#include "composit/ir/kernel/by_kind.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::simt {

using c_family::Combining;

// Threads of a group where nothing asks for another number.
inline constexpr int64_t group_threads = 256;

// How many groups of `size` it takes for `count`.
inline int64_t groups_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

// How elements of a dtype lie in memory: "float"; "uint8_t" for bool.
std::string memory_type(ir::DType dtype);

// A kernel while it is printed.
class KernelText {
  public:
    KernelText(const Dialect& dialect, const ir::kernel::Kernel& kernel,
               const ir::kernel::Program& program, c_family::Names& file_names);

    const Dialect& dialect;
    const ir::kernel::Kernel& kernel;
    const ir::kernel::Program& program;
    c_family::Names& file_names;
    PrintedKernel printed;
    std::string name;  // that functions are called like: the kernel's
    // Locals of a Fused whose members run one after the other over everything: where in scratch
    // memory all parts of them lie.
    std::map<int, int64_t> locals;

    // So many more bytes of scratch memory: where they begin, a multiple of 256.
    int64_t scratch(int64_t bytes);
    // The names of the parameters, and of what all functions of the kernel must not take.
    const c_family::Names& names() const { return names_; }

  private:
    c_family::Names names_;
};

// One function of a kernel while it is printed. Functions are launched in the order in which
// `launch` was called.
class FunctionText {
  public:
    // Claims a name like `wish`.
    FunctionText(KernelText& kernel, const std::string& wish);

    c_family::Lines code;
    c_family::Names names;  // of the function's scope

    KernelText& kernel() { return kernel_; }
    const Dialect& dialect() const { return kernel_.dialect; }

    // ----- indices

    // Decides on int or int64_t for indices and addresses: for loops of these extents, and accesses
    // over them.
    void index_type(const ir::kernel::Extents& extents,
                    const std::vector<ir::kernel::Access>& accesses);
    const std::string& index() const { return index_; }  // "int"
    // Declares constants of the index type, named like `wish`, and returns the names.
    std::string declare(const std::string& wish, std::string_view value);
    std::string declare(const std::string& type, const std::string& wish, std::string_view value);
    // The indices of the loops at place `flat` of all of them, row-major; declared as needed.
    std::vector<std::string> unflatten(const std::string& flat, const ir::kernel::Extents& extents,
                                       const std::string& letters);
    // The group's number along x, as an index.
    std::string group() const;
    // An index that may lie behind the last of `count`, by `step` at a time: then it is the last,
    // so that threads without work of their own take part in what the group does together.
    std::string at_most_last(const std::string& wished, int64_t count, int64_t step);
    // Declares the number of the thread among all, returns from threads from `count` on, and gives
    // its name.
    std::string thread_number(int64_t count, const std::string& wish = "i");

    // ----- memory

    // "x[i * 8 + j]", or the address itself for positions.
    std::string element(const ir::kernel::Access& access, const std::vector<std::string>& indices);
    // "(x + i * 8)": a pointer.
    std::string place(const ir::kernel::Access& access, const std::vector<std::string>& indices);
    std::string pointer(const ir::kernel::Access& access);
    // From now on the buffer is the array of that name.
    void bind(int buffer, const std::string& name) { bound_[buffer] = name; }
    // A pointer parameter to scratch memory from byte `start` of it on, once for all calls; returns
    // its name.
    std::string scratch_pointer(const std::string& wish, const std::string& type, int64_t start,
                                bool is_written);
    // A pointer to the fault record, and the number of this launch.
    struct FaultNames {
        std::string record, launch;
    };
    FaultNames fault_parameters();
    // The parameters of work on items, under the names that item_words() keeps for them: the fault
    // record and the launch's number; and of items with a workspace their memory.
    void item_parameters(bool has_workspace);
    // Another 64-bit integer parameter.
    std::string number_parameter(const std::string& wish, int64_t value);
    // "__local float lanes[256];", declared, or an array of the thread's own; returns the name.
    std::string local_array(const std::string& type, const std::string& wish, int64_t count,
                            bool is_shared = true);

    // ----- values

    // As c_family::KernelText::compute: statements that compute `values` from the inputs' elements,
    // and the texts of the results. `first`: what stands for argument 0, in front of the inputs.
    using Computed = c_family::ComputedValues;
    Computed compute(const std::vector<ir::scalar::Expr>& values,
                     const std::vector<ir::kernel::Access>& inputs,
                     const std::vector<std::string>& indices,
                     const std::vector<c_family::ValueRead>& first = {});
    // The same of inputs whose elements are written otherwise.
    Computed compute_from(const std::vector<ir::scalar::Expr>& values,
                          const std::vector<c_family::ValueRead>& arguments);

    // Tells the compiler of the group's threads, and of how many groups at a time a processor
    // should have registers for.
    void bound(int64_t groups_at_a_time) { groups_at_a_time_ = groups_at_a_time; }

    // ----- end: puts the function's text into the kernel's, once, and adds a launch.
    void launch(int64_t groups_x, int64_t groups_y, int64_t threads);
    // As many groups of group_threads as `count` threads need.
    void launch_over(int64_t count);
    // The same of items with workspaces.
    void launch_over_items(const PrintedLaunch::Workspace& workspace);

  private:
    struct Extra {  // a parameter that is no buffer
        std::string name, type;
        bool is_written;
        Address address;
        bool is_always_read = false;  // by macros
    };
    std::string parameter(const std::string& name, const std::string& type, bool is_written,
                          bool is_restricted) const;
    std::string start_line(const std::string& name, const std::string& type, bool is_written) const;

    KernelText& kernel_;
    std::string function_, index_ = "int";
    std::map<int, std::string> bound_;
    std::vector<Extra> extras_;
    std::vector<std::pair<std::string, int64_t>> numbers_;
    std::string launch_number_;
    int64_t groups_at_a_time_ = 0;  // 0: nothing was said
};

// What prints each kind that devices run, in print_<kind>.cpp.
using Printers = ir::kernel::ByKind<void, KernelText&>;
Printers& printers();
// OpenCL promises 1,024 bytes for a function's arguments. An operand takes 16: an address, and the
// place where it starts.
inline constexpr size_t most_operands = 60;
// Whether a group of threads works on a part of it; else its members are launched one by one.
bool works_together(const ir::kernel::Fused& fused, const ir::kernel::Program& program);

}  // namespace composit::simt
