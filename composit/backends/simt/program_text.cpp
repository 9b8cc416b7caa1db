// Prints a program's kernels, equal ones once, and before them what they use.
#include "composit/backends/simt/program_text.h"

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/item_support.h"
#include "composit/base/hash.h"

#include <algorithm>
#include <unordered_map>

namespace composit::simt {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;
using ir::scalar::Expr;

void add_values(const std::vector<Kernel>& kernels, std::vector<Expr>& values) {
    for (const Kernel& kernel : kernels) {
        if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
            add_values(repeat->kernels, values);
            continue;
        }
        for (const Expr& value : ir::kernel::bodies(kernel)) values.push_back(value);
        if (const auto* call = std::get_if<ir::kernel::Call>(&kernel.body))
            for (const Expr& value : c_family::expressions_of(c_family::called_in(*call).procedure))
                values.push_back(value);
    }
}

bool calls_procedures(const std::vector<Kernel>& kernels) {
    return std::any_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) {
        if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body))
            return calls_procedures(repeat->kernels);
        return std::holds_alternative<ir::kernel::Call>(kernel.body);
    });
}

class ProgramPrinter {
  public:
    ProgramPrinter(const Dialect& dialect, const Program& program)
        : dialect_(dialect), program_(program) {}

    ProgramText print() {
        std::vector<Expr> values;
        add_values(program_.kernels, values);
        std::string functions = c_family::print_tables(values, dialect_.scalars);
        for (const auto* specialisation : c_family::functions_used(values))
            functions +=
                "\n" + c_family::print_function(*specialisation, c_family::LoopQuestion::none,
                                                dialect_.scalars);
        std::set<std::string> taken = Dialect::words();
        taken.merge(c_family::declared_names(functions));
        if (calls_procedures(program_.kernels))
            taken.insert(item_words().begin(), item_words().end());
        names_ = c_family::Names(std::move(taken));
        result_.steps = steps_of(program_.kernels, nullptr);
        std::string& text = result_.text;
        text = c_family::file_comment(program_, {"Language: " + std::string(dialect_.name)});
        text += dialect_.prelude;
        if (result_.can_fault) text += dialect_.fault_text;
        if (calls_procedures(program_.kernels)) text += item_support(dialect_, true);
        if (has_counter_) text += dialect_.counter_text;
        if (!functions.empty()) text += "\n" + functions;
        for (const PrintedKernel& kernel : result_.kernels) text += "\n" + kernel.text;
        return std::move(result_);
    }

  private:
    std::vector<ProgramStep> steps_of(const std::vector<Kernel>& kernels, const size_t* around) {
        std::vector<ProgramStep> steps;
        for (size_t k = 0; k < kernels.size(); ++k) {
            ProgramStep step = step_of(kernels[k], around ? *around : k);
            const bool has_work = step.is_repeat ? !step.repeated.empty() && step.begin < step.end
                                                 : !result_.kernels[step.printed].launches.empty();
            if (has_work) steps.push_back(std::move(step));
        }
        return steps;
    }

    ProgramStep step_of(const Kernel& kernel, size_t number) {
        ProgramStep step;
        step.kernel = number;
        if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
            step.is_repeat = true;
            step.begin = repeat->begin;
            step.end = repeat->end;
            if (repeat->counter.buffer != ir::kernel::Access::position) {
                step.buffers = {repeat->counter.buffer};
                has_counter_ = true;
            }
            step.repeated = steps_of(repeat->kernels, &number);
            return step;
        }
        step.printed = printed_for(kernel);
        const PrintedKernel& printed = result_.kernels[step.printed];
        for (const c_family::Parameter& parameter : c_family::parameters_of(kernel, program_))
            step.buffers.push_back(parameter.buffers[0]);
        const auto add_axes = [&](const auto& body) {
            for (size_t j = 0; j < body.indices.size(); ++j)
                step.axes.push_back({body.axis_numbers[j], body.axis_lengths[j]});
        };
        if (const auto* gather = std::get_if<ir::kernel::Gather>(&kernel.body)) add_axes(*gather);
        if (const auto* scatter = std::get_if<ir::kernel::Scatter>(&kernel.body))
            add_axes(*scatter);
        if (const auto* call = std::get_if<ir::kernel::Call>(&kernel.body))
            step.called = std::make_shared<const ir::kernel::Call>(*call);
        result_.can_fault |= printed.can_fault;
        result_.needs_alignment |= printed.needs_alignment;
        result_.scratch_bytes = std::max(result_.scratch_bytes, printed.scratch_bytes);
        return step;
    }

    // Kernels that do the same work on the same pattern of shared memory share their functions.
    size_t printed_for(const Kernel& kernel) {
        uint64_t key = ir::kernel::structural_hash(kernel);
        for (const c_family::Parameter& parameter : c_family::parameters_of(kernel, program_))
            key = hash_combine(key, parameter.buffers.size() * 2 + (parameter.may_overlap ? 1 : 0));
        const auto [place, is_new] = numbers_.try_emplace(key, result_.kernels.size());
        if (is_new) result_.kernels.push_back(print_kernel(dialect_, kernel, program_, names_));
        return place->second;
    }

    const Dialect& dialect_;
    const Program& program_;
    c_family::Names names_;
    ProgramText result_;
    std::unordered_map<uint64_t, size_t> numbers_;
    bool has_counter_ = false;
};

}  // namespace

ProgramText print_program(const Dialect& dialect, const Program& program) {
    return ProgramPrinter(dialect, program).print();
}

}  // namespace composit::simt
