// Counting what statements mention.
#include "composit/backends/c_family/part_mentions.h"

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/structure.h"

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using Kind = Statement::Kind;

Mentions mentions_of(const Procedure& procedure, const Block& block) {
    Mentions made;
    for (const Statement* each : ir::procedure::all_statements(block)) {
        for (const int variable : read_by(ir::procedure::expressions_of(procedure, *each)))
            ++made.variables[variable];
        if (each->variable >= 0) {
            ++made.variables[each->variable];
            made.assigned.insert(each->variable);
        }
        if (each->array >= 0) {
            ++made.arrays[each->array];
            if (each->kind == Kind::load) made.read.insert(each->array);
            if (each->kind != Kind::load) made.written.insert(each->array);
        }
        made.weight += each->kind != Kind::allocate;
        made.has_exit |= each->kind == Kind::leave;
    }
    made.has_exit |=
        ir::procedure::has_own(block, Kind::stop) || ir::procedure::has_own(block, Kind::go_on);
    return made;
}

}  // namespace composit::c_family
