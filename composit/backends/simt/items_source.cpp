// Kernels of procedures whose extents are parameters.
#include "composit/backends/simt/items_source.h"

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/kernel_names.h"
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/item_support.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"

#include <algorithm>
#include <utility>

namespace composit::simt {
namespace {

using c_family::Names;
using ir::procedure::Procedure;
using ir::scalar::Expr;
using Of = ItemParameter::Of;
using Role = ir::procedure::ArrayVariable::Role;

class KernelWriter {
  public:
    KernelWriter(const Dialect& dialect, const Procedure& procedure, const std::string& name,
                 Names& file)
        : dialect_(dialect),
          names_(Names::within(file)),
          item_((made_.called = c_family::called_for_items(procedure)).procedure, names_.taken(),
                {.scalars = dialect.scalars, .memory = dialect.global}) {
        made_.name = file.claim(name);
    }

    ItemKernel run() {
        const Procedure& own = made_.called.procedure;
        std::vector<std::string> results;
        for (const ir::procedure::Variable& result : own.results)
            results.push_back(names_.claim("all_" + result.name) + "[item]");
        const std::string body = item_.run(results);
        for (const int each : c_family::head_of(own)) {
            if (each < 0)
                add_array(-1 - each);
            else if (is_extent(each))
                add(Of::extent, each, "const int64_t ", item_.parameter(each));
            else
                add_number(each);
        }
        for (size_t k = 0; k < own.results.size(); ++k)
            add(Of::result, static_cast<int>(k), pointer(own.results[k].dtype, true),
                results[k].substr(0, results[k].size() - 6));
        for (const int each : own.arrays_of(Role::output)) add_array(each);
        add(Of::items, -1, "const int64_t ", "items");
        const bool may_fail = item_.has_workspace() || item_.can_fail();
        if (may_fail) add(Of::fault, -1, dialect_.global, "fault", "IndexFault* ");
        if (item_.has_workspace()) {
            add(Of::workspace, -1, dialect_.global, "all_workspaces", "char* ");
            add(Of::bytes, -1, "const int64_t ", "workspace_bytes");
        }
        made_.text = comment_of_words(own.doc.empty() ? own.name : own.doc) +
                     c_family::signature(std::string(dialect_.kernel_start) + made_.name, heads_);
        line(text("const int64_t item = ", dialect_.global_thread, ";"));
        line("if (item >= items) return;");
        if (may_fail) line("const int64_t launch = 1;");
        if (item_.has_workspace())
            line(
                "Workspace workspace = {all_workspaces + item * workspace_bytes, 0, "
                "workspace_bytes};");
        for (const auto* lines : {&numbers_, &lines_})
            for (const std::string& each : *lines) line(each);
        made_.text += body + "}\n";
        return std::move(made_);
    }

    bool may_fail() const { return item_.has_workspace() || item_.can_fail(); }
    bool has_workspace() const { return item_.has_workspace(); }

  private:
    void line(const std::string& own) { made_.text += "    " + own + "\n"; }

    void add(Of of, int number, std::string_view type, const std::string& name,
             std::string_view more = "") {
        heads_.push_back(text(type, more, name));
        made_.parameters.push_back({of, number, name});
    }

    std::string pointer(ir::DType dtype, bool is_written) const {
        return text(dialect_.global, is_written ? "" : "const ", memory_type(dtype), "* ");
    }

    bool is_extent(int parameter) const {
        const auto& extents = made_.called.extents;
        return std::any_of(extents.begin(), extents.end(),
                           [&](const auto& each) { return each.parameter == parameter; });
    }

    bool is_changed(int variable) const {
        const auto all = ir::procedure::all_statements(made_.called.procedure.body);
        return std::any_of(all.begin(), all.end(),
                           [&](const auto* each) { return each->variable == variable; });
    }

    void add_array(int number) {
        const auto& array = made_.called.procedure.arrays[static_cast<size_t>(number)];
        const std::string all = names_.claim("all_" + array.name);
        const std::string type = pointer(array.dtype, array.role == Role::output);
        add(Of::array, number, type, all);
        const std::string count = item_.count_of(number, lines_);
        lines_.push_back(text(type, item_.array(number), " = ", all, " + item * ",
                              count.find(' ') == std::string::npos ? count : "(" + count + ")",
                              ";"));
    }

    void add_number(int number) {
        const auto& variable = made_.called.procedure.variables[static_cast<size_t>(number)];
        const std::string all = names_.claim("all_" + variable.name);
        add(Of::variable, number, pointer(variable.dtype, false), all);
        numbers_.push_back(text(is_changed(number) ? "" : "const ",
                                c_family::type_name(variable.dtype), " ", item_.parameter(number),
                                " = ", all, "[item];"));
    }

    const Dialect& dialect_;
    ItemKernel made_;
    Names names_;
    c_family::ProcedureInC item_;
    // Of the head; what declares the item's numbers, then its arrays.
    std::vector<std::string> heads_, numbers_, lines_;
};

}  // namespace

ItemFile print_items(const Dialect& dialect, const std::vector<Procedure>& procedures,
                     const std::vector<std::string>& names) {
    std::vector<Expr> values;
    for (const Procedure& procedure : procedures)
        for (const Expr& value :
             c_family::expressions_of(c_family::called_for_items(procedure).procedure))
            values.push_back(value);
    std::string functions = c_family::print_tables(values, dialect.scalars);
    for (const auto* used : c_family::functions_used(values))
        functions +=
            "\n" + c_family::print_function(*used, c_family::LoopQuestion::none, dialect.scalars);
    std::set<std::string> taken = Dialect::words();
    taken.merge(c_family::declared_names(functions));
    taken.insert(item_words().begin(), item_words().end());
    Names file(std::move(taken));
    ItemFile made;
    bool may_fail = false, has_workspace = false;
    for (size_t i = 0; i < procedures.size(); ++i) {
        KernelWriter writer(dialect, procedures[i], names[i], file);
        made.kernels.push_back(writer.run());
        may_fail |= writer.may_fail();
        has_workspace |= writer.has_workspace();
    }
    made.text = comment_of_words(text("Kernels of composit in ", dialect.name,
                                      ": a thread works on one item of a batch.")) +
                "\n" + std::string(dialect.prelude);
    if (may_fail)
        made.text += std::string(dialect.fault_text) + item_support(dialect, has_workspace);
    if (!functions.empty()) made.text += "\n" + functions;
    for (const ItemKernel& kernel : made.kernels) made.text += "\n" + kernel.text;
    return made;
}

}  // namespace composit::simt
