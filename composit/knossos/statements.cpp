// Which part translates a statement.
#include "composit/knossos/statements.h"

#include "composit/knossos/syntax_text.h"

namespace composit::knossos {
namespace {

// What to write in place of a statement that kernels have not.
std::string in_place_of_statement(const std::string& name) {
    static const std::map<std::string, std::string> known{
        {"ClassDef", "Define the class outside."},
        {"Import", "Import at the top of the module."},
        {"ImportFrom", "Import at the top of the module."},
        {"Try", "Kernels raise nothing: write an if."},
        {"With", "Write what it holds."},
        {"Global", "Kernels change nothing outside: return the value."},
        {"Nonlocal", "Kernels change nothing outside: return the value."},
        {"Delete", "Leave it out."},
        {"Match", "Write if, elif and else."},
    };
    const auto found = known.find(name);
    return found == known.end() ? "See docs/knossos.md for what kernels may hold." : found->second;
}

}  // namespace

BlockRef Statements::block(const Body& body, bool is_certain) {
    const Emitting out(code);
    if (is_certain) code.certain.push_back(out.block());
    run(body);
    return out.block();
}

void Statements::run(const Body& body) {
    for (const SyntaxRef& statement : body) {
        if (!scope.defined) break;  // never reached
        run_one(statement);
    }
}

void Statements::run_one(const SyntaxRef& statement) {
    code.line = statement->line();
    const bool is_library = scope.is_library();
    if (!is_library) code.construct = statement;
    const auto form = forms.find(statement->form);
    if (form == forms.end())
        scope.refuse(*statement, "`" + first_line_shown(*statement) + "` is not part of kernels",
                     in_place_of_statement(statement->name));
    try {
        form->second(statement);
    } catch (const Mismatch& error) {
        if (is_library) throw;
        scope.refuse(*statement, error.wrong, error.instead, Refusal::Class::type);
    }
}

void extend(Block& block, const std::vector<Statement>& statements) {
    block.statements.insert(block.statements.end(), statements.begin(), statements.end());
}

}  // namespace composit::knossos
