// Procedures as C++ text: the printers of the C family, for users.
#include "composit/exporters/procedures/procedures.h"

#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_printer.h"

namespace composit::procedures {

std::string source_of(const ir::procedure::Procedure& procedure) {
    return c_family::print_procedure(procedure);
}

std::string signature_of(const ir::procedure::Procedure& procedure) {
    return c_family::signature_of(procedure);
}

}  // namespace composit::procedures
