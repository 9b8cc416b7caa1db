// Procedures as C++17 functions: branches as branches, loops as loops, the source's names, and its
// lines as marks.
#pragma once

#include "composit/backends/c_family/called_functions.h"
#include "composit/ir/procedure/procedure.h"

#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// The function, after its doc; what it calls (functions_used, tables, `called`) comes before it.
// Calls of functions of the library are calls: their text goes to `called`. Where the function
// `asks`, its loops call ::composit_stop_if_asked() now and then, which may throw: all but those
// that an array ends.
std::string print_procedure(const ir::procedure::Procedure& procedure, CalledFunctions& called,
                            bool asks);
// The function alone, for readers.
std::string print_procedure(const ir::procedure::Procedure& procedure);

// Names that functions of a file, and what is within them, have.
std::set<std::string> names_of(const std::vector<ir::procedure::Procedure>& procedures);

// "void vrelu3(const double* x, double* y, int64_t count)": the procedure for each element, from
// its flattened form, which compilers vectorise; of one with loops, by calls, between which it may
// ask, too.
std::string array_signature_of(const ir::procedure::Procedure& procedure);
std::string print_over_arrays(const ir::procedure::Procedure& procedure, bool asks = false);

// The expressions that the functions compute.
std::vector<ir::scalar::Expr> expressions_of(const ir::procedure::Procedure& procedure);

// The procedure of whose local arrays the rows that are alive at a time are kept: what text is made
// of before all that depends on how it is used.
ir::procedure::Procedure with_rows_alive(ir::procedure::Procedure procedure);

// The same of text that people read, but for derivatives in reverse: that a row takes another's
// place and is filled says more than the tables that the function has, too.
ir::procedure::Procedure as_read(ir::procedure::Procedure procedure);

// The procedure without assignments to variables that are not read.
ir::procedure::Procedure without_unread(ir::procedure::Procedure procedure);

}  // namespace composit::c_family
