// Which variables of a procedure compilers may see to be products.
#pragma once

#include "composit/backends/c_family/scalar_roundings.h"
#include "composit/ir/procedure/procedure.h"

#include <string>

namespace composit::c_family {

// Of a procedure's variables and of its arrays' elements, as they are assigned anywhere in it.
struct ProcedureRoundings {
    Roundings variables, arrays;
};
// `at_once`: a variable that would be rounded wherever it is read is rounded where it is computed.
ProcedureRoundings roundings_of(const ir::procedure::Procedure& procedure, bool at_once = false);

// Whether what the statement adds to an element is the negative of a value.
bool subtracts(const ir::procedure::Statement& statement);

// "place += value;", with what is to be rounded before; "place -= value;" where the statement
// subtracts it. `in_order`: "add_in_order(place, value);". Text that is no C calls functions where
// the place is rounded before, too.
std::string addition(const ir::procedure::Statement& statement, const std::string& place,
                     const std::string& value, const ProcedureRoundings& known, bool in_order,
                     bool is_c = false);

}  // namespace composit::c_family
