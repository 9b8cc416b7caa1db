// Builds in a folder of its own and renames it into place, so that no reader sees half an entry.
// Nothing waits for the disk: what a machine that lost its power left of an entry is noticed when
// it is loaded, for each file is compared, and is built anew.
#include "composit/backends/cpp/cache.h"

#include "composit/backends/c_family/code_alone.h"
#include "composit/backends/c_family/kernel_names.h"
#include "composit/backends/cpp/process.h"
#include "composit/backends/cpp/unavailable.h"
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/base/private_files.h"
#include "composit/version.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <unistd.h>

namespace composit::cpp {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_file = "lock";               // in temporary folders
constexpr size_t most_bytes_of_code = size_t{1} << 30;  // of what a compiler may write

std::string hex(uint64_t value) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
    return digits;
}

// "kernel.so 5120 0123456789abcdef": how build.txt describes a file, to notice when it has changed.
std::string fingerprint(const std::string& name, const std::string& content) {
    return text(name, " ", content.size(), " ", hex(hash_text(content)), "\n");
}

// The part of build.txt that is known before anything is built: the entry's key, in full.
std::string key_text(const Source& source) {
    return text("composit ", version, "\ncompiler ", source.compiler.path, "\nversion ",
                source.compiler.version, "\ncpu ", cpu_features(), "\ncommand ",
                command_line(build_command(source.compiler)), "\n",
                fingerprint("code", c_family::code_alone(source.text)));
}

// The bytes of a file by its line of build.txt behind the key, "kernel.so 5120 0123…"; 0 if it does
// not tell.
size_t bytes_of(const std::string& name, std::string_view description) {
    const size_t line = description.find(name + " ");
    if (line == std::string_view::npos) return 0;
    description.remove_prefix(line + name.size() + 1);
    size_t bytes = 0;
    std::from_chars(description.data(), description.data() + description.size(), bytes);
    return bytes;
}

// The library in `entry` if the entry is whole and belongs to `source`.
std::shared_ptr<Library> load(const Source& source, const std::string& key, const fs::path& entry) {
    if (!is_own_folder(entry)) return nullptr;
    constexpr size_t longest_fingerprints = 128;
    const std::optional<std::string> description =
        read_file(entry / "build.txt", key.size() + longest_fingerprints);
    if (!description || !description->starts_with(key)) return nullptr;
    const std::string_view of_files = std::string_view(*description).substr(key.size());
    std::string found;
    for (const char* name : {"kernel.so", "kernel.cpp"}) {
        const std::optional<std::string> file = read_file(entry / name, bytes_of(name, of_files));
        if (!file) return nullptr;
        found += fingerprint(name, *file);
    }
    if (found != of_files) return nullptr;
    try {
        return std::make_shared<Library>(entry / "kernel.so", source.symbols);
    } catch (const InputOutputError&) {
        // Of another machine, or another process is replacing the entry; ours is built afresh.
        return nullptr;
    }
}

constexpr const char* failed_suffix = ".failed";

// Removes what killed processes left behind, at once where their locks tell that they are gone,
// and what failed builds left for the user to look at, after a day.
void sweep(const fs::path& folder) {
    std::error_code ignored;
    auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24);
    // Others may remove what is being listed: then the rest waits for the next sweep.
    for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
        const fs::directory_entry& entry = *at;
        std::string name = entry.path().filename().string();
        bool is_temporary = name.find(".tmp-") != std::string::npos;
        if (!is_temporary && !name.ends_with(failed_suffix)) continue;
        bool is_left = entry.last_write_time(ignored) < limit ||
                       (is_temporary && is_abandoned(entry.path() / lock_file));
        if (is_left) fs::remove_all(entry.path(), ignored);
    }
}

fs::path temporary_name(const fs::path& entry) {
    static std::atomic<int> counter{0};
    auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return text(entry.string(), ".tmp-", getpid(), "-", counter++, "-", now);
}

// Puts `built` in the place of `entry`. Losing a race to another process is no loss: its entry is
// as good.
void publish(const fs::path& built, const fs::path& entry) {
    std::error_code error;
    fs::rename(built, entry, error);
    if (error) {
        fs::path old = temporary_name(entry);
        std::error_code ignored;
        fs::rename(entry, old, ignored);
        fs::rename(built, entry, error);
        fs::remove_all(old, ignored);
        if (error) fs::remove_all(built, ignored);
    }
}

// A folder that goes with its owner, unless it was renamed before. Locked, so that others can tell
// when the owner was killed.
class TemporaryFolder {
  public:
    explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {
        if (auto reason = refuse_folder(path_))
            fail<InputOutputError>("the folder ", path_.string(), " ", *reason);
        try {
            lock_.emplace(path_ / lock_file);
        } catch (...) {
            remove();
            throw;
        }
    }
    ~TemporaryFolder() { remove(); }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }
    // To be called before the folder is renamed.
    void unlock() { lock_.reset(); }

  private:
    void remove() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }

    fs::path path_;
    std::optional<FileLock> lock_;
};

// Leaves the source and the compiler's messages where the user can look at them.
[[noreturn]] void fail_build(const Source& source, TemporaryFolder& built, const fs::path& entry,
                             const Finished& finished) {
    fs::path kept = text(entry.string(), failed_suffix);
    std::error_code error;
    fs::remove_all(kept, error);
    built.unlock();
    fs::rename(built.path(), kept, error);
    std::string file = (error ? built.path() : kept) / "kernel.cpp";
    std::string how = finished.ran_out_of_time ? "was killed after " + limit_in_words()
                      : finished.status > 128 ? text("was killed by signal ", finished.status - 128)
                                              : text("failed with status ", finished.status);
    std::string command = command_line(build_command(source.compiler));
    std::string said = finished.output.substr(0, finished.output.find('\n'));
    throw CompilationUnavailable(text("composit: the C++ compiler ", how, ": ", command, " (on ",
                                      file, ")", said.empty() ? "." : ": " + said),
                                 command, file);
}

// Compiles in a temporary folder beside `entry`, loads from there, then publishes.
std::shared_ptr<Library> build(const Source& source, const std::string& key, const fs::path& entry,
                               const std::stop_token& stop) {
    sweep(entry.parent_path());
    TemporaryFolder temporary(temporary_name(entry));
    const fs::path& folder = temporary.path();
    write_file(folder / "kernel.cpp", source.text);
    write_file(folder / "graph.txt", source.graph_text);
    std::vector<std::string> command = build_command(source.compiler);
    Finished finished = run_process(command, folder, compiler_limit(), stop);
    std::optional<std::string> code = read_file(folder / "kernel.so", most_bytes_of_code);
    if (!finished.succeeded() || !code) {
        // Perhaps the disk's fault alone: another folder may do.
        user_check<InputOutputError>(!is_full(folder), "No space left on device");
        fail_build(source, temporary, entry, finished);
    }
    write_file(folder / "build.txt",
               key + fingerprint("kernel.so", *code) + fingerprint("kernel.cpp", source.text));
    std::shared_ptr<Library> library;
    try {
        library = std::make_shared<Library>(folder / "kernel.so", source.symbols);
    } catch (const InputOutputError& error) {
        fail_build(source, temporary, entry, {1, error.what(), false});
    }
    temporary.unlock();
    publish(folder, entry);
    std::error_code ignored;
    fs::remove_all(text(entry.string(), failed_suffix), ignored);
    return library;
}

std::shared_ptr<Library> build_or_load_in(const Source& source, const std::string& key,
                                          const std::string& folder, const std::string& entry_name,
                                          const std::stop_token& stop) {
    fs::path entry = fs::path(folder) / entry_name;
    if (std::shared_ptr<Library> library = load(source, key, entry)) return library;
    return build(source, key, entry, stop);
}

// What to say about a folder that cannot be used; empty when it was said before.
std::string said_once(const std::string& folder, const std::string& reason) {
    static std::mutex mutex;
    static std::set<std::string>& said = *new std::set<std::string>;
    std::lock_guard lock(mutex);
    if (!said.insert(folder + reason).second) return "";
    return text("compile: the cache folder ", folder, " ", reason,
                ". Compiled code goes to a private temporary folder and is lost when this process "
                "ends.");
}

// The folder of this version's entries in `root`, or why it cannot be used.
std::optional<std::string> usable(const std::string& root, const std::string& folder) {
    if (root.empty()) return "is not known: neither COMPOSIT_CACHE nor HOME is set";
    if (auto reason = refuse_folder(root)) return reason;
    return refuse_folder(folder);
}

std::shared_ptr<Library> build_or_load_somewhere(const Source& source, const std::string& key,
                                                 const std::string& root, const std::string& entry,
                                                 const std::stop_token& stop,
                                                 std::string& warning) {
    std::string folder = root + "/" + version;
    std::optional<std::string> reason = usable(root, folder);
    if (!reason) {
        try {
            return build_or_load_in(source, key, folder, entry, stop);
        } catch (const InputOutputError& error) {
            reason = text("failed (", error.what(), ")");
        }
    }
    warning = said_once(root, *reason);
    try {
        return build_or_load_in(source, key, private_folder(), entry, stop);
    } catch (const InputOutputError& error) {
        throw CompilationUnavailable(text("compile: no folder to compile in: ", error.what()),
                                     command_line(build_command(source.compiler)), "");
    }
}

}  // namespace

Library::Library(const std::string& path, const std::vector<std::string>& symbols)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) fail<InputOutputError>("cannot load ", path, ": ", dlerror());
    for (const std::string& name : symbols)
        if (find(name) == nullptr) {
            dlclose(handle_);
            fail<InputOutputError>(path, " has no symbol ", name);
        }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    bytes_ = error ? 0 : static_cast<int64_t>(bytes);
}

Library::~Library() { dlclose(handle_); }

void* Library::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

void* Library::symbol(const std::string& name) const {
    void* address = find(name);
    if (address == nullptr) fail<InputOutputError>("there is no symbol ", name);
    return address;
}

std::vector<std::string> build_command(const Compiler& compiler) {
    std::vector<std::string> command = compiler.command;
    for (const std::string& flag : compile_flags()) command.push_back(flag);
    // A loop that copies is to stay one: on some CPUs memcpy takes ten times as long where the
    // destination lies a few bytes behind the source within its page.
    if (compiler.is_gnu) command.emplace_back("-fno-tree-loop-distribute-patterns");
    if (std::find(command.begin(), command.end(), "ziglang") != command.end()) {
        // zig would first build a C++ library of its own, for minutes; kernels need none.
        command.push_back("-nostdlib++");
        // It writes names of CPUs its own way: icelake_server.
        for (std::string& flag : command)
            if (flag.starts_with("-mtune=")) std::replace(flag.begin() + 7, flag.end(), '-', '_');
    }
    for (const char* word : {"kernel.cpp", "-o", "kernel.so"}) command.push_back(word);
    return command;
}

std::shared_ptr<Library> build_or_load(const Source& source, const std::string& folder,
                                       const std::stop_token& stop, std::string& warning) {
    static std::mutex mutex;
    static auto& loaded = *new std::map<std::string, std::weak_ptr<Library>>;
    std::string root = folder.empty() ? default_cache_folder() : folder;
    std::string key = key_text(source);
    // Of letters, digits and the content: whatever the name holds, it leads to no other folder.
    std::string entry = c_family::identifier(source.name) + "-" + hex(hash_text(key));
    {
        std::lock_guard lock(mutex);
        auto place = loaded.find(key);
        if (place != loaded.end())
            if (std::shared_ptr<Library> library = place->second.lock()) return library;
    }
    std::shared_ptr<Library> library =
        build_or_load_somewhere(source, key, root, entry, stop, warning);
    std::lock_guard lock(mutex);
    std::erase_if(loaded, [](const auto& entry) { return entry.second.expired(); });
    loaded[key] = library;
    return library;
}

}  // namespace composit::cpp
