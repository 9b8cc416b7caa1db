// The fixed parts of an exported program: memory, threads, weights, index errors.
#include "composit/backends/c_family/prelude.h"
#include "composit/base/text.h"
#include "composit/exporters/cpp_project/project.h"

namespace composit::cpp_project {
namespace {

constexpr const char* memory_text = R"(// Aligned memory that a thread keeps from call to call.
class Memory {
public:
    ~Memory() { release(); }
    char* at_least(int64_t bytes) {
        if (bytes > bytes_) {
            release();
            data_ = static_cast<char*>(
                ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(64)));
            bytes_ = bytes;
        }
        return data_;
    }

private:
    void release() {
        if (data_ != nullptr) ::operator delete(data_, std::align_val_t(64));
        data_ = nullptr;
        bytes_ = 0;
    }
    char* data_ = nullptr;
    int64_t bytes_ = 0;
};

)";

constexpr const char* scratch_text = R"(void* scratch(int64_t bytes) {
    static thread_local Memory memory;
    return memory.at_least(bytes);
}

)";

constexpr const char* pool_text =
    R"(// A caller's closure, to be called with begin and end of a share while the closure lives.
class Task {
public:
    template <class Closure>
    Task(const Closure& closure)
        : closure_(&closure), call_([](const void* to_call, int64_t begin, int64_t end) {
              (*static_cast<const Closure*>(to_call))(begin, end);
          }) {}
    void operator()(int64_t begin, int64_t end) const { call_(closure_, begin, end); }

private:
    const void* closure_;
    void (*call_)(const void*, int64_t, int64_t);
};

// Threads that wait for work; one piece of work at a time.
class Pool {
public:
    // task(begin, end) for even shares of 0 … count. Shares depend on `threads`, results do not.
    void share_out(int threads, int64_t count, const Task& task) {
        const int64_t shares = threads < count ? threads : count;
        if (shares <= 1) return task(0, count);
        const std::lock_guard<std::mutex> one_caller(callers_);
        std::unique_lock<std::mutex> lock(mutex_);
        while (static_cast<int64_t>(threads_.size()) < shares - 1)
            threads_.emplace_back([this] { work(); });
        task_ = &task;
        count_ = count;
        shares_ = shares;
        next_ = 0;
        unfinished_ = shares;
        wake_.notify_all();
        while (next_ < shares_) run_one(lock);
        done_.wait(lock, [this] { return unfinished_ == 0; });
    }
    ~Pool() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_ending_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

private:
    void work() {
        const DefaultFloatingPoint floating_point;
        std::unique_lock<std::mutex> lock(mutex_);
        while (true) {
            wake_.wait(lock, [this] { return is_ending_ || next_ < shares_; });
            if (is_ending_) return;
            run_one(lock);
        }
    }
    void run_one(std::unique_lock<std::mutex>& lock) {
        const int64_t share = next_++;
        const auto* const task = task_;
        const int64_t begin = count_ * share / shares_, end = count_ * (share + 1) / shares_;
        lock.unlock();
        (*task)(begin, end);
        lock.lock();
        if (--unfinished_ == 0) done_.notify_all();
    }

    std::mutex callers_, mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    const Task* task_ = nullptr;
    int64_t count_ = 0, shares_ = 0, next_ = 0, unfinished_ = 0;
    bool is_ending_ = false;
};

Pool& pool() {
    static Pool instance;
    return instance;
}

)";

constexpr const char* fault_text = R"(// The first index out of bounds, whichever thread met it.
class FirstFault {
public:
    void add(const Fault& fault) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (fault.outer >= 0 && (first_.outer < 0 || fault.outer < first_.outer)) first_ = fault;
    }
    // numbers and lengths of the axes that are indexed
    void check(const int64_t* numbers, const int64_t* lengths) const {
        if (first_.outer < 0) return;
        throw std::out_of_range("index " + std::to_string(first_.index) +
                                " is out of bounds for axis " +
                                std::to_string(numbers[first_.axis]) + " with size " +
                                std::to_string(lengths[first_.axis]));
    }

private:
    std::mutex mutex_;
    Fault first_ = {-1, 0, 0};
};

)";

// NAME, HEADER, BYTES, CHECKSUM and PACKED are replaced.
constexpr const char* weights_text = R"(// The constants, in memory as long as the program runs.
class Weights {
public:
    explicit Weights(const std::string& path) {
        const char* const fault = read(path);
        if (fault == nullptr) return;
        release();
        throw std::runtime_error("NAME: '" + path + "' " + fault);
    }
    ~Weights() { release(); }
    const char* data() const { return all_ + header_bytes; }
PACKED
private:
    static constexpr std::size_t header_bytes = 64, bytes = BYTES, expected = header_bytes + bytes;
    // Null, or what is wrong with the file.
    const char* read(const std::string& path) {
#if defined(__unix__)
        const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK);
        if (file < 0) return errno == ENOENT ? "is missing." : "cannot be opened.";
        struct stat status;
        const bool is_whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                              static_cast<std::size_t>(status.st_size) == expected;
        void* const memory =
            is_whole ? mmap(nullptr, expected, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
        close(file);
        if (memory != MAP_FAILED) all_ = static_cast<const char*>(memory);
        if (is_whole && all_ == nullptr) return "cannot be mapped.";
#else
        std::ifstream file(path, std::ios::binary);
        if (!file) return "cannot be opened.";
        char* const memory = memory_.at_least(expected + 1);
        if (file.read(memory, expected + 1).gcount() == expected) all_ = memory;
#endif
        if (all_ == nullptr || std::memcmp(all_, "HEADER", header_bytes) != 0)
            return "is not the file of weights that belongs to this program.";
        if (xxh64(data(), bytes) != CHECKSUM)
            return "is damaged: its weights do not have the checksum of its header.";
        return nullptr;
    }
    void release() {
#if defined(__unix__)
        if (all_ != nullptr) munmap(const_cast<char*>(all_), expected);
#endif
    }
#if !defined(__unix__)
    Memory memory_;
#endif
    const char* all_ = nullptr;
};

std::mutex weights_mutex;
std::unique_ptr<Weights> loaded_weights;

// Under the mutex.
Weights& the_weights() {
    if (!loaded_weights) loaded_weights.reset(new Weights("NAME.weights"));
    return *loaded_weights;
}

)";

constexpr const char* reading_text = R"(const char* weights() {
    const std::lock_guard<std::mutex> lock(weights_mutex);
    return the_weights().data();
}

)";

constexpr const char* packed_member =
    R"(    std::unique_ptr<Memory> packed;  // operands of products, made of them once

)";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

}  // namespace

std::string support_text(const Project& project, const std::string& functions) {
    bool has_scratch = false, has_faults = false, has_arena = false;
    for (const auto& module : project.modules.modules)
        for (const auto& kernel : module.functions) {
            has_scratch |= !kernel.scratch_bytes.empty();
            has_faults |= kernel.can_fault;
        }
    for (const ExportedFunction& function : project.functions)
        for (const auto& buffer : function.program->buffers)
            has_arena |= buffer.kind == ir::kernel::BufferKind::temporary;
    std::string result = "namespace {\n\n";
    result += c_family::prelude_text("default_floating_point.h");
    result += "\n";
    if (has_scratch || has_arena || !project.weights.is_empty()) result += memory_text;
    if (has_scratch) result += scratch_text;
    if (functions.find("pool().") != std::string::npos) result += pool_text;
    if (has_faults) result += fault_text;
    if (!project.weights.is_empty()) {
        result += std::string(c_family::prelude_text("checksum.h")) + "\n";
        std::string text =
            replaced(weights_text, "HEADER", project.weights.header().substr(0, 63) + "\\n");
        text = replaced(text, "BYTES", composit::text(project.weights.bytes()));
        text = replaced(text, "CHECKSUM", "0x" + project.weights.checksum() + "u");
        const bool packs = !project.packed.is_empty();
        text = replaced(text, "PACKED\n", packs ? packed_member : "\n");
        result += replaced(text, "NAME", project.name);
        // Packed weights may be all that functions read.
        if (functions.find("= weights()") != std::string::npos) result += reading_text;
        if (packs) result += project.packed.text_of(module_that_reads_panels(project));
    }
    result += "}  // namespace\n\n";
    if (!project.weights.is_empty())
        result +=
            "void load_weights(const std::string& path) {\n"
            "    const std::lock_guard<std::mutex> lock(weights_mutex);\n"
            "    loaded_weights.reset(new Weights(path));\n}\n\n";
    return result;
}

}  // namespace composit::cpp_project
