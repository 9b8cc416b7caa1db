// Weights in files: the safetensors format, read without trust and written whole or not at all.
//
// A file is read by mapping it: tensors share the file's memory where they lie aligned, so weights
// take none of their own until a program packs them. Saving replaces a file by a new one, which
// leaves the mapped one as it was; who changes a file in place changes the tensors that share it.
//
//   save_safetensors("model.safetensors", {{"weight", weight}, {"bias", bias}});
//   const Tensor weight = load_safetensors("model.safetensors").tensors.at("weight");
#pragma once

#include "composit/ir/node.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;
using NamedTensors = std::map<std::string, Tensor>;

struct LoadedTensors {
    NamedTensors tensors;  // leaves of these names
    std::map<std::string, std::string> metadata;
};
// FileNotFound, InputOutputError: the system does not let it be read. ValueError: it is no such
// file, is truncated or contradicts itself. NotSupported: a dtype that composit does not have. All
// begin with `function` and the path. With `copy` the tensors have memory of their own. Without, a
// file that somebody makes shorter is an InputOutputError of whatever reads the tensors then.
[[nodiscard]] LoadedTensors load_safetensors(const std::filesystem::path& path, bool copy = false,
                                             std::string_view function = "load_safetensors");
// The same of a file's content, copied. Errors begin with `where`, "load: the stream: ".
[[nodiscard]] LoadedTensors read_safetensors(std::string_view where, std::string_view content);

// Evaluates the tensors together and writes them: a temporary file in the same folder is flushed to
// the disk, then takes the name. A crash at any time leaves the old file or the new one.
// InputOutputError: the system does not let it be written. NotSupported: complex128.
void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata = {});

// What save_safetensors writes.
[[nodiscard]] std::string safetensors_content(
    const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {});

// That `found` has the names, shapes and dtypes of `required`, and no others. ValueError, which
// begins with `function`: all that is missing, left over or different, with the names it may be
// meant by.
void check_weights(std::string_view function, const NamedTensors& found,
                   const NamedTensors& required);

}  // namespace composit::nn
