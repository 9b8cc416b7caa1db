// Checks of derivatives that files of procedures carry: against dual numbers, and differences.
#pragma once

#include "composit/backends/c_family/procedure_file.h"

#include <string>

namespace composit::c_family {

// Whether the family, of double, has a derivative to check.
bool has_selfcheck(const ProcedureFamily& family);

// Declarations, with what they promise:
//   double f_selfcheck(const double* x, int64_t n)  at the arguments of f, along random directions;
//   double f_selfcheck()                            of functions of double alone: at many points.
std::string declare_selfcheck(const ProcedureFamily& family);

// The functions, in the namespace `name`. They need <cstdint>, and <vector> where f has arrays.
std::string print_selfcheck(const std::string& name, const ProcedureFamily& family);

}  // namespace composit::c_family
