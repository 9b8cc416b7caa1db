// One run over a text after the other, with what those before have found out.
#include "composit/knossos/translate.h"

#include "composit/knossos/translation.h"

#include <algorithm>

namespace composit::knossos {
namespace {

using ir::procedure::Procedure;
using ir::procedure::Variable;

// The name of a part, "point.x", as C++ has it.
std::string plain_name(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

// What assertions say is said of the procedure as it was written.
Procedure with_what_was_written(Procedure made) {
    ir::procedure::check(made);
    const auto all = ir::procedure::all_statements(made.body);
    if (std::any_of(all.begin(), all.end(),
                    [](const Statement* each) { return each->claim != nullptr; }))
        made.as_written = std::make_shared<const Procedure>(made);
    return made;
}

Procedure procedure_of(const Source& source, const Translation& parts,
                       std::vector<Variable> results, std::vector<Statement> body) {
    const Code& code = parts.arrays.code;
    Procedure made{.name = source.name,
                   .file = source.file,
                   .line = source.tree->line(),
                   .doc = source.documentation,
                   .variables = code.variables,
                   .parameters = static_cast<size_t>(code.parameter_count),
                   .results = std::move(results),
                   .body = std::move(body)};
    for (int i = 0; i < code.count_of_variables(); ++i)
        made.variables[static_cast<size_t>(i)].name = plain_name(code.shown_name(i));
    made.arrays = code.arrays;
    for (auto& array : made.arrays) array.name = plain_name(array.name);
    if (!made.arrays.empty()) made.head = code.head;
    made = with_what_was_written(std::move(made));
    if (made.arrays.empty()) return made;
    return ir::procedure::without_dead_code(
        ir::procedure::without_known_assertions(std::move(made)), true);
}

Translated run_once(const SourceRef& source, DType dtype, const Outside& outside,
                    const KnownFunction& known, Found& found) {
    Translation parts(source, dtype, outside, known, found);
    const Syntax& tree = *source->tree;
    Code& code = parts.arrays.code;
    parts.parameters.add(tree);
    found.has_arrays = found.has_arrays || code.count_of_arrays() > 0;
    parts.scope.declare(parts.returns.declared_by(tree));
    code.line = tree.line();
    const auto body = std::make_shared<Block>();
    {
        const Emitting copies(code, body);
        parts.array_variables.copy_arguments(tree);
    }
    extend(*body, parts.statements.block(statements_of(tree))->statements);
    std::vector<Variable> results;
    std::vector<DType> dtypes;
    for (const auto& [name, kind] : parts.returns.results) {
        dtypes.push_back(parts.arrays.operators.dtype_of(kind));
        results.push_back({name, dtypes.back()});
    }
    parts.raising.check(0, dtypes);
    if (!parts.returns.has_returned)
        source->refuse(tree, "it returns nothing", "A return of numbers is required.");
    if (!ir::procedure::always_leaves(body->statements))
        source->refuse(*tree.all(Field::body).back(), "its end can be reached without a return",
                       "Every path has to return a number.");
    return {procedure_of(*source, parts, std::move(results), std::move(body->statements)),
            parts.returns.structure};
}

Translated run_until_known(const SourceRef& source, DType dtype, const Outside& outside,
                           const KnownFunction& known, Found& found) {
    while (true) {
        try {
            return run_once(source, dtype, outside, known, found);
        } catch (const Restart&) {
            continue;
        }
    }
}

}  // namespace

Translated translate(const SourceRef& source, DType dtype, const Outside& outside,
                     const KnownFunction& known) {
    Found found;
    Translated made = run_until_known(source, dtype, outside, known, found);
    if (found.has_texts_for_derivatives) {
        Found again;
        again.for_derivatives = true;
        Procedure text = run_until_known(source, dtype, outside, known, again).procedure;
        text.as_written = made.procedure.as_written;
        made.procedure.for_derivatives = std::make_shared<const Procedure>(std::move(text));
    }
    return made;
}

}  // namespace composit::knossos
