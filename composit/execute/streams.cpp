// Calls of a compiled function that are under way at the same time, and what devices do in one.
#include "composit/base/default_floating_point.h"
#include "composit/execute/build.h"
#include "composit/execute/execute.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

namespace composit::execute {

Timeline Compiled::timeline(const std::vector<Array>& arguments) const {
    check(arguments);
    const DefaultFloatingPoint floating_point;
    const auto program = std::dynamic_pointer_cast<Joined>(executable_);
    if (!program) return {};
    if (device_) {
        DeviceHeld held;
        return program->timeline(device_run(arguments, {}, held));
    }
    std::vector<const void*> addresses;
    for (const Array& argument : arguments) addresses.push_back(argument.data());
    std::vector<Array> results;
    return program->timeline(run_of(addresses, {}, results));
}

std::vector<std::vector<Array>> Compiled::run_stream(const std::vector<std::vector<Array>>& calls,
                                                     int in_flight) const {
    std::set<std::string> backends;
    for (const PlacedKernel& placed : placements_) backends.insert(placed.backend);
    const size_t most = in_flight > 0 ? static_cast<size_t>(in_flight) : 2 * backends.size();
    std::vector<std::vector<Array>> results(calls.size());
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        for (size_t i = next++; i < calls.size(); i = next++) {
            try {
                results[i] = (*this)(calls[i]);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = calls.size();
            }
        }
    };
    std::vector<std::thread> workers;
    for (size_t i = 1; i < std::min(most, calls.size()); ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
    if (failure) std::rethrow_exception(failure);
    return results;
}

}  // namespace composit::execute
