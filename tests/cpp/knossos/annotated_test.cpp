// Structures that annotations describe: extents of their own, of rows, compared.
#include "composit/knossos/annotated.h"

#include <gtest/gtest.h>

#include <memory>

namespace composit::knossos {
namespace {

class Pair : public RecordType {
  public:
    std::string name() const override { return "Pair"; }
    const void* identity() const override { return this; }
    bool is_tuple() const override { return true; }
};

StructureRef tensor(std::vector<Structure::Extent> extents) {
    Structure made;
    made.sort = Structure::Sort::tensor;
    made.kind = Kind::floating;
    made.extents = std::move(extents);
    return std::make_shared<const Structure>(std::move(made));
}

StructureRef record(const std::shared_ptr<const RecordType>& kind) {
    Structure made;
    made.sort = Structure::Sort::parts;
    made.made_by = kind;
    made.parts = {{"a", tensor({std::string("n")})}, {"b", number_structure(Kind::integer)}};
    return std::make_shared<const Structure>(std::move(made));
}

TEST(Annotated, ASecondRecordHasExtentsOfItsOwn) {
    const auto kind = std::make_shared<const Pair>();
    const auto made = with_own_extents({record(kind), tensor({std::string("n_2")}), record(kind)});
    EXPECT_EQ(annotation_text(all_leaves(made[0])[0]), "Tensor[float, n]");
    EXPECT_EQ(annotation_text(all_leaves(made[2])[0]), "Tensor[float, n_3]");
    EXPECT_EQ(annotation_text(all_leaves(made[2])[1]), "int");
}

TEST(Annotated, Rows) {
    const std::vector<StructureRef> leaves{tensor({std::string("rows"), Value(int64_t{3})})};
    EXPECT_EQ(free_extent(leaves), "rows_");
    EXPECT_EQ(annotation_text(with_rows(leaves[0], "r")), "Tensor[float, r, rows, 3]");
    EXPECT_EQ(annotation_text(with_rows(number_structure(Kind::boolean), "r")), "Tensor[bool, r]");
    EXPECT_EQ(annotation_text(without_names(leaves[0])), "Tensor[float] of 2 axes");
}

TEST(Annotated, Compared) {
    const auto square = [](const char* one, const char* other) {
        return std::vector<StructureRef>{tensor({std::string(one), std::string(other)})};
    };
    EXPECT_TRUE(are_alike(square("n", "n"), square("m", "m")));
    EXPECT_FALSE(are_alike(square("n", "k"), square("m", "m")));
    EXPECT_FALSE(have_same_kinds(square("n", "n"), {number_structure(Kind::floating)}));
    EXPECT_TRUE(are_alike(square("n", "k"), {tensor({Value(), Value(int64_t{3})})}));
    using Pairs = std::vector<std::pair<size_t, size_t>>;
    EXPECT_EQ(first_extents({square("n", "k")[0], square("k", "m")[0]}, {1, 0}),
              (Pairs{{1, 0}, {1, 1}, {0, 0}}));
    const auto number = number_structure(Kind::floating);
    EXPECT_EQ(places_of_results({tensor({}), number, tensor({}), number}),
              (std::vector<size_t>{2, 0, 3, 1}));
}

}  // namespace
}  // namespace composit::knossos
