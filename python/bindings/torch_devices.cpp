// Operands of composit.torch's operations that lie on several devices; where tensors of files go.
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/base/json_value.h"
#include "composit/execute/devices.h"
#include "composit/ir/device_names.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"
#include "content.h"
#include "level.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "structures.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "trace_keys.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

std::string place_of_tensor(nb::handle tensor) { return place_of_seen(tensor); }

void collect_tensors(nb::handle value, std::vector<nb::object>& found) {
    if (is_tensor_of_torch(value)) {
        found.push_back(nb::borrow(value));
        return;
    }
    const Level level(" in an argument");
    for (const nb::object& item : container_of(value).items) collect_tensors(item, found);
}

// The structure with tensors on that device: all, or those without dimensions.
nb::object with_moved(nb::handle value, const std::string& place, bool are_all) {
    return mapped_structure(
        value,
        [&](nb::handle tensor) {
            return are_all || type_seen(tensor).shape.empty()
                       ? provided("moved_to_device")(tensor, place)
                       : nb::borrow(tensor);
        },
        *world().tensor);
}

nb::tuple with_argument(const nb::tuple& args, size_t number, nb::object value) {
    nb::list made;
    for (size_t i = 0; i < args.size(); ++i) made.append(i == number ? value : nb::object(args[i]));
    return nb::tuple(made);
}

// RuntimeError where indices lie neither on the CPU nor beside what they index. Others are kept.
void keep_but_indices(std::vector<nb::object>& tensors, const nb::tuple& args) {
    const std::vector<nb::object> indices = tensors_within(args[1]);
    const std::string wanted = place_of_tensor(args[0]);
    const auto is_index = [&](const nb::object& tensor) {
        return std::any_of(indices.begin(), indices.end(),
                           [&](const nb::object& index) { return index.is(tensor); });
    };
    for (const nb::object& tensor : tensors) {
        if (!is_index(tensor)) continue;
        const std::string place = place_of_tensor(tensor);
        user_check<RuntimeError>(place == "cpu" || place == wanted,
                                 "indices should be either on cpu or on the same device as the "
                                 "indexed tensor (",
                                 wanted, ")");
    }
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(), is_index), tensors.end());
}

bool is_among(nb::handle function, const char* functions) {
    return PySequence_Contains(provided(functions).ptr(), function.ptr()) == 1;
}

}  // namespace

std::vector<nb::object> tensors_within(nb::handle value) {
    std::vector<nb::object> found;
    collect_tensors(value, found);
    return found;
}

nb::object on_one_device(nb::handle error, nb::handle function, const nb::tuple& args,
                         const nb::dict& kwargs) {
    const auto said = nb::cast<std::string>(nb::object(nb::str(error)));
    if (said.find("expected all tensors to be on the same device, but found") == said.npos)
        return nb::none();
    if (function.is(provided("writing_function")) && args.size() > 2 &&
        tensors_within(args[1]).empty())  // it copies, as copy_ does
        return nb::make_tuple(
            with_argument(args, 2, with_moved(args[2], place_of_tensor(args[0]), true)), kwargs);
    const bool is_indexing = is_among(function, "indexing_functions");
    const std::vector<nb::object> all = tensors_within(nb::make_tuple(args, kwargs));
    std::vector<nb::object> tensors;
    for (const nb::object& tensor : all)
        if (!type_seen(tensor).shape.empty() || place_of_tensor(tensor) != "cpu")
            tensors.push_back(tensor);
    if (is_indexing) keep_but_indices(tensors, args);
    std::vector<std::string> found;
    for (const nb::object& tensor : tensors) {
        std::string place = place_of_tensor(tensor);
        if (std::find(found.begin(), found.end(), place) == found.end())
            found.push_back(std::move(place));
    }
    std::stable_partition(found.begin(), found.end(),
                          [](const std::string& place) { return place != "cpu"; });
    user_check<RuntimeError>(found.size() <= 1,
                             "Expected all tensors to be on the same device, but found at least "
                             "two devices, ",
                             found.empty() ? "" : found[0], " and ",
                             found.size() > 1 ? found[1] : "", "!");
    const bool are_there =
        found.empty() || std::all_of(all.begin(), all.end(), [&](const nb::object& tensor) {
            return place_of_tensor(tensor) == found[0];
        });
    if (are_there) return nb::none();
    nb::tuple given = args;
    if (is_indexing) given = with_argument(args, 1, with_moved(args[1], found[0], true));
    nb::list moved;
    for (nb::handle value : given) moved.append(with_moved(value, found[0], false));
    nb::dict named;
    for (const auto& [name, value] : kwargs) named[name] = with_moved(value, found[0], false);
    return nb::make_tuple(nb::tuple(moved), named);
}

std::string full_device_name(nb::handle given) {
    static auto& known = *new std::map<std::string, std::string, std::less<>>{{"cpu", "cpu"}};
    if (PyUnicode_CheckExact(given.ptr())) {
        const auto found = known.find(nb::cast<std::string_view>(given));
        if (found != known.end()) return found->second;
    }
    const nb::object kind = provided("torch_device");
    const nb::object asked = nb::isinstance(given, kind) ? nb::borrow(given) : kind(given);
    const auto type = nb::cast<std::string>(nb::object(asked.attr("type")));
    if (type == "cpu") return type;
    const std::string said = nb::str(asked).c_str();
    std::string name = said;
    if (type == "cuda" && nb::object(asked.attr("index")).is_none())
        name = composit::text("cuda:", Said{provided("current_devices").attr("cuda")});
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    try {
        return known[name] = runtime::device(name)->name();
    } catch (const ValueError&) {
    }
    std::string why;
    for (const std::string& family : runtime::backend_families())
        if (family == type) why = runtime::why_no_more(family);
    std::vector<std::string> here{"cpu"};
    for (std::string& each : runtime::device_names()) here.push_back(std::move(each));
    throw RuntimeError(composit::text("device ", Shown{nb::str(said.c_str())}, " is not here",
                                      why.empty() ? "" : " (" + why + ")",
                                      "; available: ", join(here), "."));
}

const std::string& place_of_seen(nb::handle tensor) {
    PyObject* const like = as_tensor(tensor)->like;
    const nb::object seen = is_there(like) ? nb::borrow(like) : lazy_of(tensor);
    return ir::device_name(content_of<LazyTensor>(seen).cell()->device());
}

namespace {

// An operation's result, or several, where its operands lie: what a rule makes of numbers, or
// computed in Python, is moved there.
nb::object joined_places(nb::handle result, nb::handle operands) {
    for (nb::handle operand : operands) {
        if (!is_tensor(operand)) continue;
        const auto& content = content_of<LazyTensor>(operand);
        const ir::DeviceNumber device = content.cell()->device();
        if (device == ir::anywhere || device == ir::on_cpu) continue;
        const Tensor target = content.tensor();
        return mapped_structure(
            result,
            [&](nb::handle value) {
                const Tensor& x = content_of<LazyTensor>(value).tensor();
                const Tensor made = execute::beside(x, target);
                return made == x ? nb::borrow(value) : wrap_array(made);
            },
            tensor_type());
    }
    return nb::borrow(result);
}

// Where a tensor was saved that is not here.
[[noreturn]] void refuse_elsewhere(const std::string& text) {
    PyErr_SetString(provided("saved_elsewhere").ptr(), text.c_str());
    throw nb::python_error();
}

// What map_location says of a place; None where it says nothing.
nb::object wanted_place(const std::string& location, nb::handle map_location) {
    if (PyDict_Check(map_location.ptr()))
        return nb::borrow<nb::dict>(map_location).get(location.c_str(), nb::none());
    const bool is_device = map_location.is_none() || PyUnicode_Check(map_location.ptr()) ||
                           nb::isinstance(map_location, provided("torch_device"));
    if (is_device) return nb::borrow(map_location);
    user_check<TypeError>(PyCallable_Check(map_location.ptr()), "'", KindOf{map_location},
                          "' object is not callable");
    const nb::object kind = provided("stored_place");
    const nb::object found = map_location(kind(location), location);
    if (found.is_none()) return found;
    user_check<TypeError>(
        nb::isinstance(found, kind), "load: map_location returned ", Shown{found},
        ". The storage that it gets, one of its cpu(), cuda() or to(), or None is "
        "required.");
    return nb::str(nb::object(found.attr("device")));
}

// The full name of where a tensor goes that was saved on `location`.
std::string place_of_saved(const std::string& location, nb::handle map_location) {
    const nb::object wanted = wanted_place(location, map_location);
    if (!wanted.is_none()) return full_device_name(wanted);
    if (location.starts_with("cpu") || location.starts_with("meta")) return "cpu";
    std::string why;
    try {
        return full_device_name(nb::str(location.c_str()));
    } catch (const RuntimeError& error) {
        why = error.what();
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_RuntimeError)) throw;
        why = nb::str(error.value()).c_str();
    }
    if (location.starts_with("cuda"))
        refuse_elsewhere(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU.");
    refuse_elsewhere(
        composit::text("Attempting to deserialize object on ", Shown{nb::str(location.c_str())},
                       ", but ", why.substr(0, why.find("; available")),
                       ". torch.load with map_location='cpu' puts it into the host's memory."));
}

// The devices that tensors were saved on, by name, of JSON's text.
std::map<std::string, std::string> saved_places(const std::string& where, const std::string& text) {
    std::map<std::string, std::string> places;
    bool fits = true;
    try {
        const JsonValue saved = parse_json(text);
        fits = saved.is(JsonValue::Kind::object);
        for (const auto& [name, place] : saved.members) {
            fits = fits && place.is(JsonValue::Kind::text);
            places[name] = place.text;
        }
    } catch (const ValueError&) {
        fits = false;
    }
    user_check<ValueError>(fits, where,
                           ": the devices of its tensors are no texts. A file that save wrote is "
                           "required.");
    return places;
}

// The tensors on the devices where they were saved, or that map_location says.
nb::dict placed_tensors(const std::string& where, const nb::dict& tensors, const std::string& text,
                        nb::handle map_location) {
    const std::map<std::string, std::string> saved = saved_places(where, text);
    if (saved.empty() && map_location.is_none()) return tensors;
    nb::dict made;
    for (const auto& [name, tensor] : tensors) {
        const auto known = saved.find(nb::cast<std::string>(name));
        std::string place;
        try {
            place = place_of_saved(known == saved.end() ? "cpu" : known->second, map_location);
        } catch (nb::python_error& error) {
            if (!error.matches(provided("saved_elsewhere"))) throw;
            throw RuntimeError(nb::str(error.value()).c_str());
        }
        made[name] = place == "cpu" ? nb::borrow(tensor)
                                    : nb::module_::import_("composit._core")
                                          .attr("devices")
                                          .attr("placed")(tensor, place);
    }
    return made;
}

}  // namespace

void bind_torch_devices(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("full_device_name", full_device_name, nb::arg("given").none(), located,
               "\"cpu\", or the name with its number, \"cuda:0\", of a device, its name or its "
               "number.");
    module.def("joined_places", joined_places, nb::arg("result").none(), nb::arg("operands"),
               located, "An operation's result, or several, where its operands lie.");
    module.def("place_of_saved", place_of_saved, nb::arg("location"),
               nb::arg("map_location").none(),
               "The full name of where a tensor goes that was saved on `location`.");
    module.def("placed_tensors", placed_tensors, nb::arg("where"), nb::arg("tensors"),
               nb::arg("places"), nb::arg("map_location").none(),
               "The tensors on the devices where they were saved, or that map_location says.");
}

}  // namespace composit::python
