// Python's syntax trees: composit/knossos/syntax.h.
#include "composit/knossos/syntax_text.h"
#include "knossos.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {
namespace {

using knossos::Field;
using knossos::Form;
using knossos::Syntax;
using knossos::SyntaxRef;

// A class of Python's trees: what it is here, and which of its fields hold parts.
struct NodeClass {
    Form form = Form::other;
    std::vector<std::pair<const char*, Field>> parts = {};
    const char* name = nullptr;  // the field of its name
};

const std::map<std::string_view, NodeClass>& node_classes() {
    const std::pair<const char*, Field> value{"value", Field::value},
        target{"target", Field::target}, body{"body", Field::body},
        otherwise{"orelse", Field::otherwise}, test{"test", Field::test},
        elements{"elts", Field::element}, element{"elt", Field::element},
        iterated{"iter", Field::iterated}, generators{"generators", Field::generator},
        arguments{"args", Field::parameter};
    static const std::map<std::string_view, NodeClass> known{
        {"Constant", {Form::constant}},
        {"Name", {Form::name, {}, "id"}},
        {"Attribute", {Form::attribute, {value}, "attr"}},
        {"Subscript", {Form::subscript, {value, {"slice", Field::index}}}},
        {"Slice",
         {Form::slice, {{"lower", Field::lower}, {"upper", Field::upper}, {"step", Field::step}}}},
        {"Tuple", {Form::tuple, {elements}}},
        {"List", {Form::list, {elements}}},
        {"Starred", {Form::starred, {value}}},
        {"UnaryOp", {Form::unary, {{"operand", Field::value}}}},
        {"BinOp", {Form::binary, {{"left", Field::left}, {"right", Field::right}}}},
        {"BoolOp", {Form::both, {{"values", Field::element}}}},
        {"Compare", {Form::comparison, {{"left", Field::left}, {"comparators", Field::right}}}},
        {"IfExp", {Form::choice, {test, body, otherwise}}},
        {"Call",
         {Form::call,
          {{"func", Field::function}, {"args", Field::argument}, {"keywords", Field::keyword}}}},
        {"Lambda", {Form::lambda, {arguments, body}}},
        {"ListComp", {Form::list_of_each, {element, generators}}},
        {"GeneratorExp", {Form::generator_of_each, {element, generators}}},
        {"comprehension", {Form::comprehension, {target, iterated, {"ifs", Field::test}}}},
        {"JoinedStr", {Form::joined_text, {{"values", Field::element}}}},
        {"FormattedValue", {Form::formatted, {value, {"format_spec", Field::format}}}},
        {"keyword", {Form::keyword, {value}, "arg"}},
        {"arg", {Form::parameter, {{"annotation", Field::annotation}}, "arg"}},
        {"FunctionDef",
         {Form::function,
          {arguments, body, {"decorator_list", Field::decorator}, {"returns", Field::result}},
          "name"}},
        {"Assign", {Form::assign, {{"targets", Field::target}, value}}},
        {"AnnAssign", {Form::annotated, {target, {"annotation", Field::annotation}, value}}},
        {"AugAssign", {Form::augmented, {target, value}}},
        {"If", {Form::branch, {test, body, otherwise}}},
        {"For", {Form::loop, {target, iterated, body, otherwise}}},
        {"While", {Form::repeat, {test, body, otherwise}}},
        {"Return", {Form::leave, {value}}},
        {"Break", {Form::stop}},
        {"Continue", {Form::go_on}},
        {"Pass", {Form::pass}},
        {"Expr", {Form::expression, {value}}},
        {"Raise", {Form::raise, {{"exc", Field::error}, {"cause", Field::cause}}}},
        {"Assert", {Form::assertion, {test, {"msg", Field::message}}}},
    };
    return known;
}

std::string class_name(nb::handle node) {
    const std::string kind = nb::type_name(node.type()).c_str();
    return kind.substr(kind.rfind('.') + 1);
}

// "+" of ast.Add
const char* symbol_of_class(const std::string& kind) {
    static const std::map<std::string_view, const char*> known{
        {"Add", "+"},        {"Sub", "-"},    {"Mult", "*"},       {"MatMult", "@"},
        {"Div", "/"},        {"Mod", "%"},    {"LShift", "<<"},    {"RShift", ">>"},
        {"BitOr", "|"},      {"BitXor", "^"}, {"BitAnd", "&"},     {"FloorDiv", "//"},
        {"Pow", "**"},       {"Invert", "~"}, {"Not", "not"},      {"UAdd", "+"},
        {"USub", "-"},       {"And", "and"},  {"Or", "or"},        {"Eq", "=="},
        {"NotEq", "!="},     {"Lt", "<"},     {"LtE", "<="},       {"Gt", ">"},
        {"GtE", ">="},       {"Is", "is"},    {"IsNot", "is not"}, {"In", "in"},
        {"NotIn", "not in"},
    };
    const auto found = known.find(kind);
    return found == known.end() ? "" : found->second;
}

// A class of the module ast.
nb::object ast_class(const char* name) { return nb::module_::import_("ast").attr(name); }

bool is_instance(nb::handle node, const nb::object& kind) {
    return PyObject_IsInstance(node.ptr(), kind.ptr()) == 1;
}

std::string unparsed(nb::handle node) {
    return text_in_utf8(nb::object(ast_class("unparse")(node)));
}

// Texts as Python writes them: of infinite numbers a literal that is too large.
std::string text_of_constant_object(nb::handle value) {
    if (value.ptr() == Py_Ellipsis) return "...";
    const std::string text = nb::repr(value).c_str();
    return PyFloat_Check(value.ptr()) && text == "inf" ? "1e309" : text;
}

class TreeReading {
  public:
    // RecursionError for a text that is nested too deep.
    std::shared_ptr<Syntax> read(nb::handle node) const {
        const Deeper deeper;
        const std::string kind = class_name(node);
        const auto known = node_classes().find(kind);
        auto made = std::make_shared<Syntax>();
        made->is_statement = is_instance(node, statement_);
        if (const nb::object line = nb::getattr(node, "lineno", nb::none()); !line.is_none())
            made->place = {nb::cast<int>(line), nb::cast<int>(nb::object(node.attr("col_offset")))};
        if (const nb::object context = nb::getattr(node, "ctx", nb::none()); !context.is_none())
            made->is_stored = is_instance(context, store_);
        if (known == node_classes().end()) {
            read_other(node, kind, *made);
            return made;
        }
        made->form = known->second.form;
        if (known->second.name) {
            const nb::object name = node.attr(known->second.name);
            if (!name.is_none()) made->name = nb::cast<std::string>(name);
        }
        read_operators(node, *made);
        if (made->form == Form::constant) read_constant(nb::object(node.attr("value")), *made);
        if (made->form == Form::joined_text) made->text = unparsed(node);
        for (const auto& [field, as] : known->second.parts) {
            const nb::object part = node.attr(field);
            if (as == Field::parameter)
                add_parameters(part, *made);
            else
                add(part, as, *made);
        }
        return made;
    }

  private:
    // A part, or a list of some.
    void add(nb::handle part, Field field, Syntax& whole) const {
        if (part.is_none()) return;
        if (PyList_Check(part.ptr())) {
            for (nb::handle each : part) add(each, field, whole);
            return;
        }
        const auto made = read(part);
        if (field == Field::annotation || field == Field::result)
            made->outer = python_object(nb::borrow(part));
        whole.children.emplace_back(made, field);
    }

    void add_parameters(nb::handle arguments, Syntax& whole) const {
        const auto part = [&](const char* name) { return nb::object(arguments.attr(name)); };
        add_others(part("posonlyargs"), "/", "arguments by position only", whole);
        add(part("args"), Field::parameter, whole);
        add_others(part("vararg"), "*", "*args", whole);
        const size_t first_by_name = whole.children.size();
        add_others(part("kwonlyargs"), "=", "arguments by name only", whole);
        size_t place = first_by_name;
        for (nb::handle each : part("kw_defaults")) {
            auto named = std::make_shared<Syntax>(*whole.children[place].syntax);
            add(each, Field::initial, *named);
            whole.children[place++].syntax = std::move(named);
        }
        add_others(part("kwarg"), "**", "**kwargs", whole);
        add(part("defaults"), Field::initial, whole);
    }

    // Parameters that kernels have not: how they are written, and what errors call them.
    void add_others(nb::handle given, const char* sign, const char* what, Syntax& whole) const {
        if (given.is_none()) return;
        if (PyList_Check(given.ptr())) {
            for (nb::handle each : given) add_others(each, sign, what, whole);
            return;
        }
        const auto made = read(given);
        made->text = sign;
        made->letters = what;
        whole.children.emplace_back(made, Field::other_parameter);
    }

    void read_operators(nb::handle node, Syntax& made) const {
        if (made.form == Form::comparison) {
            for (nb::handle each : nb::object(node.attr("ops")))
                made.comparisons.emplace_back(symbol_of_class(class_name(each)));
        } else if (made.form == Form::binary || made.form == Form::unary ||
                   made.form == Form::both || made.form == Form::augmented) {
            made.name = symbol_of_class(class_name(nb::object(node.attr("op"))));
        }
    }

    void read_constant(const nb::object& value, Syntax& made) const {
        made.text = text_of_constant_object(value);
        made.is_none = value.is_none();
        PyObject* const object = value.ptr();
        if (PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object)) {
            made.number = value_from(value);
            return;
        }
        made.outer = python_object(value);
        made.is_text = PyUnicode_Check(object);
        if (made.is_text) made.letters = text_in_utf8(value);
    }

    void read_other(nb::handle node, const std::string& kind, Syntax& made) const {
        made.name = kind;
        if (made.is_statement || is_instance(node, expression_)) made.text = unparsed(node);
        for (nb::handle field : nb::object(node.attr("_fields"))) {
            const nb::object value = nb::getattr(node, field, nb::none());
            if (is_instance(value, context_)) continue;
            if (PyList_Check(value.ptr())) {
                for (nb::handle each : value)
                    if (is_instance(each, node_)) add(each, Field::part, made);
            } else if (is_instance(value, node_)) {
                add(value, Field::part, made);
            }
        }
    }

    nb::object statement_ = ast_class("stmt"), expression_ = ast_class("expr"),
               store_ = ast_class("Store"), node_ = ast_class("AST"),
               context_ = ast_class("expr_context");
};

}  // namespace

void bind_knossos_syntax(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Text>(module, "Text", "The tree of a function, a statement or an expression.")
        .def(
            "__init__",
            [](Text* self, nb::handle node) { new (self) Text{TreeReading().read(node)}; },
            "node"_a)
        .def("__repr__", [](const Text& self) { return knossos::written(*self.tree); });
}

}  // namespace composit::python::of_kernels
