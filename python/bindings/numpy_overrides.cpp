// Objects with an `__array_ufunc__` of their own decide what ufuncs make of them.
//
// Source: NEP 13, https://numpy.org/neps/nep-0013-ufunc-overrides.html
#include "arrays.h"
#include "cell.h"
#include "composit/base/error.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "shown.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace composit::python {
namespace {

// What a method takes behind its inputs by position, and how many inputs it has; 0: as many as the
// ufunc.
struct UfuncMethod {
    std::string_view name;
    size_t inputs;
    std::vector<const char*> names;
};

const UfuncMethod& method_named(std::string_view name) {
    static const auto* const methods = new std::vector<UfuncMethod>{
        {"__call__", 0, {"out"}},
        {"reduce", 1, {"axis", "dtype", "out", "keepdims", "initial", "where"}},
        {"accumulate", 1, {"axis", "dtype", "out"}},
        {"reduceat", 2, {"axis", "dtype", "out"}},
        {"outer", 2, {}},
        {"at", 3, {}},
    };
    return *std::ranges::find(*methods, name, &UfuncMethod::name);
}

constexpr std::string_view call_options[] = {"out",   "where", "casting",   "order",
                                             "dtype", "subok", "signature", "sig",
                                             "axis",  "axes",  "keepdims"};

// Whether the class of a value has an `__array_ufunc__` that is not NumPy's, nor composit's.
bool overrides(nb::handle value) {
    const nb::handle kind = value.type();
    if (is_tensor(value) || !nb::hasattr(kind, "__array_ufunc__")) return false;
    return !nb::object(kind.attr("__array_ufunc__"))
                .is(numpy_attribute("ndarray").attr("__array_ufunc__"));
}

// The value, or those of a tuple of outputs, that have something to say.
void add_overriding(nb::handle value, std::vector<nb::object>& found) {
    if (PyTuple_CheckExact(value.ptr())) {
        for (nb::handle each : value)
            if (overrides(each)) found.push_back(nb::borrow(each));
    } else if (overrides(value)) {
        found.push_back(nb::borrow(value));
    }
}

bool is_overridden(const nb::tuple& operands, const nb::dict& options) {
    std::vector<nb::object> found;
    for (nb::handle value : operands) add_overriding(value, found);
    for (auto [name, value] : options) add_overriding(value, found);
    return !found.empty();
}

// One of each class, subclasses before their bases.
std::vector<nb::object> in_turn(const std::vector<nb::object>& candidates) {
    std::vector<nb::object> order;
    for (const nb::object& each : candidates) {
        const auto is_same = [&](const nb::object& other) { return each.type().is(other.type()); };
        if (std::ranges::any_of(order, is_same)) continue;
        const auto is_base = [&](const nb::object& other) {
            return PyType_IsSubtype(Py_TYPE(each.ptr()), Py_TYPE(other.ptr())) != 0;
        };
        order.insert(std::ranges::find_if(order, is_base), each);
    }
    return order;
}

// Inputs by position and the rest by name, as `__array_ufunc__` is told them: out as a tuple, left
// out when it is None.
struct Asked {
    nb::tuple inputs;
    nb::dict options;
};

nb::tuple part_of(const nb::tuple& items, size_t begin, size_t end) {
    return nb::steal<nb::tuple>(PyTuple_GetSlice(items.ptr(), static_cast<Py_ssize_t>(begin),
                                                 static_cast<Py_ssize_t>(end)));
}

void take_call(nb::handle ufunc, const nb::tuple& operands, Asked& asked) {
    const auto inputs = nb::cast<size_t>(ufunc.attr("nin")),
               outputs = nb::cast<size_t>(ufunc.attr("nout"));
    const nb::list places = positional_outputs(nb::cast<std::string>(ufunc.attr("__name__")),
                                               operands, inputs, outputs, nb::none());
    asked.inputs = part_of(operands, 0, inputs);
    if (places.size() > 0) {
        user_check<TypeError>(!asked.options.contains("out"),
                              "cannot specify 'out' as both a positional and keyword argument");
        nb::list all = places;
        while (all.size() < outputs) all.append(nb::none());
        asked.options["out"] = nb::tuple(all);
    }
    if (!asked.options.contains("sig")) return;
    user_check<TypeError>(!asked.options.contains("signature"),
                          "cannot specify both 'sig' and 'signature'");
    asked.options["signature"] = nb::object(asked.options["sig"]);
    nb::del(asked.options["sig"]);
}

void take_method(nb::handle ufunc, const UfuncMethod& method, const nb::tuple& operands,
                 nb::handle no_value, Asked& asked) {
    const size_t count = operands.size(), most = method.inputs + method.names.size();
    user_check<TypeError>(count >= 1 && count <= most, method.name, "() takes from 1 to ", most,
                          " positional arguments but ", count, " were given");
    user_check(method.name != "at" || nb::cast<int>(ufunc.attr("nin")) != 2 || count >= 3,
               "second operand needed for ufunc");
    asked.inputs = part_of(operands, 0, method.inputs);
    for (size_t i = method.inputs; i < count; ++i) {
        const nb::str name(method.names[i - method.inputs]);
        if (!asked.options.contains(name)) asked.options[name] = operands[i];
    }
    if (asked.options.contains("initial") && nb::object(asked.options["initial"]).is(no_value))
        nb::del(asked.options["initial"]);
}

void check_options(nb::handle ufunc, const UfuncMethod& method, const nb::dict& options) {
    const bool is_call = method.name == "__call__" || method.name == "outer";
    for (auto [name, value] : options) {
        const auto word = nb::cast<std::string>(name);
        const bool is_known = is_call
                                  ? std::ranges::find(call_options, word) != std::end(call_options)
                                  : std::ranges::find(method.names, word) != method.names.end();
        user_check<TypeError>(
            is_known,
            is_call ? nb::cast<std::string>(ufunc.attr("__name__")) : std::string(method.name),
            "() got an unexpected keyword argument '", word, "'");
    }
}

void settle_output(nb::handle ufunc, nb::dict& options) {
    if (!options.contains("out")) return;
    const nb::object given = options["out"];
    const bool is_tuple = nb::isinstance<nb::tuple>(given);
    const nb::tuple out = is_tuple ? nb::borrow<nb::tuple>(given) : nb::make_tuple(given);
    if (out.size() != nb::cast<size_t>(ufunc.attr("nout"))) {
        user_check<TypeError>(is_tuple, "'out' must be a tuple of arrays");
        fail<ValueError>("The 'out' tuple must have exactly one entry per ufunc output");
    }
    bool is_there = false;
    for (nb::handle each : out) is_there = is_there || !each.is_none();
    if (is_there)
        options["out"] = out;
    else
        nb::del(options["out"]);
}

[[noreturn]] void refuse_all(nb::handle ufunc, const std::string& method, const Asked& asked) {
    std::string given, kinds;
    const auto add = [](std::string& list, const std::string& item) {
        list += (list.empty() ? "" : ", ") + item;
    };
    const auto add_kind = [&](nb::handle value) { add(kinds, text("'", KindOf{value}, "'")); };
    for (nb::handle input : asked.inputs) {
        add(given, text(Shown{input}));
        add_kind(input);
    }
    for (auto [name, value] : asked.options)
        add(given, text(nb::str(name).c_str(), "=", Shown{value}));
    if (asked.options.contains("out"))
        for (nb::handle each : asked.options["out"]) add_kind(each);
    fail<TypeError>("operand type(s) all returned NotImplemented from __array_ufunc__(",
                    Shown{ufunc}, ", '", method, "', ", given, "): ", kinds);
}

nb::object overridden(nb::handle ufunc, const std::string& name, const nb::tuple& operands,
                      const nb::dict& options, nb::handle no_value) {
    const UfuncMethod& method = method_named(name);
    Asked asked;
    asked.options.update(options);
    if (method.inputs == 0)
        take_call(ufunc, operands, asked);
    else
        take_method(ufunc, method, operands, no_value, asked);
    check_options(ufunc, method, asked.options);
    settle_output(ufunc, asked.options);
    std::vector<nb::object> candidates;
    for (nb::handle input : asked.inputs) add_overriding(input, candidates);
    for (const char* option : {"out", "where"})
        if (asked.options.contains(option))
            add_overriding(nb::object(asked.options[option]), candidates);
    for (const nb::object& each : candidates)
        user_check<TypeError>(!nb::object(each.type().attr("__array_ufunc__")).is_none(),
                              "operand '", KindOf{each},
                              "' does not support ufuncs (__array_ufunc__=None)");
    for (const nb::object& each : in_turn(candidates)) {
        const nb::object result =
            each.type().attr("__array_ufunc__")(each, ufunc, name, *asked.inputs, **asked.options);
        if (!result.is(nb::handle(Py_NotImplemented))) return result;
    }
    refuse_all(ufunc, name, asked);
}

}  // namespace

void bind_numpy_overrides(nb::module_& module) {
    module.def("is_overridden", is_overridden, nb::arg("operands"), nb::arg("options"),
               "Whether an operand or output has an `__array_ufunc__` of its own.");
    module.def("overridden", overridden, nb::arg("ufunc"), nb::arg("method"), nb::arg("operands"),
               nb::arg("options"), nb::arg("no_value"), nb::call_guard<Located>(),
               "What the first of them makes of the call, the leftmost one first and subclasses "
               "before their bases.");
}

}  // namespace composit::python
