// Exports programs as a C++17 project that needs nothing but the standard library.
#pragma once

#include "composit/backends/c_family/text_table.h"
#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace composit::cpp_project {

struct ExportOptions {
    std::string name;  // of the namespace and the files; made an identifier
    std::string
        main_text;  // main.cpp; empty: one that reads inputs from and writes outputs to raw files
    // More distinct kernels than this continue in NAME_2.cpp, …; a demo-sized model stays in one
    // source.
    size_t kernels_per_source = 256;
    std::vector<c_family::TextTable> texts = {};  // tables beside the functions, in the namespace
};

// XXH64 with seed 0, by which weights are checked: prelude/checksum.h as a function of the library.
uint64_t checksum_of(std::string_view bytes);
// Its text in C++, of the function xxh64(bytes, count): for a main.cpp that checks weights itself.
std::string_view checksum_text();

// Writes into `folder` (made if missing) and returns the names of
//   NAME.cpp, NAME.hpp     one function per program, called as the program; on any CPU the same
//                          bits as in process. Large programs continue in NAME_2.cpp, … and
//                          NAME_kernels.hpp
//   NAME.weights           constants of more than 16 elements, if there are any; the others are
//                          inlined
//   main.cpp, CMakeLists.txt
// All are written under temporary names before the first is renamed. Throws NotSupported naming
// what cannot be exported, InputOutputError when a file cannot be written.
std::vector<std::string> export_cpp_project(const std::vector<ir::kernel::Program>& functions,
                                            const std::string& folder,
                                            const ExportOptions& options);

}  // namespace composit::cpp_project
