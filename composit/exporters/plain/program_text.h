// Programs as plain text: their kernels, each once, their constants and memory, and the functions
// that call the kernels.
#pragma once

#include "composit/backends/c_family/kernel_names.h"
#include "composit/exporters/plain/grouping.h"
#include "composit/exporters/plain/kernel_text.h"
#include "composit/exporters/plain/memory.h"
#include "composit/exporters/plain/plain.h"
#include "composit/exporters/plain/procedures.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace composit::plain {

// A function of the text that does the work of a few kernels.
struct PrintedFunction {
    std::string name, text;
    std::vector<Parameter> parameters;
    bool can_fault = false, has_other_faults = false;
    bool is_clearing = false;  // no function: what makes its only array zero, where it is called
};

// A call of such a function, or a loop around calls.
struct Step {
    size_t function = 0;       // in the text
    std::vector<int> buffers;  // one for each parameter
    const ir::kernel::Repeat* repeat = nullptr;
    std::vector<Step> repeated = {};
};

// One function that is exported.
struct FunctionPlan {
    ir::kernel::Program program;     // with the names of the text
    std::string name;                // of the function
    std::vector<std::string> names;  // of its buffers: parameters, members of the memory, constants
    std::unique_ptr<Memory> memory;
    std::vector<Step> steps;
    std::set<int> locals;                 // temporaries that are variables of one function
    std::vector<std::set<int>> together;  // buffers that one function gets
    bool can_fault = false, has_other_faults = false;  // its status may be 1, or 2
    const PlainFunction* given = nullptr;
};

class ProgramText {
  public:
    ProgramText(const std::vector<PlainFunction>& functions, const PlainOptions& options);

    const std::string& name() const { return name_; }  // of the files
    const std::vector<FunctionPlan>& functions() const { return functions_; }
    const PlainOptions& options() const { return options_; }

    // The parts of the source.
    const std::string& constants() const { return constants_; }
    int64_t constant_bytes() const { return constant_bytes_; }
    std::string structs() const;
    const Procedures& procedures() const { return procedures_; }
    std::string kernels() const;  // behind the procedures
    std::string calls() const;

    // "int step(const float x[4], float y[3], void* _workspace)"
    std::string declaration(const FunctionPlan& function) const;
    static std::string bytes_name(const FunctionPlan& function) {
        return function.name + "_workspace_bytes";
    }

  private:
    void name_buffers(FunctionPlan& function);
    void place_constants(FunctionPlan& function);
    void print_groups(FunctionPlan& function, std::vector<ir::kernel::Kernel>& kernels,
                      std::vector<Step>& steps);
    void print_group(FunctionPlan& function, const Group& group, std::vector<Step>& steps);
    bool is_of_variables(const FunctionPlan& function) const;
    std::string constant_name(const ir::kernel::Buffer& buffer);
    // `iteration`: the counter of a loop around calls; one within it is inner_iteration.
    std::vector<std::string> call(const FunctionPlan& function, const Step& step,
                                  const std::string& iteration = "iteration") const;
    std::string argument(const FunctionPlan& function, const Parameter& parameter,
                         int buffer) const;

    PlainOptions options_;
    std::string name_;
    c_family::Names file_names_;
    Procedures procedures_;
    std::vector<FunctionPlan> functions_;
    std::string scalars_, constants_;
    int64_t constant_bytes_ = 0;
    std::map<std::string, int> counts_;  // of constants of the same stem
    std::set<std::string> names_of_buffers_;
    std::vector<ir::scalar::Expr> printed_values_;        // of the kernels that are in the text
    std::map<std::string, std::string> known_constants_;  // text without the name -> name
    std::vector<PrintedFunction> kernels_;
    std::map<std::string, size_t> known_kernels_;
};

}  // namespace composit::plain
