// NumPy's legacy stream: the numbers below were drawn by numpy.random.RandomState.
#include "composit/numpy/random.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(random, every_distribution_continues_one_stream) {
    RandomState state(1234);
    expect_values<double>(state.random({2, 3}), {2, 3},
                          {0.1915194503788923, 0.6221087710398319, 0.4377277390071145,
                           0.7853585837137692, 0.7799758081188035, 0.2725926052826416});
    expect_values<double>(state.randn({3}), {3},
                          {0.8595884137174165, -0.6365235044173491, 0.015696372114428918});
    expect_values<double>(state.uniform(-2, 5, {2}), {2}, {2.7842405462049538, 2.988914188880301});
    expect_values<int64_t>(state.randint(0, 1000, {5}), {5}, {246, 510, 431, 562, 752});
    expect_values<int64_t>(state.randint(-5, int64_t{1} << 40, {3}), {3},
                           {1078095926343, 839085796066, 599643560571});
    expect_values<int64_t>(state.permutation(8), {8}, {4, 7, 5, 2, 6, 0, 3, 1});
    expect_values<double>(state.exponential(2, {2}), {2}, {1.2056252967100012, 1.5450208580842377});
    expect_values<double>(state.normal(1, 3, {2}), {2}, {-5.728054862556217, 0.48728431998756583});
    expect_values<int64_t>(state.randint(3, 4, {2}), {2}, {3, 3});
    expect_values<int32_t>(state.randint(0, 1 << 30, {3}, DType::int32), {3},
                           {795995964, 511648234, 298408555});
    const auto many = values<double>(state.random({700}));
    EXPECT_EQ(many[698], 0.4999201641959291);
    EXPECT_EQ(many[699], 0.9142519408679308);
}

TEST(random, seeds_of_several_words) {
    RandomState state(std::vector<uint32_t>{1, 2, 3});
    expect_values<double>(state.rand({2}), {2}, {0.6098612722867289, 0.8866970434146851});
}

TEST(random, a_draw_is_one_named_leaf_that_keeps_its_values) {
    RandomState state(0);
    const Tensor x = state.random({2, 3});
    EXPECT_EQ(x.name(), "random((2, 3))");
    EXPECT_TRUE(ir::is_constant(x.node()));
    EXPECT_EQ(values<double>(x), values<double>(x));
    EXPECT_NE(values<double>(x), values<double>(state.random({2, 3})));
    EXPECT_EQ(state.randint(0, 9, {2}).name(), "randint(0, 9, (2,))");
}

TEST(random, state_can_be_kept_and_put_back) {
    RandomState state(7);
    (void)state.randn({1});  // half of a pair is kept
    const std::vector<uint64_t> kept = state.bit_generator()->state();
    const double gauss = state.gauss();
    EXPECT_TRUE(state.has_gauss());
    const auto first = values<double>(state.randn({3}));
    state.bit_generator()->set_state(kept);
    state.set_gauss(true, gauss);
    EXPECT_EQ(values<double>(state.randn({3})), first);
}

TEST(random, generators_draw_numpys_numbers) {
    random::Generator rng = random::default_rng(1234);
    expect_values<double>(rng.random(Shape{3}), {3},
                          {0.9766997666981422, 0.3801957350196178, 0.9232462337639554});
    expect_values<double>(rng.normal(1.0, 2.0, Shape{2}), {2},
                          {1.3052383871313062, 2.727487782646664});
    expect_values<double>(rng.gamma(0.5, 1.0, Shape{2}), {2},
                          {0.013945539303581906, 0.10146386378544049});
    expect_values<int64_t>(rng.integers(0, 100, Shape{4}), {4}, {95, 26, 55, 44});
    expect_values<uint8_t>(rng.integers(0, 100, Shape{3}, DType::uint8, true), {3}, {0, 20, 25});
    expect_values<int64_t>(rng.permutation(5), {5}, {3, 2, 1, 4, 0});
    expect_values<int64_t>(rng.choice(1000, Shape{3}, false), {3}, {953, 659, 47});
    expect_values<int64_t>(rng.binomial(10, 0.3, Shape{4}), {4}, {2, 5, 1, 4});
    expect_values<int64_t>(rng.multinomial(10, numpy::full({2}, 0.5)), {2}, {6, 4});
}

TEST(random, jumps_and_children) {
    random::MT19937 twister(random::SeedSequence(7));
    twister.jump();
    const random::Bits& bits = twister.bits();
    EXPECT_EQ(bits.next_uint64(bits.state), 13558758850900881274u);
    random::SeedSequence seed(42);
    const auto children = seed.spawn(2);
    EXPECT_EQ(children[1].generate_state64(1), (std::vector<uint64_t>{134183728835869882u}));
}

TEST(random, one_bit_generator_serves_several_families) {
    const auto bits = std::make_shared<random::PCG64>(random::SeedSequence(3));
    random::Generator rng(bits);
    RandomState state(bits);
    const auto whole = values<double>(random::default_rng(3).random(Shape{4}));
    const auto first = values<double>(rng.random(Shape{2}));
    const auto second = values<double>(state.random(Shape{2}));
    EXPECT_EQ(whole, (std::vector<double>{first[0], first[1], second[0], second[1]}));
}

TEST(random, mistakes) {
    expect_error<ValueError>([] { RandomState state(-1); }, "Seed must be between 0 and 2**32 - 1");
    RandomState state(0);
    expect_error<ValueError>([&] { (void)state.randint(3, 3, {1}); }, "low >= high");
    expect_error<ValueError>([&] { (void)state.normal(0, -1, {1}); }, "scale < 0");
    expect_error<TypeError>([&] { (void)state.randint(0, 3, {1}, DType::float32); }, "float32");
    expect_error<ValueError>([&] { (void)state.randint(0, 300, {1}, DType::int8); }, "int8");
    expect_error<ValueError>([&] { (void)state.random({-1}); }, "negative dimensions");
}

}  // namespace
}  // namespace composit::numpy
