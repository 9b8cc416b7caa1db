// Tables of functions by kind: the function that a kind's file put there, and none for others.
#include "composit/ir/kernel/by_kind.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace composit::tests {
namespace {

namespace kernel = ir::kernel;

std::string shown(const std::string& before, const kernel::Search& search) {
    return before + (search.is_right ? " right" : " left");
}

TEST(ByKind, HasWhatWasAdded) {
    kernel::ByKind<std::string, const std::string&> table;
    kernel::Search right;
    right.is_right = true;
    const kernel::Body search = right, sort = kernel::Sort();
    EXPECT_FALSE(table.has(search));
    EXPECT_TRUE((table.add<kernel::Search, shown>()));
    EXPECT_TRUE(table.has(search));
    EXPECT_EQ(table("to the", search), "to the right");
    EXPECT_FALSE(table.has(sort));
    EXPECT_THROW(table("", sort), InternalError);
}

}  // namespace
}  // namespace composit::tests
