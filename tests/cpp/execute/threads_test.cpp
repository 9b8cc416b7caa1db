// Tests of the thread pool: splits, errors, nesting, several callers, fork.
#include "composit/base/error.h"
#include "composit/execute/execute.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace composit::execute {
namespace {

int64_t sum_of_squares(int threads, int64_t count) {
    std::vector<int64_t> squares(static_cast<size_t>(count));
    parallel_for(threads)(count, [&](int64_t i) { squares[static_cast<size_t>(i)] += i * i; });
    return std::accumulate(squares.begin(), squares.end(), int64_t{0});
}

int64_t expected_sum(int64_t n) { return (n - 1) * n * (2 * n - 1) / 6; }

TEST(Threads, EveryTaskRunsOnce) {
    for (int threads : {1, 2, 3, 8})
        for (int64_t count : {0, 1, 2, 7, 1000}) {
            const int64_t expected = count ? expected_sum(count) : 0;
            EXPECT_EQ(sum_of_squares(threads, count), expected) << threads << " " << count;
        }
}

TEST(Threads, TasksRunInTheDefaultFloatingPointState) {
    for (int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
        std::fesetround(rounding);
        std::vector<int> found(64, -1);
        parallel_for(7)(64, [&](int64_t i) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            found[static_cast<size_t>(i)] = std::fegetround();
        });
        const int after = std::fegetround();
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(after, rounding);
        EXPECT_EQ(found, std::vector<int>(64, FE_TONEAREST));
    }
}

TEST(Threads, ErrorOfTheLowestTaskIsRethrown) {
    for (int threads : {1, 2, 4}) {
        std::string message;
        try {
            parallel_for(threads)(100, [](int64_t i) {
                if (i % 10 == 7) fail<IndexError>("task ", i);
            });
        } catch (const IndexError& error) {
            message = error.what();
        }
        EXPECT_EQ(message, "task 7");
    }
    EXPECT_EQ(sum_of_squares(4, 50), expected_sum(50));
}

TEST(Threads, NestedLoopsRunSequentiallyInTheirThread) {
    std::atomic<int64_t> total{0}, elsewhere{0};
    parallel_for(4)(8, [&](int64_t) {
        const auto outer = std::this_thread::get_id();
        parallel_for(4)(8, [&](int64_t i) {
            total += i;
            if (std::this_thread::get_id() != outer) ++elsewhere;
        });
    });
    EXPECT_EQ(total, 8 * 28);
    EXPECT_EQ(elsewhere, 0);
}

TEST(Threads, SeveralThreadsShareThePool) {
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 6; ++t)
        callers.emplace_back([&wrong, t] {
            for (int k = 0; k < 200; ++k)
                if (sum_of_squares(3, 40 + t) != expected_sum(40 + t)) ++wrong;
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
}

TEST(Threads, TheOthersTakeWhatASlowThreadLeaves) {
    std::atomic<int> done{0};
    bool is_alone = false;
    parallel_for(2)(8, [&](int64_t i) {
        // The first task waits for all others, those of its own thread's run among them.
        const auto start = std::chrono::steady_clock::now();
        while (i == 0 && done < 7 && !is_alone)
            is_alone = std::chrono::steady_clock::now() - start > std::chrono::seconds(20);
        ++done;
    });
    EXPECT_FALSE(is_alone);
    EXPECT_EQ(done, 8);
}

TEST(Threads, NoMoreThreadsJoinThanWereAskedFor) {
    ASSERT_EQ(sum_of_squares(8, 1000), expected_sum(1000));  // seven workers are there
    for (int k = 0; k < 200; ++k) {
        std::mutex mutex;
        std::set<std::thread::id> threads;
        parallel_for(2)(64, [&](int64_t) {
            const std::lock_guard lock(mutex);
            threads.insert(std::this_thread::get_id());
        });
        ASSERT_LE(threads.size(), 2U);
    }
}

TEST(Threads, WorkersMayRunWhereTheirCallerMay) {
    const auto processors = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
        return CPU_COUNT(&set);
    };
    const int expected = processors();
    for (int k = 0; k < 50; ++k) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // workers fall asleep
        parallel_for(3)(3, [&](int64_t) { EXPECT_EQ(processors(), expected); });
    }
}

TEST(Threads, ThePoolRestartsAfterFork) {
    ASSERT_EQ(sum_of_squares(4, 100), expected_sum(100));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(sum_of_squares(4, 100) == expected_sum(100) ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(sum_of_squares(4, 100), expected_sum(100));
}

TEST(Threads, TheEnvironmentDecides) {
    const int before = default_threads();
    EXPECT_GE(before, 1);
    ASSERT_EQ(setenv("COMPOSIT_THREADS", "3", 1), 0);
    EXPECT_EQ(default_threads(), 3);
    for (const char* wrong : {"0", "-2", "many", "2x"}) {
        ASSERT_EQ(setenv("COMPOSIT_THREADS", wrong, 1), 0);
        EXPECT_THROW(default_threads(), ValueError) << wrong;
    }
    ASSERT_EQ(unsetenv("COMPOSIT_THREADS"), 0);
    EXPECT_EQ(default_threads(), before);
}

}  // namespace
}  // namespace composit::execute
