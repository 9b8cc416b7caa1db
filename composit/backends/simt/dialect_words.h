// Words of OpenCL C and CUDA C++ that no name of a user may be.
#pragma once

#include <set>
#include <string>

namespace composit::simt {

// Keywords, types, macros and functions of either language, which texts may use.
const std::set<std::string>& dialect_words();

}  // namespace composit::simt
