// States of composit.torch's modules: how state_dict() and load_state_dict() walk a tree of
// modules, and which methods and hooks of single modules they call.
#include "arguments.h"
#include "composit/base/assertion_error.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "flags.h"
#include "modules.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

constexpr const char* extra_state = "_extra_state";  // the key of get_extra_state()

using Items = std::vector<std::pair<nb::object, nb::object>>;

std::string text_in(nb::handle value) { return nb::cast<std::string>(value); }

// The module's own parameters and its persistent buffers, but for those that are None.
Items own_tensors(nb::handle module) {
    Items found;
    for (auto& [name, tensor] : items_now(group_in(module, "_parameters")))
        if (!tensor.is_none()) found.emplace_back(name, tensor);
    const nb::object passing = module.attr("_non_persistent_buffers_set");
    for (auto& [name, tensor] : items_now(group_in(module, "_buffers")))
        if (!tensor.is_none() && PySequence_Contains(passing.ptr(), name.ptr()) == 0)
            found.emplace_back(name, tensor);
    return found;
}

nb::object joined(nb::handle a, nb::handle b) {
    nb::object made = nb::steal(PyUnicode_Concat(a.ptr(), b.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

void save_own(nb::handle module, nb::object into, nb::str prefix, bool keep_vars, bool has_extra) {
    for (const auto& [name, tensor] : own_tensors(module))
        into[joined(prefix, name)] = keep_vars ? tensor : nb::object(tensor.attr("detach")());
    if (has_extra) into[joined(prefix, nb::str(extra_state))] = module.attr("get_extra_state")();
}

nb::object save(nb::handle module, nb::object into, nb::str prefix, bool keep_vars) {
    nb::dict metadata;
    metadata["version"] = module.attr("_version");
    if (has_attribute(into, "_metadata")) {
        const Py_ssize_t length = PyUnicode_GetLength(prefix.ptr());
        const nb::object place =
            nb::steal(PyUnicode_Substring(prefix.ptr(), 0, length > 0 ? length - 1 : 0));
        nb::object(into.attr("_metadata"))[place] = metadata;
    }
    for (const auto& [number, hook] : items_now(group_in(module, "_state_dict_pre_hooks")))
        hook(module, prefix, keep_vars);
    module.attr("_save_to_state_dict")(into, prefix, keep_vars);
    static PyObject* const point = PyUnicode_InternFromString(".");
    for (const auto& [name, child] : items_now(group_in(module, "_modules")))
        if (!child.is_none())
            child.attr("state_dict")(nb::arg("destination") = into,
                                     nb::arg("prefix") = joined(joined(prefix, name), point),
                                     nb::arg("keep_vars") = keep_vars);
    for (const auto& [number, held] : items_now(group_in(module, "_state_dict_hooks"))) {
        const nb::object changed = nb::object(held[0])(module, into, prefix, metadata);
        if (changed.is_none()) continue;
        user_check<RuntimeError>(!truth_of(held[1]), "state_dict post-hook must return None");
        into = changed;
    }
    return into;
}

// ----- loading

void put_in_place(nb::handle module, nb::handle name, nb::handle tensor, nb::object value) {
    const nb::object parameters = provided("torch_parameter");
    if (nb::isinstance(tensor, parameters)) {
        const nb::object has_gradient = tensor.attr("requires_grad");
        if (nb::isinstance(value, parameters))
            value.attr("requires_grad_")(has_gradient);
        else
            value = parameters(value, nb::arg("requires_grad") = has_gradient);
    }
    if (PyObject_SetAttr(module.ptr(), name.ptr(), value.ptr()) < 0) throw nb::python_error();
}

void load_one(nb::handle module, nb::handle name, nb::handle tensor, nb::handle given,
              const std::string& key, bool is_assigned, nb::list& problems) {
    const auto note = [&](const auto&... parts) {
        problems.append(nb::str(text(parts...).c_str()));
    };
    nb::object value = provided("as_torch_tensor")(given);
    if (!is_tensor_of_torch(value)) {
        note("While copying the parameter named \"", key,
             "\", expected torch.Tensor or Tensor-like object from checkpoint but received ",
             Said{value.type()});
        return;
    }
    const bool is_lazy = truth_of(nb::getattr(tensor, "is_uninitialized", nb::bool_(false)));
    const auto lengths = [](nb::handle x) { return type_seen(x).shape; };
    // As PyTorch wrote single numbers before it had tensors without dimensions.
    if (lengths(tensor).empty() && lengths(value) == ir::Shape{1}) value = value[0];
    if (!is_lazy && lengths(value) != lengths(tensor)) {
        note("size mismatch for ", key, ": copying a param with shape ",
             Said{nb::object(value.attr("shape"))},
             " from checkpoint, the shape in current model is ",
             Said{nb::object(tensor.attr("shape"))}, ".");
        return;
    }
    if (is_lazy && !is_assigned) tensor.attr("materialize")(nb::object(value.attr("shape")));
    try {
        const eager::NoGrad scope;
        if (is_assigned)
            put_in_place(module, name, tensor, value);
        else
            tensor.attr("copy_")(value);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;
        note("While copying the parameter named \"", key, "\", whose dimensions in the model are ",
             Said{nb::object(tensor.attr("size")())},
             " and whose dimensions in the checkpoint are ", Said{nb::object(value.attr("size")())},
             ", an exception occurred : ", Said{nb::object(error.value().attr("args"))}, ".");
    }
}

// Names under the prefix that the module does not have.
void note_unexpected(nb::handle module, nb::handle state, const std::string& prefix,
                     const Items& own, nb::list& unexpected) {
    const nb::dict children = group_in(module, "_modules");
    for (nb::handle key : nb::list(nb::borrow(state))) {
        const std::string whole = text_in(key);
        if (!whole.starts_with(prefix) || whole == prefix + extra_state) continue;
        const std::string rest = whole.substr(prefix.size());
        const size_t dot = rest.find('.');
        const nb::str first(rest.substr(0, dot).c_str());
        const bool is_known = dot != rest.npos
                                  ? children.contains(first)
                                  : std::any_of(own.begin(), own.end(), [&](const auto& each) {
                                        return each.first.equal(first);
                                    });
        if (!is_known) unexpected.append(key);
    }
}

void load_own(nb::handle module, nb::handle state, const std::string& prefix, nb::handle metadata,
              bool strict, nb::list missing, nb::list unexpected, nb::list problems,
              bool takes_extra) {
    for (const auto& [number, hook] : items_now(group_in(module, "_load_state_dict_pre_hooks")))
        hook(state, prefix, metadata, strict, missing, unexpected, problems);
    const Items own = own_tensors(module);
    const bool is_assigned =
        truth_of(metadata.attr("get")("assign_to_params_buffers", nb::bool_(false)));
    const auto has = [&](const nb::str& key) {
        const int found = PySequence_Contains(state.ptr(), key.ptr());
        if (found < 0) throw nb::python_error();
        return found == 1;
    };
    for (const auto& [name, tensor] : own) {
        const std::string key = prefix + text_in(name);
        const nb::str at(key.c_str());
        if (has(at))
            load_one(module, name, tensor, nb::object(state[at]), key, is_assigned, problems);
        else if (strict)
            missing.append(at);
    }
    const nb::str extra((prefix + extra_state).c_str());
    const bool is_there = has(extra);
    if (takes_extra && is_there) module.attr("set_extra_state")(nb::object(state[extra]));
    if (!strict) return;
    if (takes_extra && !is_there) missing.append(extra);
    if (!takes_extra && is_there) unexpected.append(extra);
    note_unexpected(module, state, prefix, own, unexpected);
}

// Gives the module and all within the values of a state, parents before their children. What is
// missing, unexpected or wrong is added to the lists.
void load(nb::handle module, nb::handle state, nb::handle metadata, bool is_assigned,
          nb::list missing, nb::list unexpected, nb::list problems) {
    struct Part {
        nb::object module, state;
        std::string prefix;
    };
    const nb::object ordered = nb::module_::import_("collections").attr("OrderedDict");
    std::vector<Part> waiting{{nb::borrow(module), nb::borrow(state), ""}};
    std::vector<nb::object> loaded;
    while (!waiting.empty()) {
        const Part now = std::move(waiting.back());
        waiting.pop_back();
        loaded.push_back(now.module);
        const std::string place =
            now.prefix.substr(0, now.prefix.empty() ? 0 : now.prefix.size() - 1);
        nb::object own = nb::dict();
        if (!metadata.is_none()) own = metadata.attr("get")(place, own);
        if (is_assigned) own["assign_to_params_buffers"] = true;
        now.module.attr("_load_from_state_dict")(now.state, now.prefix, own, true, missing,
                                                 unexpected, problems);
        std::vector<Part> children;
        for (const auto& [name, child] : items_now(group_in(now.module, "_modules"))) {
            if (child.is_none()) continue;
            const std::string at = now.prefix + text_in(name) + ".";
            nb::object part = ordered();
            for (const auto& [key, value] : items_now(now.state))
                if (text_in(key).starts_with(at)) part[key] = value;
            children.push_back({child, part, at});
        }
        waiting.insert(waiting.end(), children.rbegin(), children.rend());
    }
    const nb::object found = provided("incompatible_keys")(missing, unexpected);
    for (size_t i = loaded.size(); i-- > 0;)
        for (const auto& [number, hook] :
             items_now(group_in(loaded[i], "_load_state_dict_post_hooks")))
            user_check<AssertionError>(
                hook(loaded[i], found).is_none(),
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace.");
}

// RuntimeError with all that was wrong.
void check_loaded(const std::string& name, bool strict, nb::handle missing, nb::handle unexpected,
                  nb::handle problems) {
    std::vector<std::string> lines;
    for (nb::handle each : problems) lines.push_back(text_in(each));
    const auto list = [&](const char* what, nb::handle names) {
        if (!strict || nb::len(names) == 0) return;
        std::string line = std::string(what) + " key(s) in state_dict: ";
        bool is_first = true;
        for (nb::handle each : names) {
            line += (is_first ? "\"" : ", \"") + text_in(each) + "\"";
            is_first = false;
        }
        lines.insert(lines.begin(), line + ". ");
    };
    list("Unexpected", unexpected);
    list("Missing", missing);
    std::string all;
    for (const std::string& line : lines) all += "\n\t" + line;
    user_check<RuntimeError>(lines.empty(), "Error(s) in loading state_dict for ", name, ":", all);
}

// ----- other tensors for a call

// Parameters and buffers by path, each under all of its names.
nb::dict tensors_by_path(nb::handle module) {
    nb::dict found;
    for (const char* kind : {"named_parameters", "named_buffers"})
        for (nb::handle pair : nb::object(module.attr(kind)(nb::arg("remove_duplicate") = false)))
            found[nb::object(pair[0])] = nb::object(pair[1]);
    return found;
}

std::string listed(const char* what, const nb::list& names) {
    std::string text = std::string("\n\t") + what + " key(s): ";
    for (size_t i = 0; i < nb::len(names); ++i)
        text += (i > 0 ? ", " : "") + std::string(nb::repr(names[i]).c_str());
    return text + ".";
}

void check_same_names(nb::handle module, const nb::dict& given, const nb::dict& own) {
    nb::list unexpected, missing;
    for (auto [name, value] : given)
        if (!own.contains(name)) unexpected.append(name);
    for (auto [name, value] : own)
        if (!given.contains(name)) missing.append(name);
    std::string text;
    if (nb::len(unexpected) > 0) text += listed("Unexpected", unexpected);
    if (nb::len(missing) > 0) text += listed("Missing", missing);
    user_check<RuntimeError>(text.empty(), "Error(s) in reparametrizing for ",
                             Said{nb::object(module.attr("_get_name")())}, ":", text);
}

// Values for all names of tensors that one of them has a value for. ValueError for several values
// of one tensor.
nb::dict tied(const nb::dict& given, const nb::dict& own) {
    std::map<PyObject*, std::vector<std::string>> names;
    std::vector<PyObject*> order;
    for (auto [name, tensor] : own) {
        if (!names.contains(tensor.ptr())) order.push_back(tensor.ptr());
        names[tensor.ptr()].push_back(text_in(name));
    }
    nb::dict made;
    for (PyObject* tensor : order) {
        std::vector<std::string>& same = names[tensor];
        nb::object value;
        for (const std::string& name : same) {
            const nb::str key(name.c_str());
            if (!given.contains(key)) continue;
            const nb::object own_value = given[key];
            if (value.is_valid() && !value.is(own_value)) {
                nb::list all;
                std::sort(same.begin(), same.end());
                for (const std::string& each : same) all.append(nb::str(each.c_str()));
                fail("functional_call got multiple values for keys ", Said{all},
                     ", which are tied. Consider using tie_weights=False");
            }
            value = own_value;
        }
        if (value.is_valid())
            for (const std::string& name : same) made[nb::str(name.c_str())] = value;
    }
    for (auto [name, value] : given) made[name] = value;
    return made;
}

// (group of a module, name, value) for each tensor that a call is to see.
nb::list other_tensors(nb::handle module, nb::handle given, bool ties, bool strict) {
    nb::dict values;
    if (PyDict_Check(given.ptr()))
        values.update(nb::borrow<nb::dict>(given));
    else
        for (nb::handle part : given) values.update(nb::borrow<nb::dict>(part));
    const nb::dict own = tensors_by_path(module);
    if (strict) check_same_names(module, values, own);
    if (ties) values = tied(values, own);
    nb::list found;
    for (auto [name, value] : values) {
        const std::string path = text_in(name);
        const size_t dot = path.rfind('.');
        const nb::object owner =
            module.attr("get_submodule")(path.substr(0, dot == path.npos ? 0 : dot));
        const nb::str last(path.substr(dot == path.npos ? 0 : dot + 1).c_str());
        const nb::dict parameters = group_in(owner, "_parameters");
        found.append(nb::make_tuple(
            parameters.contains(last) ? parameters : group_in(owner, "_buffers"), last, value));
    }
    return found;
}

// Puts values into groups; what puts back those that were there, the last first.
nb::list put_tensors(nb::handle changes) {
    nb::list before;
    for (nb::handle change : changes) {
        nb::dict group = nb::borrow<nb::dict>(nb::object(change[0]));
        const nb::object name = change[1];
        before.insert(0, nb::make_tuple(group, name,
                                        group.contains(name) ? nb::object(group[name])
                                                             : nb::object(nb::none())));
        group[name] = nb::object(change[2]);
    }
    return before;
}

}  // namespace

void bind_module_states(nb::module_& module) {
    module.def("save_own", save_own, nb::arg("module"), nb::arg("into"), nb::arg("prefix"),
               nb::arg("keep_vars"), nb::arg("has_extra"));
    module.def("save", save, nb::arg("module"), nb::arg("into"), nb::arg("prefix"),
               nb::arg("keep_vars"));
    module.def("load_own", load_own, nb::arg("module"), nb::arg("state"), nb::arg("prefix"),
               nb::arg("metadata"), nb::arg("strict"), nb::arg("missing"), nb::arg("unexpected"),
               nb::arg("problems"), nb::arg("takes_extra"));
    module.def("load", load, nb::arg("module"), nb::arg("state"), nb::arg("metadata").none(),
               nb::arg("is_assigned"), nb::arg("missing"), nb::arg("unexpected"),
               nb::arg("problems"));
    module.def("other_tensors", other_tensors, nb::arg("module"), nb::arg("given"), nb::arg("ties"),
               nb::arg("strict"),
               "(group of a module, name, value) for each tensor that a call is to see.");
    module.def("put_tensors", put_tensors, nb::arg("changes"),
               "Puts values into groups; what puts back those that were there.");
    module.def("check_loaded", check_loaded, nb::arg("name"), nb::arg("strict"), nb::arg("missing"),
               nb::arg("unexpected"), nb::arg("problems"));
}

}  // namespace composit::python
