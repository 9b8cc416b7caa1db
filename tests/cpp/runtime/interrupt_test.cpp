// Interrupting work: checks are asked now and then, helpers are stopped, and warnings reach
// callers.
#include "composit/runtime/interrupt.h"

#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/runtime/warning.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace composit::runtime {
namespace {

using namespace std::chrono_literals;

// An interrupt that comes with the first question after `wait`.
class Interruption {
  public:
    explicit Interruption(std::chrono::milliseconds wait) {
        const auto due = std::chrono::steady_clock::now() + wait;
        former_ = set_interrupt_check([this, due] {
            return std::chrono::steady_clock::now() > due && !said_.exchange(true);
        });
    }
    ~Interruption() { set_interrupt_check(former_); }

  private:
    std::atomic<bool> said_{false};
    InterruptCheck former_;
};

TEST(Interrupt, NothingIsInterruptedWithoutACheck) {
    const InterruptCheck former = set_interrupt_check(nullptr);
    check_interrupt();
    int done = 0;
    run_interruptibly([&](std::stop_token) { ++done; });
    EXPECT_EQ(done, 1);
    set_interrupt_check(former);
}

TEST(Interrupt, StopsWorkOnAnotherThread) {
    const Interruption interruption(30ms);
    bool was_stopped = false;
    EXPECT_THROW(run_interruptibly([&](const std::stop_token& stop) {
                     while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
                     was_stopped = true;
                 }),
                 Interrupted);
    EXPECT_TRUE(was_stopped);
}

TEST(Interrupt, AFlagStopsAHelper) {
    std::atomic<bool> stops{false};
    const StopFlagScope scope(stops);
    Patience patience;
    patience.spend(int64_t{1} << 40);
    stops = true;
    EXPECT_THROW(patience.spend(int64_t{1} << 40), Interrupted);
}

// No kernel ends, and so none is followed by another look, before these are interrupted.
TEST(Interrupt, StopsWithinRows) {
    for (const int64_t rows : {1, 2}) {
        const ir::Tensor x =
            ir::constant(ir::Array::zeros(ir::DType::float64, {rows, (int64_t{1} << 23) / rows}));
        const ir::Tensor positions =
            ops::map("sin", {ops::astype(ops::iota(x.shape(), 1), ir::DType::float64)});
        const ir::Tensor mixed = ir::constant(execute::evaluate({positions})[0]),
                         computed = ops::map("lgamma", {ops::map("exp", {mixed})});
        const ir::Tensor results[] = {ops::sort(mixed, 1), ops::argsort(mixed, 1),
                                      ops::scan(ops::Combiner::sum, computed, 1),
                                      ops::reduce(ops::Combiner::argmax, computed, {1}),
                                      ops::reduce(ops::Combiner::sum, computed, {1})};
        for (const ir::Tensor& result : results)
            for (const char* backend : {"interpreter", "cpp"}) {
                execute::Options options;
                options.backend = backend;
                options.threads = static_cast<int>(rows);
                const execute::Compiled compiled("f", {}, {result}, options);
                const Interruption interruption(10ms);
                EXPECT_THROW(compiled(std::vector<ir::Array>{}), Interrupted)
                    << backend << ", " << rows << " of " << ir::label(result.node());
            }
    }
}

TEST(Interrupt, ErrorsOfTheWorkArePassedOn) {
    EXPECT_THROW(run_interruptibly([](std::stop_token) { throw std::out_of_range("work"); }),
                 std::out_of_range);
}

TEST(Interrupt, StopsLoopsOnAnyNumberOfThreads) {
    for (int threads : {1, 2, 4}) {
        const Interruption interruption(50ms);
        std::atomic<int64_t> done{0};
        const int64_t count = 100000;
        EXPECT_THROW(execute::parallel_for(threads)(count,
                                                    [&](int64_t) {
                                                        std::this_thread::sleep_for(1ms);
                                                        ++done;
                                                    }),
                     Interrupted);
        EXPECT_LT(done, count / 10);
    }
}

TEST(Interrupt, LoopsThatWereNotInterruptedRunToTheirEnd) {
    const Interruption interruption(1h);
    std::atomic<int64_t> done{0};
    execute::parallel_for(4)(1000, [&](int64_t) { ++done; });
    EXPECT_EQ(done, 1000);
}

TEST(Warning, AHandlerThatThrowsMakesTheWarningAnError) {
    const WarningHandler former =
        set_warning_handler([](const std::string& text) { throw std::invalid_argument(text); });
    EXPECT_THROW(warn("asked for"), std::invalid_argument);
    set_warning_handler(former);
}

}  // namespace
}  // namespace composit::runtime
