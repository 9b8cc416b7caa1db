// The embedded prelude: which headers there are, their order, and that their text stands alone.
#include "composit/backends/c_family/prelude.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace composit::c_family {
namespace {

TEST(Prelude, DependenciesComeBeforeTheirUsersOnce) {
    EXPECT_EQ(prelude_dependencies({"scatter.h", "contract.h"}),
              (std::vector<std::string>{"vector.h", "combine.h", "offsets.h", "indices.h",
                                        "scatter.h", "contract_ahead.h", "contract_tile.h",
                                        "contract_narrow.h", "transpose.h", "contract_pack.h",
                                        "contract_problem.h", "contract_lone.h", "contract.h"}));
    EXPECT_EQ(prelude_dependencies({}), std::vector<std::string>{});
}

TEST(Prelude, TextsHaveNoIncludesOfTheirOwn) {
    ASSERT_FALSE(prelude_files().empty());
    for (const std::string& name : prelude_files()) {
        const std::string_view text = prelude_text(name);
        EXPECT_EQ(text.substr(0, 3), "// ") << name;
        EXPECT_EQ(text.find("#include \""), std::string_view::npos) << name;
        EXPECT_EQ(text.find("#pragma once"), std::string_view::npos) << name;
        EXPECT_EQ(text.find("//     //"), std::string_view::npos) << name;
        EXPECT_EQ(text.back(), '\n') << name;
    }
}

TEST(Prelude, UnknownNamesAreInternalErrors) {
    EXPECT_THROW(prelude_text("nothing.h"), InternalError);
    EXPECT_THROW(prelude_dependencies({"reduce.h", "nothing.h"}), InternalError);
}

}  // namespace
}  // namespace composit::c_family
