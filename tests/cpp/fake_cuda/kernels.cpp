#include "kernels.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <type_traits>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

namespace fake_cuda {
namespace {

// What CUDA's compiler knows before it reads a text.
constexpr const char* words_of_cuda = R"(
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct uint3 { unsigned x, y, z; };
extern "C" {
uint3 threadIdx, blockIdx, blockDim, gridDim;
void (*fake_wait)(int of_warp);
unsigned long long fake_lanes[1024];
}
static inline void __syncthreads() { fake_wait(0); }
static inline void __threadfence() {}
template <class T> static inline T __shfl_down_sync(unsigned, T x, int places) {
    const unsigned self = threadIdx.x, lane = self % 32;
    __builtin_memcpy(&fake_lanes[self], &x, sizeof(T));
    fake_wait(1);
    T found = x;
    if (lane + places < 32 && self + places < blockDim.x)
        __builtin_memcpy(&found, &fake_lanes[self + places], sizeof(T));
    fake_wait(1);
    return found;
}
template <class T> static inline T atomicCAS(T* at, T expected, T wanted) {
    const T before = *at;
    if (before == expected) *at = wanted;
    return before;
}
template <class T> static inline T atomicExch(T* at, T wanted) {
    const T before = *at;
    *at = wanted;
    return before;
}
template <class To, class From> static inline To fake_bits(From x) {
    static_assert(sizeof(To) == sizeof(From), "one size");
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
#define FAKE_VECTORS(name, type)                                                            \
    struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                \
    struct alignas(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; };
FAKE_VECTORS(char, signed char) FAKE_VECTORS(uchar, unsigned char) FAKE_VECTORS(short, short)
FAKE_VECTORS(ushort, unsigned short) FAKE_VECTORS(int, int) FAKE_VECTORS(uint, unsigned)
FAKE_VECTORS(long, long) FAKE_VECTORS(ulong, unsigned long) FAKE_VECTORS(float, float)
FAKE_VECTORS(double, double)
static inline float __uint_as_float(unsigned x) { return fake_bits<float>(x); }
static inline float __int_as_float(int x) { return fake_bits<float>(x); }
static inline int __float_as_int(float x) { return fake_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return fake_bits<unsigned>(x); }
static inline double __longlong_as_double(long long x) { return fake_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return fake_bits<long long>(x); }
)"
                                      R"(
#define FAKE_FUNCTION(name)                                                                  \
    static inline double name(double x) { return __builtin_##name(x); }                     \
    static inline float name(float x) { return __builtin_##name##f(x); }                    \
    static inline float name##f(float x) { return __builtin_##name##f(x); }
FAKE_FUNCTION(sqrt) FAKE_FUNCTION(fabs) FAKE_FUNCTION(floor) FAKE_FUNCTION(ceil)
FAKE_FUNCTION(trunc) FAKE_FUNCTION(rint)
#define FAKE_FUNCTION_OF_TWO(name)                                                           \
    static inline double name(double x, double y) { return __builtin_##name(x, y); }        \
    static inline float name(float x, float y) { return __builtin_##name##f(x, y); }        \
    static inline float name##f(float x, float y) { return __builtin_##name##f(x, y); }
FAKE_FUNCTION_OF_TWO(fmod) FAKE_FUNCTION_OF_TWO(copysign)
static inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#define isnan(x) ((x) != (x))
#line 1 "composit.cu"
)";

std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A folder that ends with its owner.
class Folder {
  public:
    Folder() {
        const char* const place = std::getenv("TMPDIR");
        path_ = std::string(place ? place : "/tmp") + "/fake-cuda-XXXXXX";
        if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
    }
    ~Folder() {
        for (const char* name : {"kernels.cpp", "kernels.so", "log"})
            std::remove((path_ + "/" + name).c_str());
        rmdir(path_.c_str());
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const char* name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

// The number of a function's parameters, from behind its opening parenthesis on.
size_t parameters_at(const std::string& text, size_t begin) {
    const std::string list = text.substr(begin, text.find(')', begin) - begin);
    if (list.find_first_not_of(" \n") == std::string::npos) return 0;
    return 1 + static_cast<size_t>(std::count(list.begin(), list.end(), ','));
}

bool waits(const std::string& text) {
    return text.find("__syncthreads") != std::string::npos ||
           text.find("lane_below(") != std::string::npos ||
           text.find("__shfl_down_sync(") != std::string::npos;
}

// The kernels of a text: name, number of parameters, whether threads wait for others, a line each.
std::string index_of(const std::string& text) {
    static const std::regex kernel(
        R"(extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\()");
    std::vector<std::pair<size_t, std::smatch>> found;
    for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at)
        found.emplace_back(static_cast<size_t>(at->position()), *at);
    // Functions stand before the first kernel; the first one that exchanges registers is only
    // defined there.
    std::string functions = text.substr(0, found.empty() ? text.size() : found.front().first);
    const size_t definitions = functions.find("// The next float after x");
    if (definitions != std::string::npos) functions = functions.substr(definitions);
    std::string index;
    for (size_t k = 0; k < found.size(); ++k) {
        const auto& [begin, match] = found[k];
        const size_t end = k + 1 < found.size() ? found[k + 1].first : text.size();
        const size_t list = begin + static_cast<size_t>(match.length());
        index += match[1].str() + " " + std::to_string(parameters_at(text, list)) + " " +
                 (waits(functions) || waits(text.substr(begin, end - begin)) ? "1\n" : "0\n");
    }
    return index;
}

}  // namespace

Compiled compile(const std::string& text) {
    const Folder folder;
    std::ofstream(folder / "kernels.cpp") << words_of_cuda << text;
    const char* const compiler = std::getenv("CXX");
    const std::string command =
        std::string(compiler && *compiler ? compiler : "g++") +
        " -std=c++17 -O1 -march=native -w -shared -fPIC -ffp-contract=off -fno-strict-aliasing"
        " -o " +
        (folder / "kernels.so") + " " + (folder / "kernels.cpp") + " > " + (folder / "log") +
        " 2>&1";
    Compiled result;
    result.is_done = std::system(command.c_str()) == 0;
    result.log = content_of(folder / "log");
    const std::string index = index_of(text);
    // A loader gets no size: it stands before the bytes.
    if (result.is_done) {
        const std::string library = content_of(folder / "kernels.so");
        result.code = std::to_string(index.size()) + " " + std::to_string(library.size()) + "\n" +
                      index + library;
    }
    return result;
}

// ----- modules

Module::Module(const char* code) {
    size_t index_bytes = 0, library_bytes = 0;
    char* after = nullptr;
    index_bytes = std::strtoull(code, &after, 10);
    if (after == code || *after != ' ') throw std::runtime_error("no sizes");
    library_bytes = std::strtoull(after + 1, &after, 10);
    if (*after != '\n') throw std::runtime_error("no sizes");
    const std::string index(after + 1, index_bytes);
    const Folder folder;  // another one for each module: the loader knows libraries by their paths
    std::ofstream(folder / "kernels.so", std::ios::binary)
        .write(after + 1 + index_bytes, static_cast<std::streamsize>(library_bytes));
    library_ = dlopen((folder / "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    size_t at = 0;
    while (at < index.size()) {
        const size_t end = index.find('\n', at);
        char name[512];
        int parameters = 0, has_barriers = 0;
        std::sscanf(index.c_str() + at, "%511s %d %d", name, &parameters, &has_barriers);
        Function& function = functions_[name];
        function = {name, reinterpret_cast<void (*)()>(dlsym(library_, name)),
                    static_cast<size_t>(parameters), has_barriers != 0, library_};
        at = end + 1;
    }
}

Module::~Module() { dlclose(library_); }

const Function* Module::find(const std::string& name) const {
    const auto place = functions_.find(name);
    return place == functions_.end() ? nullptr : &place->second;
}

// ----- running

namespace {

struct Place {
    unsigned x, y, z;
};

// What a compiled text has by the names of words_of_cuda.
struct Names {
    explicit Names(void* library) {
        const auto find = [&](auto& variable, const char* name) {
            variable = reinterpret_cast<std::decay_t<decltype(variable)>>(dlsym(library, name));
        };
        find(thread, "threadIdx");
        find(group, "blockIdx");
        find(threads, "blockDim");
        find(groups, "gridDim");
        find(wait, "fake_wait");
    }
    Place *thread, *group, *threads, *groups;
    void (**wait)(int);
};

constexpr size_t most_parameters = 512, most_threads = 1024, stack_bytes = size_t{1} << 18;

// Whoever calls a function removes what it pushed: more arguments than there are do no harm.
template <size_t... k>
void call(void (*entry)(), const std::array<uint64_t, most_parameters>& values,
          std::index_sequence<k...>) {
    reinterpret_cast<void (*)(std::decay_t<decltype(values[k])>...)>(entry)(values[k]...);
}

enum class Waits { no, for_group, for_warp, for_ever };

// The threads of a group, each with a stack of its own.
struct Group {
    std::array<ucontext_t, most_threads> threads;
    std::array<Waits, most_threads> waits;
    ucontext_t scheduler;
    char* stacks =
        static_cast<char*>(mmap(nullptr, most_threads* stack_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    unsigned current = 0;
    std::function<void()> body;
};

Group& group() {
    static Group& the = *new Group;
    return the;
}

void wait_for_others(int of_warp) {
    Group& all = group();
    all.waits[all.current] = of_warp != 0 ? Waits::for_warp : Waits::for_group;
    swapcontext(&all.threads[all.current], &all.scheduler);
}

void run_thread() {
    Group& all = group();
    all.body();
    all.waits[all.current] = Waits::for_ever;
    swapcontext(&all.threads[all.current], &all.scheduler);
}

[[noreturn]] void fail(const Function& function, const char* what) {
    std::fprintf(stderr, "fake CUDA: %s: %s\n", function.name.c_str(), what);
    std::abort();
}

void resume(const Names& names, unsigned thread) {
    Group& all = group();
    all.current = thread;
    all.waits[thread] = Waits::no;
    names.thread->x = thread;
    swapcontext(&all.scheduler, &all.threads[thread]);
}

// Lets the threads go that wait for their warp, where all of a warp do or have ended.
bool release_warps(unsigned threads) {
    Group& all = group();
    bool any = false;
    for (unsigned begin = 0; begin < threads; begin += 32) {
        const unsigned end = std::min(begin + 32, threads);
        bool is_ready = true, has_some = false;
        for (unsigned t = begin; t < end; ++t) {
            is_ready &= all.waits[t] == Waits::for_warp || all.waits[t] == Waits::for_ever;
            has_some |= all.waits[t] == Waits::for_warp;
        }
        if (!is_ready || !has_some) continue;
        for (unsigned t = begin; t < end; ++t)
            if (all.waits[t] == Waits::for_warp) all.waits[t] = Waits::no;
        any = true;
    }
    return any;
}

void run_group(const Function& function, const Names& names, unsigned threads) {
    Group& all = group();
    for (unsigned t = 0; t < threads; ++t) {
        getcontext(&all.threads[t]);
        all.threads[t].uc_stack.ss_sp = all.stacks + t * stack_bytes;
        all.threads[t].uc_stack.ss_size = stack_bytes;
        all.threads[t].uc_link = nullptr;
        makecontext(&all.threads[t], run_thread, 0);
        all.waits[t] = Waits::no;
    }
    bool is_forward = true;
    while (true) {
        for (unsigned k = 0; k < threads; ++k) {
            const unsigned t = is_forward ? k : threads - 1 - k;
            if (all.waits[t] == Waits::no) resume(names, t);
        }
        is_forward = !is_forward;
        if (release_warps(threads)) continue;
        bool has_ended = false, has_waiting = false;
        for (unsigned t = 0; t < threads; ++t) {
            has_ended |= all.waits[t] == Waits::for_ever;
            has_waiting |= all.waits[t] == Waits::for_group;
            if (all.waits[t] == Waits::for_warp) fail(function, "a part of a warp waits for it");
        }
        if (!has_waiting) return;
        if (has_ended) fail(function, "threads wait for others that have ended");
        for (unsigned t = 0; t < threads; ++t) all.waits[t] = Waits::no;
    }
}

}  // namespace

void run(const Function& function, const unsigned (&groups)[2], unsigned threads,
         const std::vector<uint64_t>& parameters) {
    static std::mutex mutex;  // one launch at a time, as variables of a text are shared
    const std::lock_guard lock(mutex);
    if (parameters.size() > most_parameters) fail(function, "too many parameters");
    if (threads > most_threads) fail(function, "too many threads");
    std::array<uint64_t, most_parameters> values{};
    std::copy(parameters.begin(), parameters.end(), values.begin());
    const auto body = [&] {
        call(function.entry, values, std::make_index_sequence<most_parameters>());
    };
    const Names names(function.library);
    *names.threads = {threads, 1, 1};
    *names.groups = {groups[0], groups[1], 1};
    *names.thread = {0, 0, 0};
    *names.wait = wait_for_others;
    group().body = body;
    std::fenv_t callers;
    std::fegetenv(&callers);
    std::fesetenv(FE_DFL_ENV);
    for (unsigned y = 0; y < groups[1]; ++y)
        for (unsigned x = 0; x < groups[0]; ++x) {
            *names.group = {x, y, 0};
            if (function.has_barriers) {
                run_group(function, names, threads);
                continue;
            }
            for (unsigned t = 0; t < threads; ++t) {
                names.thread->x = t;
                body();
            }
        }
    std::fesetenv(&callers);
}

}  // namespace fake_cuda
