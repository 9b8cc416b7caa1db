// The process's worker threads.
#pragma once

#include "composit/execute/job.h"

#include <chrono>
#include <deque>
#include <memory>
#include <pthread.h>
#include <sched.h>

namespace composit::execute {

// Asks again and again for as long as waking a sleeping thread takes; false if it never held.
// Between the steps of a model, threads wait for each other about that long.
template <class Condition>
bool spin_until(const Condition& holds) {
    using Clock = std::chrono::steady_clock;
    constexpr auto longest = std::chrono::microseconds(200);
    if (holds()) return true;
    for (const auto start = Clock::now(); Clock::now() - start < longest;)
        for (int k = 0; k < 64; ++k) {
            if (holds()) return true;
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
    return false;
}

class Pool {
  public:
    // Runs a job of `count` tasks on at most `parts` threads, the caller's among them.
    void run(int64_t count, int64_t parts, const Task& task);

  private:
    // A thread that sleeps unless it is called. The kernel may wake a thread on the processor of
    // the one that called it, and leave both there for as long as the calls come quickly, however
    // many processors have nothing to do; so the caller tells a worker which ones to keep off, and
    // the worker is free to go anywhere once it runs.
    struct Worker {
        std::condition_variable wake;
        bool is_called = false, is_kept_off = false;
        int processor = -1;  // where it went to sleep
        cpu_set_t allowed{};
        pthread_t thread{};
    };
    class Processors;
    struct Offer {
        std::shared_ptr<Job> job;
        int64_t seats;  // workers that may still join
    };

    bool start_worker();
    void serve(Worker& self);
    std::shared_ptr<Job> wait_for_job(Worker& self);
    void withdraw(const Job& job);

    std::mutex mutex_;               // of all below
    std::deque<Offer> offers_;       // jobs with tasks that nobody has claimed
    std::vector<Worker*> sleeping_;  // those that sleep longest first
    int64_t workers_ = 0;
    std::atomic<int64_t> spinning_{0};
    std::atomic<bool> has_offers_{false};
};

Pool& pool();                // which restarts after fork
int available_processors();  // that this process may use

}  // namespace composit::execute
