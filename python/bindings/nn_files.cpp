// composit/nn/safetensors.h, into module composit._core.nn.
#include "casters.h"
#include "composit/base/whole_file.h"
#include "composit/nn/safetensors.h"
#include "interpreter_lock.h"
#include "location.h"
#include "nn.h"

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
        [](const std::string& function, const Names& found_names, const Tensors& found,
           const Names& required_names, const Tensors& required) {
            nn::check_weights(function, named(found_names, found), named(required_names, required));
        },
        located);
}

}  // namespace composit::python
