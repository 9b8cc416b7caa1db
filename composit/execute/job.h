// One loop whose tasks several threads share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace composit::execute {

using Task = std::function<void(int64_t)>;

// True while this thread runs a task: a loop inside a task runs sequentially.
bool is_inside_task();

// `count` tasks, cut into `parts` runs of neighbours, so that a thread finds in its caches what it
// left there in the loop before. Whoever is free takes the next run, then helps with what others
// have left: the caller alone finishes the job if no worker comes, and a thread that the machine
// slows down keeps nobody waiting for more than a task.
class Job {
  public:
    Job(int64_t count, int64_t parts, const Task& task);

    bool has_unclaimed_tasks() const { return unclaimed_.load(std::memory_order_relaxed) > 0; }

    // Runs tasks until none is unclaimed. The task is not touched when none was left. Only the
    // caller asks whether the work was interrupted; its word stops all, within tasks that look for
    // it as well.
    void work(bool is_caller);

    // Until all tasks are done, by whomever. Floating-point flags that they raised are up on this
    // thread then.
    void wait();

    // An interrupt, else the error of the lowest task that failed, whatever the threads did.
    void rethrow();

  private:
    struct alignas(64) Run {  // of tasks; each on a cache line of its own
        std::atomic<int64_t> next{0};
        int64_t end = 0;
    };

    void work_on(Run& run, bool is_caller);
    bool run_task(int64_t number, bool is_caller);
    void finish(int64_t tasks);
    void note_interrupt();
    void note_flags();

    std::vector<Run> runs_;
    std::atomic<size_t> next_run_{0};
    std::atomic<int64_t> unclaimed_, unfinished_;
    std::atomic<bool> is_interrupted_{false};
    std::atomic<unsigned> floating_flags_{
        0};             // that tasks raised on other threads than the caller's
    const Task& task_;  // lives in the caller, who waits for all tasks
    std::mutex mutex_;
    std::condition_variable done_;
    std::exception_ptr error_;
    int64_t failed_task_ = 0;
};

}  // namespace composit::execute
