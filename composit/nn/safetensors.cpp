// load_safetensors by mapping, save_safetensors by a file that is renamed, check_weights.
#include "composit/nn/safetensors.h"

#include "composit/base/error.h"
#include "composit/base/nearest.h"
#include "composit/base/whole_file.h"
#include "composit/execute/execute.h"
#include "composit/nn/safetensors_header.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>

namespace composit::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

using ir::Array;
constexpr uint64_t length_bytes = 8;
constexpr uint64_t longest_header = 100'000'000;  // the library's limit

// The bytes of a file, for reading.
struct Mapping {
    const char* data = nullptr;
    uint64_t bytes = 0;
    std::shared_ptr<void> owner;
};

[[noreturn]] void fail_to_read(const std::string& where, int reason) {
    const std::string message = text(where, "cannot be read: ", std::strerror(reason), ".");
    if (reason == ENOENT) throw FileNotFound(message);
    throw InputOutputError(message);
}

Mapping map_file(const std::string& where, const std::filesystem::path& path) {
    // Nothing waits for the other end of a pipe.
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail_to_read(where, errno);
    const auto closed = [](const int* opened) { close(*opened); };
    const std::unique_ptr<const int, decltype(closed)> closing(&descriptor, closed);
    struct stat status{};
    if (fstat(descriptor, &status) != 0) fail_to_read(where, errno);
    if (S_ISDIR(status.st_mode)) fail_to_read(where, EISDIR);
    user_check<InputOutputError>(S_ISREG(status.st_mode), where, "it is no regular file, which is ",
                                 "required.");
    Mapping mapping{nullptr, static_cast<uint64_t>(status.st_size), nullptr};
    user_check(mapping.bytes >= length_bytes, where, "it has ", mapping.bytes,
               " bytes. At least 8 are required, for the header's length.");
    void* data = mmap(nullptr, mapping.bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) fail_to_read(where, errno);
    mapping.data = static_cast<const char*>(data);
    mapping.owner = std::shared_ptr<void>(
        data, [bytes = mapping.bytes](void* mapped) { munmap(mapped, bytes); });
    return mapping;
}

// Other bytes than 0 and 1 are no truth values.
void check_truth_values(const std::string& where, const StoredTensor& tensor, const char* data) {
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

LoadedTensors load_safetensors(const std::filesystem::path& path, bool copy) {
    const std::string where = text("load_safetensors: ", path.string(), ": ");
    const Mapping file = map_file(where, path);
    uint64_t length = 0;
    std::memcpy(&length, file.data, length_bytes);
    user_check(length <= file.bytes - length_bytes, where, "the header has ", length,
               " bytes, the file ", file.bytes,
               ". It is truncated, or no safetensors file; save it again.");
    user_check(length <= longest_header, where, "the header has ", length,
               " bytes. At most 100000000 are required.");
    const uint64_t begin = length_bytes + length;
    const SafetensorsHeader header =
        parse_safetensors_header(where, {file.data + length_bytes, length}, file.bytes - begin);
    LoadedTensors loaded{{}, header.metadata};
    for (const StoredTensor& tensor : header.tensors) {
        const char* data = file.data + begin + tensor.begin;
        check_truth_values(where, tensor, data);
        loaded.tensors.emplace(tensor.name,
                               ir::constant(array_of(tensor, data, file.owner, copy), tensor.name));
    }
    return loaded;
}

void save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                      const std::map<std::string, std::string>& metadata) {
    const std::string where = "save_safetensors: ";
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
    }
    header.tensors = std::move(sorted);
    const std::string head = safetensors_header_text(where, header);
    user_check(head.size() <= longest_header, where, "the header has ", head.size(),
               " bytes. At most 100000000 are required: fewer tensors, or shorter names.");
    std::array<char, length_bytes> length{};
    const uint64_t head_bytes = head.size();
    std::memcpy(length.data(), &head_bytes, length_bytes);

    WholeFile file("save_safetensors", path);
    file.write(length.data(), length.size());
    file.write(head.data(), head.size());
    for (const size_t i : order)
        file.write(arrays[i].data(), static_cast<size_t>(arrays[i].bytes()));
    file.flush();
    file.rename_to_target();
    file.flush_folder();
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
