// Writes what surrounds the program: NAME.hpp, the default main.cpp and CMakeLists.txt.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"

namespace composit::cpp_project {
namespace {

using ir::kernel::Buffer;

const Buffer& buffer_of(const ExportedFunction& function, int number) {
    return function.program->buffers[static_cast<size_t>(number)];
}

std::string declaration(const ExportedFunction& function) {
    std::string start = text("void ", function.name, "(");
    std::string separator = ",\n" + std::string(start.size(), ' ');
    std::string result =
        "// Reads the pointers to const, writes the others; none of the written ones "
        "may overlap another.\n// `threads` changes the time, never the bits.\n";
    for (int number : function.program->outputs) {
        const int input = buffer_of(function, number).starts_as;
        if (input < 0) continue;
        const auto name = [&](int b) { return function.names[static_cast<size_t>(b)]; };
        result += comment_line(text(name(number), " is an update of ", name(input),
                                    ": give both the same memory, or it is copied."));
    }
    bool can_throw = false;
    for (const auto& kernel : function.program->kernels)
        ir::kernel::for_each_step(kernel, [&](const ir::kernel::Kernel& step) {
            can_throw |= std::holds_alternative<ir::kernel::Gather>(step.body) ||
                         std::holds_alternative<ir::kernel::Scatter>(step.body);
        });
    if (can_throw) result += "// Throws std::out_of_range when an index is out of bounds.\n";
    return result + start + parameter_list(function, separator) + separator + "int threads = 1);\n";
}

constexpr const char* main_start = R"(#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

template <class T>
std::unique_ptr<T[]> read(const char* path, std::int64_t count) {
    std::unique_ptr<T[]> values(new T[static_cast<std::size_t>(count) + 1]());
    const std::streamsize bytes = static_cast<std::streamsize>(sizeof(T)) * count;
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(values.get()), bytes) || file.peek() != EOF)
        throw std::runtime_error(std::string(path) + ": cannot be read, or does not hold " +
                                 std::to_string(bytes) + " bytes.");
    return values;
}

template <class T>
void write(const char* path, const T* values, std::int64_t count) {
    const std::streamsize bytes = static_cast<std::streamsize>(sizeof(T)) * count;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values), bytes);
    file.close();
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be written.");
}

)";

constexpr const char* main_end = R"(
}  // namespace

int main(int count, char** words) {
    try {
        return run(count, words);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
)";

// "if (function == …) { read, call, write }"
std::string branch(const Project& project, const ExportedFunction& function) {
    const auto& inputs = function.program->inputs;
    const auto& outputs = function.program->outputs;
    size_t files = inputs.size() + outputs.size();
    std::string result = text("    if (function == ", string_literal(function.name),
                              " && count >= ", 2 + files, ") {\n");
    std::vector<std::string> arguments;
    size_t word = 2;
    auto element = [&](int number) {
        return c_family::type_name(buffer_of(function, number).dtype);
    };
    auto size = [&](int number) { return ir::element_count(buffer_of(function, number).shape); };
    for (size_t k = 0; k < inputs.size(); ++k) {
        arguments.push_back(text("in_", k + 1, ".get()"));
        result += text("        const auto in_", k + 1, " = read<", element(inputs[k]), ">(words[",
                       word++, "], ", size(inputs[k]), ");\n");
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
        arguments.push_back(text("out_", k + 1, ".get()"));
        result += text("        const std::unique_ptr<", element(outputs[k]), "[]> out_", k + 1,
                       "(new ", element(outputs[k]), "[", size(outputs[k]), " + 1]());\n");
    }
    arguments.push_back(text("count > ", 2 + files, " ? std::atoi(words[", 2 + files, "]) : 1"));
    result += text("        ", project.name, "::", function.name, "(", join(arguments), ");\n");
    for (size_t k = 0; k < outputs.size(); ++k)
        result += text("        write(words[", word++, "], out_", k + 1, ".get(), ",
                       size(outputs[k]), ");\n");
    return result + "        return 0;\n    }\n";
}

std::string usage(const Project& project, const ExportedFunction& function) {
    std::string line = text("  ", project.name, " ", function.name);
    for (int number : function.program->inputs)
        line += " " + function.names[static_cast<size_t>(number)];
    line += " ->";
    for (int number : function.program->outputs)
        line += " " + function.names[static_cast<size_t>(number)];
    return "                 " + string_literal(line + " [threads]\n");
}

}  // namespace

std::string header_comment(const Project& project) {
    return c_family::file_comment(*project.functions[0].program,
                                  {"Declares the functions of " + project.name + ".cpp."});
}

std::string header_declarations(const Project& project) {
    std::string result = "#pragma once\n\n#include <cstdint>\n#include <string>\n\n";
    result += text("namespace ", project.name, " {\n\n");
    if (!project.weights.is_empty())
        result += text(
            "// Reads the constants from `path`. Without this call the first function "
            "that needs them reads\n// \"",
            project.name,
            ".weights\". Not while another function runs. Throws std::runtime_error.\n",
            "void load_weights(const std::string& path);\n\n");
    for (const c_family::TextTable& table : project.texts)
        result += text("inline constexpr ", declarator(table, table.name), " = ",
                       initializer(table), ";\n\n");
    for (const ExportedFunction& function : project.functions)
        result += declaration(function) + "\n";
    return result + text("}  // namespace ", project.name, "\n");
}

std::string main_text(const Project& project) {
    std::string result = text(
        comment_line(text("Runs the functions of ", project.name, " on files of raw elements.")),
        "#include \"", project.name, ".hpp\"\n\n", main_start);
    result +=
        "int run(int count, char** words) {\n"
        "    const std::string function = count > 1 ? words[1] : \"\";\n";
    std::vector<std::string> lines;
    for (const ExportedFunction& function : project.functions) {
        result += branch(project, function);
        lines.push_back(usage(project, function));
    }
    result += text("    std::cerr << \"usage, with a file of raw elements for each name:\\n\"\n",
                   join(lines, "\n"), ";\n    return 2;\n}\n");
    return result + main_end;
}

std::string cmake_text(const Project& project) {
    std::string files = project.name + ".cpp";
    for (size_t m = 1; m < project.modules.modules.size(); ++m)
        files += " " + module_file(project, m);
    return text("# Builds ", project.name, ": a library, and the program of main.cpp.\n",
                "cmake_minimum_required(VERSION 3.10)\nproject(", project.name, " CXX)\n",
                "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n",
                "set(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CXX_STANDARD_REQUIRED ON)\n",
                "find_package(Threads REQUIRED)\n\nadd_library(", project.name, " ", files, ")\n",
                "target_include_directories(", project.name,
                " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\ntarget_link_libraries(", project.name,
                " PUBLIC Threads::Threads)\n\nadd_executable(", project.name, "_main main.cpp)\n",
                "target_link_libraries(", project.name, "_main PRIVATE ", project.name, ")\n");
}

}  // namespace composit::cpp_project
