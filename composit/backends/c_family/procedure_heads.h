// Heads of the functions that procedures become: result types, parameters, their order.
#pragma once

#include "composit/backends/c_family/line_breaks.h"
#include "composit/ir/procedure/procedure.h"

#include <string>
#include <vector>

namespace composit::c_family {

// A function's head, on more lines where one is too long.
std::string fitting(const std::string& head, const std::vector<std::string>& parameters);

// The procedure under a name that C++ can say, as are those of its results: "double_1" for what
// Python may call double. Names that are identifiers of C++ and of no function of the prelude stay.
ir::procedure::Procedure with_names(ir::procedure::Procedure procedure);

// "double", "polar_results", "void".
std::string result_type(const ir::procedure::Procedure& procedure);

// Variables k and arrays -1 - k in the order of the text.
std::vector<int> head_of(const ir::procedure::Procedure& procedure);

// "double f(const double* x, int64_t n, double* __restrict y)"; empty names are left out.
std::string function_head(const ir::procedure::Procedure& procedure,
                          const std::vector<std::string>& names,
                          const std::vector<std::string>& arrays);

// "double relu3(double x)"; of several results: "hypot_vjp_results hypot_vjp(double x, double y)".
std::string signature_of(const ir::procedure::Procedure& procedure);

// The struct that a procedure of several results returns, "" of one.
std::string results_struct(const ir::procedure::Procedure& procedure);

}  // namespace composit::c_family
