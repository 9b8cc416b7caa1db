// Operands of composit.torch's operations that lie on several devices.
#include "composit/base/error.h"
#include "level.h"
#include "provided.h"
#include "structures.h"
#include "torch_calls.h"
#include "torch_objects.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

std::string place_of_tensor(nb::handle tensor) {
    return nb::cast<std::string>(provided("torch_place_of")(tensor));
}

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

}  // namespace composit::python
