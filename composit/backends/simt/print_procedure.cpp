// Prints calls of procedures: one thread an item of the batch, which runs the statements.
#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/base/text.h"
#include "composit/ir/kernel/loops.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace composit::simt {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::Call;
using ir::kernel::Extents;
using ir::procedure::Procedure;
using ir::procedure::Statement;

// The access along the axes of items, or the strides behind them.
Access of_items(Access access, size_t axes) {
    access.strides.resize(axes);
    return access;
}

// "x + i * 6" of "(x + i * 6)".
std::string without_parentheses(const std::string& place) {
    return place[0] == '(' ? place.substr(1, place.size() - 2) : place;
}

bool is_assigned(const Procedure& procedure, int variable) {
    const auto all = ir::procedure::all_statements(procedure.body);
    return std::any_of(all.begin(), all.end(),
                       [&](const Statement* each) { return each->variable == variable; });
}

class ItemsPrinter {
  public:
    ItemsPrinter(KernelText& kernel, const Call& call)
        : kernel_(kernel),
          call_(call),
          called_(c_family::called_in(call)),
          items_(c_family::items_of(call)) {}

    void print() {
        const int64_t items = ir::element_count(items_);
        if (items == 0) return;
        FunctionText f(kernel_, kernel_.name);
        f.index_type({INT64_MAX}, {});
        c_family::ProcedureInC item(called_.procedure, f.names.taken(), setting());
        begin(f, items, item.has_workspace());
        LoopNest nest{items_, {}};
        for (const auto* operands : {&call_.inputs, &call_.outputs})
            for (const Call::Operand& operand : *operands)
                nest.accesses.push_back(of_items(operand.access, items_.size()));
        nest = c_family::merge_loops(std::move(nest));
        const std::vector<std::string> at = f.unflatten("item", nest.extents, "jklmno");
        std::vector<std::string> results(called_.procedure.results.size());
        for (size_t k = 0; k < called_.outputs.size(); ++k)
            if (const int output = called_.outputs[k]; output >= 0)
                results[static_cast<size_t>(output)] =
                    f.element(nest.accesses[call_.inputs.size() + k], at);
        const std::string body = item.run(results);
        declare_operands(f, item, nest, at, body);
        std::istringstream lines{body};
        for (std::string line; std::getline(lines, line);)
            f.code.add(line.starts_with("    ") ? line.substr(4) : line);
        if (item.has_workspace() || item.can_fail()) f.item_parameters(item.has_workspace());
        if (item.has_workspace())
            f.launch_over_items({items, item.workspace_bytes(), item.may_grow()});
        else
            f.launch_over(items);
    }

  private:
    // What is known of the procedure's arguments: extents, and how elements lie.
    c_family::SettingInC setting() const {
        c_family::SettingInC setting{.scalars = kernel_.dialect.scalars,
                                     .memory = kernel_.dialect.global};
        setting.known = {c_family::known_extents(call_)};
        setting.extents = c_family::extents_of_numbers(call_);
        const auto look = [&](const Call::Operand& operand, int place) {
            if (place >= 0) return;
            const auto rows = static_cast<std::ptrdiff_t>(called_.rows);
            const Extents extents(operand.extents.begin() + rows, operand.extents.end());
            const std::vector<int64_t> strides(
                operand.access.strides.begin() + static_cast<std::ptrdiff_t>(items_.size()),
                operand.access.strides.end());
            if (!ir::kernel::is_row_major(extents, strides)) setting.strides[-1 - place] = strides;
        };
        for (size_t i = 0; i < call_.inputs.size(); ++i) look(call_.inputs[i], called_.operands[i]);
        for (size_t k = 0; k < call_.outputs.size(); ++k)
            look(call_.outputs[k], called_.outputs[k]);
        return setting;
    }

    static void begin(FunctionText& f, int64_t items, bool has_workspace) {
        f.code.add(text("const int64_t item = ", has_workspace ? "first + " : "", f.group(), " * ",
                        group_threads, " + ", f.dialect().thread, ";"));
        if (has_workspace)
            f.code.add("if (item >= end) return;");
        else if (items % group_threads != 0)
            f.code.add(text("if (item >= ", items, ") return;"));
        if (has_workspace)
            f.code.add(
                "Workspace workspace = {all_workspaces + (item - first) * workspace_bytes, "
                "0, workspace_bytes};");
    }

    // What the body reads: extents as constants, the item's numbers, and where its arrays begin.
    void declare_operands(FunctionText& f, const c_family::ProcedureInC& item, const LoopNest& nest,
                          const std::vector<std::string>& at, const std::string& body) const {
        const Procedure& procedure = called_.procedure;
        for (const auto& [parameter, input, axis] : called_.extents)
            if (const std::string& name = item.parameter(parameter); c_family::has_word(body, name))
                f.code.add(text(
                    is_assigned(procedure, parameter) ? "" : "const ", "int64_t ", name, " = ",
                    call_.inputs[static_cast<size_t>(input)].extents[called_.rows + axis], ";"));
        const auto declare = [&](size_t operand, int place, bool is_written) {
            const Access& access = nest.accesses[operand];
            if (place < 0) {
                const std::string& name = item.array(-1 - place);
                if (c_family::has_word(body, name))
                    f.code.add(text(f.dialect().global, is_written ? "" : "const ",
                                    memory_type(access.dtype), "* ", name, " = ",
                                    without_parentheses(f.place(access, at)), ";"));
            } else if (const std::string& name = item.parameter(place);
                       c_family::has_word(body, name)) {
                f.code.add(text(is_assigned(procedure, place) ? "" : "const ",
                                c_family::type_name(access.dtype), " ", name, " = ",
                                f.element(access, at), ";"));
            }
        };
        for (size_t i = 0; i < call_.inputs.size(); ++i) declare(i, called_.operands[i], false);
        for (size_t k = 0; k < call_.outputs.size(); ++k)
            if (called_.outputs[k] < 0) declare(call_.inputs.size() + k, called_.outputs[k], true);
    }

    KernelText& kernel_;
    const Call& call_;
    const c_family::CalledForItems& called_;
    const Extents items_;
};

void print_body(KernelText& kernel, const Call& call) { ItemsPrinter(kernel, call).print(); }

const bool prints_call = printers().add<Call, print_body>();

}  // namespace

}  // namespace composit::simt
