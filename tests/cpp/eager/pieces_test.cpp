// Pieces of long programs hold whole steps of their loops.
#include "composit/eager/pieces.h"

#include "composit/eager/cell.h"
#include "composit/eager/small.h"
#include "composit/ir/node.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <set>

namespace composit::eager {
namespace {

using ir::DType;

// A loop of steps of five operations on three lines; gives the steps in which a piece ended.
std::vector<int> run_loop(const Ref<Cell>& state, int steps) {
    std::vector<int> ends;
    for (int step = 0; step < steps; ++step) {
        const auto note = [&](const Tensor& made) {
            if (!is_piece_due(made)) return;
            ends.push_back(step);
            compute_piece();
        };
        Tensor x = state->tensor();
        {
            const ir::LocationScope line(ir::intern("loop.py:1"));
            x = ops::map("sin", {x});
            note(x);
            x = x * 0.5;
            note(x);
        }
        const ir::LocationScope line(ir::intern("loop.py:2"));
        x = x + ops::map("tanh", {state->tensor()});
        note(x);
        state->replace(x);
    }
    return ends;
}

TEST(Pieces, HoldWholeSteps) {
    begin_piece();
    const Ref<Cell> state = Cell::make(numpy::full({100}, 0.25, DType::float64));
    const std::vector<int> ends = run_loop(state, 3000);
    ASSERT_GT(ends.size(), 5u);
    std::set<int> lengths;
    for (size_t k = 2; k < ends.size(); ++k) lengths.insert(ends[k] - ends[k - 1]);
    EXPECT_EQ(lengths.size(), 1u);
    // All but the last part of the loop is known.
    int depth = 0;
    for (Tensor x = state->tensor(); !known(x); x = x.node().operand(0)) ++depth;
    EXPECT_LT(depth, 4 * *lengths.begin() + 8);

    begin_piece();
    const Ref<Cell> looked = Cell::make(numpy::full({100}, 0.25, DType::float64));
    for (int step = 0; step < 3000; ++step) {
        EXPECT_TRUE(run_loop(looked, 1).empty());
        look({looked->tensor()});
    }
    const Array a = look({state->tensor()})[0], b = look({looked->tensor()})[0];
    for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(a.data_as<double>()[i], b.data_as<double>()[i]);
}

TEST(Pieces, WaitForLooksAtLargeArrays) {
    begin_piece();
    const Ref<Cell> state = Cell::make(numpy::full({20000}, 0.25, DType::float64));
    run_loop(state, 600);
    int depth = 0;
    for (Tensor x = state->tensor(); !known(x); x = x.node().operand(0)) ++depth;
    EXPECT_GE(depth, 600);
}

}  // namespace
}  // namespace composit::eager
