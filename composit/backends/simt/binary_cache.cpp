// An entry is a head in lines, which holds the hashes of key and binary, and the binary.
#include "composit/backends/simt/binary_cache.h"

#include "composit/backends/c_family/code_alone.h"
#include "composit/base/error.h"
#include "composit/base/private_files.h"
#include "composit/base/sha256.h"
#include "composit/runtime/warning.h"
#include "composit/version.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace composit::simt {
namespace {

constexpr size_t most_bytes_of_entry = size_t{1} << 30;
constexpr int lines_of_log = 20;

std::string hash_of(const std::string& bytes) {
    Sha256 hash;
    hash.update(bytes.data(), bytes.size());
    return hash.hex();
}

std::string head_of_entry(const BinaryKey& key) {
    return text("composit ", version, "\n", key.kind, "\n", key.how, "\ncode ",
                hash_of(c_family::code_alone(key.text)), "\n");
}

// Where the entries are: <folder>/<version>, or a private one if that cannot be used, which is
// warned of once.
std::string folder_of_entries(const std::string& chosen) {
    const std::string root = chosen.empty() ? default_cache_folder() : chosen;
    std::optional<std::string> reason;
    if (root.empty()) reason = "is not known: neither COMPOSIT_CACHE nor HOME is set";
    if (!reason) reason = refuse_folder(root);
    const std::string folder = root + "/" + version;
    if (!reason) reason = refuse_folder(folder);
    if (!reason) return folder;
    static std::mutex mutex;
    static std::set<std::string>& said = *new std::set<std::string>;
    bool is_first = false;
    {
        const std::lock_guard lock(mutex);
        is_first = said.insert(root + *reason).second;
    }
    if (is_first)
        runtime::warn(text("compile: the cache folder ", root, " ", *reason,
                           ". Compiled code goes to a private temporary folder and is lost when "
                           "this process ends."));
    return private_folder();
}

std::string path_of_entry(const BinaryKey& key, const std::string& head,
                          const std::string& folder) {
    return text(folder_of_entries(folder), "/", key.kind, "-", hash_of(head).substr(0, 24));
}

// Others see the whole file or none.
void write_renamed(const std::string& path, const std::string& content) {
    static std::atomic<int> counter{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::string temporary = text(path, ".tmp-", getpid(), "-", counter++, "-", now);
    try {
        write_file(temporary, content);
    } catch (...) {
        unlink(temporary.c_str());
        throw;
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

std::string first_lines(const std::string& log, int count) {
    size_t end = 0;
    for (int k = 0; k < count && end != std::string::npos; ++k) end = log.find('\n', end + 1);
    return end == std::string::npos ? log : log.substr(0, end) + "\n…";
}

}  // namespace

std::optional<std::string> cached_binary(const BinaryKey& key, const std::string& folder) {
    const std::string head = head_of_entry(key);
    std::optional<std::string> entry =
        read_file(path_of_entry(key, head, folder), most_bytes_of_entry);
    const size_t digits = 64;  // of the binary's hash
    if (!entry || !entry->starts_with(head) || entry->size() <= head.size() + digits + 1)
        return std::nullopt;
    const std::string hash = entry->substr(head.size(), digits);
    entry->erase(0, head.size() + digits + 1);
    if (hash_of(*entry) != hash) return std::nullopt;
    return entry;
}

void cache_binary(const BinaryKey& key, const std::string& folder, const std::string& binary) {
    try {
        const std::string head = head_of_entry(key);
        write_renamed(path_of_entry(key, head, folder), text(head, hash_of(binary), "\n", binary));
    } catch (const InputOutputError&) {
        // A full disk: the code is there, and the next process compiles it again.
    }
}

void fail_build(const BinaryKey& key, const std::string& folder, const std::string& device,
                const std::string& command, const std::string& log) {
    std::string where;
    try {
        const std::string path = path_of_entry(key, head_of_entry(key), folder) + ".failed";
        write_renamed(path, text(command, "\n\n", log, "\n\n", key.text));
        where = text(" The whole log and the text are in ", path, ".");
    } catch (const InputOutputError&) {
        // Then the first lines must do.
    }
    fail<NotSupported>(device, ": the device's compiler does not take the text of a program (",
                       command, "). A driver that compiles it is required.", where, "\n",
                       first_lines(log, lines_of_log));
}

std::shared_ptr<Code> LoadedCode::find_or_build(
    const std::string& text, const std::function<std::shared_ptr<Code>()>& build) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return !being_built_.contains(text); });
    if (const auto place = loaded_.find(text); place != loaded_.end())
        if (std::shared_ptr<Code> code = place->second.lock()) return code;
    being_built_.insert(text);
    lock.unlock();
    std::shared_ptr<Code> code;
    const auto finish = [&] {
        lock.lock();
        being_built_.erase(text);
        std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
        if (code) loaded_[text] = code;
        finished_.notify_all();
    };
    try {
        code = build();
    } catch (...) {
        finish();
        throw;
    }
    finish();
    return code;
}

}  // namespace composit::simt
