// Pictures of graphs: clusters, what repeats, arrows.
#include "composit/ir/picture.h"

#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <string>

namespace composit::ir {
namespace {

TEST(Picture, HasABoxForEachNode) {
    const Tensor x = input("x", DType::float32, {2, 3});
    const Picture picture = picture_of({ops::reshape(x, {6})});
    ASSERT_EQ(picture.items.size(), 3U);  // and the end
    EXPECT_EQ(picture.items[0].name, "n0");
    EXPECT_EQ(picture.items[0].attributes[0].second, "x");
    EXPECT_EQ(picture.items[0].attributes[1].second, "ellipse");
    ASSERT_EQ(picture.edges.size(), 2U);
    EXPECT_EQ(picture.edges[0].label, "float32[2, 3]");
    EXPECT_EQ(picture.edges[1].sink, "out0");
    EXPECT_FALSE(picture.has_calls);
    const std::string written = dot(picture);
    EXPECT_NE(written.find("n0 -> n1 [label=\"float32[2, 3]\"];"), written.npos);
}

TEST(Picture, LabelsAreShort) {
    const Tensor x = input(std::string(70, 'x'), DType::float32, {1});
    EXPECT_EQ(picture_of({x}).items[0].attributes[0].second, std::string(59, 'x') + "…");
}

}  // namespace
}  // namespace composit::ir
