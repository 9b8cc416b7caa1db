// The embedded prelude: which headers there are, their order, and that their text stands alone.
#include "composit/backends/c_family/prelude.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace composit::c_family {
namespace {

#include "composit/backends/c_family/prelude/checksum.h"

TEST(Prelude, DependenciesComeBeforeTheirUsersOnce) {
    EXPECT_EQ(prelude_dependencies({"scatter.h", "contract.h"}),
              (std::vector<std::string>{"vector.h", "combine.h", "offsets.h", "indices.h",
                                        "scatter.h", "contract_described.h", "contract_lone.h",
                                        "contract_ahead.h", "contract_tile.h", "contract_narrow.h",
                                        "transpose.h", "contract_pack.h", "contract_problem.h",
                                        "contract_blocks.h", "contract_fetching.h", "contract.h"}));
    EXPECT_EQ(prelude_dependencies({"contract_ready.h"}),
              (std::vector<std::string>{"vector.h", "offsets.h", "contract_described.h",
                                        "contract_bytes_described.h", "contract_products.h",
                                        "contract_ready.h"}));
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

// The values are those of the library xxhash, of so many bytes 0, 1, 2 …
TEST(Prelude, ChecksumsAreXxh64) {
    std::string bytes;
    for (int i = 0; i < 500; ++i) bytes.push_back(static_cast<char>(i));
    const std::pair<size_t, uint64_t> known[] = {
        {0, 0xef46db3751d8e999u},  {1, 0xe934a84adb052768u},  {3, 0xe5c7bb4533bc65ddu},
        {4, 0xffced8604453cc1eu},  {7, 0x14cc643f630c72d2u},  {8, 0x884a173614b81b8du},
        {31, 0xc346d2b59b4d8ee1u}, {32, 0xcbf59c5116ff32b4u}, {33, 0x0c535d1acafb8eadu},
        {63, 0xe26aa9e2a95f8e4fu}, {500, 0xeaa8f3cf896111e9u}};
    for (const auto& [count, expected] : known)
        EXPECT_EQ(xxh64(bytes.data(), count), expected) << count;
}

TEST(Prelude, UnknownNamesAreInternalErrors) {
    EXPECT_THROW(prelude_text("nothing.h"), InternalError);
    EXPECT_THROW(prelude_dependencies({"reduce.h", "nothing.h"}), InternalError);
}

}  // namespace
}  // namespace composit::c_family
