#include "composit/execute/job.h"

#include "composit/base/default_floating_point.h"
#include "composit/execute/pool.h"
#include "composit/runtime/floating_flags.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace composit::execute {
namespace {

thread_local bool inside_task = false;

}  // namespace

bool is_inside_task() { return inside_task; }

Job::Job(int64_t count, int64_t parts, const Task& task)
    : runs_(static_cast<size_t>(parts)), unclaimed_(count), unfinished_(count), task_(task) {
    for (int64_t part = 0; part < parts; ++part) {
        Run& run = runs_[static_cast<size_t>(part)];
        run.next = part * count / parts;
        run.end = (part + 1) * count / parts;
    }
}

void Job::work(bool is_caller) {
    std::optional<runtime::StopFlagScope> stops;
    if (!is_caller) stops.emplace(is_interrupted_);
    const DefaultFloatingPoint floating_point;  // others than composit may ask for loops, too
    const bool was_inside = std::exchange(inside_task, true);
    if (!is_caller) runtime::take_floating_flags();
    const size_t parts = runs_.size();
    for (size_t part = next_run_++; part < parts; part = next_run_++)
        work_on(runs_[part], is_caller);
    for (size_t part = parts; part-- > 0 && has_unclaimed_tasks();) work_on(runs_[part], is_caller);
    inside_task = was_inside;
}

void Job::work_on(Run& run, bool is_caller) {
    if (run.next.load(std::memory_order_relaxed) >= run.end) return;
    int64_t done = 0;
    for (int64_t i = run.next++; i < run.end; i = run.next++) {
        --unclaimed_;
        ++done;
        if (run_task(i, is_caller)) continue;
        // All tasks before this one are claimed, so that none of the others matters.
        const int64_t skipped = run.end - std::min(run.next.exchange(run.end), run.end);
        unclaimed_ -= skipped;
        done += skipped;
        break;
    }
    // Before the caller may hear that all is done.
    if (!is_caller) note_flags();
    finish(done);
}

void Job::note_flags() {
    const runtime::FloatingFlags raised = runtime::take_floating_flags();
    if (raised != 0) floating_flags_.fetch_or(raised, std::memory_order_relaxed);
}

// Whether tasks after it are to run.
bool Job::run_task(int64_t number, bool is_caller) {
    if (is_caller) note_interrupt();
    if (is_interrupted_.load(std::memory_order_relaxed)) return false;
    try {
        task_(number);
        return true;
    } catch (const runtime::Interrupted&) {
        is_interrupted_ = true;
        return false;
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_ || number < failed_task_) {
            error_ = std::current_exception();
            failed_task_ = number;
        }
        return false;
    }
}

void Job::finish(int64_t tasks) {
    if (tasks == 0 || unfinished_.fetch_sub(tasks, std::memory_order_acq_rel) != tasks) return;
    const std::lock_guard lock(mutex_);
    done_.notify_all();
}

void Job::wait() {
    const auto is_done = [&] { return unfinished_.load(std::memory_order_acquire) == 0; };
    if (!spin_until(is_done)) {
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(20), is_done)) {
            lock.unlock();
            note_interrupt();
            lock.lock();
        }
    }
    runtime::raise_floating_flags(floating_flags_.load(std::memory_order_relaxed));
}

void Job::rethrow() {
    if (is_interrupted_) throw runtime::Interrupted();
    // Taken out, so that no worker, who may hold the job still, destroys it.
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Job::note_interrupt() {
    try {
        runtime::check_interrupt();
    } catch (const runtime::Interrupted&) {
        is_interrupted_ = true;
    }
}

}  // namespace composit::execute
