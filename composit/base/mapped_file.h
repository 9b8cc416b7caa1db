// Files whose bytes are memory, and what happens when somebody makes such a file shorter.
//
// The system ends a process that reads a mapped page which the file has no more (SIGBUS), and fills
// what is left of the last page with zeros. While a ReadingMappedFiles lives, both read as zeros,
// and its check() throws.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace composit {

// Throws FileNotFound or InputOutputError, "WHEREcannot be read: No such file or directory."
[[noreturn]] void fail_to_read(std::string_view where, int reason);

// The file's bytes, at most `most` of them. Errors begin with `where`, "load: a.txt: ":
// FileNotFound or InputOutputError where the system does not let it be read or it is no regular
// file; ValueError for more bytes.
std::string read_whole_file(std::string_view where, const std::filesystem::path& path, size_t most);

struct MappedFile {
    const char* data = nullptr;
    size_t bytes = 0;
    std::shared_ptr<void> owner;  // of the mapping
};

// For reading. Errors as those of read_whole_file; an empty file has no data.
MappedFile map_file(std::string_view where, const std::filesystem::path& path);

// Around whatever reads memory that may be mapped; costs a few nanoseconds. Composit handles SIGBUS
// while a file is mapped: if it concerns such a file while one of these lives, else what handled it
// before does.
class ReadingMappedFiles {
  public:
    ReadingMappedFiles();
    ~ReadingMappedFiles();
    ReadingMappedFiles(const ReadingMappedFiles&) = delete;
    ReadingMappedFiles& operator=(const ReadingMappedFiles&) = delete;

    // InputOutputError of `function` if a page that was read in the meantime had gone, or if a file
    // that one of `data` lies in is shorter now. To be called when all is read.
    void check(std::string_view function, const std::vector<const void*>& data) const;

  private:
    bool is_active_ = false;
    unsigned lost_pages_ = 0;
};

bool is_in_mapped_file(const void* data);
// InputOutputError of `function` if `data` lies in a mapped file that is shorter now.
void check_mapped_file(std::string_view function, const void* data);

}  // namespace composit
