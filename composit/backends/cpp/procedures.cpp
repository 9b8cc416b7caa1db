// Procedures compiled by the system's compiler: their source, and calls of what was loaded.
#include "composit/backends/cpp/procedures.h"

#include "composit/backends/cpp/unavailable.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

namespace composit::cpp {
namespace {

using ir::procedure::Procedure;
using ir::scalar::Bits;

// The line of the text names the line of the source, or one before it does.
[[noreturn]] void fail_at(int line, const Procedure& procedure, const std::string& code) {
    user_check<OutOfMemory>(line != -1, procedure.name, ": memory is exhausted.");
    std::vector<std::string> lines;
    std::istringstream stream(code);
    for (std::string each; std::getline(stream, each);) lines.push_back(each);
    std::string mark;
    for (size_t i = std::min(lines.size(), static_cast<size_t>(std::abs(line)));
         i-- > 0 && mark.empty();)
        if (const size_t at = lines[i].find("// " + procedure.file); at != std::string::npos)
            mark = lines[i].substr(at + 3);
    if (line < 0) ir::procedure::fail_extent(procedure, mark);
    ir::procedure::fail_assertion(procedure, mark);
}

}  // namespace

std::optional<ProcedureLibrary> load_procedures(
    const std::string& name, const std::vector<c_family::ProcedureFamily>& families,
    const std::string& folder, bool runs, bool (*is_asked_to_stop)(), std::string& warning) {
    const std::string code = c_family::print_loadable(name, families, runs);
    std::shared_ptr<Library> library;
    try {
        library = build_or_load(
            {name, code, "", find_compiler(), c_family::loadable_symbols(families, runs)}, folder,
            {}, warning);
    } catch (const CompilationUnavailable& error) {
        warning = error.what();
        return std::nullopt;
    }
    if (void* const asked = library->find("composit_is_asked_to_stop"))
        *static_cast<bool (**)()>(asked) = is_asked_to_stop;
    return ProcedureLibrary{std::move(library), std::make_shared<const std::string>(code)};
}

ir::procedure::Run run_of(const ProcedureLibrary& loaded, size_t number, Procedure procedure) {
    using Entry = int (*)(const Slot*, Slot*, void* const*);
    const auto entry =
        reinterpret_cast<Entry>(loaded.library->symbol(composit::text("run_", number)));
    return [loaded, entry, procedure = std::move(procedure)](const std::vector<Bits>& parameters,
                                                             void* const* arrays) {
        static_assert(sizeof(Slot) == sizeof(Bits::value_type));
        std::vector<Slot> in(procedure.parameters + 1), out(procedure.results.size() + 1);
        for (size_t i = 0; i < procedure.parameters; ++i)
            std::memcpy(&in[i], parameters[i].data(), sizeof(Slot));
        if (const int failed = entry(in.data(), out.data(), arrays); failed != 0) {
            if (failed == c_family::was_stopped) throw runtime::Interrupted();
            if (failed > 0) ir::procedure::tell_failure(procedure, parameters, arrays);
            fail_at(failed, procedure, *loaded.text);
        }
        std::vector<Bits> results(procedure.results.size());
        for (size_t i = 0; i < results.size(); ++i)
            std::memcpy(results[i].data(), &out[i],
                        static_cast<size_t>(size_of(procedure.results[i].dtype)));
        return results;
    };
}

}  // namespace composit::cpp
