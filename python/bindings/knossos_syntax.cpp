// Python's syntax trees: composit/knossos/syntax.h.
#include "composit/knossos/syntax.h"
#include "knossos.h"
#include "values.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Form;
using knossos::Mentioned;
using knossos::Syntax;
using knossos::SyntaxRef;

// A tree, and what it mentions.
struct Text {
    SyntaxRef tree;
    Mentioned mentioned;
};

// A class of the module ast.
nb::object class_named(const char* name) { return nb::module_::import_("ast").attr(name); }

bool is_one(nb::handle node, const nb::object& kind) { return nb::isinstance(node, kind); }

Form form_of(std::string_view kind) {
    static const std::map<std::string_view, Form> forms{
        {"Name", Form::name},           {"Attribute", Form::attribute},
        {"Subscript", Form::subscript}, {"FunctionDef", Form::function},
        {"Lambda", Form::function},     {"For", Form::loop},
        {"While", Form::repeat},        {"Call", Form::call},
        {"AugAssign", Form::augmented}, {"Return", Form::leave},
        {"Break", Form::stop},          {"Continue", Form::go_on},
    };
    const auto found = forms.find(kind);
    return found == forms.end() ? Form::other : found->second;
}

// The field of a node that has its name; null for others.
const char* field_of_name(Form form, std::string_view kind) {
    if (form == Form::name) return "id";
    if (form == Form::attribute) return "attr";
    return kind == "FunctionDef" ? "name" : nullptr;
}

SyntaxRef syntax_from(nb::handle node) {
    static const nb::object& statement = *new nb::object(class_named("stmt"));
    static const nb::object& store = *new nb::object(class_named("Store"));
    static const nb::object& syntax = *new nb::object(class_named("AST"));
    static const nb::object& context = *new nb::object(class_named("expr_context"));
    const std::string kind = nb::type_name(node.type()).c_str();
    const std::string name = kind.substr(kind.rfind('.') + 1);
    const auto made = std::make_shared<Syntax>();
    made->form = form_of(name);
    made->origin = node.ptr();
    made->is_statement = is_one(node, statement);
    if (const char* field = field_of_name(made->form, name))
        made->name = nb::cast<std::string>(nb::object(node.attr(field)));
    if (made->form == Form::call)
        made->place = {nb::cast<int>(nb::object(node.attr("lineno"))),
                       nb::cast<int>(nb::object(node.attr("col_offset")))};
    const auto add = [&](nb::handle child, const std::string& field) {
        if (!is_one(child, syntax)) return;
        if (is_one(child, context)) {
            made->is_stored = is_one(child, store);
            return;
        }
        made->children.push_back(syntax_from(child));
        if (field == "target") made->target = made->children.back();
        if (field == "orelse") made->otherwise.push_back(made->children.back());
    };
    for (nb::handle each : nb::object(node.attr("_fields"))) {
        const nb::object value = nb::getattr(node, each, nb::none());
        const std::string field = nb::cast<std::string>(each);
        if (PyList_Check(value.ptr()))
            for (nb::handle child : value) add(child, field);
        else
            add(value, field);
    }
    return made;
}

}  // namespace

void bind_knossos_syntax(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Text>(module, "Text", "A statement or an expression, and what it mentions.")
        .def(
            "__init__",
            [](Text* self, nb::handle node) {
                const SyntaxRef tree = syntax_from(node);
                new (self) Text{tree, knossos::mentioned(*tree)};
            },
            "node"_a)
        .def_prop_ro("names", [](const Text& self) { return self.mentioned.names; })
        .def_prop_ro("assigned", [](const Text& self) { return self.mentioned.assigned; })
        .def_prop_ro("elements", [](const Text& self) { return self.mentioned.elements; })
        .def_prop_ro("appended", [](const Text& self) { return self.mentioned.appended; })
        .def_prop_ro("passes_over",
                     [](const Text& self) { return knossos::passes_over(*self.tree); })
        .def_prop_ro("leaves", [](const Text& self) { return knossos::leaves(*self.tree); })
        .def(
            "jumps",
            [](const Text& self, bool by_break_alone) {
                return knossos::jumps(*self.tree, by_break_alone);
            },
            "by_break_alone"_a)
        .def(
            "elements_changed_by",
            [](const Text& self, const std::map<knossos::Place, std::set<std::string>>& calls) {
                return knossos::elements_changed_by(*self.tree, calls);
            },
            "calls"_a)
        .def(
            "counts_of_names",
            [](const Text& self, bool stored) {
                return knossos::counts_of_names(*self.tree, stored);
            },
            "stored"_a)
        .def("rebound", [](const Text& self) { return knossos::rebound_in(*self.tree); })
        .def(
            "is_used_outside",
            [](const Text& self, const Text& loop, const std::string& name) {
                return knossos::is_used_outside(*self.tree, *loop.tree, name);
            },
            "loop"_a, "name"_a,
            "Whether a function reads or assigns the name outside a loop, apart from loops of "
            "that name.");
}

}  // namespace composit::python::of_kernels
