#include "composit/execute/fold_constants.h"

#include "composit/composit.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace composit::tests {
namespace {

using execute::fold_constants;
using ir::DType;
using ir::Tensor;

Tensor constant(std::vector<float> values, const char* name) {
    const auto n = static_cast<int64_t>(values.size());
    return ir::constant(ir::Array::of<float>(DType::float32, {n}, values), name);
}

class FoldConstants : public testing::Test {
  protected:
    Tensor x = ir::input("x", DType::float32, {4});
    Tensor w = constant({1, 2, 3, 4}, "w"), v = constant({5, 6, 7, 8}, "v");

    static std::vector<std::string> operations(const Tensor& output) {
        std::vector<std::string> names;
        for (const ir::Node* node : ir::topological_order({output}))
            names.push_back(node->operation().name);
        return names;
    }
};

TEST_F(FoldConstants, ComputesWhatDependsOnNoPlaceholder) {
    const Tensor scale = w / numpy::sqrt(w * w + v);
    const Tensor folded = fold_constants({x * scale})[0];
    EXPECT_EQ(operations(folded), (std::vector<std::string>{"input", "constant", "map"}));
    const Tensor made = folded.node().operand(1);
    EXPECT_EQ(std::memcmp(ir::constant_value(made.node()).data(),
                          execute::evaluate({scale})[0].data(), 16),
              0);
    EXPECT_EQ(fold_constants({w + v, x})[1].node_ref().get(), x.node_ref().get());
}

TEST_F(FoldConstants, KeepsTheNameOfTheOneConstant) {
    using numpy::Slice;
    const Tensor turned =
        numpy::concatenate({numpy::get_item(w, {Slice{2, 4}}), numpy::get_item(w, {Slice{0, 2}})});
    EXPECT_EQ(fold_constants({x + turned})[0].node().operand(1).node().name(), "w");
    EXPECT_EQ(fold_constants({x + (w + v)})[0].node().operand(1).node().name(), "");
}

TEST_F(FoldConstants, ANameThatSomethingElseNeedsStaysThere) {
    const std::vector<Tensor> folded = fold_constants({x + numpy::sin(w), x * w});
    EXPECT_EQ(folded[0].node().operand(1).node().name(), "");
    EXPECT_EQ(folded[1].node().operand(1).node().name(), "w");
}

TEST_F(FoldConstants, TakesNoMoreMemoryThanTheConstants) {
    Tensor sum = x;
    for (int64_t k = 1; k <= 20; ++k) sum = numpy::tanh(sum + w * ir::weak_scalar(double(k)));
    const std::vector<std::string> left = operations(fold_constants({sum})[0]);
    // The first products are folded, the others stay: each would be another array.
    EXPECT_GE(std::count(left.begin(), left.end(), "map"), 40 + 20 - 12);
}

TEST_F(FoldConstants, LongChainsTakeLinearTime) {
    Tensor number = numpy::sum(w), sum = x;
    for (int k = 0; k < 20000; ++k) number = numpy::sin(number);
    const Tensor spread = numpy::broadcast_to(number, {4});
    for (int k = 0; k < 20000; ++k) sum = sum + spread;
    EXPECT_EQ(fold_constants({sum})[0].shape(), x.shape());
}

TEST_F(FoldConstants, LeavesViewsAndWhatIsLargerAsTheyAre) {
    const Tensor view = x + numpy::flip(w);
    EXPECT_EQ(operations(fold_constants({view})[0]), operations(view));
    // The sum is folded, the table that it is spread to is not.
    const Tensor table = numpy::reshape(x, {1, 4}) * numpy::outer(w + v, w);
    const Tensor folded = fold_constants({table})[0];
    EXPECT_EQ(folded.shape(), (ir::Shape{4, 4}));
    EXPECT_LT(operations(folded).size(), operations(table).size());
    EXPECT_GT(operations(folded).size(), 3u);
}

TEST_F(FoldConstants, LeavesNumbersAndWhatMayFail) {
    const Tensor number = x * (ir::weak_scalar(int64_t{1}) + ir::weak_scalar(2.5));
    EXPECT_EQ(fold_constants({number})[0].type(), number.type());
    // A matrix that is not positive definite: whoever calls the program hears of it.
    const Tensor matrix = numpy::reshape(w, {2, 2}) - ir::weak_scalar(int64_t{9});
    const Tensor fails = numpy::sum(x) + numpy::linalg::cholesky(matrix);
    const std::vector<std::string> left = operations(fold_constants({fails})[0]);
    EXPECT_EQ(std::count(left.begin(), left.end(), "cholesky"), 1);
}

}  // namespace
}  // namespace composit::tests
