// Procedures of kernels while they are written: composit/knossos/code.h, found.h, integers.h.
#include "casters.h"
#include "knossos.h"
#include "provided.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Block;
using knossos::BlockRef;
using knossos::Code;
using knossos::Expr;
using knossos::Found;
using knossos::Kind;
using knossos::Role;
using knossos::Sharing;
using knossos::State;
using knossos::Statement;
using knossos::Stored;
using knossos::StoredRef;
using knossos::Value;

// A node of Python's syntax tree.
class PythonConstruct : public knossos::Construct {
  public:
    explicit PythonConstruct(nb::object node) : node(std::move(node)) {}
    std::string text() const override {
        return nb::cast<std::string>(nb::object(provided("knossos_shown")(node)));
    }
    nb::object node;
};

// with code.emitting(): …
struct EmittingContext {
    Code& code;
    BlockRef block;
    std::unique_ptr<knossos::Emitting> emitting;
};

void extend(Block& block, nb::handle statements) {
    for (nb::handle each : statements) block.statements.push_back(nb::cast<const Statement&>(each));
}

nb::list listed_statements(const Block& block) {
    nb::list made;
    for (const Statement& each : block.statements) made.append(nb::cast(each));
    return made;
}

const char* role_name(Role role) {
    return role == Role::input ? "input" : role == Role::output ? "output" : "local";
}

void bind_block(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Block>(module, "Block",
                      "Statements in the making, told apart by what it is, not by what it holds.")
        .def(nb::init<>())
        .def("__len__", [](const Block& self) { return self.statements.size(); })
        .def("__getitem__",
             [](const Block& self, size_t place) -> Statement {
                 if (place >= self.statements.size()) throw nb::index_error();
                 return self.statements[place];
             })
        .def("__iter__",
             [](const Block& self) -> nb::object {
                 return nb::object(listed_statements(self).attr("__iter__")());
             })
        .def("append",
             [](Block& self, const Statement& statement) { self.statements.push_back(statement); })
        .def("extend", extend, "statements"_a)
        .def(
            "join_call",
            [](Block& self, const std::string& name, bool is_of_library) {
                const auto call = std::make_shared<ir::procedure::InlinedCall>(
                    ir::procedure::InlinedCall{name, is_of_library, {}});
                for (Statement& each : self.statements) ir::procedure::join_call(each, call);
            },
            "name"_a, "is_of_library"_a,
            "Says of the statements that they are of one call of a function of that name.");
    nb::class_<EmittingContext>(module, "Emitting", "Statements go to the block, within.")
        .def("__enter__",
             [](EmittingContext& self) {
                 self.emitting = std::make_unique<knossos::Emitting>(self.code, self.block);
                 return self.block;
             })
        .def("__exit__", [](EmittingContext& self, nb::args) { self.emitting.reset(); });
}

void bind_statements_of_code(nb::class_<Code>& code) {
    using namespace nb::literals;
    code.def_rw("line", &Code::line)
        .def_ro("out", &Code::out, "Where statements go: the innermost of the blocks.")
        .def_prop_rw(
            "construct",
            [](const Code& self) -> nb::object {
                const auto* found = dynamic_cast<const PythonConstruct*>(self.construct.get());
                return found ? found->node : nb::object(nb::none());
            },
            [](Code& self, nb::object node) {
                self.construct = node.is_none() ? nullptr : std::make_shared<PythonConstruct>(node);
            },
            nb::for_setter(nb::arg("node").none()), "What is being translated.")
        .def(
            "emitting",
            [](Code& self, BlockRef block) {
                return EmittingContext{self, block ? block : std::make_shared<Block>(), nullptr};
            },
            "block"_a = nb::none(), nb::keep_alive<0, 1>(),
            "A context in which statements go to the block, or a new one.")
        .def(
            "is_within",
            [](const Code& self, const BlockRef& block) {
                for (const BlockRef& each : self.blocks)
                    if (each == block) return true;
                return false;
            },
            "block"_a, "Whether the block is written around this place.")
        .def(
            "runs_for_certain", [](Code& self, BlockRef block) { self.certain.push_back(block); },
            "block"_a, "The block runs wherever the one around does.")
        .def("add", [](Code& self, nb::args statements) { extend(*self.out, statements); })
        .def(
            "add_all", [](Code& self, const Block& block) { self.add(block.statements); },
            "block"_a)
        .def(
            "assign",
            [](Code& self, int number, const Value& value, std::optional<int> line) {
                const Kind kind = knossos::kind_of_number(value);
                self.assign(number, self.operators.cast(value, kind), line.value_or(self.line));
            },
            "number"_a, "value"_a, "line"_a = nb::none(), "Adds an assignment to a variable.")
        .def(
            "expect",
            [](Code& self, const Expr& condition, const std::string& error,
               const std::string& claim, std::vector<Expr> values) {
                self.expect(condition, error, claim, std::move(values));
            },
            "condition"_a, "error"_a, "claim"_a, "values"_a = std::vector<Expr>(),
            "An assertion, of whose claim `{}` stand for values and `%s` for what is translated.")
        .def(
            "kind_by_trial",
            [](Code& self, nb::callable compute) {
                return self.kind_by_trial([&] { return value_from(nb::object(compute())); });
            },
            "compute"_a, "The kind of what would be computed, of which nothing stays.");
}

void bind_variables_of_code(nb::class_<Code>& code) {
    using namespace nb::literals;
    code.def_rw("parameter_count", &Code::parameter_count)
        .def_rw("assigned", &Code::assigned, "The names that the text assigns.")
        .def_rw("head", &Code::head, "Parameters in order: variables, and arrays as -1 - number.")
        .def_prop_ro("variables",
                     [](const Code& self) {
                         std::vector<std::pair<std::string, ir::DType>> made;
                         for (const auto& each : self.variables)
                             made.emplace_back(each.name, each.dtype);
                         return made;
                     })
        .def_prop_ro("variable_count", [](const Code& self) { return self.variables.size(); })
        .def(
            "name_of",
            [](const Code& self, int number) {
                return self.variables.at(static_cast<size_t>(number)).name;
            },
            "number"_a)
        .def(
            "shown_name",
            [](const Code& self, int number) {
                const auto found = self.shown.find(number);
                return found == self.shown.end()
                           ? self.variables.at(static_cast<size_t>(number)).name
                           : found->second;
            },
            "number"_a, "The name that a variable has in the text that is printed.")
        .def_prop_ro("names",
                     [](const Code& self) {
                         std::set<std::string> names;
                         for (const auto& [name, number] : self.numbers) names.insert(name);
                         return names;
                     })
        .def(
            "has",
            [](const Code& self, const std::string& name) { return self.numbers.contains(name); },
            "name"_a)
        .def(
            "number_of",
            [](const Code& self, const std::string& name) { return self.numbers.at(name); },
            "name"_a)
        .def(
            "forget", [](Code& self, const std::string& name) { self.numbers.erase(name); },
            "name"_a)
        .def(
            "kind_named",
            [](const Code& self, const std::string& name, const std::string& other) {
                const auto found = self.kinds.find(name);
                return found == self.kinds.end() ? other
                                                 : std::string(knossos::name(found->second));
            },
            "name"_a, "otherwise"_a = "", "The kind of a variable.")
        .def(
            "times_assigned",
            [](const Code& self, const std::string& name) {
                const auto found = self.count_of_assignments.find(name);
                return found == self.count_of_assignments.end() ? 0 : found->second;
            },
            "name"_a, "In how many places the text assigns the name.")
        .def(
            "set_times_assigned",
            [](Code& self, const std::string& name, int count) {
                self.count_of_assignments[name] = count;
            },
            "name"_a, "count"_a)
        .def(
            "is_at_home",
            [](const Code& self, int number, const BlockRef& block) {
                const auto found = self.homes.find(number);
                return found != self.homes.end() && found->second == block;
            },
            "number"_a, "block"_a, "Whether the block assigns the variable.")
        .def(
            "set_home", [](Code& self, int number) { self.homes[number] = self.out; }, "number"_a)
        .def("add_variable", &Code::add_variable, "name"_a, "kind"_a)
        .def("hidden_variable", &Code::hidden_variable, "wanted"_a, "kind"_a,
             "A variable that the text has not; its name.")
        .def("held", &Code::held, "value"_a, "wanted"_a,
             "A number as it is now: a hidden variable that has got it.")
        .def("leaf", &Code::leaf, "name"_a)
        .def("integer", &Code::integer, "value"_a)
        .def("whole", &Code::whole, "number"_a,
             "What the text calls the variable, or the tuple or record that it is a part of.")
        .def("is_assigned_once", &Code::is_assigned_once, "value"_a)
        .def_prop_ro("array_count", [](const Code& self) { return self.arrays.size(); })
        .def_prop_ro(
            "arrays",
            [](const Code& self) {
                std::vector<std::tuple<std::string, ir::DType, std::vector<Expr>, std::string>>
                    made;
                for (const auto& each : self.arrays)
                    made.emplace_back(each.name, each.dtype, each.shape, role_name(each.role));
                return made;
            })
        .def(
            "rename_array",
            [](Code& self, int number, const std::string& name) {
                self.arrays.at(static_cast<size_t>(number)).name = name;
            },
            "number"_a, "name"_a)
        .def(
            "make_output",
            [](Code& self, int number, std::vector<Expr> shape) {
                auto& array = self.arrays.at(static_cast<size_t>(number));
                array.shape = std::move(shape);
                array.role = Role::output;
            },
            "number"_a, "shape"_a);
}

void bind_integers(nb::module_& module) {
    using namespace nb::literals;
    struct Known {
        std::map<int, knossos::Integers::Bounds> bounds;
    };
    nb::class_<Known>(module, "KnownBounds", "What is known of counters.");
    nb::class_<knossos::Integers>(module, "Integers",
                                  "What is known of integers before a kernel runs.")
        .def("resolved", &knossos::Integers::resolved, "value"_a)
        .def("resolved_within", &knossos::Integers::resolved_within, "value"_a)
        .def("in_parameters", &knossos::Integers::in_parameters, "value"_a)
        .def("least", &knossos::Integers::least, "value"_a)
        .def("is_natural", &knossos::Integers::is_natural, "value"_a)
        .def("is_of_parameters", &knossos::Integers::is_of_parameters, "value"_a)
        .def("place", &knossos::Integers::place, "value"_a, "extent"_a)
        .def("require_same", &knossos::Integers::require_same, "a"_a, "b"_a)
        .def(
            "require_shape",
            [](knossos::Integers& self, nb::handle a, nb::handle b) {
                self.require_shape(values_from(a), values_from(b));
            },
            "a"_a, "b"_a)
        .def("extent", &knossos::Integers::extent, "value"_a)
        .def("kept", &knossos::Integers::kept, "value"_a, "wanted"_a)
        .def("plus", &knossos::Integers::plus, "a"_a, "b"_a)
        .def("moved", &knossos::Integers::moved, "extent"_a, "by"_a)
        .def(
            "bound",
            [](knossos::Integers& self, int counter, int64_t least, const Value& below) {
                self.bounds[counter] = {least, below};
            },
            "counter"_a, "least"_a, "below"_a, "A counter runs from one integer to another.")
        .def("narrow", &knossos::Integers::narrow, "counter"_a, "comparison"_a, "number"_a,
             "What a comparison that holds says of a counter.")
        .def_prop_rw(
            "bounds", [](const knossos::Integers& self) { return Known{self.bounds}; },
            [](knossos::Integers& self, const Known& known) { self.bounds = known.bounds; })
        .def(
            "alias",
            [](knossos::Integers& self, int variable, const Value& value) {
                self.aliases[variable] = value;
            },
            "variable"_a, "value"_a, "What a variable is that is assigned once.")
        .def(
            "size_of",
            [](const knossos::Integers& self, int variable) {
                const auto found = self.sizes.find(variable);
                return found == self.sizes.end() ? Value() : found->second;
            },
            "variable"_a, "What a variable for an extent was made of.");
}

void bind_sharing(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Found>(module, "Found", "What one translation finds out for the next one.")
        .def(nb::init<>())
        .def_rw("for_derivatives", &Found::for_derivatives)
        .def_rw("has_texts_for_derivatives", &Found::has_texts_for_derivatives)
        .def_rw("has_arrays", &Found::has_arrays)
        .def("begin_again", [](Found& self) { self.begin_again(); });
    module.def("joined", &knossos::joined, "states"_a, "What holds where several ways meet.");
    nb::class_<Sharing>(module, "Sharing", "What copies stand for, along the statements.")
        .def_rw("parts", &Sharing::parts)
        .def_rw("fresh", &Sharing::fresh)
        .def_rw("ended", &Sharing::ended)
        .def(
            "make_fresh", [](Sharing& self, int number) { self.fresh.insert(number); }, "number"_a,
            "The array has no name in the text.")
        .def(
            "give_name", [](Sharing& self, int number) { self.fresh.erase(number); }, "number"_a)
        .def(
            "is_fresh", [](const Sharing& self, int number) { return self.fresh.contains(number); },
            "number"_a)
        .def(
            "has_ended",
            [](const Sharing& self, int number) { return self.ended.contains(number); }, "number"_a)
        .def("copy_of_parts", &Sharing::copy_of_parts, "stored"_a, "value"_a)
        .def("check_current", &Sharing::check_current, "number"_a)
        .def("check_own", &Sharing::check_own, "stored"_a)
        .def("overwritten", &Sharing::overwritten, "number"_a)
        .def("let_go", &Sharing::let_go, "number"_a)
        .def("has_changed", &Sharing::has_changed, "stored"_a)
        .def("begin_of_loop", &Sharing::begin_of_loop)
        .def("end_of_loop", &Sharing::end_of_loop, "number"_a, "begin"_a, "again"_a, "ends"_a);
}

// Mismatch and Restart as the exceptions of Python's classes.
void translate_kernel_errors(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const knossos::Mismatch& error) {
        try {
            const nb::object kind = provided("knossos_mismatch");
            const nb::object made = kind(error.wrong, error.instead);
            PyErr_SetObject(kind.ptr(), made.ptr());
        } catch (nb::python_error& other) {
            other.restore();
        }
    } catch (const knossos::Restart&) {
        PyErr_SetNone(provided("knossos_restart").ptr());
    }
}

}  // namespace

void bind_knossos_code(nb::module_& module) {
    nb::register_exception_translator(translate_kernel_errors);
    bind_block(module);
    nb::class_<Code> code(module, "Code", "The procedure that a translation writes.");
    bind_statements_of_code(code);
    bind_variables_of_code(code);
    module.def("whole_of", &knossos::whole_of, nb::arg("name"),
               "What the text calls a variable, or the tuple or record that it is a part of.");
    bind_integers(module);
    bind_sharing(module);
}

}  // namespace composit::python::of_kernels
