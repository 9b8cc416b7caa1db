// Keeps the one interrupt check of the process, and asks it now and then.
#include "composit/runtime/interrupt.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace composit::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_checks{20};

struct Current {
    std::mutex mutex;
    InterruptCheck check;
};

// Never destroyed: work may go on in other threads while the process exits.
Current& current() {
    static Current& instance = *new Current;
    return instance;
}

bool is_interrupted() {
    InterruptCheck check;
    {
        const std::lock_guard lock(current().mutex);
        check = current().check;
    }
    return check && check();
}

}  // namespace

InterruptCheck set_interrupt_check(InterruptCheck check) {
    const std::lock_guard lock(current().mutex);
    return std::exchange(current().check, std::move(check));
}

void check_interrupt() {
    thread_local Clock::time_point last{};
    const Clock::time_point now = Clock::now();
    if (now - last < between_checks) return;
    last = now;
    if (is_interrupted()) throw Interrupted();
}

void run_interruptibly(const std::function<void(std::stop_token)>& work) {
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = false;
    std::exception_ptr error;
    std::jthread worker;
    try {
        worker = std::jthread([&](std::stop_token stop) {
            try {
                work(std::move(stop));
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            is_done = true;
            done.notify_all();
        });
    } catch (const std::system_error&) {
        return work({});  // no more threads: the work matters more than its interruption
    }
    bool was_interrupted = false;
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, between_checks, [&] { return is_done; })) {
        lock.unlock();
        if (!was_interrupted && is_interrupted()) {
            was_interrupted = true;
            worker.request_stop();
        }
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (was_interrupted) throw Interrupted();
    if (error) std::rethrow_exception(error);
}

}  // namespace composit::runtime
