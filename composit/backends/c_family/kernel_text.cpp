// Lines, parameters, names and scalar bodies of a kernel's function.
#include "composit/backends/c_family/kernel_text.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::c_family {

using ir::DType;
using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Combiner;
using ir::kernel::Extents;
using ir::scalar::Expr;

namespace {

const Buffer& buffer_of(const ir::kernel::Program& program, int number) {
    return program.buffers[static_cast<size_t>(number)];
}

// Whether two temporaries share a part of the arena.
bool overlap(const Buffer& a, const Buffer& b) {
    if (a.kind != BufferKind::temporary || b.kind != BufferKind::temporary) return false;
    if (a.arena_offset < 0 || b.arena_offset < 0) return false;
    return a.arena_offset < b.arena_offset + b.bytes && b.arena_offset < a.arena_offset + a.bytes;
}

void add_parameter(std::vector<Parameter>& parameters, const ir::kernel::Program& program,
                   const Access& access, bool is_written) {
    if (access.buffer == Access::position) return;
    const Buffer& buffer = buffer_of(program, access.buffer);
    Parameter parameter{{access.buffer}, "", access.dtype, is_written, false};
    for (Parameter& other : parameters) {
        const Buffer& place = buffer_of(program, other.buffers[0]);
        bool is_same = other.buffers[0] == access.buffer;
        bool shares = is_written && !is_same && overlap(place, buffer);
        if (is_same ||
            (shares && other.dtype == access.dtype && place.arena_offset == buffer.arena_offset)) {
            if (!is_same) other.buffers.push_back(access.buffer);
            other.is_written |= is_written;
            return;
        }
        if (shares) other.may_overlap = parameter.may_overlap = true;
    }
    parameters.push_back(std::move(parameter));
}

// How often each argument is used in the values, results included.
std::map<int, int> count_uses(const std::vector<Expr>& values) {
    std::map<int, int> uses;
    auto count = [&](const Expr& expr) {
        if (expr.op() == ir::scalar::Op::argument) ++uses[expr.index()];
    };
    for (const Expr& expr : ir::scalar::topological_order(values))
        for (const Expr& operand : expr.operands()) count(operand);
    for (const Expr& value : values) count(value);
    return uses;
}

}  // namespace

void Lines::add(const std::string& line) {
    bool is_directive = !line.empty() && line[0] == '#';
    lines_.push_back(is_directive ? line
                                  : std::string(static_cast<size_t>(depth_) * 4, ' ') + line);
}

void Lines::open(const std::string& header) {
    add(header + " {");
    ++depth_;
}

void Lines::close(const std::string& end) {
    --depth_;
    add("}" + end);
}

void Lines::open_nest(const std::vector<std::string>& headers) {
    for (size_t d = 0; d < headers.size(); ++d) {
        if (d + 1 == headers.size()) return open(headers[d]);
        add(headers[d]);
        ++depth_;
    }
}

void Lines::close_nest(size_t count) {
    if (count == 0) return;
    close();
    depth_ -= static_cast<int>(count) - 1;
}

void Lines::nest(const std::vector<std::string>& headers, const std::vector<std::string>& body) {
    bool needs_braces = body.size() > 1 && !headers.empty();
    for (size_t d = 0; d < headers.size(); ++d) {
        add(headers[d] + (needs_braces && d + 1 == headers.size() ? " {" : ""));
        ++depth_;
    }
    for (const std::string& line : body) add(line);
    depth_ -= static_cast<int>(headers.size());
    if (needs_braces) {
        depth_ += static_cast<int>(headers.size()) - 1;
        add("}");
        depth_ -= static_cast<int>(headers.size()) - 1;
    }
}

std::vector<Parameter> parameters_of(const ir::kernel::Kernel& kernel,
                                     const ir::kernel::Program& program) {
    std::vector<Parameter> parameters;
    for (const auto& read : ir::kernel::accesses_read(kernel))
        add_parameter(parameters, program, read.access, false);
    for (const auto& written : ir::kernel::accesses_written(kernel))
        add_parameter(parameters, program, written.access, true);
    return parameters;
}

KernelText::KernelText(const ir::kernel::Kernel& kernel, const ir::kernel::Program& program,
                       const Names& file_names)
    : names(Names::within(file_names)) {
    printed.parameters = parameters_of(kernel, program);
    for (Parameter& parameter : printed.parameters) {
        const Buffer& buffer = buffer_of(program, parameter.buffers[0]);
        parameter.name =
            names.claim(buffer.name.empty() ? text("t", parameter.buffers[0]) : buffer.name);
        printed.is_any_order |= parameter.may_overlap;
    }
}

const std::string& KernelText::pointer(const Access& access) const {
    for (const Parameter& parameter : printed.parameters)
        if (std::find(parameter.buffers.begin(), parameter.buffers.end(), access.buffer) !=
            parameter.buffers.end())
            return parameter.name;
    fail<InternalError>("composit internal error: buffer ", access.buffer, " is no parameter");
}

std::string KernelText::element(const Access& access,
                                const std::vector<std::string>& indices) const {
    std::string address = address_text(access, indices);
    if (access.buffer == Access::position) return "static_cast<int64_t>(" + address + ")";
    return pointer(access) + "[" + address + "]";
}

std::string KernelText::place(const Access& access, const std::vector<std::string>& indices,
                              const std::string& type, bool is_written) const {
    std::string address = address_text(access, indices);
    std::string result = pointer(access);
    if (address != "0") result += (address[0] == '-' ? " - " + address.substr(1) : " + " + address);
    if (type == type_name(access.dtype)) return result;
    return text("reinterpret_cast<", is_written ? "" : "const ", type, "*>(", result, ")");
}

std::vector<std::string> KernelText::claim_indices(size_t count, const std::string& letters) {
    std::vector<std::string> result;
    for (size_t d = 0; d < count; ++d)
        result.push_back(
            names.claim(d < letters.size() ? std::string(1, letters[d]) : text(letters.back(), d)));
    return result;
}

ComputedValues compute_values(const std::vector<Expr>& values, const std::vector<ValueRead>& read,
                              const Names& names, const ScalarSpelling& spelling) {
    ComputedValues computed;
    std::map<int, int> uses = count_uses(values);
    const std::set<int> left_out = arguments_in_branches(values);
    std::vector<std::string> arguments;
    Names inner = Names::within(names);  // these names end with the block around the lines
    for (const ValueRead& each : read) {
        const int number = static_cast<int>(arguments.size()), count = uses[number];
        std::string argument = each.text;
        // With several results, one may be stored before the next is computed, in place. And a load
        // that a choice may leave out is a conditional one: g++ 12 gives it the condition of
        // another element where it unrolls the loop (-O3 -mavx2).
        if (count > 1 || (count > 0 && values.size() > 1 && each.may_change) ||
            left_out.contains(number)) {
            argument = inner.claim(each.wish);
            computed.lines.push_back(
                text("const ", type_name(each.dtype), " ", argument, " = ", each.text, ";"));
        }
        arguments.push_back(argument);
    }
    Statements statements = print_statements(values, arguments, inner.taken(), nullptr, spelling);
    // Both branches of a choice may be one value, which is no choice.
    std::erase_if(computed.lines, [&](const std::string& line) {
        const size_t end = line.find(" = "), begin = line.rfind(' ', end - 1) + 1;
        const std::string name = line.substr(begin, end - begin);
        return !c_family::uses(statements.lines, name) && !c_family::uses(statements.results, name);
    });
    computed.lines.insert(computed.lines.end(), statements.lines.begin(), statements.lines.end());
    computed.results = std::move(statements.results);
    computed.names = std::move(inner);
    return computed;
}

std::string is_before(const std::string& a, const std::string& b, ir::DType dtype) {
    const std::string less = text(a, " < ", b);
    if (!ir::is_floating(dtype)) return less;
    return text(less, " || (", b, " != ", b, " && ", a, " == ", a, ")");
}

ComputedValues KernelText::compute(const std::vector<Expr>& values,
                                   const std::vector<Access>& inputs,
                                   const std::vector<std::string>& indices,
                                   const std::optional<ValueRead>& first) {
    std::vector<ValueRead> read;
    if (first) read.push_back(*first);
    for (const Access& input : inputs) {
        const bool is_position = input.buffer == Access::position;
        read.push_back({is_position ? "position" : pointer(input) + "_value",
                        element(input, indices), input.dtype});
    }
    return compute_values(values, read, names, cpp_spelling);
}

std::string KernelText::constants(const std::string& name, const std::vector<int64_t>& values) {
    if (values.empty()) return "nullptr";
    std::string claimed = names.claim(name);
    code.add(text("static constexpr int64_t ", claimed, "[] = {", join(values), "};"));
    return claimed;
}

std::string KernelText::loops(const std::string& name, const Extents& extents) {
    return text("{", extents.size(), ", ", constants(name, extents), "}");
}

std::string loop_header(const std::string& index, int64_t extent) {
    return text("for (int64_t ", index, " = 0; ", index, " < ", extent, "; ++", index, ")");
}

std::vector<std::string> loop_headers(const std::vector<std::string>& indices,
                                      const Extents& extents, int split) {
    std::vector<std::string> headers;
    for (size_t d = 0; d < extents.size(); ++d) {
        const std::string& i = indices[d];
        headers.push_back(static_cast<int>(d) == split
                              ? text("for (int64_t ", i, " = begin; ", i, " < end; ++", i, ")")
                              : loop_header(i, extents[d]));
    }
    return headers;
}

int choose_split(const Extents& extents, double work) {
    constexpr double worth_sharing = 16384;
    int split = work < worth_sharing ? -1 : loop_to_split(extents);
    return split >= 0 && extents[static_cast<size_t>(split)] == 1 ? -1 : split;
}

std::string combining_type(Combiner combiner, DType dtype) {
    if (dtype == DType::boolean) return "uint8_t";
    bool wraps = combiner == Combiner::sum || combiner == Combiner::product;
    if (wraps && ir::is_signed_integer(dtype)) return "u" + type_name(dtype);
    return type_name(dtype);
}

}  // namespace composit::c_family
