// Procedures as C++ text: as one header and one source that need nothing but the standard library
// (print_file), or one function at a time.
#pragma once

#include "composit/backends/c_family/procedure_file.h"
#include "composit/ir/procedure/procedure.h"

#include <string>

namespace composit::procedures {

// A function and its derivatives; NAME.hpp and NAME.cpp; what prints families as these.
using c_family::print_file;
using c_family::ProcedureFamily;
using c_family::ProcedureFile;

// The source of families as it is compiled and loaded (backends/cpp/procedures.h).
using c_family::print_loadable;

// The function, after its doc. What it calls is not part of the text.
std::string source_of(const ir::procedure::Procedure& procedure);

// "double relu3(double x)"; of several results: "hypot_vjp_results hypot_vjp(double x, double y)".
std::string signature_of(const ir::procedure::Procedure& procedure);

}  // namespace composit::procedures
