// Asks Linux, and the container, how much memory there is.
#include "composit/execute/memory.h"

#include "composit/base/error.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace composit::execute {
namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

int64_t sum(int64_t a, int64_t b) { return a > unlimited - b ? unlimited : a + b; }

int64_t bytes_of(const ir::TensorType& type) {
    int64_t bytes = ir::size_of(type.dtype);
    for (int64_t length : type.shape) {
        if (length == 0) return 0;
        bytes = bytes > unlimited / length ? unlimited : bytes * length;
    }
    return bytes;
}

// The sum of the numbers behind some keys, in a file of lines "key number …".
int64_t sum_of(const char* path, const std::vector<std::string>& keys) {
    std::ifstream file(path);
    int64_t total = 0;
    std::string key, rest;
    for (int64_t number = 0; file >> key >> number; std::getline(file, rest))
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) total = sum(total, number);
    return total;
}

// What a container's limit leaves.
int64_t left_in_container() {
    int64_t most = 0, used = 0;  // the limit may be "max"
    if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> most)) return unlimited;
    if (!(std::ifstream("/sys/fs/cgroup/memory.current") >> used)) return unlimited;
    const int64_t files = sum_of("/sys/fs/cgroup/memory.stat", {"inactive_file", "active_file"});
    return std::clamp<int64_t>(most - used + files, 0, most);
}

}  // namespace

int64_t available_memory() {
    const int64_t kilobytes = sum_of("/proc/meminfo", {"MemAvailable:", "SwapFree:"});
    if (kilobytes == 0) return unlimited;
    return std::min(kilobytes * 1024, left_in_container());
}

void MemoryCheck::before_run(const std::string& name, const runtime::Executable* executable,
                             int threads, const std::vector<ir::TensorType>& results) const {
    constexpr int64_t always_there = int64_t{1} << 28;  // not worth the question
    if (!is_wanted()) return;
    const int64_t temporaries =
        executable ? std::max<int64_t>(0, executable->working_bytes(threads)) : 0;
    int64_t for_results = 0;
    for (const ir::TensorType& result : results) for_results = sum(for_results, bytes_of(result));
    const int64_t planned = sum(temporaries, for_results);
    if (planned < always_there) return;
    const int64_t available = available_memory();
    if (planned <= available) return;
    fail<OutOfMemory>(name, ": ", planned, " bytes are planned, ", temporaries,
                      " for temporaries and ", for_results, " for results, but ", available,
                      " bytes are available. Free memory or use smaller arrays.");
}

}  // namespace composit::execute
