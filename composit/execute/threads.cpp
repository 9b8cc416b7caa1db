// How many threads, and loops on them.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/execute/pool.h"
#include "composit/runtime/interrupt.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <thread>

namespace composit::execute {
namespace {

// Processors that a container's quota grants, rounded up; 0 without a quota.
int quota_of_container() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string quota;
    int64_t period = 0;
    if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
    int64_t time = 0;
    std::from_chars(quota.data(), quota.data() + quota.size(), time);
    return static_cast<int>((time + period - 1) / period);
}

}  // namespace

int available_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count == 0) count = static_cast<int>(std::thread::hardware_concurrency());
    const int quota = quota_of_container();
    if (quota > 0) count = std::min(count, quota);
    return std::max(count, 1);
}

int default_threads() {
    const char* wish = std::getenv("COMPOSIT_THREADS");
    if (!wish || !*wish) {
        static const int processors = available_processors();
        return processors;
    }
    int threads = 0;
    const std::string_view digits = wish;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), threads);
    user_check(error == std::errc() && end == digits.data() + digits.size() && threads >= 1,
               "COMPOSIT_THREADS: '", digits,
               "' is not a number of threads. A whole number of at "
               "least 1 is required.");
    return threads;
}

runtime::ParallelFor parallel_for(int threads) {
    if (threads <= 0) threads = default_threads();
    return [threads](int64_t count, const Task& task) {
        const int64_t parts = std::min<int64_t>(threads, count);
        if (parts > 1 && !is_inside_task()) return pool().run(count, parts, task);
        for (int64_t i = 0; i < count; ++i) {
            if (!is_inside_task()) runtime::check_interrupt();
            task(i);
        }
    };
}

}  // namespace composit::execute
