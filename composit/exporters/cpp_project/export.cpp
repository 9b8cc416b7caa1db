// Names everything, puts the files' texts together and writes them.
#include "composit/exporters/cpp_project/export.h"

#include "composit/backends/c_family/kernel_names.h"
#include "composit/backends/c_family/prelude.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/whole_file.h"
#include "composit/exporters/cpp_project/project.h"
#include "composit/transforms/transforms.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>

namespace composit::cpp_project {
namespace {

#include "composit/backends/c_family/prelude/checksum.h"

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

std::vector<std::string> name_buffers(const Program& program, size_t modules) {
    c_family::Names names(function_words);
    for (size_t module = 0; module < modules; ++module)
        for (const char* prefix : {"k", "kernels_", "Kernels_"})
            names.taken().insert(text(prefix, module + 1));
    std::vector<std::string> result(program.buffers.size());
    auto claim = [&](size_t b, const std::string& fallback) {
        const Buffer& buffer = program.buffers[b];
        std::string wish = c_family::identifier(buffer.name.empty() ? fallback : buffer.name);
        bool is_taken = names.taken().contains(wish);
        // A training step returns what it was given: w and new_w.
        if (is_taken && buffer.kind == BufferKind::output) wish = "new_" + wish;
        result[b] = names.claim(wish);
    };
    for (int b : program.inputs) claim(static_cast<size_t>(b), "input");
    for (int b : program.outputs) claim(static_cast<size_t>(b), "output");
    for (size_t b = 0; b < program.buffers.size(); ++b)
        if (result[b].empty()) claim(b, text("t", b));
    return result;
}

// A project of its own has no library to call.
void refuse_foreign(const Program& program) {
    for (const Kernel& kernel : program.kernels)
        ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
            const auto* foreign = std::get_if<ir::kernel::Foreign>(&step.body);
            if (foreign == nullptr) return;
            fail<NotSupported>("export: ", step.comment,
                               step.lines.empty() ? "" : " (" + join(step.lines) + ")",
                               " calls the foreign function ", foreign->function,
                               ", which an exported project cannot. Use compile, or export what "
                               "comes before and after it.");
        });
}

// What main.cpp and the headers that map a file of weights declare beside C's library.
bool is_of_project_files(std::string name) {
    static const std::set<std::string> names = {
        "adjtime",  "at_quick_exit", "creat",     "crypt",        "fallocate", "fchmod",
        "fchmodat", "fcntl",         "fd_mask",   "fd_set",       "flock",     "fstat",
        "fstatat",  "futimens",      "futimes",   "futimesat",    "getitimer", "gettimeofday",
        "getumask", "iovec",         "itimerval", "itimerspec",   "lchmod",    "lconv",
        "lstat",    "lutimes",       "madvise",   "memfd_create", "mincore",   "mkdir",
        "mkdirat",  "mkfifo",        "mkfifoat",  "mknod",        "mknodat",   "mlock",
        "mlock2",   "mlockall",      "mmap",      "mprotect",     "mremap",    "msync",
        "munlock",  "munlockall",    "munmap",    "open",         "openat",    "readahead",
        "run",      "sched_param",   "setitimer", "settimeofday", "shm_open",  "shm_unlink",
        "sigevent", "splice"};
    if (name.ends_with("64")) name.resize(name.size() - 2);
    return names.contains(name) || name.starts_with("pkey_") || name.starts_with("posix_") ||
           name.starts_with("sem_");
}

// The name of the files and of their namespace, which no header declares as something else.
std::string project_name(const std::string& wish) {
    const std::string name = c_family::namespace_name(c_family::Names().claim(wish));
    return is_of_project_files(name) ? name + "_1" : name;
}

Project plan(const std::vector<Program>& functions, const ExportOptions& options) {
    user_check(!functions.empty(), "export: there is no function to export. Give at least one.");
    for (const Program& program : functions) refuse_foreign(program);
    Project project;
    project.name = project_name(options.name.empty() ? "model" : options.name);
    std::vector<const Program*> programs;
    for (const Program& program : functions) programs.push_back(&program);
    project.modules =
        c_family::print_modules(programs, {options.kernels_per_source, around_products});
    c_family::Names function_names(project_words);
    function_names.taken().insert(project.name);
    for (const Program& program : functions)
        project.functions.push_back(
            {&program, function_names.claim(program.name.empty() ? "run" : program.name),
             name_buffers(program, project.modules.modules.size())});
    return project;
}

constexpr const char* standard_headers = R"(#include <cfenv>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
)";

constexpr const char* weights_headers = R"(#include <cerrno>
#include <memory>

#if defined(__unix__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#include <fstream>
#endif
)";

std::string file_comment(const Project& project) {
    return c_family::file_comment(*project.functions[0].program,
                                  {"Bits do not depend on the CPU. Without FMA instructions it is "
                                   "slow. Compile with:",
                                   "    " + compile_command(project)});
}

constexpr const char* fault_struct =
    "// The first index out of bounds that a kernel met; outer is -1 when there was none.\n"
    "struct Fault {\n    int64_t outer, axis, index;\n};\n";

std::string structs(const Project& project) {
    std::string result = text("namespace ", project.name, " {\n\n", fault_struct, "\n");
    for (size_t m = 0; m < project.modules.modules.size(); ++m)
        result += kernels_struct(project, m) + "\n";
    return result + text("}  // namespace ", project.name, "\n\n");
}

bool has_many_modules(const Project& project) { return project.modules.modules.size() > 1; }

std::string digits_of_checksum(const std::string& text) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(checksum_of(text)));
    return digits;
}

// A header's number: sources ask for that of the header that they were written with, so that files
// of two exports, which somebody mixed or a crash left, do not compile.
class Number {
  public:
    // `content`: all that has to belong together.
    Number(const Project& project, const char* kind, std::string header, const std::string& content)
        : macro_(text("COMPOSIT_", kind, "_", project.name)),
          header_(std::move(header)),
          value_("0x" + digits_of_checksum(content) + "u") {}

    void define_in(std::string& header) const {
        const std::string line = "#pragma once\n";
        header.insert(
            header.find(line) + line.size(),
            text("// Sources ask for this number: those of another export do not compile.\n"
                 "#define ",
                 macro_, " ", value_, "\n"));
    }
    // Behind the line that includes the header.
    void ask_in(const std::string& name, std::string& source) const {
        const std::string line = text("#include \"", header_, "\"\n");
        const size_t at = source.find(line);
        if (at == std::string::npos) return;  // a main.cpp of the user's, without the functions
        source.insert(at + line.size(),
                      text("#if ", macro_, " != ", value_, "\n#error \"", name, " and ", header_,
                           " are of different exports. Export the project again.\"\n#endif\n"));
    }

  private:
    std::string macro_, header_, value_;
};

// g++ takes the extents of arrays in templates, which are constants, for conversions.
const std::string quiet_arrays =
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n#endif\n";

std::string source_text(Project& project) {
    std::string functions = functions_text(project);  // first: it places the weights
    std::string result = file_comment(project);
    result += "#ifndef COMPOSIT_KERNELS\n";
    result += text("#include \"", project.name, ".hpp\"\n\n");
    if (has_many_modules(project))
        result += text("#include \"", project.name, "_kernels.hpp\"\n\n");
    if (!project.procedures.is_empty()) result += "#include <cassert>\n#include <utility>\n";
    result += standard_headers;
    if (!project.weights.is_empty()) result += weights_headers;
    const std::string procedures = project.procedures.text(functions);
    result += "\n" +
              c_family::exactness_pragmas(project.procedures.is_empty()
                                              ? c_family::optimisation_of_kernels
                                              : c_family::optimisation_of_statements) +
              quiet_arrays + c_family::assertions_pragma(procedures) + "\n";
    if (!has_many_modules(project)) result += structs(project);
    result += text("namespace ", project.name, " {\n\n");
    if (!project.modules.modules.empty()) result += kernels_text(project, 0) + "\n";
    result += support_text(project, functions) + procedures + functions;
    result += text("}  // namespace ", project.name, "\n");
    if (project.modules.modules.empty()) return result + "#endif\n";
    return result + "\n#else\n" + kernel_section(project, 0) + "#endif\n";
}

// The files of the second and further modules.
std::string module_text(const Project& project, size_t module) {
    std::string result = file_comment(project) + "#ifndef COMPOSIT_KERNELS\n";
    result += text("#include \"", project.name, "_kernels.hpp\"\n\n#include <cstddef>\n",
                   c_family::exactness_pragmas(c_family::optimisation_of_kernels), quiet_arrays,
                   "\nnamespace ", project.name, " {\n\n", kernels_text(project, module),
                   "\n}  // namespace ", project.name, "\n\n#else\n",
                   kernel_section(project, module), "#endif\n");
    return result;
}

}  // namespace

uint64_t checksum_of(std::string_view bytes) { return xxh64(bytes.data(), bytes.size()); }

std::string_view checksum_text() { return c_family::prelude_text("checksum.h"); }

std::string module_file(const Project& project, size_t module) {
    return module == 0 ? project.name + ".cpp" : text(project.name, "_", module + 1, ".cpp");
}

std::string compile_command(const Project& project) {
    std::string files = project.name + ".cpp";
    for (size_t m = 1; m < project.modules.modules.size(); ++m)
        files += " " + module_file(project, m);
    return text("c++ -O2 -std=c++17 ", files, " main.cpp -o ", project.name);
}

std::string parameter_list(const ExportedFunction& function, const std::string& separator,
                           const std::set<int>* used) {
    std::vector<std::string> parameters;
    auto add = [&](const std::vector<int>& buffers, const char* constness) {
        for (int number : buffers) {
            const Buffer& buffer = function.program->buffers[static_cast<size_t>(number)];
            const std::string& name = function.names[static_cast<size_t>(number)];
            bool has_name = used == nullptr || used->count(number) != 0;
            parameters.push_back(text(constness, c_family::type_name(buffer.dtype), "* ",
                                      has_name ? name + " /* [" : "/* " + name + " [",
                                      join(buffer.shape), "] */"));
        }
    };
    add(function.program->inputs, "const ");
    add(function.program->outputs, "");
    return join(parameters, separator);
}

int64_t WeightsFile::place(const ir::Array& value) {
    const std::string_view bytes(value.data_as<char>(), static_cast<size_t>(value.bytes()));
    std::vector<int64_t>& places = known_[xxh64(bytes.data(), bytes.size())];
    for (int64_t at : places)
        if (std::string_view(content_).substr(static_cast<size_t>(at), bytes.size()) == bytes)
            return at;
    content_.resize((content_.size() + 63) / 64 * 64, '\0');
    places.push_back(static_cast<int64_t>(content_.size()));
    content_ += bytes;
    return places.back();
}

std::string WeightsFile::checksum() const { return digits_of_checksum(content_); }

std::string WeightsFile::header() const {
    std::string header = "composit weights 2 " + checksum();
    header.resize(63, ' ');
    return header + "\n";
}

std::string literals(const ir::Array& value) {
    std::vector<std::string> parts;
    const size_t size = static_cast<size_t>(ir::size_of(value.dtype()));
    for (int64_t i = 0; i < value.size(); ++i) {
        ir::scalar::Bits bits{};
        std::memcpy(bits.data(), value.data_as<char>() + static_cast<size_t>(i) * size, size);
        parts.push_back(c_family::literal(value.dtype(), bits));
    }
    return "{" + join(parts) + "}";
}

std::vector<std::string> export_cpp_project(const std::vector<Program>& functions,
                                            const std::string& folder,
                                            const ExportOptions& options) {
    Project project = plan(functions, options);
    std::vector<std::string> taken(project_words.begin(), project_words.end());
    for (const ExportedFunction& function : project.functions) taken.push_back(function.name);
    check_text_tables(options.texts, taken);
    project.texts = options.texts;
    const size_t modules = project.modules.modules.size();
    std::vector<NamedContent> files;
    files.push_back({project.name + ".cpp", source_text(project)});  // first: it places the weights
    for (size_t m = 1; m < modules; ++m)
        files.push_back({module_file(project, m), module_text(project, m)});
    if (has_many_modules(project)) {
        std::string shared = "#pragma once\n\n#include <cstdint>\n\n" + structs(project);
        std::string together = shared;
        for (size_t m = 0; m < modules; ++m) together += files[m].content;
        const Number number(project, "KERNELS", project.name + "_kernels.hpp", together);
        number.define_in(shared);
        for (size_t m = 0; m < modules; ++m) number.ask_in(files[m].name, files[m].content);
        files.push_back({project.name + "_kernels.hpp", file_comment(project) + shared});
    }
    std::string header = header_declarations(project);
    std::string main = options.main_text.empty() ? main_text(project) : options.main_text;
    const Number number(project, "EXPORT", project.name + ".hpp", header);
    number.define_in(header);
    number.ask_in(files[0].name, files[0].content);
    number.ask_in("main.cpp", main);
    files.push_back({project.name + ".hpp", header_comment(project) + header});
    if (!project.weights.is_empty())
        files.push_back({project.name + ".weights", project.weights.text()});
    files.push_back({"main.cpp", main});
    files.push_back({"CMakeLists.txt", cmake_text(project)});
    write_whole_files("export", folder, files);
    std::vector<std::string> names;
    for (const NamedContent& file : files) names.push_back(file.name);
    return names;
}

}  // namespace composit::cpp_project
