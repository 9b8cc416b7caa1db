// composit/nn/safetensors.h, into module composit._core.nn.
#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/base/whole_file.h"
#include "composit/nn/safetensors.h"
#include "interpreter_lock.h"
#include "location.h"
#include "nn.h"
#include "values.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using Names = std::vector<std::string>;
using Tensors = std::vector<Tensor>;
using Texts = std::map<std::string, std::string>;

nn::NamedTensors named(const Names& names, const Tensors& tensors) {
    nn::NamedTensors result;
    for (size_t i = 0; i < names.size(); ++i) result.emplace(names[i], tensors.at(i));
    return result;
}

std::pair<nb::dict, Texts> as_python(const nn::LoadedTensors& loaded) {
    nb::dict tensors;
    for (const auto& [name, tensor] : loaded.tensors) tensors[nb::cast(name)] = wrap_array(tensor);
    return {tensors, loaded.metadata};
}

// A path as text.
nb::object checked_path(nb::handle path) {
    const bool is_path = PyUnicode_Check(path.ptr()) || has_attribute(path.type(), "__fspath__");
    if (!is_path) refuse_argument(path, "A file's path");
    const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    if (nb::len(text) == 0) refuse_argument(path, "A file's path");
    if (!PyUnicode_Check(text.ptr()) ||
        PySequence_Contains(text.ptr(), nb::str("\0", 1).ptr()) != 0)
        refuse_argument<ValueError>(path, "A file's path as text without NUL");
    return text;
}

bool is_mapping(nb::handle value) {
    static const nb::object& kind =
        *new nb::object(nb::module_::import_("collections.abc").attr("Mapping"));
    return nb::isinstance(value, kind);
}

// In UTF-8; Python's error for lone surrogates.
std::string text_from(nb::handle text) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!bytes) throw nb::python_error();
    return {bytes, static_cast<size_t>(size)};
}

// The items of a mapping from texts, whose values have been looked at; TypeError for others.
template <class Visit>
void for_each_item(nb::handle mapping, const char* required, const Visit& visit) {
    if (!is_mapping(mapping)) refuse_argument(mapping, required);
    for (const nb::handle name : mapping)
        if (!PyUnicode_Check(name.ptr())) refuse_argument(mapping, required);
    for (const nb::handle name : mapping) visit(text_from(name), nb::object(mapping[name]));
}

constexpr const char* of_tensors = "A mapping from names to tensors";

// Placeholders of the weights' types: arrays are not copied for it.
nn::NamedTensors types_of_weights(nb::handle weights) {
    nn::NamedTensors types;
    for_each_item(weights, of_tensors, [&](const std::string& name, const nb::object& value) {
        const bool is_known = has_attribute(value, "shape") && has_attribute(value, "dtype");
        const nb::object known = is_known ? value : wrap(tensor_from(value));
        types.emplace(name, ir::input(name, dtype_from(known.attr("dtype")),
                                      nb::cast<ir::Shape>(nb::tuple(known.attr("shape")))));
    });
    return types;
}

void save_weights(nb::handle path, nb::handle tensors, nb::handle metadata) {
    constexpr const char* of_texts = "A mapping from texts to texts";
    nn::NamedTensors values;
    Texts texts;
    std::vector<std::pair<std::string, nb::object>> given;
    for_each_item(tensors, of_tensors, [&](const std::string& name, const nb::object& value) {
        given.emplace_back(name, value);
    });
    if (!metadata.is_none())
        for_each_item(metadata, of_texts, [&](const std::string& name, const nb::object& value) {
            if (!PyUnicode_Check(value.ptr())) refuse_argument(metadata, of_texts);
            texts[name] = text_from(value);
        });
    for (const auto& [name, value] : given) values.emplace(name, tensor_from(value));
    const std::string file = text_from(checked_path(path));
    const Released released;
    nn::save_safetensors(file, values, texts);
}

}  // namespace

void bind_nn_files(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "load_safetensors",
        [](const std::string& path, bool copy, const std::string& function) {
            return as_python(nn::load_safetensors(path, copy, function));
        },
        located);
    module.def(
        "read_safetensors",
        [](const std::string& where, const nb::bytes& content) {
            return as_python(nn::read_safetensors(where, {content.c_str(), content.size()}));
        },
        located);
    module.def(
        "save_safetensors",
        [](const std::string& path, const Names& names, const Tensors& tensors,
           const Texts& metadata) {
            const nn::NamedTensors values = named(names, tensors);
            const Released released;
            nn::save_safetensors(path, values, metadata);
        },
        located);
    module.def(
        "write_whole",
        [](const std::string& function, const std::string& path, const nb::bytes& content) {
            WholeFile file(function, path);
            file.write(content.c_str(), content.size());
            file.flush();
            file.rename_to_target();
            file.flush_folder();
        },
        located);
    module.def(
        "safetensors_content",
        [](const Names& names, const Tensors& tensors, const Texts& metadata) {
            const nn::NamedTensors values = named(names, tensors);
            std::string content;
            {
                const Released released;
                content = nn::safetensors_content(values, metadata);
            }
            return nb::bytes(content.data(), content.size());
        },
        located);
    module.def(
        "check_weights",
        [](const std::string& function, nb::handle found, nb::handle required) {
            const nn::NamedTensors own = types_of_weights(found);
            nn::check_weights(function, own, types_of_weights(required));
        },
        nb::arg("function"), nb::arg("found").none(), nb::arg("required").none(), located);
    module.def("checked_path", &checked_path, nb::arg("path").none());
    module.def("save_weights", &save_weights, nb::arg("path").none(), nb::arg("tensors").none(),
               nb::arg("metadata").none(), located);
    module.def(
        "checkpoint_outline",
        [](const std::string& where, const Texts& metadata) {
            const auto outline = metadata.find("composit.checkpoint");
            user_check(outline != metadata.end(), where,
                       ": it was not written by save_checkpoint. A checkpoint is required; "
                       "load_safetensors reads any safetensors file.");
            return outline->second;
        },
        nb::arg("where"), nb::arg("metadata"), located);
}

}  // namespace composit::python
