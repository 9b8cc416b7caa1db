// einsum's subscripts, read and written.
#include "composit/numpy/subscripts.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(subscripts, selections_are_recognised) {
    EXPECT_TRUE(only_selects("ij->ji"));
    EXPECT_TRUE(only_selects("i i -> i"));
    EXPECT_FALSE(only_selects("ij->i"));
    EXPECT_FALSE(only_selects("ij"));
    EXPECT_FALSE(only_selects("i,j->ij"));
    EXPECT_EQ(order_of_axes("ijk->kij", 3), (std::vector<int64_t>{2, 0, 1}));
    EXPECT_FALSE(order_of_axes("ii->i", 2));
}

TEST(subscripts, numbers_are_letters) {
    EXPECT_EQ(lettered({{0, 1}, {1, 2}}, NumberedAxes{0, 2}), "ab,bc->ac");
    EXPECT_EQ(lettered({{std::nullopt, 0}}), "...a");
    expect_error<ValueError>([] { (void)lettered({{26}}); },
                             "einsum: subscripts are 26. 0 to 25 required.");
}

TEST(subscripts, outputs_take_part_in_the_promotion) {
    const Tensor x = array<float>({1, 2});
    EXPECT_EQ(promoted_with_output("einsum", {x}, DType::float64)[0].dtype(), DType::float64);
    expect_error<TypeError>([&] { (void)promoted_with_output("einsum", {x}, DType::int64); },
                            "einsum: the result is dtype('float64'), out dtype('int64').");
}

}  // namespace
}  // namespace composit::numpy
