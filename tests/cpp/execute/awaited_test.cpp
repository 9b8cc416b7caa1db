#include "composit/execute/awaited.h"

#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/unavailable.h"
#include "composit/runtime/warning.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace composit::execute {
namespace {

// Counts its runs.
class Counting : public runtime::Executable {
  public:
    explicit Counting(std::string source) : source_(std::move(source)) {}
    void run(const runtime::Run&) const override { ++runs; }
    std::string source() const override { return source_; }
    int64_t held_bytes() const override { return static_cast<int64_t>(source_.size()); }
    mutable std::atomic<int> runs{0};

  private:
    std::string source_;
};

struct Pair {
    std::shared_ptr<Counting> quick = std::make_shared<Counting>("quick"),
                              good = std::make_shared<Counting>("compiled");
};

TEST(Awaited, TheOtherAnswersUntilItIsThere) {
    const Pair pair;
    std::promise<void> gate;
    const auto compile = [&pair, opened = gate.get_future().share()]() -> ExecutableRef {
        opened.wait();
        return pair.good;
    };
    const ExecutableRef awaited = compiled_meanwhile(compile, pair.quick);
    awaited->run({});
    EXPECT_EQ(pair.quick->runs, 1);
    EXPECT_EQ(awaited->held_bytes(), 5);
    gate.set_value();
    EXPECT_EQ(awaited->source(), "compiled");
    awaited->run({});
    EXPECT_EQ(pair.quick->runs, 1);
    EXPECT_EQ(pair.good->runs, 1);
    EXPECT_EQ(awaited->held_bytes(), 8);
}

TEST(Awaited, WhatGoesWrongIsThrownByEachCall) {
    const Pair pair;
    const ExecutableRef awaited = compiled_meanwhile(
        []() -> ExecutableRef { fail<ValueError>("compile: it is wrong."); }, pair.quick);
    EXPECT_THROW((void)awaited->source(), ValueError);
    EXPECT_THROW(awaited->run({}), ValueError);
    EXPECT_EQ(pair.quick->runs, 0);
}

TEST(Awaited, WarningsComeWithACallAndWithoutACompilerTheOtherStays) {
    const Pair pair;
    std::vector<std::string> said;
    const auto thread = std::this_thread::get_id();
    const auto former = runtime::set_warning_handler([&](const std::string& text) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        said.push_back(text);
    });
    const ExecutableRef awaited = compiled_meanwhile(
        []() -> ExecutableRef {
            runtime::warn("the folder is full");
            throw runtime::Unavailable("there is no compiler.");
        },
        pair.quick);
    EXPECT_EQ(awaited->source(), "quick");
    awaited->run({});
    awaited->run({});
    runtime::set_warning_handler(former);
    EXPECT_EQ(pair.quick->runs, 2);
    EXPECT_EQ(said, (std::vector<std::string>{"the folder is full",
                                              "there is no compiler. The interpreter runs the "
                                              "program instead: the same results, slower."}));
}

TEST(Awaited, WhatNobodyWaitsForIsGivenUp) {
    const Pair pair;
    std::atomic<bool> was_told{false};
    const auto compile = [&]() -> ExecutableRef {
        while (true) {
            try {
                runtime::check_interrupt();
            } catch (const runtime::Interrupted&) {
                was_told = true;
                throw;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    compiled_meanwhile(compile, pair.quick).reset();  // waits until the thread has ended
    EXPECT_TRUE(was_told);
}

}  // namespace
}  // namespace composit::execute
