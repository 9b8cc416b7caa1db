// Maps become one where one reads what the other writes at the same place, and only there. That
// bits stay equal is for random_graphs_test and schedules_test.
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

namespace composit::transforms {
namespace {

using ir::DType;
using ir::Shape;
using ir::kernel::BufferKind;
using ir::kernel::Map;
using ir::kernel::Program;

Program merged(const Shape& shape, const Function& function) {
    const std::vector<Tensor> inputs = {ir::input("x", DType::float32, shape)};
    return merge_maps(lower(simplify(function(inputs)), inputs, {}).program, {});
}

size_t temporaries(const Program& program) {
    size_t count = 0;
    for (const auto& buffer : program.buffers) count += buffer.kind == BufferKind::temporary;
    return count;
}

TEST(MergeMaps, AResultThatAnotherReadsIsStoredOnTheWay) {
    const Program program = merged({100, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{y, ops::map("tanh", {y})};
    });
    ASSERT_EQ(program.kernels.size(), 1U) << ir::kernel::print(program);
    EXPECT_EQ(std::get<Map>(program.kernels[0].body).outputs.size(), 2U);
    EXPECT_EQ(program.outputs.size(), 2U);
}

TEST(MergeMaps, ATemporaryThatNobodyElseReadsIsGone) {
    const Program program = merged({100, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{ops::map("tanh", {y}) + y * y};
    });
    ASSERT_EQ(program.kernels.size(), 1U) << ir::kernel::print(program);
    EXPECT_EQ(std::get<Map>(program.kernels[0].body).outputs.size(), 1U);
    EXPECT_EQ(temporaries(program), 0U);
}

TEST(MergeMaps, ATemporaryThatAnotherKernelReadsStays) {
    const Program program = merged({100, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{ops::map("tanh", {y}), numpy::sum(y, {{0}})};
    });
    ASSERT_EQ(program.kernels.size(), 2U) << ir::kernel::print(program);
    EXPECT_EQ(temporaries(program), 1U);
}

TEST(MergeMaps, ReadersOfOneArrayShareALoop) {
    const Program program = merged({100, 30}, [](const auto& x) {
        return std::vector{ops::map("exp", {x[0]}), ops::map("tanh", {x[0]})};
    });
    ASSERT_EQ(program.kernels.size(), 1U) << ir::kernel::print(program);
    const auto& map = std::get<Map>(program.kernels[0].body);
    EXPECT_EQ(map.inputs.size(), 1U);
    EXPECT_EQ(map.outputs.size(), 2U);
}

TEST(MergeMaps, ReadersOfOneArrayInAnotherOrderDoNot) {
    const Program program = merged({30, 30}, [](const auto& x) {
        return std::vector{ops::map("exp", {x[0]}), ops::map("tanh", {numpy::transpose(x[0])})};
    });
    EXPECT_EQ(program.kernels.size(), 2U) << ir::kernel::print(program);
}

TEST(MergeMaps, ReadersOfOtherElementsWait) {
    const Program program = merged({30, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{y, y + numpy::transpose(y)};
    });
    EXPECT_EQ(program.kernels.size(), 2U) << ir::kernel::print(program);
}

TEST(MergeMaps, WhatAKernelBetweenThemMakesIsWaitedFor) {
    const Program program = merged({100, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{y / numpy::sum(y, {{-1}}, {}, true)};
    });
    EXPECT_EQ(program.kernels.size(), 3U) << ir::kernel::print(program);
}

TEST(MergeMaps, ResultsOfOtherWidthsKeepALoopOfTheirOwn) {
    const Program program = merged({100, 30}, [](const auto& x) {
        const Tensor y = ops::map("exp", {x[0]});
        return std::vector{y, ops::astype(y * y + y, DType::float64)};
    });
    EXPECT_EQ(program.kernels.size(), 2U) << ir::kernel::print(program);
}

}  // namespace
}  // namespace composit::transforms
