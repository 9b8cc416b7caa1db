// What may turn out to be an error for the values of operands.
#include "composit/transforms/fallible.h"

#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

namespace composit::transforms {
namespace {

TEST(Fallible, LooksAtTheIndicesOfGathers) {
    const ir::Tensor x = ir::input("x", ir::DType::float32, {5});
    const ir::Tensor places = ir::input("places", ir::DType::int64, {2});
    const ir::Tensor known = ir::constant(ir::Array::of<int64_t>(ir::DType::int64, {2}, {0, 4}));
    const ir::Tensor sure = ops::gather(x, {known}, {0}), open = ops::gather(x, {places}, {0});
    EXPECT_FALSE(fallible_part({sure}, {}, {}));
    EXPECT_EQ(fallible_part({open}, {}, {})->operation().name, "gather");
    EXPECT_FALSE(fallible_part({open}, {open}, {}));
    EXPECT_FALSE(fallible_part({open}, {}, {{{open}, {x, places}}}));
}

}  // namespace
}  // namespace composit::transforms
