// Pruned parameters of composit.torch's modules (torch.nn.utils.prune): which hooks a module gets,
// which parameters and buffers, and what methods see that follow others. Methods are Python's
// classes; masks are composit/aten/pruning.h.
#include "exact_errors.h"
#include "flags.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

nb::object pruning_method() { return provided("pruning_method"); }
nb::object pruning_container() { return provided("pruning_container"); }

bool prunes(nb::handle hook, nb::handle name) {
    return nb::isinstance(hook, pruning_method()) &&
           nb::object(hook.attr("_tensor_name")).equal(name);
}

nb::object name_with(nb::handle name, const char* ending) {
    nb::object made = nb::steal(PyUnicode_Concat(name.ptr(), nb::str(ending).ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

nb::object attribute(nb::handle object, nb::handle name) {
    nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name.ptr()));
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

void put_attribute(nb::handle object, nb::handle name, nb::handle value) {
    if (PyObject_SetAttr(object.ptr(), name.ptr(), value.ptr()) < 0) throw nb::python_error();
}

void take_from(nb::handle module, const char* group, nb::handle name) {
    if (PyObject_DelItem(group_in(module, group).ptr(), name.ptr()) < 0) throw nb::python_error();
}

bool are_of_one_shape(nb::handle a, nb::handle b) {
    return nb::object(a.attr("shape")).equal(nb::object(b.attr("shape")));
}

nb::object ones_like(nb::handle tensor) { return provided("torch_ones_like")(tensor); }

// The method, or a container of it and those that the parameter was pruned by before, whose hook is
// taken from the module.
nb::object joined_with_earlier(nb::object method, nb::handle module, nb::handle name) {
    method.attr("_tensor_name") = name;
    std::vector<std::pair<nb::object, nb::object>> earlier;
    for (const auto& [key, hook] : items_now(group_in(module, "_forward_pre_hooks")))
        if (prunes(hook, name)) earlier.emplace_back(key, hook);
    exact_check(PyExc_AssertionError, earlier.size() <= 1,
                "Avoid adding multiple pruning hooks to the same tensor ", Said{name},
                " of module ", Said{module}, ". Use a PruningContainer.");
    if (earlier.empty()) return method;
    const auto& [key, hook] = earlier.front();
    take_from(module, "_forward_pre_hooks", key);
    const nb::object kind = pruning_container();
    nb::object container = nb::isinstance(hook, kind) ? hook : nb::object(kind(hook));
    container.attr("add_pruning_method")(method);
    return container;
}

// Prunes a parameter by a method, after those that it was pruned by before; the hook.
nb::object prune(nb::object method, nb::handle module, nb::object name, nb::object scores) {
    const nb::object hook = joined_with_earlier(std::move(method), module, name);
    const nb::object original = attribute(module, name);
    if (scores.is_none()) scores = original;
    exact_check(PyExc_AssertionError, are_of_one_shape(scores, original),
                "importance_scores should have the same shape as parameter ", Said{name}, " of ",
                Said{module}, ", got ", Said{nb::object(scores.attr("shape"))}, " vs ",
                Said{nb::object(original.attr("shape"))});
    const bool is_first = !nb::isinstance(hook, pruning_container());
    const nb::object own = name_with(name, "_orig"), mask_name = name_with(name, "_mask");
    nb::object mask;
    if (is_first) {
        module.attr("register_parameter")(own, original);
        take_from(module, "_parameters", name);
        mask = ones_like(original);
    } else {
        mask = attribute(module, mask_name).attr("detach")().attr("clone")();
    }
    try {
        module.attr("register_buffer")(mask_name, hook.attr("compute_mask")(scores, mask));
        put_attribute(module, name, nb::object(hook.attr("apply_mask")(module)));
        module.attr("register_forward_pre_hook")(hook);
    } catch (nb::python_error& error) {
        if (is_first && error.matches(PyExc_Exception)) {
            module.attr("register_parameter")(name, attribute(module, own));
            take_from(module, "_parameters", own);
        }
        throw;
    }
    return hook;
}

// A tensor times the mask that the method makes for it.
nb::object pruned(nb::handle method, nb::handle tensor, nb::object mask, nb::object scores) {
    if (scores.is_none()) scores = nb::borrow(tensor);
    exact_check(PyExc_AssertionError, are_of_one_shape(scores, tensor),
                "importance_scores should have the same shape as tensor t, got ",
                Said{nb::object(scores.attr("shape"))}, " vs ",
                Said{nb::object(tensor.attr("shape"))});
    if (mask.is_none()) mask = ones_like(tensor);
    return tensor * nb::object(method.attr("compute_mask")(scores, nb::arg("default_mask") = mask));
}

// Makes the parameter of a method an ordinary one of its pruned values.
void unprune(nb::handle method, nb::handle module) {
    const nb::object name = method.attr("_tensor_name");
    exact_check(PyExc_AssertionError, !name.is_none(), "Module ", Said{module},
                " has to be pruned before pruning can be removed");
    const nb::object weight = method.attr("apply_mask")(module);
    if (has_attribute(module, nb::str(name).c_str()) &&
        PyObject_DelAttr(module.ptr(), name.ptr()) < 0)
        throw nb::python_error();
    const nb::object own = name_with(name, "_orig");
    const nb::object original = group_in(module, "_parameters")[own];
    original.attr("data") = weight.attr("data");
    take_from(module, "_parameters", own);
    take_from(module, "_buffers", name_with(name, "_mask"));
    put_attribute(module, name, original);
}

// The same for the hook of that name.
void remove_pruning(nb::handle module, nb::handle name) {
    for (const auto& [key, hook] : items_now(group_in(module, "_forward_pre_hooks"))) {
        if (!prunes(hook, name)) continue;
        hook.attr("remove")(module);
        take_from(module, "_forward_pre_hooks", key);
        return;
    }
    exact_check(PyExc_ValueError, false, "Parameter '", Said{name}, "' of module ", Said{module},
                " has to be pruned before pruning can be removed");
}

// Whether the module or one within has a pruned parameter.
bool is_pruned(nb::handle module) {
    const nb::object kind = pruning_method();
    for (nb::handle inner : nb::object(module.attr("modules")()))
        for (const auto& [key, hook] : items_now(group_in(inner, "_forward_pre_hooks")))
            if (nb::isinstance(hook, kind)) return true;
    return false;
}

// A container gets one more method, for the same parameter.
void add_method(nb::handle container, nb::handle method) {
    const bool is_given = !method.is_none();
    exact_check(PyExc_TypeError, !is_given || nb::isinstance(method, pruning_method()),
                Said{method.type()}, " is not a BasePruningMethod subclass");
    if (is_given) {
        const nb::object own = container.attr("_tensor_name"), other = method.attr("_tensor_name");
        exact_check(PyExc_ValueError, own.equal(other),
                    "Can only add pruning methods acting on the parameter named '", Said{own},
                    "' to PruningContainer ", Said{container}, ". Found '", Said{other}, "'");
    }
    container.attr("_pruning_methods") =
        nb::object(container.attr("_pruning_methods")) + nb::make_tuple(method);
}

// The index of the elements that a method prunes: those that earlier ones left, or slices of which
// some element is.
nb::object left_for(nb::handle method, nb::handle tensor, nb::handle mask) {
    const nb::object given = method.attr("PRUNING_TYPE");
    const std::string kind = nb::str(given).c_str();
    if (kind == "unstructured") return mask.attr("__eq__")(1);
    const int64_t rank = integer_from(nb::object(tensor.attr("dim")()));
    nb::list index;
    for (int64_t d = 0; d < rank; ++d)
        index.append(nb::steal(PySlice_New(nullptr, nullptr, nullptr)));
    if (kind == "structured") {
        exact_check(PyExc_AttributeError, has_attribute(method, "dim"),
                    "Pruning methods of PRUNING_TYPE \"structured\" need to have the attribute "
                    "`dim` defined.");
        const int64_t given_dim = integer_from(nb::object(method.attr("dim")));
        const int64_t dim = given_dim < 0 ? given_dim + rank : given_dim;
        exact_check(PyExc_IndexError, dim >= 0,
                    "Index is out of bounds for tensor with dimensions ", rank);
        nb::list others;
        for (int64_t d = 0; d < rank; ++d)
            if (d != dim) others.append(d);
        const nb::object sums = mask.attr("sum")(nb::arg("dim") = others);
        index[static_cast<size_t>(dim)] = sums.attr("__ne__")(0);
    } else {
        exact_check(PyExc_ValueError, kind == "global", "Unrecognized PRUNING_TYPE ", kind);
    }
    return nb::tuple(index);
}

// What the last method of a container leaves of what there is.
nb::object mask_of_container(nb::handle container, nb::handle scores, nb::handle mask) {
    const nb::object method = nb::object(container.attr("_pruning_methods"))[-1];
    const nb::object left = left_for(method, scores, mask);
    const nb::object made =
        mask.attr("to")(nb::arg("dtype") = scores.attr("dtype")).attr("clone")();
    const nb::object part = method.attr("compute_mask")(
        nb::object(scores[left]), nb::arg("default_mask") = nb::object(mask[left]));
    made[left] = part.attr("to")(made.attr("dtype"));
    return made;
}

// Prunes parameters, (module, name) each, as if their elements were one tensor's.
void prune_globally(nb::handle parameters, nb::handle kind, nb::object scores,
                    const nb::dict& options) {
    const nb::object iterable = nb::module_::import_("collections.abc").attr("Iterable");
    exact_check(PyExc_TypeError, nb::isinstance(parameters, iterable),
                "global_unstructured(): parameters is not an Iterable");
    if (scores.is_none()) scores = nb::dict();
    exact_check(PyExc_TypeError, PyDict_Check(scores.ptr()),
                "global_unstructured(): importance_scores must be of type dict");
    struct Given {
        nb::object module, name, value;
    };
    std::vector<Given> given;
    nb::list all_scores, all_masks;
    for (nb::handle pair : parameters) {
        const nb::object module = pair[0], name = pair[1];
        given.push_back({module, name, attribute(module, name)});
    }
    for (const auto& [module, name, value] : given) {
        all_scores.append(scores.attr("get")(nb::make_tuple(module, name), value));
        const nb::object mask = name_with(name, "_mask");
        const bool has = has_attribute(module, nb::str(mask).c_str());
        all_masks.append(has ? attribute(module, mask) : ones_like(value));
    }
    const nb::object as_vector = provided("parameters_to_vector");
    const nb::object vector = as_vector(all_scores), masks = as_vector(all_masks);
    const nb::object container = pruning_container()(), method = kind(**options);
    container.attr("_tensor_name") = "temp";
    method.attr("_tensor_name") = "temp";
    const nb::object type = method.attr("PRUNING_TYPE");
    exact_check(PyExc_TypeError, type.equal(nb::str("unstructured")),
                "Only \"unstructured\" PRUNING_TYPE supported for the `pruning_method`. Found "
                "method ",
                Said{kind}, " of type ", Said{type});
    container.attr("add_pruning_method")(method);
    const nb::object mask = container.attr("compute_mask")(vector, masks);
    const nb::object by_mask = provided("custom_from_mask");
    int64_t start = 0;
    for (const auto& [module, name, value] : given) {
        const int64_t count = integer_from(nb::object(value.attr("numel")()));
        const nb::object part = nb::object(mask.attr("narrow")(0, start, count));
        by_mask(module, name, part.attr("view_as")(value));
        start += count;
    }
}

// TypeError, ValueError for what is no part and no number of elements.
void check_amount(nb::handle amount) {
    const nb::module_ numbers = nb::module_::import_("numbers");
    exact_check(PyExc_TypeError, nb::isinstance(amount, numbers.attr("Real")),
                "Invalid type for amount: ", Said{amount}, ". Must be int or float.");
    const bool is_whole = nb::isinstance(amount, numbers.attr("Integral"));
    const double number = number_from(amount);
    exact_check(PyExc_ValueError, number >= 0 && (is_whole || number <= 1), "amount=", Said{amount},
                " should either be a float in the range [0, 1] or a non-negative integer");
}

}  // namespace

void bind_module_pruning(nb::module_& module) {
    module.def("prune", prune, nb::arg("method"), nb::arg("module"), nb::arg("name"),
               nb::arg("scores").none(), "Prunes a parameter by a method; the hook.");
    module.def("pruned", pruned, nb::arg("method"), nb::arg("tensor"), nb::arg("mask").none(),
               nb::arg("scores").none());
    module.def("unprune", unprune, nb::arg("method"), nb::arg("module"));
    module.def("remove_pruning", remove_pruning, nb::arg("module"), nb::arg("name"));
    module.def("is_pruned", is_pruned, nb::arg("module"));
    module.def("add_pruning_method", add_method, nb::arg("container"), nb::arg("method").none());
    module.def("mask_of_container", mask_of_container, nb::arg("container"), nb::arg("scores"),
               nb::arg("mask"));
    module.def("prune_globally", prune_globally, nb::arg("parameters"), nb::arg("kind"),
               nb::arg("scores").none(), nb::arg("options"));
    module.def("check_pruning_amount", check_amount, nb::arg("amount"));
}

}  // namespace composit::python
