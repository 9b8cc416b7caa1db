// The process's pool of threads: static splits, safe for several callers, restarted after fork.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/runtime/interrupt.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace composit::execute {
namespace {

using Task = std::function<void(int64_t)>;

// Set while this thread runs a task: a loop inside a task runs sequentially.
thread_local bool inside_task = false;

// One call of a ParallelFor. `count` tasks are cut into `parts` runs of neighbours; whoever is free
// takes the next part, so the caller alone finishes the job if no worker comes.
class Job {
  public:
    Job(int64_t count, int64_t parts, const Task& task)
        : count_(count), parts_(parts), unfinished_(parts), task_(task) {}

    bool has_unclaimed_parts() const { return next_.load(std::memory_order_relaxed) < parts_; }

    // Runs parts until none is unclaimed. `task_` is not touched when none was left. Only the
    // caller asks whether the work was interrupted; its word stops all.
    void work(bool is_caller) {
        const bool was_inside = std::exchange(inside_task, true);
        for (int64_t part = next_++; part < parts_; part = next_++) run(part, is_caller);
        inside_task = was_inside;
    }

    void wait() {
        const auto is_done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
        for (int spin = 0; spin < 2000; ++spin)
            if (is_done()) return;
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(20), is_done)) {
            lock.unlock();
            note_interrupt();
            lock.lock();
        }
    }

    // An interrupt, else the error of the lowest task that failed, whatever the threads did.
    void rethrow() const {
        if (is_interrupted_) throw runtime::Interrupted();
        if (error_) std::rethrow_exception(error_);
    }

  private:
    void run(int64_t part, bool is_caller) {
        try {
            const int64_t first = part * count_ / parts_, last = (part + 1) * count_ / parts_;
            for (int64_t i = first; i < last; ++i) {
                if (is_caller) note_interrupt();
                if (is_interrupted_.load(std::memory_order_relaxed)) break;
                task_(i);
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_ || part < failed_part_) {
                error_ = std::current_exception();
                failed_part_ = part;
            }
        }
        if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        const std::lock_guard lock(mutex_);
        done_.notify_all();
    }

    void note_interrupt() {
        try {
            runtime::check_interrupt();
        } catch (const runtime::Interrupted&) {
            is_interrupted_ = true;
        }
    }

    const int64_t count_, parts_;
    std::atomic<int64_t> next_{0}, unfinished_;
    std::atomic<bool> is_interrupted_{false};
    const Task& task_;  // lives in the caller, who waits for all parts
    std::mutex mutex_;
    std::condition_variable done_;
    std::exception_ptr error_;
    int64_t failed_part_ = 0;
};

class Pool {
  public:
    void run(int64_t count, int64_t parts, const Task& task) {
        const auto job = std::make_shared<Job>(count, parts, task);
        {
            const std::lock_guard lock(mutex_);
            while (workers_ < parts - 1 && start_worker()) ++workers_;
            jobs_.push_back(job);
        }
        for (int64_t i = 1; i < parts; ++i) wake_.notify_one();
        job->work(true);
        retire(job);
        job->wait();
        job->rethrow();
    }

  private:
    // Workers live until the process ends; a machine that gives no more threads is not an error.
    bool start_worker() {
        try {
            std::thread([this] { serve(); }).detach();
            return true;
        } catch (const std::system_error&) {
            return false;
        }
    }

    void serve() {
        for (;;) {
            std::shared_ptr<Job> job;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return !jobs_.empty(); });
                job = jobs_.front();
            }
            job->work(false);
            retire(job);
        }
    }

    void retire(const std::shared_ptr<Job>& job) {
        const std::lock_guard lock(mutex_);
        std::erase(jobs_, job);
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::shared_ptr<Job>> jobs_;  // with parts that nobody has claimed
    int64_t workers_ = 0;
};

std::atomic<Pool*> current_pool{nullptr};

// Never destroyed: workers wait in it until the process ends. A child process has none of its
// parent's threads, so it starts anew and forgets the old pool.
Pool& pool() {
    if (Pool* existing = current_pool.load(std::memory_order_acquire)) return *existing;
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { current_pool.store(nullptr); });
    internal_check(registered == 0, "pthread_atfork failed with ", registered);
    auto* fresh = new Pool;
    Pool* expected = nullptr;
    if (current_pool.compare_exchange_strong(expected, fresh)) return *fresh;
    delete fresh;
    return *expected;
}

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

int available_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count == 0) count = static_cast<int>(std::thread::hardware_concurrency());
    const int quota = quota_of_container();
    if (quota > 0) count = std::min(count, quota);
    return std::max(count, 1);
}

}  // namespace

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
        if (parts > 1 && !inside_task) return pool().run(count, parts, task);
        for (int64_t i = 0; i < count; ++i) {
            if (!inside_task) runtime::check_interrupt();
            task(i);
        }
    };
}

}  // namespace composit::execute
