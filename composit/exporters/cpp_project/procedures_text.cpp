// Procedures that nodes call, as functions of the project, and the calls of them.
#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"
#include "composit/ir/kernel/loops.h"
#include "composit/ir/procedure/callable.h"

#include <algorithm>

namespace composit::cpp_project {
namespace {

using ir::kernel::Call;
using ir::procedure::Callable;
using ir::procedure::Procedure;

constexpr const char* dense_text = R"(// The elements of a strided array in row-major order.
template <class T>
std::unique_ptr<T[]> dense(const T* from, const std::vector<int64_t>& shape,
                           const std::vector<int64_t>& strides) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::unique_ptr<T[]> made(new T[static_cast<std::size_t>(count)]);
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, at = 0;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            at += rest % shape[axis] * strides[axis];
        made[static_cast<std::size_t>(i)] = from[at];
    }
    return made;
}

)";

// "a + 6 + slice * 3", "a[6 + slice]"
std::string place(const std::string& name, const std::vector<std::string>& offsets, bool is_value) {
    if (is_value) return name + "[" + (offsets.empty() ? "0" : join(offsets, " + ")) + "]";
    return offsets.empty() ? name : name + " + " + join(offsets, " + ");
}

// One call, for each slice of a batch.
class ProcedureCall {
  public:
    ProcedureCall(const Call& kernel, const std::string& function,
                  const std::vector<std::string>& names)
        : kernel_(kernel),
          callable_(*ir::procedure::find_callable(kernel.procedure)),
          function_(function),
          names_(names),
          slices_(ir::element_count(kernel.batch)) {}

    std::vector<std::string> lines() {
        if (slices_ == 0) return {};
        const std::vector<std::string> call = call_of(arguments());
        if (copies_.empty() && slices_ == 1 && call.size() == 1) return call;
        std::vector<std::string> all = {"{"};
        for (const std::string& copy : copies_) all.push_back("    " + copy);
        const std::string margin = slices_ == 1 ? "    " : "        ";
        if (slices_ != 1)
            all.push_back(text("    for (int64_t slice = 0; slice < ", slices_, "; ++slice) {"));
        for (const std::string& line : call) all.push_back(margin + line);
        if (slices_ != 1) all.emplace_back("    }");
        all.emplace_back("}");
        return all;
    }

  private:
    const std::string& name_of(const Call::Operand& operand) const {
        return names_[static_cast<size_t>(operand.access.buffer)];
    }

    std::string at(const std::string& name, const Call::Operand& operand, int64_t offset,
                   bool is_value) const {
        const int64_t step = ir::element_count(operand.extents);
        std::vector<std::string> offsets;
        if (offset != 0) offsets.push_back(text(offset));
        if (slices_ != 1 && step != 0)
            offsets.push_back(step == 1 ? "slice" : text("slice * ", step));
        return place(name, offsets, is_value);
    }

    std::string input(size_t k) {
        const Call::Operand& operand = kernel_.inputs[k];
        const bool is_value = callable_.operands()[k] >= 0;
        const auto extents = ir::kernel::concatenate({kernel_.batch, operand.extents});
        if (ir::kernel::is_row_major(extents, operand.access.strides))
            return at(name_of(operand), operand, operand.access.offset, is_value);
        const std::string copy = text("copy_", copies_.size() + 1);
        const int64_t offset = operand.access.offset;
        copies_.push_back(text("const auto ", copy, " = dense(", name_of(operand),
                               offset == 0 ? "" : text(" + ", offset), ", {", join(extents), "}, {",
                               join(operand.access.strides), "});"));
        return at(is_value ? copy : copy + ".get()", operand, 0, is_value);
    }

    // In the order of the function's head: operands, and extents, which are known.
    std::vector<std::string> arguments() {
        std::vector<std::string> all;
        std::vector<size_t> arrays;  // operands
        size_t next = 0;
        for (const int each : c_family::head_of(callable_.procedure())) {
            if (each >= 0 && callable_.is_extent(static_cast<size_t>(each))) {
                const auto [array, axis] = callable_.extent_of(static_cast<size_t>(each));
                const size_t input = arrays[static_cast<size_t>(array)];
                all.push_back(text(kernel_.inputs[input].extents[axis]));
                continue;
            }
            if (each < 0) arrays.push_back(next);
            all.push_back(input(next++));
        }
        for (size_t k = callable_.procedure().results.size(); k < kernel_.outputs.size(); ++k)
            all.push_back(output(k, false));
        return all;
    }

    std::string output(size_t k, bool is_value) const {
        const Call::Operand& operand = kernel_.outputs[k];
        return at(name_of(operand), operand, operand.access.offset, is_value);
    }

    std::vector<std::string> call_of(const std::vector<std::string>& arguments) const {
        const auto results = c_family::with_names(callable_.procedure()).results;
        const std::string call = text("procedures::", function_, "(", join(arguments), ");");
        if (results.empty()) return {call};
        if (results.size() == 1) return {output(0, true) + " = " + call};
        std::vector<std::string> all = {"const auto made = " + call};
        for (size_t k = 0; k < results.size(); ++k)
            all.push_back(output(k, true) + " = made." + results[k].name + ";");
        return all;
    }

    const Call& kernel_;
    const Callable& callable_;
    std::string function_;
    const std::vector<std::string>& names_;
    int64_t slices_;
    std::vector<std::string> copies_;
};

}  // namespace

const std::string& Procedures::name_of(int64_t number) {
    if (const auto found = places_.find(number); found != places_.end())
        return all_[found->second].name;
    places_[number] = all_.size();
    all_.push_back(ir::procedure::find_callable(number)->procedure());
    all_.back().name = c_family::unique_name(all_.back().name, taken_);
    return all_.back().name;
}

std::string Procedures::text(const std::string& functions) const {
    if (all_.empty()) return "";
    std::string out = "namespace {\n\n";
    if (functions.find(" = dense(") != std::string::npos) out += dense_text;
    return out + "// ----- functions that were written as statements\nnamespace procedures {\n\n" +
           c_family::print_functions(all_) + "}  // namespace procedures\n}  // namespace\n\n";
}

std::vector<std::string> call_of_procedure(Project& project, const Call& call,
                                           const std::vector<std::string>& names) {
    return ProcedureCall(call, project.procedures.name_of(call.procedure), names).lines();
}

}  // namespace composit::cpp_project
