// Writes by the system's calls, which tell why something failed.
#include "composit/base/whole_file.h"

#include "composit/base/error.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace composit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark = ".composit.tmp-";  // in temporary names, then digits

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

bool is_temporary(std::string_view name) {
    const size_t at = name.rfind(mark);
    if (at == std::string_view::npos || at + mark.size() == name.size()) return false;
    return name.find_first_not_of("0123456789", at + mark.size()) == std::string_view::npos;
}

// Removes temporary files that no process has locked. Those of file systems without locks stay.
void remove_abandoned(const fs::path& folder) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const fs::path path = at->path();
        if (!is_temporary(path.filename().string())) continue;
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) continue;
        struct stat status{};
        if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
            flock(file, LOCK_EX | LOCK_NB) == 0)
            unlink(path.c_str());
        close(file);
    }
}

// The file that a chain of links leads to, which need not be there.
fs::path target_of(fs::path link) {
    std::error_code error;
    constexpr int longest_chain = 40;  // Linux's
    for (int k = 0; k < longest_chain && fs::is_symlink(link, error); ++k)
        link = link.parent_path() / fs::read_symlink(link, error);
    return fs::weakly_canonical(folder_of(link), error) / link.filename();
}

bool is_within(const fs::path& path, const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
           folder.end();
}

}  // namespace

WholeFile::WholeFile(std::string function, fs::path target)
    : function_(std::move(function)), target_(std::move(target)) {
    std::error_code ignored;
    if (fs::is_symlink(target_, ignored)) {
        const fs::path pointed_to = target_of(target_);
        if (!is_within(pointed_to, fs::canonical(folder_of(target_), ignored)))
            fail<InputOutputError>(function_, ": ", target_.string(),
                                   " is a symbolic link out of its folder, to ",
                                   pointed_to.string(),
                                   ". A file of the folder is required; to write there, give that "
                                   "path.");
        target_ = pointed_to;
    }
    remove_abandoned(folder_of(target_));
    // Locked as long as it is open. Somebody who looks for abandoned files may come between.
    for (struct stat status{}; status.st_nlink == 0;) {
        if (descriptor_ >= 0) close(descriptor_);
        path_ = target_;
        path_ += text(mark, std::random_device()());
        descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0) give_up(errno);
        while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
        }
        if (fstat(descriptor_, &status) != 0) break;
    }
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
    const int descriptor = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

void write_whole_files(const std::string& function, const fs::path& folder,
                       const std::vector<NamedContent>& files) {
    std::error_code error;
    fs::create_directories(folder, error);
    user_check<InputOutputError>(!error, function, ": the folder '", folder.string(),
                                 "' cannot be made: ", error.message(),
                                 ". A folder that can be written to is required.");
    std::vector<WholeFile> written;
    for (const NamedContent& file : files) {
        WholeFile& whole = written.emplace_back(function, folder / file.name);
        whole.write(file.content.data(), file.content.size());
        whole.flush();
    }
    for (WholeFile& file : written) file.rename_to_target();
    if (!written.empty()) written[0].flush_folder();
}

void write_whole_file(const std::string& function, const fs::path& target,
                      std::string_view content) {
    WholeFile file(function, target);
    file.write(content.data(), content.size());
    file.flush();
    file.rename_to_target();
    file.flush_folder();
}

}  // namespace composit
