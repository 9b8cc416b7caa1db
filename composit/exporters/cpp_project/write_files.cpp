// Writes by the system's calls, which tell why something failed.
#include "composit/exporters/cpp_project/write_files.h"

#include "composit/base/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <unistd.h>
#include <utility>

namespace composit::cpp_project {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_reason(const fs::path& path, int reason) {
    fail<InputOutputError>("export: ", path.string(), " cannot be written: ", std::strerror(reason),
                           ".");
}

// A file under a name of its own, until it is renamed; removed if it never is.
class Temporary {
  public:
    Temporary(fs::path target, const std::string& content) : target_(std::move(target)) {
        path_ = target_;
        path_ += text(".tmp-", std::random_device()());
        descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail_with_reason(target_, errno);
        for (size_t done = 0; done < content.size();) {
            const ssize_t count = write(descriptor_, content.data() + done, content.size() - done);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) give_up();
            done += static_cast<size_t>(count);
        }
        if (fsync(descriptor_) != 0) give_up();
    }
    ~Temporary() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!path_.empty()) unlink(path_.c_str());
    }
    Temporary(Temporary&& other) noexcept
        : target_(std::move(other.target_)),
          path_(std::exchange(other.path_, fs::path())),
          descriptor_(std::exchange(other.descriptor_, -1)) {}
    Temporary& operator=(Temporary&&) = delete;

    void rename_to_target() {
        if (rename(path_.c_str(), target_.c_str()) != 0) fail_with_reason(target_, errno);
        path_.clear();
    }

  private:
    // The destructor does not run for what the constructor throws.
    [[noreturn]] void give_up() {
        const int reason = errno;
        close(descriptor_);
        unlink(path_.c_str());
        fail_with_reason(target_, reason);
    }

    fs::path target_, path_;
    int descriptor_ = -1;
};

}  // namespace

void write_files(const std::string& folder, const std::vector<File>& files) {
    std::error_code error;
    fs::create_directories(folder, error);
    user_check<InputOutputError>(!error, "export: the folder '", folder,
                                 "' cannot be made: ", error.message(),
                                 ". A folder that can be written to is required.");
    std::vector<Temporary> written;
    for (const File& file : files) written.emplace_back(fs::path(folder) / file.name, file.content);
    for (Temporary& file : written) file.rename_to_target();
}

}  // namespace composit::cpp_project
