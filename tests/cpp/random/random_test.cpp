// composit::random: the bits of published test vectors, draws as single nodes, and their errors.
#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/numpy/indexing.h"
#include "composit/random/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace composit::random {
namespace {

template <class T>
std::vector<T> values(const Tensor& x) {
    const Array array = evaluate(x);
    return {array.data_as<T>(), array.data_as<T>() + array.size()};
}

TEST(Random, BlocksAreThoseOfThePublishedTestVectors) {
    const uint64_t last = ~uint64_t{0};
    const auto first = [](const Tensor& k, uint64_t counter) {
        return values<uint64_t>(
            fold_in(k, ir::constant(ir::Array::of<uint64_t>(DType::uint64, {}, {counter}))))[0];
    };
    EXPECT_EQ(first(key(int64_t{0}), 0), 0x6b20015999ba4efeu);
    EXPECT_EQ(first(key(last), last), 0x1cb996fcbb002be7u);
    EXPECT_EQ(first(key(uint64_t{0x13198a2e03707344}), 0x243f6a8885a308d3), 0xc4923a9c483df7a0u);
}

TEST(Random, SplitFoldInAndBitsCountTheSameBlocks) {
    const Tensor k = key(int64_t{5});
    const auto keys = values<uint64_t>(split(k, 3));
    EXPECT_EQ(values<uint64_t>(bits(k, {3}, DType::uint64)), keys);
    EXPECT_EQ(values<uint64_t>(fold_in(k, 2))[0], keys[2]);
    EXPECT_EQ(values<uint32_t>(bits(k))[0], static_cast<uint32_t>(keys[0] >> 32 ^ keys[0]));
}

TEST(Random, ADrawIsOneNodeOfAKeyThatIsALeaf) {
    const Tensor k = key(int64_t{-1}), x = normal(k, {2, 3});
    EXPECT_EQ(k.name(), "key(-1)");
    EXPECT_EQ(ir::topological_order({x}).size(), 2u);
    EXPECT_EQ(ir::topological_order({uniform(k, {3}, DType::float32, -1.0, 1)}).size(), 4u);
    EXPECT_EQ(values<float>(x), values<float>(x));
}

TEST(Random, VmapOverKeysDrawsWhatEachKeyDraws) {
    const Tensor keys = split(key(int64_t{1}), 2);
    const auto draw = [](const Tensor& k) { return normal(k, {4}, DType::float64); };
    const auto together = values<double>(vmap(draw)(keys));
    const auto k = values<uint64_t>(keys);
    for (size_t i = 0; i < 2; ++i) {
        const auto alone = values<double>(draw(key(k[i])));
        EXPECT_EQ(std::vector<double>(together.begin() + static_cast<long>(4 * i),
                                      together.begin() + static_cast<long>(4 * i + 4)),
                  alone);
    }
}

TEST(Random, NormalNumbersHaveMeanZeroAndDeviationOne) {
    double sum = 0, squares = 0;
    for (const double x : values<double>(normal(key(int64_t{3}), {40'000}, DType::float64))) {
        sum += x;
        squares += x * x;
    }
    EXPECT_LT(std::fabs(sum), 4 * 200);
    EXPECT_NEAR(squares, 40'000, 4 * 283);
}

TEST(Random, GammaMovesWithItsConcentration) {
    const Tensor a = ir::constant(ir::Array::of(DType::float64, {2}, std::vector<double>{1, 20}));
    const Tensor z = ir::constant(ir::Array::of(DType::float64, {2}, std::vector<double>{2, 18}));
    const std::vector<double> slopes = values<double>(gamma_slope(a, z));
    // By SciPy's quantiles, to 9 digits.
    EXPECT_NEAR(slopes[0], 1.63169146, 1e-7);
    EXPECT_NEAR(slopes[1], 0.95617994, 1e-7);
    EXPECT_EQ(gamma(key(int64_t{0}), a, {3, 2}).shape(), (ir::Shape{3, 2}));
}

TEST(Random, IntegersFillTheirInterval) {
    std::vector<int> counts(7);
    for (const int64_t i : values<int64_t>(randint(key(int64_t{3}), {7000}, -3, 4)))
        ++counts.at(static_cast<size_t>(i + 3));
    for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

template <class E, class Call>
void expect_error(const Call& call, const std::string& message) {
    try {
        call();
        FAIL() << "no error: " << message;
    } catch (const E& error) {
        EXPECT_EQ(error.what(), message);
    }
}

TEST(Random, MistakesAreErrors) {
    const Tensor k = key(int64_t{0});
    expect_error<TypeError>([&] { (void)normal(numpy::Operand(3), {2}); },
                            "normal: the key is weak int64[], a Python number. A key, made by "
                            "composit.random.key, split or fold_in, is required.");
    expect_error<ValueError>([&] { (void)bits(k, {-1}); },
                             "bits: shape (-1,) is impossible. Lengths of at least 0, of at most "
                             "2^58 elements together, are required.");
    expect_error<ValueError>([&] { (void)randint(k, {2}, 0, 300, DType::uint8); },
                             "randint: maxval is 300. What dtype uint8 holds is required.");
    expect_error<NotSupported>(
        [&] { (void)gumbel(k, {2}, DType::bfloat16); },
        "gumbel: dtype bfloat16 is not built yet. Available: float32, float64.");
}

}  // namespace
}  // namespace composit::random
