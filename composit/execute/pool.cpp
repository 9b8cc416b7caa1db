#include "composit/execute/pool.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"

#include <thread>
#include <utility>

namespace composit::execute {

// Those in use by the caller and by the workers that it wakes.
class Pool::Processors {
  public:
    Processors() : caller_(sched_getcpu()) {
        is_known_ = caller_ >= 0 && sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
        free_ = allowed_;
        if (is_known_) CPU_CLR(caller_, &free_);
    }

    // Before it wakes.
    void place(Worker& worker) {
        if (!is_known_ || worker.processor < 0) return;
        if (!CPU_ISSET(worker.processor, &free_)) {
            if (CPU_COUNT(&free_) == 0) return;
            worker.allowed = allowed_;
            worker.is_kept_off = pthread_setaffinity_np(worker.thread, sizeof free_, &free_) == 0;
            return;
        }
        CPU_CLR(worker.processor, &free_);
    }

  private:
    int caller_;
    bool is_known_;
    cpu_set_t allowed_{}, free_{};
};

void Pool::run(int64_t count, int64_t parts, const Task& task) {
    const auto job = std::make_shared<Job>(count, parts, task);
    std::vector<Worker*> called;
    {
        const std::lock_guard lock(mutex_);
        while (workers_ < parts - 1 && start_worker()) ++workers_;
        offers_.push_back({job, parts - 1});
        has_offers_ = true;
        int64_t wanted = parts - 1 - spinning_;
        if (wanted > 0 && !sleeping_.empty()) {
            Processors processors;
            for (; wanted > 0 && !sleeping_.empty(); --wanted) {
                Worker* worker = sleeping_.back();
                sleeping_.pop_back();
                processors.place(*worker);
                worker->is_called = true;
                called.push_back(worker);
            }
        }
    }
    for (Worker* worker : called) worker->wake.notify_one();
    job->work(true);
    withdraw(*job);
    job->wait();
    job->rethrow();
}

// Workers live until the process ends; a machine that gives no more threads is not an error.
bool Pool::start_worker() {
    auto worker = std::make_unique<Worker>();
    try {
        std::thread thread([this, self = worker.get()] { serve(*self); });
        worker->thread = thread.native_handle();
        thread.detach();
        worker.release();
        return true;
    } catch (const std::system_error&) {
        return false;
    }
}

void Pool::serve(Worker& self) {
    const DefaultFloatingPoint floating_point;  // not that of the thread that started it
    // More threads than processors would only keep each other from working.
    static const int processors = available_processors();
    for (;;) {
        const std::shared_ptr<Job> job = wait_for_job(self);
        job->work(false);
        withdraw(*job);
        if (++spinning_ < processors)
            spin_until([&] { return has_offers_.load(std::memory_order_relaxed); });
        --spinning_;
    }
}

std::shared_ptr<Job> Pool::wait_for_job(Worker& self) {
    std::unique_lock lock(mutex_);
    while (offers_.empty()) {
        self.processor = sched_getcpu();
        self.is_called = false;
        sleeping_.push_back(&self);
        self.wake.wait(lock, [&] { return self.is_called; });
        if (std::exchange(self.is_kept_off, false))
            pthread_setaffinity_np(self.thread, sizeof self.allowed, &self.allowed);
    }
    Offer& offer = offers_.front();
    std::shared_ptr<Job> job = offer.job;
    if (--offer.seats == 0) offers_.pop_front();
    has_offers_ = !offers_.empty();
    return job;
}

// Nothing of the job is left to claim.
void Pool::withdraw(const Job& job) {
    const std::lock_guard lock(mutex_);
    std::erase_if(offers_, [&](const Offer& offer) { return offer.job.get() == &job; });
    has_offers_ = !offers_.empty();
}

namespace {

std::atomic<Pool*> current_pool{nullptr};

}  // namespace

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

}  // namespace composit::execute
