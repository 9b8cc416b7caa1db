// Reads, writes and checks files by the system's calls, which tell why something failed.
#include "composit/base/private_files.h"

#include "composit/base/error.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <unistd.h>

namespace composit {
namespace {

[[noreturn]] void fail_with_reason(const std::string& what, const std::string& path) {
    fail<InputOutputError>(what, " ", path, ": ", std::strerror(errno));
}

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

// Makes `folder` and its parents with mode 0700, whatever the umask; existing ones stay as they
// are.
bool make_folders(const std::string& folder) {
    if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return true;
    if (errno != ENOENT) return false;
    std::string parent = std::filesystem::path(folder).parent_path();
    if (parent.empty() || parent == folder || !make_folders(parent)) return false;
    return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
}

struct PrivateFolder {
    std::string path;
    pid_t owner = getpid();

    PrivateFolder() {
        const char* base = std::getenv("TMPDIR");
        path = std::string(base != nullptr && *base != 0 ? base : "/tmp") + "/composit-XXXXXX";
        if (mkdtemp(path.data()) == nullptr) fail_with_reason("cannot make", path);
    }
    ~PrivateFolder() {
        if (owner != getpid()) return;  // a forked child must not take it from its parent
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

}  // namespace

std::optional<std::string> read_file(const std::string& path, size_t most) {
    // Nothing waits for the other end of a pipe.
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status{};
    if (file.number() < 0 || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
        static_cast<uint64_t>(status.st_size) > most)
        return std::nullopt;
    std::string text(static_cast<size_t>(status.st_size), '\0');
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = read(file.number(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;  // a fault, or somebody cut the file
        done += static_cast<size_t>(count);
    }
    return text;
}

bool is_own_folder(const std::string& path) {
    struct stat status{};
    return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & 022) == 0;
}

void write_file(const std::string& path, const std::string& text) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (file.number() < 0) fail_with_reason("cannot write", path);
    for (size_t done = 0; done < text.size();) {
        ssize_t count = write(file.number(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_with_reason("cannot write", path);
        done += static_cast<size_t>(count);
    }
}

std::optional<std::string> refuse_folder(const std::string& folder) {
    if (!make_folders(folder)) return text("cannot be made: ", std::strerror(errno));
    struct stat status{};
    if (stat(folder.c_str(), &status) != 0)
        return text("cannot be examined: ", std::strerror(errno));
    if (!S_ISDIR(status.st_mode)) return "is not a folder";
    if (status.st_uid != geteuid()) return "belongs to another user";
    if ((status.st_mode & 022) != 0) return "can be written to by other users (chmod 700 it)";
    if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
        return text("cannot be used: ", std::strerror(errno));
    return std::nullopt;
}

bool is_full(const std::string& folder) {
    struct statvfs status{};
    return statvfs(folder.c_str(), &status) == 0 &&
           status.f_bavail < (uint64_t{1} << 20) / std::max<uint64_t>(status.f_frsize, 1);
}

FileLock::FileLock(std::string path) : path_(std::move(path)) {
    // Locked before it gets its name, so that nobody finds it without its lock.
    const std::string unnamed = path_ + ".new";
    descriptor_ = open(unnamed.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) fail_with_reason("cannot write", unnamed);
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || rename(unnamed.c_str(), path_.c_str()) != 0)
        unlink(unnamed.c_str());
}

FileLock::~FileLock() {
    unlink(path_.c_str());
    close(descriptor_);
}

bool is_abandoned(const std::string& path) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    return file.number() >= 0 && flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

std::string default_cache_folder() {
    const char* chosen = std::getenv("COMPOSIT_CACHE");
    if (chosen != nullptr && *chosen != 0) return chosen;
    const char* home = std::getenv("HOME");
    return home != nullptr && *home != 0 ? std::string(home) + "/.cache/composit" : "";
}

const std::string& private_folder() {
    static PrivateFolder folder;
    return folder.path;
}

}  // namespace composit
