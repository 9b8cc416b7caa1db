// Files as a cache needs them: in folders nobody else can write to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace composit {

// The whole file; nothing when it cannot be read, is no file (a pipe, a device, a symbolic link) or
// has more bytes than `most`, which are then not read.
std::optional<std::string> read_file(const std::string& path, size_t most);
// Whether it is a folder, not a symbolic link, of this user, which nobody else can write to.
bool is_own_folder(const std::string& path);
// Throws InputOutputError with the path and the system's words.
void write_file(const std::string& path, const std::string& text);

// Why `folder` is no place for code that will be run: not a folder, not ours, writable by others.
// Creates it (mode 0700, parents too) where it is missing. Nothing when all is well.
std::optional<std::string> refuse_folder(const std::string& folder);

// Whether less than a mebibyte is left for files in `folder`.
bool is_full(const std::string& folder);

// A file that exists, and is locked, until the object's end. When its owner is killed the file
// stays and the lock goes. Makes none where the file system has no locks.
class FileLock {
  public:
    explicit FileLock(std::string path);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    std::string path_;
    int descriptor_ = -1;
};

// Whether `path` is a FileLock whose owner was killed.
bool is_abandoned(const std::string& path);

// $COMPOSIT_CACHE, or ~/.cache/composit; empty when there is no home either.
std::string default_cache_folder();

// A folder that only this user can enter, made once per process and removed at its end. Throws
// InputOutputError when none can be made.
const std::string& private_folder();

}  // namespace composit
