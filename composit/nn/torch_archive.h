// Archives as PyTorch's torch.save writes them: ZIP files with a pickle of the structure, and the
// bytes of each storage beside it. They are read without trust: no code runs, whatever they name.
//
//   const Held state = load_torch_archive("weights.pt");
//   const Tensor w = state.at("encoder.weight").tensor;
#pragma once

#include "composit/nn/checkpoints.h"
#include "composit/nn/pickle_machine.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace composit::nn {

// The entries of a ZIP file that are stored as they are.
class ZipArchive {
  public:
    // Of a file's content, which outlives it. BrokenPickle for what is no ZIP file.
    explicit ZipArchive(std::string_view content);

    bool has(const std::string& name) const { return entries_.count(name) > 0; }
    // The names of all entries, sorted.
    std::vector<std::string> names() const;
    // An entry's bytes, which were checked. BrokenPickle where it is missing, compressed, cut off
    // or damaged.
    std::string_view read(const std::string& name) const;

  private:
    struct Entry {
        uint64_t offset = 0, size = 0, stored_size = 0;
        uint32_t checksum = 0;
        bool is_stored = false;
    };
    void read_directory(uint64_t begin, uint64_t size, uint64_t count);

    std::string_view content_;
    std::map<std::string, Entry> entries_;
};

// An archive of torch.save's: its pickle, and the records of storages.
class TorchArchive {
  public:
    // BrokenPickle for another ZIP file, and for programs of TorchScript.
    explicit TorchArchive(std::string_view content);

    std::string_view pickle() const { return record("data.pkl"); }
    // "data/0": the bytes of a storage.
    std::string_view record(const std::string& name) const { return zip_.read(root_ + name); }
    // Whether its numbers have their bytes in the other order than this machine's.
    bool is_swapped() const { return is_swapped_; }

  private:
    ZipArchive zip_;
    std::string root_;
    bool is_swapped_ = false;
};

// What an archive holds, if that is data: dictionaries, lists, tuples, numbers, texts, tensors and
// parameters. Tensors have memory of their own. ValueError, with the path, for a damaged archive
// and for one that names anything else; FileNotFound, InputOutputError.
[[nodiscard]] Held load_torch_archive(const std::filesystem::path& path);
// The same of an archive's content; errors begin with `where`.
[[nodiscard]] Held read_torch_archive(std::string_view where, std::string_view content);

// The layout of a tensor in its storage, checked: BrokenPickle for negative or huge numbers, and
// where it reaches beyond the storage, which has so many elements.
struct StorageLayout {
    int64_t offset = 0;
    ir::Shape shape;
    std::vector<int64_t> strides;

    [[nodiscard]] bool is_whole(int64_t length) const;  // all of the storage, row by row
};
void check_layout(const StorageLayout& layout);
void check_reach(const StorageLayout& layout, int64_t length);

}  // namespace composit::nn
