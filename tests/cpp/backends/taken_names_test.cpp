// Names of printed code, in scopes within scopes.
#include "composit/backends/c_family/kernel_names.h"

#include <gtest/gtest.h>

namespace composit::c_family {
namespace {

TEST(Names, OfAScopeAvoidThoseAroundItAndEndWithIt) {
    Names file({"taken"});
    EXPECT_EQ(file.claim("sum"), "sum");
    {
        Names function = Names::within(file);
        EXPECT_EQ(function.claim("sum"), "sum_");
        EXPECT_EQ(function.claim("sum"), "sum_2");
        EXPECT_EQ(function.claim("taken"), "taken_");
        EXPECT_EQ(function.claim("row"), "row");
        Names loop = Names::within(function);
        EXPECT_EQ(loop.claim("row"), "row_");
        EXPECT_EQ(loop.claim("taken"), "taken_2");
        EXPECT_FALSE(loop.taken().insert("sum"));
        EXPECT_TRUE(loop.taken().insert("column"));
        EXPECT_FALSE(function.taken().contains("column"));
    }
    EXPECT_FALSE(file.taken().contains("row"));
    EXPECT_EQ(file.claim("row"), "row");
}

}  // namespace
}  // namespace composit::c_family
