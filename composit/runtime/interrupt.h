// Interruption: how long work stops when the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>

namespace composit::runtime {

// Thrown by work that was asked to stop. Not an Error, as nothing is wrong: no fallback takes over.
class Interrupted : public std::exception {
  public:
    const char* what() const noexcept override { return "composit: interrupted"; }
};

// Whether the work of the calling thread is to stop.
using InterruptCheck = std::function<bool()>;

// Replaces the check and returns the former one. Empty, as it is at first: nothing is interrupted.
// Python's front door installs one that asks whether Ctrl-C was pressed.
InterruptCheck set_interrupt_check(InterruptCheck check);

// Throws Interrupted when the check says so. Asks at most 50 times a second, so it may stand
// between any two pieces of work. For the thread that called composit; helpers ask a flag.
void check_interrupt();

// While it lives, check_interrupt asks this flag on this thread, and nothing else: of a helper,
// whose caller sets it.
class StopFlagScope {
  public:
    explicit StopFlagScope(const std::atomic<bool>& stops);
    ~StopFlagScope();
    StopFlagScope(const StopFlagScope&) = delete;
    StopFlagScope& operator=(const StopFlagScope&) = delete;

  private:
    const std::atomic<bool>* former_;
};

// check_interrupt for loops: after each so many elements.
class Patience {
  public:
    void spend(int64_t elements) {
        if ((left_ -= elements) > 0) return;
        check_interrupt();
        left_ = most_elements;
    }

  private:
    static constexpr int64_t most_elements = int64_t{1} << 20;
    int64_t left_ = most_elements;
};

// Runs `work`, which nothing can stop, on a thread of its own while this one asks the check. On an
// interrupt it is left behind, and Interrupted thrown at once: `work` must own all that it touches.
// Its calls of check_interrupt throw Interrupted from then on. A process that ends meanwhile ends
// without the destructors of its libraries, as the work may be in them. Rethrows what `work`
// throws.
void run_or_leave_behind(std::function<void()> work);

// Runs `work` on a thread of its own while this one asks the check. On an interrupt `work` is
// requested to stop, and Interrupted thrown once it has ended. Rethrows what `work` throws.
void run_interruptibly(const std::function<void(std::stop_token)>& work);

}  // namespace composit::runtime
