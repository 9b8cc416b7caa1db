// A file that is there as a whole or not at all: a full disk or a crash leaves what was there
// before.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace composit {

// Written under a name of its own in the target's folder, until it is renamed; removed if it never
// is. Errors are InputOutputErrors of `function` with the target and the system's reason.
//
//   WholeFile file("save", "weights.bin");
//   file.write(data, bytes);
//   file.flush();
//   file.rename_to_target();
class WholeFile {
  public:
    // A target that is a symbolic link stays one: what it points to is replaced.
    WholeFile(std::string function, std::filesystem::path target);
    ~WholeFile();
    WholeFile(WholeFile&& other) noexcept;
    WholeFile& operator=(WholeFile&&) = delete;

    void write(const void* data, size_t bytes);
    void flush();  // to the disk
    void rename_to_target();
    // So that the new name is on the disk, too; does nothing where folders cannot be flushed.
    void flush_folder() const;

  private:
    [[noreturn]] void give_up(int reason) const;

    std::string function_;
    std::filesystem::path target_, path_;
    int descriptor_ = -1;
};

}  // namespace composit
