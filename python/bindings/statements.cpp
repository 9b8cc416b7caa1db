// composit/ir/procedure: statements of procedures, as translators write them.
#include "bindings.h"
#include "casters.h"
#include "composit/ir/procedure/interpret.h"
#include "composit/ir/procedure/procedure.h"

#include <memory>

namespace composit::python {

namespace procedure = ir::procedure;
using ir::scalar::Expr;
using procedure::Block;
using procedure::Statement;

void bind_statement(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Statement>(module, "Statement", "One statement of a procedure.")
        .def_static("assign", [](int variable, const Expr& value,
                                 int line) { return Statement::assign(variable, value, line); })
        .def_static("branch",
                    [](const Expr& condition, Block body, Block otherwise, int line) {
                        return Statement::branch(condition, std::move(body), std::move(otherwise),
                                                 line);
                    })
        .def_static("loop",
                    [](Block first, const Expr& condition, Block body, Block next, int line) {
                        return Statement::loop(std::move(first), condition, std::move(body),
                                               std::move(next), line);
                    })
        .def_static("leave", [](std::vector<Expr> values,
                                int line) { return Statement::leave(std::move(values), line); })
        .def_prop_ro("is_load",
                     [](const Statement& self) { return self.kind == Statement::Kind::load; })
        .def_prop_ro("is_expect",
                     [](const Statement& self) { return self.kind == Statement::Kind::expect; })
        .def_static("load",
                    [](int variable, int array, std::vector<Expr> index, int line) {
                        return Statement::load(variable, array, std::move(index), line);
                    })
        .def_static("allocate",
                    [](int array, bool is_zeroed, int line) {
                        return Statement::allocate(array, is_zeroed, line);
                    })
        .def_static("store",
                    [](int array, std::vector<Expr> index, const Expr& value, int line) {
                        return Statement::write(Statement::Kind::store, array, std::move(index),
                                                value, line);
                    })
        .def_static("add",
                    [](int array, std::vector<Expr> index, const Expr& value, int line) {
                        return Statement::write(Statement::Kind::add, array, std::move(index),
                                                value, line);
                    })
        .def_static("simple",
                    [](const std::string& kind, int line) {
                        Statement made;
                        made.kind = kind == "stop" ? Statement::Kind::stop : Statement::Kind::go_on;
                        made.line = line;
                        return made;
                    })
        .def_static(
            "expect",
            [](const Expr& condition, int line, const std::string& error, const std::string& claim,
               std::vector<Expr> values) {
                Statement made;
                made.kind = Statement::Kind::expect;
                made.line = line;
                made.values = {condition};
                if (!claim.empty())
                    made.claim = std::make_shared<const procedure::Claim>(
                        procedure::Claim{procedure::claim_kind(error), claim, std::move(values)});
                return made;
            },
            "condition"_a, "line"_a, "error"_a = "", "claim"_a = "",
            "values"_a = std::vector<Expr>(),
            "An assertion; where it does not hold, the error of that name says the claim, with the "
            "values in place of {}.");
}

}  // namespace composit::python
