// Files that are there as a whole or not at all: a full disk or a crash leaves what was there
// before.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace composit {

// Written under a name of its own in the target's folder, until it is renamed; removed if it never
// is. A process that is killed leaves it behind: the next WholeFile of that folder removes it, and
// all others that no process has locked. Errors are InputOutputErrors of `function` with the target
// and the system's reason.
//
//   WholeFile file("save", "weights.bin");
//   file.write(data, bytes);
//   file.flush();
//   file.rename_to_target();
class WholeFile {
  public:
    // A target that is a symbolic link stays one: what it points to is replaced, if that lies in
    // the link's folder or below; InputOutputError if not.
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

struct NamedContent {
    std::string name, content;
};

// Writes the files into `folder`, which is made if it is missing: all of them, to the disk, before
// the first takes its name. Throws InputOutputError of `function`.
void write_whole_files(const std::string& function, const std::filesystem::path& folder,
                       const std::vector<NamedContent>& files);
// Writes one, to the disk.
void write_whole_file(const std::string& function, const std::filesystem::path& target,
                      std::string_view content);

}  // namespace composit
