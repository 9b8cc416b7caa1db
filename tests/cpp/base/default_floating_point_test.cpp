// The caller's floating-point state: kept out, and given back with its flags.
#include "composit/base/default_floating_point.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

namespace composit {
namespace {

double third() {
    volatile double one = 1, three = 3;
    return one / three;
}

double upwards_third() {
    std::fesetround(FE_UPWARD);
    const double value = third();
    std::fesetround(FE_TONEAREST);
    return value;
}

TEST(DefaultFloatingPoint, RoundsToNearestAndGivesTheRoundingBack) {
    const double nearest = third();
    ASSERT_NE(upwards_third(), nearest);
    for (int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
        std::fesetround(rounding);
        {
            const DefaultFloatingPoint floating_point;
            EXPECT_EQ(third(), nearest);
            EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        }
        EXPECT_EQ(std::fegetround(), rounding);
    }
    std::fesetround(FE_TONEAREST);
}

TEST(DefaultFloatingPoint, GivesBackWhatIsChangedMeanwhile) {
    {
        const DefaultFloatingPoint floating_point;
        std::fesetround(FE_UPWARD);
    }
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(DefaultFloatingPoint, KeepsFlagsOfBoth) {
    std::feclearexcept(FE_ALL_EXCEPT);
    volatile double largest = 1.7e308, zero = 0, one = 1, result = largest * largest;
    {
        const DefaultFloatingPoint floating_point;
        EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
        std::feclearexcept(FE_ALL_EXCEPT);
        result = one / zero;
    }
    static_cast<void>(result);
    EXPECT_NE(std::fetestexcept(FE_OVERFLOW), 0);
    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
    std::feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__x86_64__)
TEST(DefaultFloatingPoint, KeepsSubnormalsAndMasksTraps) {
    const auto set = [](unsigned value) { __builtin_ia32_ldmxcsr(value); };
    const unsigned before = __builtin_ia32_stmxcsr();
    volatile double least = 4.9e-324, zero = 0, one = 1;
    set((before | 0x8040) & ~0x0200u);  // flush-to-zero; a division by zero is a signal
    {
        const DefaultFloatingPoint floating_point;
        EXPECT_GT(least * one, 0);
        const volatile double infinite = one / zero;
        static_cast<void>(infinite);
    }
    EXPECT_EQ(__builtin_ia32_stmxcsr() & 0xffc0u, ((before | 0x8040) & ~0x0200u) & 0xffc0u);
    EXPECT_EQ(least * one, 0);
    set(before);
}
#endif

TEST(DefaultFloatingPoint, IsInheritedByThreads) {
    std::fesetround(FE_UPWARD);
    int rounding = -1;
    {
        const DefaultFloatingPoint floating_point;
        std::thread([&] { rounding = std::fegetround(); }).join();
    }
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(rounding, FE_TONEAREST);
}

}  // namespace
}  // namespace composit
