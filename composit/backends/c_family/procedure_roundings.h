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
ProcedureRoundings roundings_of(const ir::procedure::Procedure& procedure);

// Whether what the statement adds to an element is the negative of a value.
bool subtracts(const ir::procedure::Statement& statement);

// "place += value;", with what is to be rounded before; "place -= value;" where the statement
// subtracts it. `in_order`: "place = in_order(place + value);".
std::string addition(const ir::procedure::Statement& statement, const std::string& place,
                     const std::string& value, const ProcedureRoundings& known, bool in_order);

}  // namespace composit::c_family
