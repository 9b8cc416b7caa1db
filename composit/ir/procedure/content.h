// Names of procedures in texts of graphs, which say the same in every process.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <string>

namespace composit::ir::procedure {

// "plus-9f86d081884c7d659a2feaa0c55ad015": the procedure's name and a hash of all that its values
// and derivatives depend on. File, lines, docstring and the names of variables are not among it,
// and rows of the table count by their names.
std::string content_name(const Procedure& procedure);

}  // namespace composit::ir::procedure
