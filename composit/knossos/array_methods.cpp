// Methods as functions.
#include "composit/knossos/array_methods.h"

#include <set>

namespace composit::knossos {
namespace {

const std::set<std::string>& methods_of_numpy() {
    static const std::set<std::string> known{
        "sum", "mean",   "max", "min", "prod",    "dot", "copy", "transpose", "cumsum",  "argmax",
        "std", "argmin", "var", "any", "cumprod", "all", "clip", "round",     "diagonal"};
    return known;
}

// What tensors of PyTorch have in place of attributes; "" for other methods.
std::string attribute_for(const std::string& method) {
    if (method == "size") return "shape";
    if (method == "dim") return "ndim";
    return method == "numel" ? "size" : "";
}

// The arguments in NumPy's names.
Named in_numpys_names(Named named) {
    for (auto& [name, value] : named) {
        if (name == "dim") name = "axis";
        if (name == "keepdim") name = "keepdims";
    }
    return named;
}

std::string methods_in_order() {
    std::set<std::string> all = methods_of_numpy();
    all.insert("astype");
    std::string listed;
    for (const std::string& each : all) listed += (listed.empty() ? "" : ", ") + each;
    return listed;
}

}  // namespace

bool changes_length(const std::string& method) {
    static const std::set<std::string> known{"append", "extend", "insert", "pop", "remove"};
    return known.contains(method);
}

Value ArrayMethods::method(const ArrayRef& array, const std::string& name,
                           std::vector<Value> arguments, Named named) {
    if (changes_length(name))
        throw Mismatch(name + " changes how many elements an array has",
                       "Write y = np.zeros(n) before the loop, and y[i] = … in it.");
    const std::string attribute = attribute_for(name);
    if (!attribute.empty() && named.empty() && arguments.size() <= (name == "size")) {
        const Value made = arrays.attribute(array, attribute);
        if (arguments.empty()) return made;
        const auto& parts = made.tuple()->parts;
        const auto axis = arguments[0].integer();
        const auto rank = static_cast<int64_t>(parts.size());
        if (!axis || *axis < -rank || *axis >= rank)
            throw Mismatch("size of an axis that is not known or not there",
                           "A literal axis that the array has is required.");
        return parts[static_cast<size_t>(*axis < 0 ? *axis + rank : *axis)];
    }
    if (methods_of_numpy().contains(name))
        return function_of("numpy." + name, array, std::move(arguments), std::move(named));
    const std::string elementwise = outside.elementwise_method(name);
    if (!elementwise.empty())
        return function_of(elementwise, array, std::move(arguments), std::move(named));
    const bool is_of_library = outside.library_has(name);
    throw Mismatch(
        "arrays have no method " + name + " here",
        is_of_library ? "Write np." + name + "(…)." : methods_in_order() + " are known.");
}

Value ArrayMethods::function_of(const std::string& function, const ArrayRef& array,
                                std::vector<Value> arguments, Named named) {
    arguments.insert(arguments.begin(), array);
    return *arrays.call(function, std::move(arguments), in_numpys_names(std::move(named)));
}

std::optional<Value> ArrayMethods::call(const Callee& function, std::vector<Value> arguments,
                                        Named named) {
    auto made = arrays.call(function.name, std::move(arguments), in_numpys_names(std::move(named)));
    if (made || function.name_in_math.empty()) return made;
    const std::string& name = function.name_in_math;
    throw Mismatch("math." + name + " of an array",
                   outside.numpy_has(name) ? "Write np." + name + ", or a loop." : "Write a loop.");
}

}  // namespace composit::knossos
