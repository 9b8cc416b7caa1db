#include "composit/execute/awaited.h"

#include "composit/base/default_floating_point.h"
#include "composit/base/text.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace composit::execute {
namespace {

// What the thread and its owner share.
class Compilation {
  public:
    explicit Compilation(std::function<ExecutableRef()> compile) : compile_(std::move(compile)) {
        try {
            thread_ = std::make_unique<std::thread>([this] { work(); });
        } catch (const std::system_error&) {  // it is done when it is asked for
        }
    }
    // What is compiled for nobody is given up.
    ~Compilation() {
        stops_ = true;
        if (thread_ && is_of_this_process())
            thread_->join();
        else
            (void)thread_.release();  // a fork has no such thread, to join or to detach
    }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    void stop() { stops_ = true; }
    bool is_done() const { return is_done_.load(std::memory_order_acquire); }

    // Nothing where it is still being compiled, unless `waits`.
    bool look(bool waits) {
        if (is_done()) return true;
        const bool is_at_work = thread_ && is_of_this_process();
        if (is_at_work && !waits) return false;
        if (!is_at_work) {
            const std::lock_guard lock(here_);
            if (!is_done()) work();
            return true;
        }
        std::unique_lock lock(mutex_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(20), [&] { return is_done(); })) {
            lock.unlock();
            runtime::check_interrupt();
            lock.lock();
        }
        return true;
    }

    // Once it is done.
    const ExecutableRef& made() const { return made_; }
    const std::exception_ptr& error() const { return error_; }
    std::vector<std::string> take_warnings() {
        const std::lock_guard lock(mutex_);
        return std::exchange(warnings_, {});
    }

  private:
    bool is_of_this_process() const { return process_ == getpid(); }

    void work() {
        const DefaultFloatingPoint floating_point;
        const runtime::StopFlagScope stops(stops_);
        const runtime::KeptWarnings kept;
        ExecutableRef made;
        std::exception_ptr error;
        try {
            made = compile_();
        } catch (...) {
            error = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        made_ = std::move(made);
        error_ = error;
        warnings_ = kept.texts();
        is_done_.store(true, std::memory_order_release);
        done_.notify_all();
    }

    std::function<ExecutableRef()> compile_;
    const pid_t process_ = getpid();
    std::atomic<bool> stops_{false}, is_done_{false};
    std::mutex mutex_, here_;
    std::condition_variable done_;
    ExecutableRef made_;
    std::exception_ptr error_;
    std::vector<std::string> warnings_;
    std::unique_ptr<std::thread> thread_;
};

// Those at work: a process that ends stops them, and waits, before what they use is destroyed.
class AtWork {
  public:
    void end() {
        const std::lock_guard lock(mutex_);
        for (const auto& each : all_) each->stop();
        all_.clear();
    }
    void add(const std::shared_ptr<Compilation>& one) {
        const std::lock_guard lock(mutex_);
        std::erase_if(all_, [](const auto& each) { return each->is_done(); });
        all_.insert(one);
    }
    void remove(const std::shared_ptr<Compilation>& one) {
        const std::lock_guard lock(mutex_);
        all_.erase(one);
    }

  private:
    std::mutex mutex_;
    std::set<std::shared_ptr<Compilation>> all_;
};
AtWork& at_work() {
    static AtWork* const instance = [] {
        std::atexit([] { at_work().end(); });
        return new AtWork;  // executables may outlive what is static
    }();
    return *instance;
}

class Awaited : public runtime::Executable {
  public:
    Awaited(std::function<ExecutableRef()> compile, ExecutableRef meanwhile)
        : compilation_(std::make_shared<Compilation>(std::move(compile))),
          meanwhile_(std::move(meanwhile)) {
        at_work().add(compilation_);
    }
    ~Awaited() override {
        compilation_->stop();
        at_work().remove(compilation_);
    }

    void run(const runtime::Run& run) const override {
        const ExecutableRef found = now(false);
        found->run(run);
    }
    std::vector<double> seconds_of_kernels(const runtime::Run& run) const override {
        return now(true)->seconds_of_kernels(run);
    }
    std::vector<runtime::SourceFile> sources() const override { return now(true)->sources(); }
    std::string source() const override { return now(true)->source(); }
    std::string build_command() const override { return now(true)->build_command(); }
    int64_t working_bytes(int threads) const override { return known()->working_bytes(threads); }
    int64_t held_bytes() const override { return known()->held_bytes(); }

  private:
    ExecutableRef known() const {
        return compilation_->is_done() && compilation_->made() ? compilation_->made() : stand_in();
    }

    // The one that answers a call.
    ExecutableRef now(bool waits) const {
        if (!compilation_->look(waits)) return stand_in();
        std::call_once(is_taken_over_, [&] {
            for (const std::string& warning : compilation_->take_warnings()) runtime::warn(warning);
            const std::lock_guard lock(mutex_);
            if (compilation_->made()) meanwhile_.reset();
        });
        if (compilation_->made()) return compilation_->made();
        try {
            std::rethrow_exception(compilation_->error());
        } catch (const runtime::Unavailable& missing) {
            std::call_once(is_warned_, [&] {
                runtime::warn(text(missing.what(),
                                   " The interpreter runs the program instead: the same results, "
                                   "slower."));
            });
            return stand_in();
        }
    }

    ExecutableRef stand_in() const {
        const std::lock_guard lock(mutex_);
        return meanwhile_ ? meanwhile_ : compilation_->made();
    }

    std::shared_ptr<Compilation> compilation_;
    mutable std::mutex mutex_;
    mutable ExecutableRef meanwhile_;  // null as soon as nobody needs it
    mutable std::once_flag is_taken_over_, is_warned_;
};

}  // namespace

ExecutableRef compiled_meanwhile(std::function<ExecutableRef()> compile, ExecutableRef meanwhile) {
    return std::make_shared<Awaited>(std::move(compile), std::move(meanwhile));
}

}  // namespace composit::execute
