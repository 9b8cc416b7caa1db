// Operators on Expr, calls of rows on Expr, and register_row with functions written in Python.
#include "scalar_values.h"

#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"
#include "content.h"
#include "held.h"
#include "interpreter_lock.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

namespace composit::python {
namespace {

namespace scalar = ir::scalar;
using scalar::Expr;
using scalar::Op;
using scalar::Row;

// A number beside an expression takes its dtype.
std::optional<Expr> operand_from(nb::handle value, const Expr& beside) {
    if (nb::isinstance<Expr>(value)) return nb::cast<Expr>(value);
    if (!PyFloat_Check(value.ptr()) && !PyLong_Check(value.ptr())) return std::nullopt;
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    return Expr::constant(beside.dtype(), number);
}

// Operators mean what the rows of those names mean, as on tensors: a / b of integers is true
// division, a & b on bool is and.
Expr applied(const char* row, const Expr& a, const Expr& b) {
    return Expr::call(scalar::row(row), {a, b});
}

void bind_operator(nb::class_<Expr>& type, const std::string& name, const char* row) {
    type.def(("__" + name + "__").c_str(), [row](const Expr& self, nb::handle other) -> nb::object {
        const auto operand = operand_from(other, self);
        return operand ? nb::cast(applied(row, self, *operand)) : nb::borrow(Py_NotImplemented);
    });
    type.def(
        ("__r" + name + "__").c_str(), [row](const Expr& self, nb::handle other) -> nb::object {
            const auto operand = operand_from(other, self);
            return operand ? nb::cast(applied(row, *operand, self)) : nb::borrow(Py_NotImplemented);
        });
}

// row(name) applied to expressions and numbers, of which one at least is an expression.
Expr call_of(const std::string& name, nb::args arguments) {
    const Expr* first = nullptr;
    for (nb::handle argument : arguments) {
        if (!nb::isinstance<Expr>(argument)) continue;
        const Expr* expression = &content_of<Expr>(argument);
        if (!first || first->dtype() == ir::DType::boolean) first = expression;
    }
    user_check<TypeError>(first, name, ": a scalar expression is required among the arguments.");
    // where(x > 0, 1.0, 0.5): numbers beside a condition alone are float64, cast by the result.
    const Expr number = Expr::constant(ir::DType::float64, 0);
    if (first->dtype() == ir::DType::boolean) first = &number;
    std::vector<Expr> operands;
    for (nb::handle argument : arguments) {
        const auto operand = operand_from(argument, *first);
        user_check<TypeError>(operand.has_value(), name,
                              ": operands must be scalar expressions or numbers.");
        operands.push_back(*operand);
    }
    return Expr::call(scalar::row(name), operands);
}

void bind_operators_of_expr(nb::module_& module) {
    auto type = nb::borrow<nb::class_<Expr>>(module.attr("Expr"));
    const std::pair<const char*, const char*> binary[] = {
        {"add", "add"},         {"sub", "subtract"},          {"mul", "multiply"},
        {"truediv", "divide"},  {"floordiv", "floor_divide"}, {"mod", "remainder"},
        {"pow", "power"},       {"and", "bitwise_and"},       {"or", "bitwise_or"},
        {"xor", "bitwise_xor"}, {"lshift", "left_shift"},     {"rshift", "right_shift"}};
    for (const auto& [name, row] : binary) bind_operator(type, name, row);
    const std::pair<const char*, const char*> comparisons[] = {
        {"__lt__", "less"},          {"__le__", "less_equal"}, {"__gt__", "greater"},
        {"__ge__", "greater_equal"}, {"__eq__", "equal"},      {"__ne__", "not_equal"}};
    for (const auto& [name, row] : comparisons)
        type.def(name, [row = row](const Expr& self, nb::handle other) -> nb::object {
            const auto operand = operand_from(other, self);
            return operand ? nb::cast(applied(row, self, *operand)) : nb::borrow(Py_NotImplemented);
        });
    const std::pair<const char*, const char*> unary[] = {{"__neg__", "negative"},
                                                         {"__pos__", "positive"},
                                                         {"__abs__", "absolute"},
                                                         {"__invert__", "invert"}};
    for (const auto& [name, row] : unary)
        type.def(name,
                 [row = row](const Expr& self) { return Expr::call(scalar::row(row), {self}); });
    type.def("__bool__", [](const Expr&) -> bool {
        fail<TypeError>(
            "a scalar expression has no truth value while a row is defined. "
            "Use composit.scalar.where(condition, a, b).");
    });
    for (const char* name : {"__float__", "__int__", "__complex__", "__index__"})
        type.def(name, [](const Expr&) -> double {
            fail<TypeError>(
                "a scalar expression has no value while a row is defined. Functions of the module "
                "math take numbers only: use those of composit.scalar, such as "
                "composit.scalar.exp(x).");
        });
    type.def(
        "__array_ufunc__",
        [](const Expr&, nb::handle ufunc, const std::string& method, nb::args inputs) {
            const auto name = nb::cast<std::string>(ufunc.attr("__name__"));
            user_check<TypeError>(method == "__call__", "numpy.", name, ".", method,
                                  " of a scalar expression: an expression is one element. Use the "
                                  "functions of composit.scalar.");
            return call_of(name, inputs);
        },
        "numpy.exp(x) of an expression is the row named exp.");
}

Expr expression_from(nb::handle value, const std::string& name, ir::DType dtype) {
    if (nb::isinstance<Expr>(value)) {
        const Expr made = nb::cast<Expr>(value);
        const bool is_number = ir::is_floating(made.dtype()) && ir::is_floating(dtype);
        return is_number ? Expr::cast(made, dtype) : made;
    }
    user_check<TypeError>(PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()), name,
                          ": the function returned a ", Py_TYPE(value.ptr())->tp_name,
                          ". A scalar expression or a number is required.");
    return Expr::constant(dtype, PyFloat_AsDouble(value.ptr()));
}

nb::tuple tuple_of(const std::vector<Expr>& expressions) {
    nb::list items;
    for (const Expr& expression : expressions) items.append(expression);
    return nb::tuple(items);
}

// Initial values: expressions; integers, which are int64; floats of the first expression's dtype.
std::vector<Expr> state_from(const std::vector<nb::object>& initial) {
    ir::DType floating = ir::DType::float64;
    for (size_t i = initial.size(); i-- > 0;)
        if (nb::isinstance<Expr>(initial[i]) &&
            ir::is_floating(content_of<Expr>(initial[i]).dtype()))
            floating = content_of<Expr>(initial[i]).dtype();
    std::vector<Expr> state;
    for (const nb::object& value : initial) {
        if (PyLong_Check(value.ptr()))
            state.push_back(Expr::constant_integer(ir::DType::int64, nb::cast<int64_t>(value)));
        else
            state.push_back(expression_from(value, "loop", floating));
    }
    return state;
}

std::vector<Expr> loop_from(const std::vector<nb::object>& initial, const nb::callable& condition,
                            const nb::callable& step, int64_t limit) {
    const std::vector<Expr> state = state_from(initial);
    return scalar::loop(
        state,
        [&](const std::vector<Expr>& s) {
            const nb::object holds = condition(*tuple_of(s));
            user_check<TypeError>(nb::isinstance<Expr>(holds), "loop: the condition returned a ",
                                  Py_TYPE(holds.ptr())->tp_name,
                                  ". A scalar expression is required.");
            return nb::cast<Expr>(holds);
        },
        [&](const std::vector<Expr>& s) {
            const nb::object made = step(*tuple_of(s));
            user_check<TypeError>(PyTuple_Check(made.ptr()) || PyList_Check(made.ptr()),
                                  "loop: the step returned a ", Py_TYPE(made.ptr())->tp_name,
                                  ". A tuple of ", s.size(), " is required.");
            std::vector<Expr> next;
            for (nb::handle value : made)
                next.push_back(
                    expression_from(value, "loop", s[std::min(next.size(), s.size() - 1)].dtype()));
            return next;
        },
        limit);
}

const scalar::TypeRule& rule_from(const std::string& name) {
    static const std::pair<const char*, const scalar::TypeRule*> rules[] = {
        {"inexact", &scalar::types::inexact},
        {"floating", &scalar::types::floating},
        {"any", &scalar::types::any},
        {"numeric", &scalar::types::numeric},
        {"arithmetic", &scalar::types::arithmetic},
        {"integral", &scalar::types::integral},
        {"comparison", &scalar::types::comparison},
        {"predicate", &scalar::types::predicate},
        {"logical", &scalar::types::logical},
        {"test", &scalar::types::test}};
    for (const auto& [known, rule] : rules)
        if (name == known) return *rule;
    fail<KeyError>(
        "register: there is no type rule '", name, "'. One of inexact, floating, any, ",
        "numeric, arithmetic, integral, comparison, predicate, logical, test is required.");
}

Row make_row(const std::string& name, int arity, nb::object value, nb::object slope,
             const std::string& doc, const std::string& types,
             const std::vector<std::string>& aliases,
             const std::vector<std::pair<double, double>>& domain, bool is_piecewise_constant) {
    Row row;
    row.name = name;
    row.aliases = aliases;
    row.arity = arity;
    row.types = rule_from(types);
    row.doc = doc;
    row.is_piecewise_constant = is_piecewise_constant;
    for (const auto& [low, high] : domain) row.domain.push_back({low, high});
    row.value = [name, function = held(value)](const std::vector<Expr>& x) {
        const Acquired acquired;
        return expression_from((*function)(*tuple_of(x)), name, x[0].dtype());
    };
    if (slope.is_none()) return row;
    row.slopes = [name, function = held(slope)](const std::vector<Expr>& x, const Expr& y) {
        const Acquired acquired;
        const nb::object made = (*function)(*tuple_of(x), y);
        std::vector<Expr> slopes;
        if (!PyTuple_Check(made.ptr()) && !PyList_Check(made.ptr())) {
            slopes.push_back(expression_from(made, name, x[0].dtype()));
        } else {
            for (nb::handle item : made)
                slopes.push_back(item.is_none() ? Expr()
                                                : expression_from(item, name, x[0].dtype()));
        }
        user_check(slopes.size() == x.size(), name, ": slope returned ", slopes.size(),
                   " expressions for ", x.size(), " operands. One for each is required.");
        return slopes;
    };
    return row;
}

}  // namespace

void bind_scalar_values(nb::module_& module) {
    using namespace nb::literals;
    bind_operators_of_expr(module);
    module.def("call", call_of);
    module.def("loop", loop_from);
    module.def(
        "register_row",
        [](const std::string& name, int arity, nb::object value, nb::object slope,
           const std::string& doc, const std::string& types,
           const std::vector<std::string>& aliases,
           const std::vector<std::pair<double, double>>& domain, bool is_piecewise_constant) {
            return std::const_pointer_cast<Row>(
                scalar::register_row(make_row(name, arity, std::move(value), std::move(slope), doc,
                                              types, aliases, domain, is_piecewise_constant)));
        },
        "name"_a, "arity"_a, "value"_a, "slope"_a = nb::none(), "doc"_a = "", "types"_a = "inexact",
        "aliases"_a = std::vector<std::string>(),
        "domain"_a = std::vector<std::pair<double, double>>(), "is_piecewise_constant"_a = false);
    module.def("is_user_row", [](const Row& row) { return scalar::is_user_row(row); });
}

}  // namespace composit::python
