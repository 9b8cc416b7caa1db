#include "composit/exporters/plain/kernel_text.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/shapes.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>

namespace composit::plain {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::BufferKind;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Program;

namespace {

// The type that holds indices, their products and addresses: int has 16 bits somewhere.
std::string index_type(const std::vector<AccessInLoops>& accesses) {
    double far = 1;
    for (const AccessInLoops& each : accesses) {
        double count = 1, address = std::abs(static_cast<double>(each.access.offset));
        for (size_t l = 0; l < each.extents.size(); ++l) {
            const auto extent = static_cast<double>(each.extents[l]);
            count *= extent;
            address += std::abs(static_cast<double>(each.access.strides[l])) * extent;
        }
        far = std::max({far, count, address});
    }
    return far < INT16_MAX ? "int" : far < INT32_MAX - 65536 ? "int32_t" : "int64_t";
}

// "(i + 3)" -> "i + 3"
std::string without_parentheses(const std::string& value) {
    if (value.front() != '(' || value.back() != ')') return value;
    int depth = 0;
    for (size_t at = 0; at + 1 < value.size(); ++at) {
        if (value[at] == '(') ++depth;
        if (value[at] == ')' && --depth == 0) return value;
    }
    return value.substr(1, value.size() - 2);
}

}  // namespace

KernelText::KernelText(Language language, const Kernel& kernel, const Program& program,
                       const std::vector<AccessInLoops>& accesses, FunctionScope& scope)
    : language_(language), index_(index_type(accesses)), scalars_(scope.scalars) {
    for (const c_family::Parameter& each : c_family::parameters_of(kernel, program)) {
        const int number = each.buffers[0];
        const auto& buffer = program.buffers[static_cast<size_t>(number)];
        std::vector<AccessInLoops> own;
        for (const AccessInLoops& access : accesses)
            if (access.access.buffer == number) own.push_back(access);
        Parameter made;
        made.buffer = number;
        auto& name = scope.buffers[number];
        if (name.empty())
            name = scope.names.claim(buffer.name.empty() ? text("t", number) : buffer.name);
        made.name = name;
        made.dtype = each.dtype;
        made.shape = common_shape(own, buffer.shape);
        made.is_written = each.is_written;
        made.is_const =
            !each.is_written && (made.shape.size() <= 1 || buffer.kind == BufferKind::input ||
                                 buffer.kind == BufferKind::constant);
        parameters.push_back(made);
    }
    names = c_family::Names::within(scope.names);  // behind those of the parameters
}

const Parameter& KernelText::parameter(int buffer) const {
    for (const Parameter& each : parameters)
        if (each.buffer == buffer) return each;
    fail<InternalError>("composit internal error: buffer ", buffer, " is no parameter");
}

std::vector<std::string> KernelText::claim_indices(size_t count, const std::string& letters) {
    std::vector<std::string> result;
    for (size_t d = 0; d < count; ++d)
        result.push_back(
            names.claim(d < letters.size() ? std::string(1, letters[d]) : text(letters.back(), d)));
    return result;
}

std::string KernelText::header(const std::string& i, int64_t extent) const {
    return header(i, "0", text(extent));
}

std::string KernelText::header(const std::string& i, const std::string& begin,
                               const std::string& end, int64_t step) const {
    return text("for (", index_, " ", i, " = ", begin, "; ", i, " < ", end, "; ",
                step == 1 ? "++" + i : text(i, " += ", step), ")");
}

std::vector<std::string> KernelText::headers(const std::vector<std::string>& indices,
                                             const Extents& extents) const {
    std::vector<std::string> result;
    for (size_t d = 0; d < extents.size(); ++d) result.push_back(header(indices[d], extents[d]));
    return result;
}

std::string KernelText::taken_apart(const std::string& e, const std::vector<std::string>& indices,
                                    const Extents& extents) const {
    std::vector<std::string> parts;
    int64_t within = ir::element_count(extents);
    for (size_t d = 0; d < extents.size(); ++d) {
        within /= extents[d];
        parts.push_back(text(indices[d], " = ", e, within > 1 ? text(" / ", within) : "",
                             d > 0 ? text(" % ", extents[d]) : ""));
    }
    return text("const ", index_, " ", join(parts), ";");
}

void KernelText::open(const std::vector<std::string>& headers) { code.open_nest(headers); }

void KernelText::close(size_t count) { code.close_nest(count); }

std::string KernelText::element(const Access& access, const Extents& loops,
                                const std::vector<std::string>& indices) const {
    if (access.buffer == Access::position) {
        const std::string address = c_family::address_text(access, indices);
        const bool is_atom = address.find(' ') == std::string::npos && address.front() != '-';
        return converted(language_, "int64_t", is_atom ? address : "(" + address + ")");
    }
    const Parameter& array = parameter(access.buffer);
    if (scalars_.contains(access.buffer)) return array.name;
    const auto axes = along_axes(access, loops, array.shape);
    internal_check(axes.has_value(), "plain: an access leaves its array");
    std::string result = array.name;
    for (const Access& axis : *axes)
        result += "[" + without_parentheses(c_family::address_text(axis, indices)) + "]";
    return axes->empty() ? result + "[0]" : result;
}

c_family::ComputedValues KernelText::compute(
    const std::vector<ir::scalar::Expr>& values, const std::vector<Access>& inputs,
    const Extents& loops, const std::vector<std::string>& indices,
    const std::optional<c_family::ValueRead>& first) const {
    std::vector<c_family::ValueRead> read;
    if (first) read.push_back(*first);
    for (const Access& input : inputs) {
        const bool is_position = input.buffer == Access::position;
        read.push_back({is_position ? "position" : parameter(input.buffer).name + "_value",
                        element(input, loops, indices), input.dtype,
                        !is_position && parameter(input.buffer).is_written});
    }
    return c_family::compute_values(values, read, names, spelling());
}

PrintedKernel KernelText::finish() {
    std::erase_if(parameters,
                  [&](const Parameter& each) { return !c_family::uses(code.lines(), each.name); });
    return {code.lines(), parameters, can_fault, has_other_faults};
}

std::string parameter_text(Language language, const Parameter& parameter) {
    const std::string type = c_family::type_name(parameter.dtype);
    std::string extents = extents_text(parameter.shape);
    if (!parameter.is_written)
        return text(parameter.is_const ? "const " : "", type, " ", parameter.name, extents);
    const std::string_view word = restrict_word(language);
    if (language == Language::c)
        return text(type, " ", parameter.name, extents.insert(1, std::string(word) + " "));
    const std::string inner = extents.substr(extents.find(']') + 1);
    return inner.empty() ? text(type, "* ", word, " ", parameter.name)
                         : text(type, " (*", word, " ", parameter.name, ")", inner);
}

LoopNest without_single(const LoopNest& nest) {
    LoopNest result{{}, nest.accesses};
    for (Access& access : result.accesses) access.strides.clear();
    for (size_t d = 0; d < nest.extents.size(); ++d) {
        if (nest.extents[d] == 1) continue;
        result.extents.push_back(nest.extents[d]);
        for (size_t k = 0; k < nest.accesses.size(); ++k)
            result.accesses[k].strides.push_back(nest.accesses[k].strides[d]);
    }
    return result;
}

LoopNest in_memory_order(const LoopNest& nest, size_t leader) {
    return c_family::sort_loops(without_single(nest), leader);
}

std::vector<AccessInLoops> accesses_of(const LoopNest& nest) {
    std::vector<AccessInLoops> result;
    for (const Access& access : nest.accesses) result.push_back({access, nest.extents});
    return result;
}

Access part_of(const Access& access, size_t first, size_t count) {
    Access result = access;
    const auto start = access.strides.begin() + static_cast<std::ptrdiff_t>(first);
    result.strides.assign(start, start + static_cast<std::ptrdiff_t>(count));
    return result;
}

PrintedKernel print_kernel(Language language, const Kernel& kernel, const Program& program,
                           const Procedures& procedures, FunctionScope& scope) {
    MaybeText made;
    std::visit(
        [&](const auto& body) {
            const Printing printing{language, kernel, program, procedures, scope};
            if constexpr (requires { print_body(printing, body); })
                made = print_body(printing, body);
        },
        kernel.body);
    return made ? made->finish() : PrintedKernel{};
}

}  // namespace composit::plain
