// Writes the exported functions: pointers to the buffers, then one call per kernel.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"
#include "composit/exporters/cpp_project/sections.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::cpp_project {
namespace {

using c_family::KernelCall;
using c_family::PrintedKernel;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

constexpr size_t calls_per_part = 150;    // docs/semantics.md 15
constexpr size_t calls_of_a_module = 4;   // fewer are no function of their own
constexpr double worth_sharing = 131072;  // operations and bytes; less is not worth waking threads

constexpr const char* floating_point = "    const DefaultFloatingPoint floating_point;\n";

// A pointer that the calls use.
struct Pointer {
    std::string type, name, value, comment;
};

class FunctionWriter {
  public:
    FunctionWriter(Project& project, const ExportedFunction& function, size_t number)
        : project_(project),
          function_(function),
          program_(*function.program),
          calls_(project.modules.calls[number]) {
        find_used(calls_);
        find_used_in_starts();
    }

    std::string text() {
        place_buffers();
        std::vector<std::string> paths;
        for (const KernelCall& call : calls_) {
            statements_.push_back(statement(call));
            paths.push_back(module_of(*call.kernel));
        }
        whole_ = sections_of(std::move(paths), calls_of_a_module, calls_per_part);
        is_in_one_ = std::all_of(whole_.items.begin(), whole_.items.end(),
                                 [](const Section& item) { return item.is_call(); });
        return is_in_one_ ? in_one() : in_parts();
    }

  private:
    std::string type(const Buffer& buffer) const { return c_family::type_name(buffer.dtype); }

    // Kernels over no elements are not called, so what only they name is not declared.
    void find_used(const std::vector<KernelCall>& calls) {
        for (const KernelCall& call : calls) {
            used_.insert(call.buffers.begin(), call.buffers.end());
            find_used(call.repeated);
            if (call.has_function() &&
                std::find(modules_.begin(), modules_.end(), call.module) == modules_.end())
                modules_.push_back(call.module);
        }
    }

    // What an output starts as, where the caller did not give both the same memory.
    std::string starts(const std::string& margin) const {
        std::string result;
        for (int number : program_.outputs) {
            const Buffer& output = program_.buffers[static_cast<size_t>(number)];
            if (output.starts_as < 0 || output.bytes == 0) continue;
            const std::string& to = function_.names[static_cast<size_t>(number)];
            const std::string& from = function_.names[static_cast<size_t>(output.starts_as)];
            result += composit::text(margin, "if (", to, " != ", from, ") std::memcpy(", to, ", ",
                                     from, ", ", output.bytes, ");\n");
        }
        return result;
    }

    void find_used_in_starts() {
        for (int number : program_.outputs)
            if (const int input = program_.buffers[static_cast<size_t>(number)].starts_as;
                input >= 0)
                used_.insert({number, input});
    }

    void place_buffers() {
        const bool needs_arena = std::any_of(used_.begin(), used_.end(), [&](int b) {
            return program_.buffers[static_cast<size_t>(b)].kind == BufferKind::temporary;
        });
        if (needs_arena) arena_bytes_ = (program_.arena_bytes + 63) / 64 * 64;
        for (size_t b = 0; b < program_.buffers.size(); ++b) {
            if (!used_.contains(static_cast<int>(b))) continue;
            const Buffer& buffer = program_.buffers[b];
            const std::string& name = function_.names[b];
            std::string shape = composit::text("[", join(buffer.shape), "]");
            if (buffer.kind == BufferKind::constant) {
                place_constant(buffer, name, shape);
            } else if (buffer.kind == BufferKind::packed) {
                place_packed(static_cast<int>(b), name, shape);
            } else if (buffer.kind == BufferKind::temporary) {
                int64_t at = buffer.arena_offset;
                if (at < 0) {
                    at = arena_bytes_;
                    arena_bytes_ += (buffer.bytes + 63) / 64 * 64;
                }
                pointers_.push_back(
                    {type(buffer) + "*", name,
                     composit::text("reinterpret_cast<", type(buffer), "*>(arena + ", at, ")"),
                     shape});
            }
        }
    }

    void place_constant(const Buffer& buffer, const std::string& name, const std::string& shape) {
        if (buffer.value.size() == 0) {
            pointers_.push_back({"const " + type(buffer) + "*", name, "nullptr", shape});
        } else if (buffer.value.size() <= inlined_elements) {
            tables_ += composit::text("    static constexpr ", type(buffer), " ", name,
                                      "_values[] = ", literals(buffer.value.value()), ";\n");
            pointers_.push_back({"const " + type(buffer) + "*", name, name + "_values", shape});
        } else {
            needs_weights_ = true;
            pointers_.push_back(
                {"const " + type(buffer) + "*", name,
                 composit::text("reinterpret_cast<const ", type(buffer), "*>(constants + ",
                                project_.weights.place(buffer.value.value()), ")"),
                 shape});
        }
    }

    void place_packed(int number, const std::string& name, const std::string& shape) {
        const Buffer& buffer = program_.buffers[static_cast<size_t>(number)];
        for (const Kernel& kernel : program_.kernels) {
            const auto* pack = std::get_if<ir::kernel::Pack>(&kernel.body);
            if (pack == nullptr || pack->to.buffer != number) continue;
            const Buffer& from = program_.buffers[static_cast<size_t>(pack->from.buffer)];
            const int64_t at = project_.packed.place(
                *pack, project_.weights.place(from.value.value()), buffer.bytes);
            needs_packed_ = true;
            pointers_.push_back(
                {"const " + type(buffer) + "*", name,
                 composit::text("reinterpret_cast<const ", type(buffer), "*>(packed + ", at, ")"),
                 shape});
        }
    }

    std::vector<std::string> repeated(const KernelCall& call) {
        const auto& repeat = std::get<ir::kernel::Repeat>(call.kernel->body);
        std::vector<std::string> lines = {composit::text("for (int64_t iteration = ", repeat.begin,
                                                         "; iteration < ", repeat.end,
                                                         "; ++iteration) {")};
        for (int counter : call.buffers)
            lines.push_back(composit::text("    *", function_.names[static_cast<size_t>(counter)],
                                           " = iteration;"));
        for (const KernelCall& inner : call.repeated)
            for (const std::string& line : statement(inner)) lines.push_back("    " + line);
        lines.push_back("}");
        return lines;
    }

    // The lines of one kernel's call.
    std::vector<std::string> statement(const KernelCall& call) {
        if (call.is_repeat()) return repeated(call);
        const Kernel& kernel = *call.kernel;
        if (const auto* called = std::get_if<ir::kernel::Call>(&kernel.body))
            return call_of_procedure(project_, *called, function_.names);
        const PrintedKernel& printed =
            project_.modules.modules[call.module].functions[call.function];
        std::string table = composit::text("k", call.module + 1);
        std::vector<std::string> arguments;
        for (int buffer : call.buffers)
            arguments.push_back(function_.names[static_cast<size_t>(buffer)]);
        if (!printed.scratch_bytes.empty())
            arguments.push_back(
                composit::text("scratch(", table, ".", printed.function, "_scratch)"));
        double work = ir::kernel::flops(kernel) + ir::kernel::bytes_moved(kernel, program_);
        bool is_shared = printed.tasks > 1 && work >= worth_sharing;
        if (printed.tasks > 1) {
            std::vector<std::string> range = {"0", composit::text(printed.tasks)};
            if (is_shared) range = {"begin", "end"};
            arguments.insert(arguments.begin(), range.begin(), range.end());
        }
        uses_threads_ |= is_shared;
        if (printed.can_fault) return faulting(kernel, printed, table, arguments, is_shared);
        std::string line = composit::text(table, ".", printed.function, "(", join(arguments), ");");
        if (!is_shared) return {line};
        return {composit::text("pool().share_out(threads, ", printed.tasks,
                               ", [&](int64_t begin, int64_t end) {"),
                "    " + line, "});"};
    }

    static std::pair<std::vector<int64_t>, std::vector<int64_t>> axes_of(const Kernel& kernel) {
        if (const auto* gather = std::get_if<ir::kernel::Gather>(&kernel.body))
            return {gather->axis_numbers, gather->axis_lengths};
        const auto& scatter = std::get<ir::kernel::Scatter>(kernel.body);
        return {scatter.axis_numbers, scatter.axis_lengths};
    }

    std::vector<std::string> faulting(const Kernel& kernel, const PrintedKernel& printed,
                                      const std::string& table, std::vector<std::string> arguments,
                                      bool is_shared) {
        auto [numbers, lengths] = axes_of(kernel);
        if (numbers.empty()) numbers = lengths = {0};
        arguments.push_back("&fault");
        std::string call = composit::text(table, ".", printed.function, "(", join(arguments), ");");
        std::vector<std::string> lines = {
            "{",
            composit::text("    static constexpr int64_t numbers[] = {", join(numbers),
                           "}, lengths[] = {", join(lengths), "};"),
            "    FirstFault first;"};
        std::string margin = "    ";
        if (is_shared) {
            lines.push_back(composit::text("    pool().share_out(threads, ", printed.tasks,
                                           ", [&](int64_t begin, int64_t end) {"));
            margin = "        ";
        }
        for (const std::string& line :
             {std::string("Fault fault = {-1, 0, 0};"), call, std::string("first.add(fault);")})
            lines.push_back(margin + line);
        if (is_shared) lines.push_back("    });");
        lines.push_back("    first.check(numbers, lengths);");
        lines.push_back("}");
        return lines;
    }

    std::string opening(const std::string& margin) const {
        std::string result = tables_ + starts(margin);
        if (arena_bytes_ > 0)
            result += composit::text(margin, "static thread_local Memory memory;\n", margin,
                                     "char* const arena = memory.at_least(", arena_bytes_, ");\n");
        if (needs_weights_) result += margin + "const char* const constants = weights();\n";
        if (needs_packed_) result += margin + "const char* const packed = packed_weights();\n";
        return result;
    }

    std::string signature() const {
        return composit::text("void ", function_.name, "(",
                              parameter_list(function_, ", ", is_in_one_ ? &used_ : nullptr),
                              ", int", uses_threads_ || !is_in_one_ ? " threads" : "", ") {\n");
    }

    std::string in_one() const {
        std::string result = signature() + floating_point + opening("    ");
        for (size_t module : modules_)
            result += composit::text("    const Kernels_", module + 1, "& k", module + 1,
                                     " = kernels_", module + 1, "();\n");
        for (const Pointer& p : pointers_)
            result += composit::text("    ", p.type, " const ", p.name, " = ", p.value, ";  // ",
                                     p.comment, "\n");
        return result + calls_of(whole_, "    ") + "}\n\n";
    }

    // What the section calls itself, and its sections; a comment where the module changes.
    std::string calls_of(const Section& section, const std::string& margin) const {
        std::string result;
        std::string path = section.path;
        for (const Section& item : section.items) {
            if (!item.is_call()) {
                result += margin + section_names_.at(&item) + "();\n";
                path = section.path;
                continue;
            }
            if (item.path != path) result += margin + comment_line(item.path);
            path = item.path;
            for (const std::string& line : statements_[item.call]) result += margin + line + "\n";
        }
        return result;
    }

    // Functions of a struct: one for each section, those within before the one around them.
    std::string sections_within(const Section& section, c_family::Names& names) {
        std::string result;
        for (const Section& inner : section.items) {
            if (inner.is_call()) continue;
            result += sections_within(inner, names);
            std::string wish = inner.path.empty() ? composit::text("part_", ++parts_) : inner.path;
            while (wish.size() > 50 && wish.find('.') != std::string::npos)
                wish.erase(0, wish.find('.') + 1);
            const std::string& name = section_names_[&inner] = names.claim(wish);
            result += inner.path.empty() ? "\n" : "\n    " + comment_line(inner.path);
            result += composit::text("    void ", name, "() const {\n", calls_of(inner, "        "),
                                     "    }\n");
        }
        return result;
    }

    // Calls between sections in sections of no module, as functions are of the struct.
    static Section of_sections(Section whole) {
        std::vector<Section> items;
        bool is_open = false;
        for (Section& item : whole.items) {
            if (item.is_call() && !is_open) items.emplace_back();
            is_open = item.is_call();
            if (is_open)
                items.back().items.push_back(std::move(item));
            else
                items.push_back(std::move(item));
        }
        whole.items = std::move(items);
        return whole;
    }

    // Functions of many calls or modules: the pointers are members of a struct, the calls are
    // shared out among its functions.
    std::string in_parts() {
        whole_ = of_sections(std::move(whole_));
        std::string state = function_.name + "_steps";
        std::string result = composit::text("namespace {\n\nstruct ", state, " {\n");
        std::vector<std::string> values;
        auto member = [&](const std::string& type, const std::string& name,
                          const std::string& value) {
            result += composit::text("    ", type, " ", name, ";\n");
            values.push_back(value);
        };
        for (size_t module : modules_)
            member(composit::text("const Kernels_", module + 1, "&"),
                   composit::text("k", module + 1), composit::text("kernels_", module + 1, "()"));
        member("int", "threads", "threads");
        auto from_caller = [&](const std::vector<int>& buffers, const std::string& constness) {
            for (int number : buffers) {
                const std::string& name = function_.names[static_cast<size_t>(number)];
                member(constness + type(program_.buffers[static_cast<size_t>(number)]) + "*", name,
                       name);
            }
        };
        from_caller(program_.inputs, "const ");
        from_caller(program_.outputs, "");
        for (const Pointer& p : pointers_) member(p.type, p.name, p.value);
        c_family::Names names(taken_names());
        result += sections_within(whole_, names);
        result += "};\n\n}  // namespace\n\n" + signature() + floating_point + opening("    ");
        result += composit::text("    const ", state, " steps = {\n        ",
                                 join(values, ",\n        "), "};\n");
        for (const Section& item : whole_.items)
            result += composit::text("    steps.", section_names_.at(&item), "();\n");
        return result + "}\n\n";
    }

    // Names that functions of the struct may not take: those of its members, of what the calls use,
    // and of the library of the project.
    std::set<std::string> taken_names() const {
        std::set<std::string> result(function_.names.begin(), function_.names.end());
        result.insert(function_words.begin(), function_words.end());
        result.insert(project_words.begin(), project_words.end());
        result.insert({project_.name, function_.name, function_.name + "_steps"});
        for (const ExportedFunction& other : project_.functions) result.insert(other.name);
        for (size_t module : modules_)
            for (const char* prefix : {"k", "kernels_", "Kernels_"})
                result.insert(composit::text(prefix, module + 1));
        return result;
    }

    Project& project_;
    const ExportedFunction& function_;
    const Program& program_;
    const std::vector<KernelCall>& calls_;
    std::set<int> used_;           // buffers
    std::vector<size_t> modules_;  // in the order in which they are called
    std::vector<Pointer> pointers_;
    std::string tables_;
    std::vector<std::vector<std::string>> statements_;
    Section whole_;
    std::map<const Section*, std::string> section_names_;
    size_t parts_ = 0;
    int64_t arena_bytes_ = 0;
    bool needs_weights_ = false, needs_packed_ = false, uses_threads_ = false, is_in_one_ = true;
};

}  // namespace

std::string functions_text(Project& project) {
    std::string result;
    for (size_t f = 0; f < project.functions.size(); ++f)
        result += FunctionWriter(project, project.functions[f], f).text();
    return result;
}

}  // namespace composit::cpp_project
