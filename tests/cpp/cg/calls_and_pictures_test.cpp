// What functions are called with, and calls of modules as pictures.
#include "composit/base/error.h"
#include "composit/cg/call_arguments.h"
#include "composit/cg/picture.h"

#include <gtest/gtest.h>

namespace composit::cg {
namespace {

TEST(CgCallArguments, InOrderAndByName) {
    const std::vector<std::string> inputs{"x", "y", "z"};
    EXPECT_EQ(places_of_values("f", inputs, 1, {"z", "y"}), (std::vector<size_t>{0, 2, 1}));
    EXPECT_EQ(places_of_values("f", inputs, 4, {}), (std::vector<size_t>{0, 1, 2}));
    EXPECT_THROW((void)places_of_values("f", inputs, 2, {"x"}), TypeError);
    EXPECT_THROW((void)places_of_values("f", inputs, 2, {"w"}), TypeError);
    EXPECT_THROW((void)places_of_values("f", inputs, 1, {"z"}), ValueError);
}

TEST(CgPicture, NodesStandInTheCallsAroundThem) {
    using Kind = PictureNode::Kind;
    // w is used by two calls within the first one, x is outside whatever uses it.
    const std::vector<PictureNode> nodes{
        {Kind::variable, "x", "3", false, {}, {}},
        {Kind::parameter, "w", "2", false, {}, {}},
        {Kind::operation, "Multiply", "6", false, {0, 1}, {0, 1}},
        {Kind::operation, "Add", "8", true, {0, 2}, {2, 1}},
    };
    const ir::Picture picture = picture_of(nodes, {"Model", "Layer", "Head"});
    ASSERT_EQ(picture.items.size(), 2U);
    EXPECT_EQ(picture.items[0].name, "n0");
    EXPECT_EQ(picture.items[0].attributes[0].second, "x (3)");
    const ir::PictureItem& model = picture.items[1];
    EXPECT_EQ(model.attributes[0].second, "Model");
    ASSERT_EQ(model.items.size(), 3U);
    EXPECT_EQ(model.items[0].name, "n1");
    EXPECT_EQ(model.items[1].items[0].attributes[0].second, "Multiply→(6)");
    EXPECT_EQ(model.items[2].name, "cluster_2");
    EXPECT_EQ(picture.edges.size(), 4U);
    EXPECT_EQ(picture.edges[0].source, "n0");
    EXPECT_EQ(picture.edges[0].sink, "n2");
}

}  // namespace
}  // namespace composit::cg
