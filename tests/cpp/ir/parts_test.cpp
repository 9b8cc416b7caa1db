// Parts of graphs: modules by their paths, and what repeats.
#include "composit/ir/parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace composit::ir {
namespace {

using Integers = std::vector<int64_t>;

TEST(Parts, RepeatedStretchesAreFolded) {
    const Folded found = folded({0, 1, 2, 1, 2, 1, 2, 3}, 2);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(std::get<int64_t>(found[0]), 0);
    const auto& repeat = std::get<Repeat>(found[1]);
    EXPECT_EQ((Integers{repeat.start, repeat.length, repeat.count}), (Integers{1, 2, 3}));
    EXPECT_EQ(std::get<int64_t>(repeat.items[1]), 2);
    EXPECT_EQ(std::get<int64_t>(found[2]), 7);
    EXPECT_EQ(folded({0, 1, 2, 3}).size(), 4U);
}

TEST(Parts, ModulesOfEqualNodesAreOne) {
    const std::vector<std::string> paths = {"", "a.0", "a.0", "a.1", "a.1", "b"};
    const Integers codes = {0, 1, 2, 1, 2, 3};
    const auto apart = parts_of(paths, codes, false);
    ASSERT_EQ(apart.size(), 3U);
    EXPECT_EQ(std::get<std::shared_ptr<Part>>(apart[1])->items.size(), 2U);
    const auto joined = parts_of(paths, codes, true);
    const Part& layers =
        *std::get<std::shared_ptr<Part>>(std::get<std::shared_ptr<Part>>(joined[1])->items[0]);
    EXPECT_EQ(layers.name, "0");
    EXPECT_EQ(layers.last, "1");
    EXPECT_EQ(layers.runs, (std::vector<Integers>{{1, 2}, {3, 4}}));
}

}  // namespace
}  // namespace composit::ir
