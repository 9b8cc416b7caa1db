// Procedures compiled by the system's compiler and loaded into the process.
#pragma once

#include "composit/backends/c_family/procedure_file.h"
#include "composit/backends/cpp/cache.h"
#include "composit/ir/procedure/callable.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::cpp {

using c_family::Slot;

// Loaded code of families of procedures, which are numbered through, with the functions that
// c_family::print_loadable says.
struct ProcedureLibrary {
    std::shared_ptr<Library> library;
    std::shared_ptr<const std::string> text;  // its source, whose marks name lines of assertions
};

// The families compiled, or found in the cache in `folder` (empty: the default one). Loops ask
// `is_asked_to_stop` now and then, and end where it says so. Nothing where they cannot be compiled
// here. `warning` says why, or what else a user should know; empty: nothing.
std::optional<ProcedureLibrary> load_procedures(
    const std::string& name, const std::vector<c_family::ProcedureFamily>& families,
    const std::string& folder, bool runs, bool (*is_asked_to_stop)(), std::string& warning);

// The code of procedure `number` of a library that was loaded with `runs`. It throws
// runtime::Interrupted where a loop was asked to stop, and what an assertion says that does not
// hold.
ir::procedure::Run run_of(const ProcedureLibrary& loaded, size_t number,
                          ir::procedure::Procedure procedure);

}  // namespace composit::cpp
