// Writes by the system's calls, which tell why something failed.
#include "composit/base/whole_file.h"

#include "composit/base/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace composit {

namespace fs = std::filesystem;

WholeFile::WholeFile(std::string function, fs::path target)
    : function_(std::move(function)), target_(std::move(target)) {
    std::error_code ignored;
    if (fs::is_symlink(target_, ignored)) {
        const fs::path pointed_to = fs::weakly_canonical(target_, ignored);
        if (!pointed_to.empty()) target_ = pointed_to;
    }
    path_ = target_;
    path_ += text(".tmp-", std::random_device()());
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) give_up(errno);
}

WholeFile::~WholeFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : function_(std::move(other.function_)),
      target_(std::move(other.target_)),
      path_(std::exchange(other.path_, fs::path())),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void WholeFile::write(const void* data, size_t bytes) {
    const char* at = static_cast<const char*>(data);
    for (size_t done = 0; done < bytes;) {
        const ssize_t count = ::write(descriptor_, at + done, bytes - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) give_up(errno);
        done += static_cast<size_t>(count);
    }
}

void WholeFile::flush() {
    if (fsync(descriptor_) != 0) give_up(errno);
}

void WholeFile::rename_to_target() {
    if (rename(path_.c_str(), target_.c_str()) != 0) give_up(errno);
    path_.clear();
}

void WholeFile::flush_folder() const {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

void WholeFile::give_up(int reason) const {
    const std::string message =
        text(function_, ": ", target_.string(), " cannot be written: ", std::strerror(reason), ".");
    if (reason == ENOENT) throw FileNotFound(message);
    throw InputOutputError(message);
}

}  // namespace composit
