// Functions of kernels: parameters, index arithmetic, loads and scalar bodies.
#include "composit/backends/simt/kernel_text.h"

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace composit::simt {

using c_family::Names;
using ir::DType;
using ir::kernel::Access;
using ir::kernel::Extents;
using ir::scalar::Expr;

namespace {

constexpr int64_t most_of_int = (int64_t{1} << 31) - 4096;

// The largest size that an address, or a part of its sum, may have.
double farthest(const Access& access, const Extents& extents) {
    double far = static_cast<double>(std::abs(access.offset));
    for (size_t d = 0; d < extents.size() && d < access.strides.size(); ++d)
        far += std::abs(static_cast<double>(access.strides[d])) *
               static_cast<double>(std::max<int64_t>(extents[d] - 1, 1));
    return far;
}

// A name whose parameters, where an address is a pair of them, are nobody else's either.
std::string claim_pointer(Names& names, const std::string& wish) {
    std::string name = names.claim(wish);
    while (names.taken().contains(name + "_memory") || names.taken().contains(name + "_start"))
        name = names.claim(wish);
    for (const char* part : {"_memory", "_start"}) names.taken().insert(name + part);
    return name;
}

}  // namespace

std::string memory_type(DType dtype) {
    return dtype == DType::boolean ? "uint8_t" : c_family::type_name(dtype);
}

KernelText::KernelText(const Dialect& spellings, const ir::kernel::Kernel& of,
                       const ir::kernel::Program& in, Names& names_of_file)
    : dialect(spellings),
      kernel(of),
      program(in),
      file_names(names_of_file),
      name(of.name),
      names_(Names::within(names_of_file)) {
    printed.parameters = c_family::parameters_of(kernel, program);
    for (c_family::Parameter& parameter : printed.parameters) {
        const auto& buffer = program.buffers[static_cast<size_t>(parameter.buffers[0])];
        std::string wish = c_family::name_in_call(kernel, parameter.buffers[0]);
        if (wish.empty())
            wish = buffer.name.empty() ? text("t", parameter.buffers[0]) : buffer.name;
        parameter.name = claim_pointer(names_, wish);
    }
}

int64_t KernelText::scratch(int64_t bytes) {
    const int64_t start = printed.scratch_bytes;
    printed.scratch_bytes += (bytes + 255) / 256 * 256;
    return start;
}

FunctionText::FunctionText(KernelText& kernel, const std::string& wish)
    : names(Names::within(kernel.names())),
      kernel_(kernel),
      function_(kernel.file_names.claim(wish)) {}

// ----- indices

void FunctionText::index_type(const Extents& extents, const std::vector<Access>& accesses) {
    double far = 1;
    for (const int64_t extent : extents) far *= static_cast<double>(extent);
    for (const Access& access : accesses) far = std::max(far, farthest(access, extents));
    index_ = far < static_cast<double>(most_of_int) ? "int" : "int64_t";
}

std::string FunctionText::declare(const std::string& wish, std::string_view value) {
    return declare(index_, wish, value);
}

std::string FunctionText::declare(const std::string& type, const std::string& wish,
                                  std::string_view value) {
    const std::string name = names.claim(wish);
    code.add(text("const ", type, " ", name, " = ", value, ";"));
    return name;
}

std::vector<std::string> FunctionText::unflatten(const std::string& flat, const Extents& extents,
                                                 const std::string& letters) {
    if (extents.size() == 1) return {flat};
    // Division of numbers that are never negative is cheaper without a sign.
    const std::string unsigned_index = index_ == "int" ? "uint32_t" : "uint64_t";
    std::vector<std::string> indices;
    int64_t inner = ir::element_count(extents);
    for (size_t d = 0; d < extents.size(); ++d) {
        inner /= extents[d];
        std::string value = text("(", unsigned_index, ")", flat);
        if (inner > 1) value += text(" / ", inner);
        if (d > 0) value += text(" % ", extents[d]);
        indices.push_back(
            declare(d < letters.size() ? std::string(1, letters[d]) : text(letters.back(), d),
                    extents[d] == 1 ? "0" : text("(", index_, ")(", value, ")")));
    }
    return indices;
}

std::string FunctionText::group() const {
    return text(index_ == "int" ? "" : "(int64_t)", kernel_.dialect.group[0]);
}

std::string FunctionText::at_most_last(const std::string& wished, int64_t count, int64_t step) {
    if (count % step == 0) return wished;
    return declare("last", text(wished, " < ", count, " ? ", wished, " : ", count - 1));
}

std::string FunctionText::thread_number(int64_t count, const std::string& wish) {
    const std::string group = this->group();
    const std::string name =
        declare(wish, text(group, " * ", group_threads, " + ", dialect().thread));
    if (count % group_threads != 0) code.add(text("if (", name, " >= ", count, ") return;"));
    return name;
}

// ----- memory

std::string FunctionText::pointer(const Access& access) {
    const auto bound = bound_.find(access.buffer);
    if (bound != bound_.end()) return bound->second;
    const auto local = kernel_.locals.find(access.buffer);
    if (local != kernel_.locals.end())
        return scratch_pointer(kernel_.program.buffers[static_cast<size_t>(access.buffer)].name,
                               memory_type(access.dtype), local->second, true);
    for (const c_family::Parameter& parameter : kernel_.printed.parameters)
        if (std::find(parameter.buffers.begin(), parameter.buffers.end(), access.buffer) !=
            parameter.buffers.end())
            return parameter.name;
    fail<InternalError>("simt: buffer ", access.buffer, " is no parameter");
}

std::string FunctionText::element(const Access& access, const std::vector<std::string>& indices) {
    const std::string address = c_family::address_text(access, indices);
    if (access.buffer == Access::position) return "(int64_t)(" + address + ")";
    return pointer(access) + "[" + address + "]";
}

std::string FunctionText::place(const Access& access, const std::vector<std::string>& indices) {
    const std::string address = c_family::address_text(access, indices);
    if (address == "0") return pointer(access);
    const bool is_negative = address[0] == '-';
    return text("(", pointer(access), is_negative ? " - " : " + ",
                is_negative ? address.substr(1) : address, ")");
}

std::string FunctionText::scratch_pointer(const std::string& wish, const std::string& type,
                                          int64_t start, bool is_written) {
    for (const Extra& extra : extras_)
        if (extra.address.of == Address::Of::scratch && extra.address.number == start)
            return extra.name;
    extras_.push_back(
        {claim_pointer(names, wish), type, is_written, {Address::Of::scratch, start}});
    return extras_.back().name;
}

FunctionText::FaultNames FunctionText::fault_parameters() {
    extras_.push_back({claim_pointer(names, "fault"), "IndexFault", true, {Address::Of::fault, 0}});
    launch_number_ = names.claim("launch");
    kernel_.printed.can_fault = true;
    return {extras_.back().name, launch_number_};
}

void FunctionText::item_parameters(bool has_workspace) {
    extras_.push_back({"fault", "IndexFault", true, {Address::Of::fault, 0}, true});
    launch_number_ = "launch";
    kernel_.printed.can_fault = true;
    if (!has_workspace) return;
    extras_.push_back({"all_workspaces", "char", true, {Address::Of::workspace, 0}});
    numbers_.emplace_back("first", 0);
    numbers_.emplace_back("end", 0);
    numbers_.emplace_back("workspace_bytes", 0);
}

std::string FunctionText::number_parameter(const std::string& wish, int64_t value) {
    numbers_.emplace_back(names.claim(wish), value);
    return numbers_.back().first;
}

std::string FunctionText::local_array(const std::string& type, const std::string& wish,
                                      int64_t count, bool is_shared) {
    const std::string name = names.claim(wish);
    code.add(text(is_shared ? dialect().local : "", type, " ", name, "[", count, "];"));
    return name;
}

// ----- values

FunctionText::Computed FunctionText::compute(const std::vector<Expr>& values,
                                             const std::vector<Access>& inputs,
                                             const std::vector<std::string>& indices,
                                             const std::vector<c_family::ValueRead>& first) {
    std::vector<c_family::ValueRead> arguments = first;
    for (const Access& input : inputs) {
        const bool is_position = input.buffer == Access::position;
        arguments.push_back({is_position ? "position" : pointer(input) + "_value",
                             element(input, indices), input.dtype});
    }
    return compute_from(values, arguments);
}

FunctionText::Computed FunctionText::compute_from(
    const std::vector<Expr>& values, const std::vector<c_family::ValueRead>& arguments) {
    return c_family::compute_values(values, arguments, names, dialect().scalars);
}

// ----- end

std::string FunctionText::parameter(const std::string& name, const std::string& type,
                                    bool is_written, bool is_restricted) const {
    if (dialect().has_starts)
        return text(dialect().global, "char*", is_restricted ? dialect().restricted : "", " ", name,
                    "_memory, const int64_t ", name, "_start");
    return text(is_written ? "" : "const ", type, "*", is_restricted ? dialect().restricted : "",
                " ", name);
}

std::string FunctionText::start_line(const std::string& name, const std::string& type,
                                     bool is_written) const {
    const std::string pointer = text(dialect().global, is_written ? "" : "const ", type, "*");
    return text("    ", pointer, " ", name, " = (", pointer, ")(", name, "_memory + ", name,
                "_start);\n");
}

void FunctionText::launch(int64_t groups_x, int64_t groups_y, int64_t threads) {
    PrintedKernel& printed = kernel_.printed;
    PrintedLaunch launch;
    launch.function = function_;
    launch.groups[0] = groups_x;
    launch.groups[1] = groups_y;
    launch.threads = threads;
    std::vector<std::string> parameters;
    std::string starts;
    const auto add = [&](const std::string& name, const std::string& type, bool is_written,
                         bool is_restricted, Address address, bool is_always_read = false) {
        if (!is_always_read && !c_family::uses(code.lines(), name)) return;
        parameters.push_back(parameter(name, type, is_written, is_restricted));
        if (dialect().has_starts) starts += start_line(name, type, is_written);
        launch.addresses.push_back(address);
    };
    for (size_t k = 0; k < printed.parameters.size(); ++k) {
        const c_family::Parameter& one = printed.parameters[k];
        add(one.name, memory_type(one.dtype), one.is_written,
            !one.may_overlap && one.buffers.size() == 1,
            {Address::Of::parameter, static_cast<int64_t>(k)});
    }
    for (const Extra& extra : extras_)
        add(extra.name, extra.type, extra.is_written, false, extra.address, extra.is_always_read);
    for (const auto& [name, value] : numbers_) {
        parameters.push_back("const int64_t " + name);
        launch.numbers.push_back(value);
    }
    if (!launch_number_.empty()) {
        parameters.push_back("const int64_t " + launch_number_);
        launch.is_numbered = true;
    }
    if (!printed.text.empty()) printed.text += "\n";
    std::string start(dialect().kernel_start);
    if (groups_at_a_time_ > 0) {
        printed.text += text(start, dialect().bounds(threads, groups_at_a_time_), "\n");
        start.clear();
    }
    printed.text += c_family::signature(start + function_, parameters);
    printed.text += starts;
    for (const std::string& line : code.lines()) printed.text += line + "\n";
    printed.text += "}\n";
    printed.launches.push_back(std::move(launch));
}

void FunctionText::launch_over(int64_t count) {
    launch((count + group_threads - 1) / group_threads, 1, group_threads);
}

void FunctionText::launch_over_items(const PrintedLaunch::Workspace& workspace) {
    launch_over(workspace.items);
    kernel_.printed.launches.back().workspace = workspace;
}

}  // namespace composit::simt
