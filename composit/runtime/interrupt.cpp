// Keeps the one interrupt check of the process, and asks it now and then.
#include "composit/runtime/interrupt.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
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

// Work on a thread of its own that may be left behind.
struct Detached {
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = false;
    std::exception_ptr error;
    std::atomic<bool> is_left{false};
};

thread_local const std::atomic<bool>* stops_here = nullptr;
std::atomic<int64_t> left_behind{0};  // that have not ended

// Before the destructors of libraries, in which such work may be.
void end_at_once_with_work_left_behind([[maybe_unused]] int status, void*) {
    if (left_behind == 0) return;
    std::fflush(nullptr);
    std::_Exit(status);
}

void watch_the_end_of_the_process() {
#if defined(__GLIBC__)
    static const int registered = on_exit(end_at_once_with_work_left_behind, nullptr);
    static_cast<void>(registered);
#endif
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
    if (stops_here != nullptr) {
        if (stops_here->load(std::memory_order_relaxed)) throw Interrupted();
        return;
    }
    thread_local Clock::time_point last{};
    const Clock::time_point now = Clock::now();
    if (now - last < between_checks) return;
    last = now;
    if (is_interrupted()) throw Interrupted();
}

StopFlagScope::StopFlagScope(const std::atomic<bool>& stops)
    : former_(std::exchange(stops_here, &stops)) {}
StopFlagScope::~StopFlagScope() { stops_here = former_; }

void run_or_leave_behind(std::function<void()> work) {
    const auto state = std::make_shared<Detached>();
    const auto run = [state, work = std::move(work)] {
        try {
            work();
        } catch (...) {
            state->error = std::current_exception();
        }
    };
    try {
        std::thread([state, run] {
            const StopFlagScope scope(state->is_left);
            run();
            const std::lock_guard lock(state->mutex);
            state->is_done = true;
            if (state->is_left) --left_behind;
            state->done.notify_all();
        }).detach();
    } catch (const std::system_error&) {
        run();  // no more threads: the work matters more than its interruption
        state->is_done = true;
    }
    std::unique_lock lock(state->mutex);
    while (!state->done.wait_for(lock, between_checks, [&] { return state->is_done; })) {
        lock.unlock();
        const bool was_interrupted = is_interrupted();
        lock.lock();
        if (!was_interrupted) continue;
        if (!state->is_done) {
            watch_the_end_of_the_process();
            ++left_behind;
            state->is_left = true;
        }
        throw Interrupted();
    }
    if (state->error) std::rethrow_exception(std::exchange(state->error, nullptr));
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
    const auto is_to_stop = [] {
        return stops_here ? stops_here->load(std::memory_order_relaxed) : is_interrupted();
    };
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, between_checks, [&] { return is_done; })) {
        lock.unlock();
        if (!was_interrupted && is_to_stop()) {
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
