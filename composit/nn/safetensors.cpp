// load_safetensors by mapping, save_safetensors by a file that is renamed, check_weights.
#include "composit/nn/safetensors.h"

#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/nearest.h"
#include "composit/base/whole_file.h"
#include "composit/execute/execute.h"
#include "composit/nn/safetensors_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

namespace composit::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

using ir::Array;
constexpr uint64_t length_bytes = 8;
constexpr uint64_t longest_header = 100'000'000;  // the library's limit

// Other bytes than 0 and 1 are no truth values.
void check_truth_values(std::string_view where, const StoredTensor& tensor, const char* data) {
    if (tensor.dtype != ir::DType::boolean) return;
    for (uint64_t i = 0; i < tensor.end - tensor.begin; ++i)
        user_check(static_cast<unsigned char>(data[i]) <= 1, where, "tensor '", tensor.name,
                   "' holds the byte ", int{static_cast<unsigned char>(data[i])},
                   " for a truth value. 0 or 1 is required.");
}

Array array_of(const StoredTensor& tensor, const char* data, const std::shared_ptr<void>& owner,
               bool copy) {
    const auto alignment = static_cast<uintptr_t>(ir::align_of(tensor.dtype));
    const bool is_aligned = reinterpret_cast<uintptr_t>(data) % alignment == 0;
    if (!copy && is_aligned && tensor.end > tensor.begin)
        return {tensor.dtype, tensor.shape, owner, const_cast<char*>(data)};
    Array array(tensor.dtype, tensor.shape);
    if (tensor.end > tensor.begin)
        std::memcpy(array.mutable_data(), data, tensor.end - tensor.begin);
    return array;
}

// The tensors of a file of this content, in which they share memory unless copied.
LoadedTensors tensors_in(std::string_view where, std::string_view content,
                         const std::shared_ptr<void>& owner, bool copy) {
    user_check(content.size() >= length_bytes, where, "it has ", content.size(),
               " bytes. At least 8 are required, for the header's length.");
    uint64_t length = 0;
    std::memcpy(&length, content.data(), length_bytes);
    user_check(length <= content.size() - length_bytes, where, "the header has ", length,
               " bytes, the file ", content.size(),
               ". It is truncated, or no safetensors file; save it again.");
    user_check(length <= longest_header, where, "the header has ", length,
               " bytes. At most 100000000 are required.");
    const std::string_view data = content.substr(length_bytes + length);
    const SafetensorsHeader header =
        parse_safetensors_header(where, content.substr(length_bytes, length), data.size());
    LoadedTensors loaded{{}, header.metadata};
    for (const StoredTensor& tensor : header.tensors) {
        const char* const place = data.data() + tensor.begin;
        check_truth_values(where, tensor, place);
        loaded.tensors.emplace(tensor.name,
                               ir::constant(array_of(tensor, place, owner, copy), tensor.name));
    }
    return loaded;
}

// What a file holds: values, computed together, in the order of the file, and its header.
class Stored {
  public:
    Stored(const std::string& where, const NamedTensors& tensors,
           const std::map<std::string, std::string>& metadata) {
        std::vector<Tensor> values;
        SafetensorsHeader header{{}, metadata};
        for (const auto& [name, tensor] : tensors) {
            header.tensors.push_back({name, tensor.dtype(), tensor.shape()});
            values.push_back(tensor);
        }
        // What cannot be stored is refused before anything is computed.
        (void)safetensors_header_text(where, header);
        const std::vector<Array> arrays = execute::evaluate(values);
        std::vector<size_t> order(arrays.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return safetensors_rank(arrays[a].dtype()) > safetensors_rank(arrays[b].dtype());
        });
        uint64_t end = 0;
        std::vector<StoredTensor> sorted;
        for (const size_t i : order) {
            StoredTensor& tensor = sorted.emplace_back(std::move(header.tensors[i]));
            tensor.begin = end;
            tensor.end = end += static_cast<uint64_t>(arrays[i].bytes());
            arrays_.push_back(arrays[i]);
        }
        header.tensors = std::move(sorted);
        head_ = safetensors_header_text(where, header);
        user_check(head_.size() <= longest_header, where, "the header has ", head_.size(),
                   " bytes. At most 100000000 are required: fewer tensors, or shorter names.");
    }

    // write(data, bytes), one piece after the other.
    template <class Write>
    void write(const Write& write) const {
        std::array<char, length_bytes> length{};
        const uint64_t head_bytes = head_.size();
        std::memcpy(length.data(), &head_bytes, length_bytes);
        write(length.data(), length.size());
        write(head_.data(), head_.size());
        for (const Array& array : arrays_) write(array.data(), static_cast<size_t>(array.bytes()));
    }

  private:
    std::string head_;
    std::vector<Array> arrays_;
};

// " Near it: 'a', 'b'." of `name` among the candidates; nothing where comparing takes long.
std::string near_names(const std::string& name, const std::vector<std::string>& candidates,
                       size_t& comparisons_left) {
    if (candidates.size() > comparisons_left) return "";
    comparisons_left -= candidates.size();
    const std::vector<std::string> near = nearest_names(name, candidates, 3);
    return near.empty() ? "" : text(" (near it: '", join(near, "', '"), "')");
}

std::vector<std::string> names_without(const NamedTensors& tensors, const NamedTensors& others) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors)
        if (!others.contains(name)) names.push_back(name);
    return names;
}

}  // namespace

LoadedTensors load_safetensors(const std::filesystem::path& path, bool copy,
                               std::string_view function) {
    const std::string where = text(function, ": ", path.string(), ": ");
    const ReadingMappedFiles reading;
    const MappedFile file = map_file(where, path);
    LoadedTensors loaded = tensors_in(where, {file.data, file.bytes}, file.owner, copy);
    reading.check(function, {file.data});
    return loaded;
}

LoadedTensors read_safetensors(std::string_view where, std::string_view content) {
    return tensors_in(where, content, nullptr, true);
}

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
    const Stored stored("save_safetensors: ", tensors, metadata);
    WholeFile file("save_safetensors", path);
    stored.write([&](const void* data, size_t bytes) { file.write(data, bytes); });
    file.flush();
    file.rename_to_target();
    file.flush_folder();
}

std::string safetensors_content(const NamedTensors& tensors,
                                const std::map<std::string, std::string>& metadata) {
    std::string content;
    Stored("save_safetensors: ", tensors, metadata).write([&](const void* data, size_t bytes) {
        content.append(static_cast<const char*>(data), bytes);
    });
    return content;
}

void check_weights(std::string_view function, const NamedTensors& found,
                   const NamedTensors& required) {
    const std::vector<std::string> missing = names_without(required, found),
                                   left_over = names_without(found, required);
    size_t comparisons_left = 200'000;
    std::vector<std::string> lines;
    for (const std::string& name : missing)
        lines.push_back(
            text("'", name, "' is missing", near_names(name, left_over, comparisons_left)));
    for (const std::string& name : left_over)
        lines.push_back(
            text("'", name, "' is left over", near_names(name, missing, comparisons_left)));
    for (const auto& [name, tensor] : required) {
        const auto other = found.find(name);
        if (other == found.end()) continue;
        const Tensor& there = other->second;
        if (there.shape() != tensor.shape() || there.dtype() != tensor.dtype())
            lines.push_back(text("'", name, "' is ", there.dtype(), there.shape(), " in place of ",
                                 tensor.dtype(), tensor.shape()));
    }
    user_check(lines.empty(), function, ": ", lines.size(), " of the weights do not fit:\n  ",
               join(lines, "\n  "), "\nThe names, shapes and dtypes of the model are required.");
}

}  // namespace composit::nn
