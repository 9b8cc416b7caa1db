// What nodes share, and nodes made from others.
#include "composit/ir/node.h"

#include "composit/base/error.h"
#include "composit/composit.h"
#include "composit/ir/operation.h"
#include "composit/ir/scalar/row.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace composit {
namespace {

namespace cnp = composit::numpy;
using ir::DType;

TEST(Nodes, OfARowShareAttributesAndOfAChainTypes) {
    const Tensor x = ir::input("x", DType::float32, {3, 4});
    const Tensor y = cnp::sin(x), z = cnp::sin(y);
    EXPECT_EQ(y.node().shared_attributes(), z.node().shared_attributes());
    EXPECT_EQ(x.node().shared_types(), z.node().shared_types());
    EXPECT_NE(y.node().structural_hash(), z.node().structural_hash());
    EXPECT_EQ(y.node().structural_hash(), cnp::sin(x).node().structural_hash());
    EXPECT_NE(y.node().structural_hash(), cnp::cos(x).node().structural_hash());
    // Of another type than the operands', and of two that broadcast.
    EXPECT_EQ((x < x).type(), (ir::TensorType{{3, 4}, DType::boolean}));
    const Tensor column = ir::input("column", DType::float32, {3, 1});
    const Tensor row = ir::input("row", DType::float64, {2, 1, 4});
    EXPECT_EQ((column + row).type(), (ir::TensorType{{2, 3, 4}, DType::float64}));
}

TEST(Nodes, OfEqualNumbersAreTwo) {
    const Tensor a = ir::weak_scalar(2.5), b = ir::weak_scalar(2.5);
    EXPECT_FALSE(a == b);
    EXPECT_EQ(a.name(), "scalar_2.5");
    EXPECT_EQ(b.name(), "scalar_2.5");
    EXPECT_TRUE(b.type().weak);
    for (int64_t i = 0; i < 300; ++i) {  // more than are kept
        const Tensor number = ir::weak_scalar(i);
        EXPECT_EQ(*ir::constant_value(number.node()).data_as<int64_t>(), i);
        EXPECT_EQ(number.dtype(), DType::int64);
        EXPECT_EQ(number.name(), "scalar_" + std::to_string(i));
        const Tensor real = ir::weak_scalar(-static_cast<double>(i));
        EXPECT_EQ(*ir::constant_value(real.node()).data_as<double>(), -static_cast<double>(i));
    }
    EXPECT_TRUE(*ir::constant_value(ir::weak_scalar(true).node()).data_as<bool>());
    EXPECT_EQ(ir::weak_scalar(-0.0).name(), "scalar_-0.0");
    EXPECT_EQ(ir::weak_scalar(0.0).name(), "scalar_0.0");
}

TEST(Nodes, OnOtherOperandsKeepNameAndLocationAndFindTheirTypes) {
    const Tensor x = ir::input("x", DType::float32, {3}), y = ir::input("y", DType::float32, {5});
    Tensor sum;
    {
        const ir::LocationScope scope(ir::intern("train.py:12"));
        sum = {ir::with_name(cnp::sin(x).node(), "wave"), 0};
    }
    const Ref<ir::Node> same = ir::with_operands(sum.node(), {cnp::cos(x)});
    EXPECT_EQ(same->name(), "wave");
    EXPECT_EQ(same->location(), "train.py:12");
    EXPECT_EQ(same->shared_types(), sum.node().shared_types());
    EXPECT_EQ(ir::with_operands(sum.node(), {y})->types()[0].shape, ir::Shape{5});
    // A Python number is asked whether it fits whenever it is an operand.
    const Tensor bytes = ir::input("bytes", DType::uint8, {3});
    const Tensor shifted = bytes + 1;
    EXPECT_THROW(ir::with_operands(shifted.node(), {bytes, ir::weak_scalar(int64_t{300})}),
                 OverflowError);
}

TEST(Nodes, OfImpossibleShapesAreRefused) {
    const Tensor a = ir::input("a", DType::float32, {int64_t{1} << 30, 1});
    const Tensor b = ir::input("b", DType::float32, {1, int64_t{1} << 30});
    EXPECT_THROW(a + b, ValueError);
}

TEST(Rows, KeepTheirSpecialisationsForAllThreads) {
    namespace scalar = ir::scalar;
    scalar::Row made;
    made.name = "kept_by_threads";
    made.arity = 2;
    made.types = scalar::types::any;
    made.doc = "a sum";
    made.value = [](const std::vector<scalar::Expr>& x) { return x[0] + x[1]; };
    const auto row = std::make_shared<const scalar::Row>(made);  // in no table: others list those
    const std::vector<DType> dtypes{DType::int8, DType::int32, DType::float32, DType::float64};
    std::vector<const scalar::Specialisation*> found[2];
    {
        std::vector<std::jthread> threads;
        for (auto& of_thread : found)
            threads.emplace_back([&] {
                for (const DType a : dtypes)
                    for (const DType b : dtypes)
                        of_thread.push_back(&scalar::specialise(row, {a, b}));
            });
    }
    EXPECT_EQ(found[0], found[1]);
    for (size_t i = 0; i < found[0].size(); ++i) {
        const DType result = ir::promote(dtypes[i / dtypes.size()], dtypes[i % dtypes.size()]);
        EXPECT_EQ(found[0][i]->signature.result, result);
    }
    EXPECT_THROW(scalar::specialise(row, {DType::int8}), TypeError);
    // What was worked out about a row is not said of its copy.
    scalar::Row copy = *row;
    EXPECT_EQ(copy.memo.find(scalar::RowMemo::key_of(dtypes.data(), 2)), nullptr);
    copy = *scalar::row("exp");
    EXPECT_EQ(copy.memo.attributes(), nullptr);
}

}  // namespace
}  // namespace composit
