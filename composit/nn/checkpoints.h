// Structures of tensors, numbers and texts in files: whole states of training that come back as
// they were, to the last bit.
//
// A file is a safetensors file, whose tensors are named by their places ("state.0"); how they stand
// in the structure says an outline, JSON in the file's metadata, which is read without trust.
//
//   save_checkpoint("run", Held::dictionary({{"step", Held::integer(12)},
//                                            {"weights", Held::list({Held::of(w)})}}));
//   const Tensor w = load_checkpoint("run").at("weights").items[0].tensor;
#pragma once

#include "composit/ir/node.h"
#include "composit/nn/safetensors.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::nn {

// A part of a structure. Its kind is a word of the outline: "dict", "list", "tuple", "tensor",
// "array" (a tensor that was an array of NumPy's), "scalar" (one without dimensions), "none",
// "truth", "integer", "float", "text". Files of composit.torch have others, too: "parameter",
// "OrderedDict", "Counter", "Size", "complex", "dtype" and "device".
struct Held {
    std::string kind = "none";
    bool truth = false;            // of a truth; of a tensor, whether it requires gradients
    double number = 0;             // of a float
    std::string text = {};         // of a text, dtype or device; an integer's digits
    Tensor tensor = {};            // of tensors
    std::vector<Held> items = {};  // of lists and their like; of dictionaries keys and values in
                                   // turn; of a complex number two floats
    std::string name = {};         // how a key of other kinds is called in places

    static Held of(Tensor tensor);
    static Held integer(int64_t value);
    static Held real(double value);
    static Held of_text(std::string text);
    static Held list(std::vector<Held> items);
    static Held dictionary(std::vector<std::pair<std::string, Held>> members);

    // The value of a text among a dictionary's keys. KeyError where it is none.
    [[nodiscard]] const Held& at(std::string_view key) const;
};

// What outlines of a kind of files are like.
struct OutlineFormat {
    std::string key;       // of the metadata
    std::string function;  // that writes, in errors
    std::vector<std::string> mappings, sequences, tensors, texts;
    // None, truths, numbers and texts stand as themselves; else as {"value": …}, and floats as
    // {"float": "0x1.8p+0"}.
    bool has_plain_values = false;
    bool says_gradients = false;  // tensors say whether they require them
};
[[nodiscard]] const OutlineFormat& checkpoint_format();
[[nodiscard]] const OutlineFormat& torch_format();

// The outline; its tensors are put into `tensors`, by their places. ValueError where two have one
// name, unless the format gives other names then.
[[nodiscard]] std::string outline_text(const OutlineFormat& format, const Held& structure,
                                       NamedTensors& tensors);
// The structure of an outline. Each tensor of the file stands in it once. ValueError for whatever
// is wrong: "`where`: its outline is broken: … `required` is required."
[[nodiscard]] Held read_outline(const OutlineFormat& format, std::string_view where,
                                std::string_view required, std::string_view text,
                                const NamedTensors& tensors);

// What read_outline throws where one part is wrong, before it has said of which file.
struct BrokenOutline {
    std::string why;
};
// "a.b": the place of an item.
[[nodiscard]] std::string place_within(std::string_view place, std::string_view key);
// In the words of errors: at most 60 characters.
[[noreturn]] void refuse_outline(std::string_view place, const std::string& what);
[[noreturn]] void refuse_broken_outline(std::string_view where, std::string_view required,
                                        const BrokenOutline& broken);

// Writes a structure: as save_safetensors, the old file stays or the new one is whole. Errors as of
// outline_text and save_safetensors.
void save_checkpoint(const std::filesystem::path& path, const Held& structure);
// What save_checkpoint wrote. ValueError for other files; errors as of load_safetensors.
[[nodiscard]] Held load_checkpoint(const std::filesystem::path& path);

}  // namespace composit::nn
