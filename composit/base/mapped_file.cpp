// Mappings are in a list that a signal handler can read: its entries are used again, never freed.
#include "composit/base/mapped_file.h"

#include "composit/base/error.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace composit {
namespace {

class OpenFile {
  public:
    OpenFile(std::string_view where, const std::filesystem::path& path)
        // Nothing waits for the other end of a pipe.
        : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (number_ < 0) fail_to_read(where, errno);
        struct stat status{};
        const int fault = fstat(number_, &status) != 0 ? errno
                          : S_ISDIR(status.st_mode)    ? EISDIR
                                                       : 0;
        if (fault != 0 || !S_ISREG(status.st_mode)) close(number_);
        if (fault != 0) fail_to_read(where, fault);
        user_check<InputOutputError>(S_ISREG(status.st_mode), where,
                                     "it is no regular file, which is required.");
        bytes_ = static_cast<size_t>(status.st_size);
    }
    ~OpenFile() {
        if (number_ >= 0) close(number_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    int number() const { return number_; }
    size_t bytes() const { return bytes_; }
    int release() { return std::exchange(number_, -1); }

  private:
    int number_;
    size_t bytes_ = 0;
};

struct Mapping {
    std::atomic<uintptr_t> begin{0};  // 0: not in use
    std::atomic<size_t> bytes{0};
    std::atomic<bool> has_lost_pages{false};  // zeros lie in the place of some
    int file = -1;
    std::string path;
    Mapping* next = nullptr;

    bool holds(uintptr_t address) const {
        const uintptr_t start = begin.load(std::memory_order_acquire);
        return start != 0 && address - start < bytes.load(std::memory_order_relaxed);
    }
};

std::atomic<Mapping*> mappings{nullptr};
std::atomic<int> mapping_count{0};
std::atomic<unsigned> lost_pages{0};  // ever
std::atomic<bool> any_lost_pages{false};
std::atomic<int> reader_count{0};  // of ReadingMappedFiles

// Of all that follows, except for what the handler does.
std::mutex& mutex() {
    static std::mutex& one = *new std::mutex;
    return one;
}
std::string last_path_with_lost_pages;
struct sigaction former_action;

Mapping* find(uintptr_t address) {
    for (Mapping* at = mappings.load(std::memory_order_acquire); at != nullptr; at = at->next)
        if (at->holds(address)) return at;
    return nullptr;
}

const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));

void replace_lost_page(int, siginfo_t* info, void*) {
    const int former_errno = errno;
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    // Of other signals the kernel says no address.
    const bool is_read_by_us = info->si_code > 0 && reader_count.load() > 0;
    Mapping* const mapping = is_read_by_us ? find(address) : nullptr;
    void* const page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    if (mapping == nullptr || mmap(page, page_bytes, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        // The instruction runs again, and meets what would have been without us.
        sigaction(SIGBUS, &former_action, nullptr);
    } else {
        mapping->has_lost_pages.store(true);
        any_lost_pages.store(true);
        lost_pages.fetch_add(1);
    }
    errno = former_errno;
}

// Of the first mapping. Under the mutex.
void install_handler() {
    struct sigaction action{};
    action.sa_sigaction = replace_lost_page;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &former_action);
}

// Of the last mapping; others may have put theirs in its place. Under the mutex.
void remove_handler() {
    struct sigaction now{};
    sigaction(SIGBUS, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == replace_lost_page)
        sigaction(SIGBUS, &former_action, nullptr);
}

// Puts the file's pages back where zeros are, so that who reads them next learns of it, too.
// Under the mutex.
void restore_lost_pages() {
    any_lost_pages.store(false);
    for (Mapping* at = mappings.load(); at != nullptr; at = at->next) {
        if (at->begin.load() == 0 || !at->has_lost_pages.exchange(false)) continue;
        last_path_with_lost_pages = at->path;
        (void)mmap(reinterpret_cast<void*>(at->begin.load()), at->bytes.load(), PROT_READ,
                   MAP_PRIVATE | MAP_FIXED, at->file, 0);
    }
}

void unmap(Mapping* mapping) {
    const std::lock_guard lock(mutex());
    void* const data = reinterpret_cast<void*>(mapping->begin.load());
    mapping->begin.store(0);
    munmap(data, mapping->bytes.load());
    close(mapping->file);
    mapping->path.clear();
    if (mapping_count.fetch_sub(1) == 1) remove_handler();
}

[[noreturn]] void fail_shorter(std::string_view function, const std::string& path) {
    fail<InputOutputError>(function, ": the file ", path,
                           " has become shorter while tensors share its memory. Load it again; "
                           "with copy=True they do not share it.");
}

// Under the mutex.
void check_length(std::string_view function, const Mapping& mapping) {
    struct stat status{};
    if (fstat(mapping.file, &status) != 0 ||
        static_cast<size_t>(status.st_size) < mapping.bytes.load())
        fail_shorter(function, mapping.path);
}

}  // namespace

void fail_to_read(std::string_view where, int reason) {
    const std::string message = text(where, "cannot be read: ", std::strerror(reason), ".");
    if (reason == ENOENT) throw FileNotFound(message);
    throw InputOutputError(message);
}

std::string read_whole_file(std::string_view where, const std::filesystem::path& path,
                            size_t most) {
    const OpenFile file(where, path);
    user_check(file.bytes() <= most, where, "it has ", file.bytes(), " bytes. At most ", most,
               " are required.");
    std::string content(file.bytes(), '\0');
    for (size_t done = 0; done < content.size();) {
        const ssize_t count = read(file.number(), content.data() + done, content.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_to_read(where, errno);
        if (count == 0) content.resize(done);  // somebody cut it
        done += static_cast<size_t>(count);
    }
    return content;
}

MappedFile map_file(std::string_view where, const std::filesystem::path& path) {
    OpenFile file(where, path);
    if (file.bytes() == 0) return {};
    void* const data = mmap(nullptr, file.bytes(), PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (data == MAP_FAILED) fail_to_read(where, errno);
    const std::lock_guard lock(mutex());
    Mapping* entry = mappings.load();
    while (entry != nullptr && entry->begin.load() != 0) entry = entry->next;
    const bool is_new = entry == nullptr;
    if (is_new) entry = new Mapping;
    entry->file = file.release();
    entry->path = path.string();
    entry->has_lost_pages.store(false);
    entry->bytes.store(file.bytes());
    entry->begin.store(reinterpret_cast<uintptr_t>(data), std::memory_order_release);
    if (is_new) {
        entry->next = mappings.load();
        mappings.store(entry, std::memory_order_release);
    }
    if (mapping_count.fetch_add(1) == 0) install_handler();
    return {static_cast<const char*>(data), file.bytes(),
            std::shared_ptr<void>(data, [entry](void*) { unmap(entry); })};
}

ReadingMappedFiles::ReadingMappedFiles() {
    if (mapping_count.load(std::memory_order_relaxed) == 0) return;
    is_active_ = true;
    reader_count.fetch_add(1);
    if (any_lost_pages.load()) {
        const std::lock_guard lock(mutex());
        restore_lost_pages();
    }
    lost_pages_ = lost_pages.load();
}

ReadingMappedFiles::~ReadingMappedFiles() {
    if (is_active_) reader_count.fetch_sub(1);
}

void ReadingMappedFiles::check(std::string_view function,
                               const std::vector<const void*>& data) const {
    if (!is_active_) return;
    if (lost_pages.load() != lost_pages_) {
        const std::lock_guard lock(mutex());
        restore_lost_pages();
        fail_shorter(function, last_path_with_lost_pages);
    }
    const Mapping* checked = nullptr;  // neighbours mostly lie in the same file
    for (const void* const each : data) {
        const auto address = reinterpret_cast<uintptr_t>(each);
        if (checked != nullptr && checked->holds(address)) continue;
        checked = find(address);
        if (checked == nullptr) continue;
        const std::lock_guard lock(mutex());
        check_length(function, *checked);
    }
}

bool is_in_mapped_file(const void* data) {
    return mapping_count.load(std::memory_order_relaxed) != 0 &&
           find(reinterpret_cast<uintptr_t>(data)) != nullptr;
}

void check_mapped_file(std::string_view function, const void* data) {
    if (!is_in_mapped_file(data)) return;
    const std::lock_guard lock(mutex());
    if (const Mapping* const mapping = find(reinterpret_cast<uintptr_t>(data)))
        check_length(function, *mapping);
}

}  // namespace composit
