// Nodes that are made when somebody asks for them are the ones that would have been made at once.
#include "composit/eager/deferred.h"

#include "../numpy/values.h"
#include "composit/eager/cell.h"
#include "composit/eager/history.h"
#include "composit/eager/loops.h"
#include "composit/eager/small.h"
#include "composit/eager/small_arrays.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <bit>
#include <cmath>
#include <limits>

namespace composit::eager {
namespace {

using ir::scalar::table_row;
using numpy::expect_error;
using Values = std::vector<double>;

Tensor line(const Values& values) {
    const auto count = static_cast<int64_t>(values.size());
    return ir::constant(Array::of<double>(DType::float64, {count}, values), "line");
}
Values values_of(const Tensor& tensor) {
    const Array value = look({tensor})[0];
    return Values(value.data_as<double>(), value.data_as<double>() + value.size());
}
Ref<Deferred> applied(const char* row, const Ref<Deferred>& a, const Ref<Deferred>& b) {
    return Deferred::applied(table_row(row), a, b);
}
Ref<Deferred> number(double value) { return Deferred::literal(value); }

TEST(Deferred, becomes_the_graph_that_would_have_been_made) {
    const ir::LocationScope scope(ir::intern("here.py:3"));
    const Tensor base = line({1, 2, 3});
    const Ref<Cell> cell = Cell::make(base);
    const Ref<Deferred> x = cell->element(1);
    ASSERT_TRUE(x);
    const Ref<Deferred> y = applied("add", applied("multiply", x, number(0.5)), x);
    EXPECT_EQ(y->number<double>(), 3);
    EXPECT_FALSE(x->is_made());
    const uint64_t made = ir::nodes_made();
    const Tensor at_once =
        ops::map("add", {ops::map("multiply", {ops::element(base, {1}), ir::weak_scalar(0.5)}),
                         ops::element(base, {1})});
    EXPECT_EQ(y->tensor().node().structural_hash(), at_once.node().structural_hash());
    EXPECT_EQ(y->tensor().node().location(), "here.py:3");
    EXPECT_LE(y->tensor().node().number(), made);  // as old as the number is
    EXPECT_EQ(&y->tensor().node().operand(1).node(), &x->tensor().node());
    EXPECT_EQ(values_of(y->tensor()), Values{3});
    EXPECT_EQ(*execute::evaluate({y->tensor()})[0].data_as<double>(), 3);
}

TEST(Deferred, computes_as_kernels_do) {
    const double inputs[] = {0,    -0.0, 1,     -1,   0.5,  -2.5,  3,
                             1e16, 1e-3, -1e10, 7.25, -0.1, 1e300, -1e300};
    for (const char* row : {"add", "subtract", "multiply", "divide", "floor_divide", "remainder",
                            "less", "greater_equal", "equal", "not_equal", "maximum", "arctan2"})
        for (const double a : inputs)
            for (const double b : inputs) {
                const Ref<Deferred> x =
                    Deferred::of(ir::constant(Array::scalar(DType::float64, a)));
                const Ref<Deferred> found = applied(row, x, number(b));
                ASSERT_TRUE(found) << row;
                const Array value =
                    execute::evaluate({ops::map(row, {x->tensor(), ir::weak_scalar(b)})})[0];
                uint64_t bits = 0;
                std::memcpy(&bits, value.data(), static_cast<size_t>(value.bytes()));
                EXPECT_EQ(found->bits(), bits) << row << " " << a << " " << b;
            }
    const int64_t integers[] = {0,
                                1,
                                -1,
                                7,
                                -7,
                                3,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
    for (const char* row : {"add", "subtract", "multiply", "divide", "floor_divide", "remainder",
                            "less_equal", "bitwise_and", "minimum"})
        for (const int64_t a : integers)
            for (const int64_t b : integers) {
                if (b == 0 && (row[0] == 'f' || row[0] == 'r')) continue;
                const Tensor left = ir::constant(Array::of<int64_t>(DType::int64, {}, {a}));
                const Ref<Deferred> found = applied(row, Deferred::of(left), Deferred::literal(b));
                ASSERT_TRUE(found) << row;
                const Array value =
                    execute::evaluate({ops::map(row, {left, ir::weak_scalar(b)})})[0];
                uint64_t bits = 0;
                std::memcpy(&bits, value.data(), static_cast<size_t>(value.bytes()));
                EXPECT_EQ(found->bits(), bits) << row << " " << a << " " << b;
            }
}

class Reporting : public ir::ErrorHandling {
  public:
    Reporting() : ErrorHandling(divide | over | under | invalid) {}
    void report(const std::string&, uint8_t, ir::Interned) const override {}
};

TEST(Deferred, leaves_what_is_to_be_reported_to_plans) {
    static const Reporting all;
    const Ref<Deferred> zero = Deferred::of(ir::constant(Array::scalar(DType::float64, 0)));
    EXPECT_TRUE(applied("divide", number(1), zero));  // nobody wants to hear of it
    const ir::LocationScope scope(nullptr, &all);
    EXPECT_FALSE(applied("divide", number(1), zero));
    const Ref<Deferred> tiny = Deferred::of(ir::constant(Array::scalar(DType::float64, 1e-200)));
    EXPECT_FALSE(applied("multiply", tiny, tiny));
    EXPECT_TRUE(applied("add", tiny, tiny));
    const double infinity = std::numeric_limits<double>::infinity();
    const Ref<Deferred> endless =
        Deferred::of(ir::constant(Array::scalar(DType::float64, infinity)));
    EXPECT_TRUE(applied("add", endless, number(1)));  // no flag is raised
    EXPECT_FALSE(applied("subtract", endless, endless));
    EXPECT_FALSE(applied("bitwise_and", zero, number(1)));  // there is no such loop
    const Tensor small = ir::constant(Array::of<int8_t>(DType::int8, {}, {1}));
    EXPECT_FALSE(applied("add", Deferred::of(small), Deferred::literal(int64_t{300})));
}

TEST(Deferred, writes_leave_values_where_they_are) {
    const Ref<Cell> cell = Cell::make(line({1, 2, 3}) + 0.5);
    const void* const memory = look({cell->tensor()})[0].data();
    for (int64_t i = 0; i < 3; ++i)
        EXPECT_TRUE(cell->write_element(i, applied("multiply", cell->element(2 - i), number(2))));
    ASSERT_TRUE(cell->written_values());
    EXPECT_EQ(cell->written_values().row_major().get(), memory);
    const Tensor written = cell->tensor();
    EXPECT_FALSE(cell->written_values());
    EXPECT_EQ(written.node().operation().name, "with_element");
    EXPECT_EQ(known(written).row_major().get(), memory);
    EXPECT_EQ(values_of(written), (Values{7, 5, 14}));
    // The graph says the same.
    EXPECT_EQ(*execute::evaluate({ops::element(written, {2})})[0].data_as<double>(), 14);
    const Tensor g = transforms::vjp({ops::element(written, {2})},
                                     {ir::constant(Array::scalar(DType::float64, 1))},
                                     {written.node().operand(1)})[0];
    EXPECT_EQ(values_of(g), Values{1});
}

TEST(Deferred, views_have_paths_when_somebody_asks) {
    const Ref<Cell> root = Cell::make(numpy::reshape(line({0, 1, 2, 3, 4, 5, 6, 7}), {4, 2}) * 1.0);
    look({root->tensor()});
    const Ref<Cell> rows = Cell::make_view(BasicPart{{1, 0}, {3, 2}, {1, 1}, {true, true}}, root);
    ASSERT_TRUE(rows);
    const Ref<Cell> column =
        Cell::make_view(BasicPart{{0, 1}, {2, 1}, {2, 1}, {true, false}}, rows);
    ASSERT_TRUE(column);
    EXPECT_EQ(column->type().shape, ir::Shape{2});
    EXPECT_EQ(column->element(1)->number<double>(), 7);
    EXPECT_TRUE(column->write_element(1, number(9)));
    EXPECT_EQ(rows->element(5)->number<double>(), 9);
    EXPECT_EQ(column->strides(), Strides{4});
    EXPECT_EQ(values_of(column->tensor()), (Values{3, 9}));
    root->replace(numpy::zeros({4, 2}, DType::float64));
    EXPECT_EQ(values_of(column->tensor()), (Values{0, 0}));
    const Ref<Cell> unknown = Cell::make(numpy::zeros({4, 2}, DType::float64) + 1);
    EXPECT_FALSE(Cell::make_view(BasicPart{{0, 0}, {4, 1}, {1, 1}, {true, false}}, unknown));
}

TEST(SmallArrays, are_computed_without_nodes) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}));
    const auto sum = applied_to_small(table_row("add"), {{x.get(), {}}, {nullptr, number(0.5)}});
    ASSERT_TRUE(sum);
    const Ref<Cell> y = Cell::make_known(sum->now, sum->values);
    const auto product = applied_to_small(table_row("multiply"), {{x.get(), {}}, {y.get(), {}}});
    y->replace_known(product->now, product->values);
    EXPECT_TRUE(y->written_values());
    EXPECT_EQ(values_of(y->tensor()), (Values{1.5, 5, 10.5}));
    EXPECT_EQ(execute::evaluate({y->tensor() + 0})[0].data_as<double>()[2], 10.5);
    const auto stack = stacked({y->element(0), number(2), Deferred::literal(int64_t{3})});
    const Ref<Cell> z = Cell::make_known(stack->now, stack->values);
    EXPECT_TRUE(z->write_element(1, z->element(2)));
    EXPECT_EQ(values_of(z->tensor()), (Values{1.5, 3, 3}));
    EXPECT_EQ(values_of(stack->now->tensor()), (Values{1.5, 2, 3}));
    const Ref<Cell> column = Cell::make(numpy::reshape(line({1, 2, 3}), {3, 1}));
    look({column->tensor()});
    EXPECT_EQ(
        applied_to_small(table_row("less"), {{column.get(), {}}, {x.get(), {}}})->values.shape(),
        (ir::Shape{3, 3}));
    const Ref<Cell> two = Cell::make(line({1, 2}));
    EXPECT_FALSE(applied_to_small(table_row("add"), {{two.get(), {}}, {x.get(), {}}}));
    const Ref<Cell> many = Cell::make(line(Values(33, 1.0)));
    EXPECT_FALSE(applied_to_small(table_row("add"), {{many.get(), {}}, {x.get(), {}}}));
}

class ForgottenNumbers : public testing::Test {
  protected:
    void SetUp() override { set_most_history_nodes(400); }
    void TearDown() override { set_most_history_nodes(100'000); }
    static double gradient(const Ref<Deferred>& y, const Tensor& x) {
        const Tensor one = ir::constant(Array::scalar(DType::float64, 1));
        return *look({transforms::vjp({y->tensor()}, {one}, {x})[0]})[0].data_as<double>();
    }
};

TEST_F(ForgottenNumbers, old_numbers_are_leaves_and_new_ones_exact) {
    const Ref<Cell> x = Cell::make(line({2, 3}));
    const Tensor start = x->tensor();
    Ref<Deferred> y = x->element(0);
    const Ref<Deferred> other = x->element(1);
    for (int i = 0; i < 5000; ++i) {
        y = applied("add", applied("multiply", y, number(0.5)), number(1));
        shorten_history();
    }
    EXPECT_LE(history_nodes(), 500);
    EXPECT_EQ(y->number<double>(), 2);
    const Ref<Deferred> late = applied("multiply", y, other);
    EXPECT_EQ(gradient(late, other->tensor()), 2);
    expect_error<ValueError>([&] { gradient(late, start); }, "more than 400 nodes");
}

TEST_F(ForgottenNumbers, arrays_hold_what_they_held) {
    const Ref<Cell> a = Cell::make(line({1, 2, 3, 4}) * 1.0);
    look({a->tensor()});
    std::vector<std::pair<Ref<Deferred>, double>> kept;
    Values expected = {1, 2, 3, 4};
    for (int64_t i = 0; i < 3000; ++i) {
        const auto to = static_cast<size_t>(i % 4), from = static_cast<size_t>((i + 1) % 4);
        expected[to] = expected[from] * 0.75 + 1;
        const Ref<Deferred> read = a->element(static_cast<int64_t>(from));
        a->write_element(static_cast<int64_t>(to),
                         applied("add", applied("multiply", read, number(0.75)), number(1)));
        if (i % 7 == 0 && i > 2900) kept.emplace_back(a->element(2), expected[2]);
        shorten_history();
    }
    EXPECT_EQ(values_of(a->tensor()), expected);
    int exact = 0;
    for (const auto& [element, value] : kept) {
        EXPECT_EQ(element->number<double>(), value);
        const ir::Node& node = element->tensor().node();
        if (node.operation().name != "element") continue;  // it is forgotten itself
        // Computed from the history that is there.
        ++exact;
        const Tensor there = ops::element(node.operand(0), {2});
        EXPECT_EQ(*execute::evaluate({there})[0].data_as<double>(), value);
    }
    EXPECT_GT(exact, 3);
}

}  // namespace
}  // namespace composit::eager
