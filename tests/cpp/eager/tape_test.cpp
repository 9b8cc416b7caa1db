// The tape: walks, version counters, saved values, gradients through it.
#include "composit/eager/tape.h"

#include "../numpy/values.h"
#include "composit/eager/nan_gradients.h"
#include "composit/eager/saved_values.h"
#include "composit/eager/tape_gradients.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/functions.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using numpy::expect_values;

Tensor three(double a, double b, double c) {
    return ir::constant(Array::of<double>(DType::float64, {3}, {a, b, c}));
}

// A leaf that holds what a cell holds.
class LeafOfCell final : public Leaf {
  public:
    explicit LeafOfCell(Ref<Cell> cell) : cell(std::move(cell)) {}
    Tensor now() const override { return cell->tensor(); }
    const Ref<Cell> cell;
};

struct Held {
    Ref<Cell> cell;
    Ref<VersionCounter> counter = VersionCounter::make();
    Ref<Leaf> leaf = {};
    const Record* record = nullptr;

    Savable savable() const { return {cell->tensor(), cell, leaf, counter, record}; }
};

Held leaf_of(const Tensor& values) {
    Held made{Cell::make(values)};
    made.leaf = Ref<Leaf>(new LeafOfCell(made.cell));
    return made;
}

Ref<Record> record_of(std::string_view operation, std::vector<Ref<TapeNode>> operands) {
    return Record::make(ir::intern(record_name(operation)), std::move(operands));
}
Ref<TapeNode> node(const Held& held) { return Ref<TapeNode>(held.leaf.get()); }
Ref<TapeNode> node(const Ref<Record>& record) { return Ref<TapeNode>(record.get()); }

TEST(Tape, names_of_records_are_pytorchs) {
    EXPECT_EQ(record_name("mul"), "MulBackward0");
    EXPECT_EQ(record_name("log_softmax"), "LogSoftmaxBackward0");
    EXPECT_EQ(record_name("__and__"), "AndBackward0");
    EXPECT_EQ(record_name("linalg_LU"), "LinalgLuBackward0");
}

TEST(Tape, counters_are_of_memories) {
    const Ref<VersionCounter> x = VersionCounter::make();
    const Ref<VersionCounter> data = VersionCounter::make_uncounted(x);
    const Ref<VersionCounter> of_data = VersionCounter::make_uncounted(data);
    x->count();
    data->count();
    of_data->count();
    EXPECT_EQ(x->version(), 1);
    EXPECT_EQ(data->version(), 1);
    EXPECT_EQ(x->writes(), 3);
    EXPECT_EQ(of_data->writes(), 3);
    const Ref<VersionCounter> other = VersionCounter::make();
    other->count();
    x->move_into(other);
    EXPECT_EQ(x->version(), 1);
    EXPECT_EQ(x->writes(), 4);  // it was given another memory: more than before
    other->count();
    EXPECT_EQ(x->writes(), 5);
    x->count();
    EXPECT_EQ(x->version(), 2);
    EXPECT_EQ(other->version(), 2);
    EXPECT_EQ(other->writes(), 6);
    other->move_into(x);  // of its own memory
    EXPECT_EQ(other->writes(), 6);
}

TEST(Tape, a_walk_meets_each_record_and_leaf_once) {
    const Held x = leaf_of(three(1, 2, 3)), y = leaf_of(three(4, 5, 6));
    const Ref<Record> product = record_of("mul", {node(x), node(y)});
    const Ref<Record> sum = record_of("add", {node(product), nullptr, node(x)});
    const Below found = below({node(sum), node(product), nullptr});
    ASSERT_EQ(found.records.size(), 2u);
    EXPECT_EQ(found.records[0], product);  // the last operand comes first
    EXPECT_EQ(found.records[1], sum);
    ASSERT_EQ(found.leaves.size(), 2u);
    EXPECT_EQ(found.leaves[0], y.leaf);
    EXPECT_EQ(found.leaves[1], x.leaf);
}

TEST(Tape, what_is_freed_is_an_error) {
    const Held x = leaf_of(three(1, 2, 3));
    const Ref<Record> sine = record_of("sin", {node(x)});
    const Ref<Record> sum = record_of("sum", {node(sine)});
    for (const Ref<Record>& record : below({node(sum)}).records) record->free();
    EXPECT_TRUE(sine->is_freed());
    expect_error<RuntimeError>([&] { static_cast<void>(below({node(sum)})); },
                               "Trying to backward through the graph a second time. Its records "
                               "were freed by backward(); retain_graph=True keeps them.");
}

TEST(Tape, a_result_that_retains_its_gradient_is_a_leaf_while_it_lives) {
    const Held x = leaf_of(three(1, 2, 3));
    Held result = leaf_of(three(0, 0, 0));
    const Ref<Record> sine = record_of("sin", {node(x)});
    sine->retain_gradient_of(*result.leaf);
    EXPECT_EQ(below({node(sine)}).leaves.size(), 2u);
    EXPECT_TRUE(Reaching({node(result)})(*sine));
    result.leaf = nullptr;
    EXPECT_EQ(below({node(sine)}).leaves.size(), 1u);
}

TEST(Tape, long_chains_end_without_recursion) {
    const Held x = leaf_of(three(1, 2, 3));
    Ref<Record> last = record_of("neg", {node(x)});
    for (int i = 0; i < 300'000; ++i) last = record_of("neg", {node(last)});
    EXPECT_EQ(below({node(last)}).records.size(), 300'001u);
    EXPECT_TRUE(Reaching({node(x)})(*last));
    last = nullptr;
    // Freed from its end, too.
    last = record_of("neg", {node(x)});
    for (int i = 0; i < 300'000; ++i) last = record_of("neg", {node(last)});
    last->free();
    EXPECT_TRUE(last->operands().empty());
}

TEST(Tape, reaching_says_which_records_lead_to_something) {
    const Held x = leaf_of(three(1, 2, 3)), y = leaf_of(three(4, 5, 6));
    const Ref<Record> of_x = record_of("sin", {node(x)}), of_y = record_of("cos", {node(y)});
    const Ref<Record> both = record_of("add", {node(of_x), node(of_y)});
    const Reaching to_y({node(y)}), to_record({node(of_x)});
    EXPECT_TRUE(to_y(*both));
    EXPECT_FALSE(to_y(*of_x));
    EXPECT_TRUE(to_record(*both));
    EXPECT_TRUE(to_record(*of_x));
    EXPECT_FALSE(to_record(*of_y));
}

TEST(Tape, a_saved_value_that_was_written_is_pytorchs_error) {
    const Held x = leaf_of(three(1, 2, 3)), y = leaf_of(three(4, 5, 6));
    Held result{Cell::make(x.cell->tensor() * y.cell->tensor())};
    const Ref<Record> made = record_of("mul", {node(x), node(y)});
    save_values(*made, {{{0, x.savable(), true}, {1, y.savable(), true}}, {result.savable()}});
    ASSERT_EQ(made->saved().size(), 2u);
    check_saved({made});
    y.counter->count();
    expect_error<RuntimeError>(
        [&] { check_saved({made}); },
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.DoubleTensor [3]] is at version 1; expected version 0 instead. Hint: "
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True).");
    const Reaching elsewhere({node(leaf_of(three(0, 0, 0)))});
    check_saved({made}, &elsewhere);  // no gradient goes through it
}

TEST(Tape, what_an_operation_saves_depends_on_what_needs_a_gradient) {
    const Held x = leaf_of(three(1, 2, 3)), y = leaf_of(three(4, 5, 6));
    const auto saved = [&](std::string_view operation, bool x_needs, bool y_needs,
                           std::vector<std::pair<int, Argument>> arguments = {}) {
        const Ref<Record> made = record_of(operation, {});
        save_values(*made, {{{0, x.savable(), x_needs}, {1, y.savable(), y_needs}},
                            {Held{Cell::make(three(0, 0, 0))}.savable()},
                            std::move(arguments)});
        return made->saved().size();
    };
    EXPECT_EQ(saved("mul", true, false), 1u);
    EXPECT_EQ(saved("add", true, true), 0u);
    EXPECT_EQ(saved("exp", true, false), 1u);
    EXPECT_EQ(saved("pow", true, false), 3u);
    EXPECT_EQ(saved("max", true, true), 2u);
    EXPECT_EQ(saved("pad", true, false, {{2, std::string("reflect")}}), 1u);
    EXPECT_EQ(saved("pad", true, false, {{2, std::string("constant")}}), 0u);
    const Ref<Record> made = record_of("geqrf", {node(x)});
    save_values(*made, {{{0, x.savable(), true}}, {}});
    expect_error<RuntimeError>([&] { check_saved({made}); },
                               "the derivative for 'Geqrf: input' is not implemented.");
}

TEST(Tape, an_operation_in_place_moves_its_result) {
    const Held x = leaf_of(three(1, 2, 3));
    Held target{Cell::make(three(0, 0, 0))}, result{Cell::make(numpy::exp(x.cell->tensor()))};
    const Ref<Record> made = record_of("exp", {node(x)});
    save_values(*made, {{{0, target.savable(), true}}, {result.savable()}});
    target.cell->replace(result.cell->tensor());
    target.counter->count();
    moved_into(*made, target.savable());
    check_saved({made});
    target.counter->count();
    expect_error<RuntimeError>([&] { check_saved({made}); }, "is at version 2; expected version 1");
}

TEST(Tape, gradients_are_of_what_was_read_and_of_what_is_there) {
    const Held x = leaf_of(three(1, 2, 3)), y = leaf_of(three(4, 5, 6));
    x.leaf->readings().note(x.leaf->now());
    y.leaf->readings().note(y.leaf->now());
    const Tensor product = x.cell->tensor() * y.cell->tensor();
    const Ref<Record> made = record_of("mul", {node(x), node(y)});
    save_values(*made, {{{0, x.savable(), true}, {1, y.savable(), true}}, {{}}});
    y.cell->replace(three(7, 8, 9));  // through .data
    VersionCounter::make_uncounted(y.counter)->count();
    check_saved({made});
    const Below found = below({node(made)});
    const std::vector<Tensor> flows = {three(1, 1, 1)};
    const std::vector<Tensor> gradient =
        gradients(chain_rule_of(flows), {product},
                  {{x.leaf->now(), x.leaf}, {y.leaf->now(), y.leaf}}, found.records);
    expect_values<double>(gradient[0], {3}, {7, 8, 9});
    expect_values<double>(gradient[1], {3}, {1, 2, 3});
    // Of no leaf: what it held before has no part in it.
    expect_values<double>(
        gradients(chain_rule_of(flows), {product}, {{y.leaf->now(), nullptr}}, {})[0], {3},
        {0, 0, 0});
}

TEST(Tape, an_output_that_flows_into_itself_is_no_one) {
    const Tensor x = three(1, 2, 3), y = x * 2;
    expect_values<double>(chain_rule_of({y})({y}, {x})[0], {3}, {4, 8, 12});
}

TEST(tape, the_first_gradient_that_is_nan_is_found) {
    const Tensor x = three(1, 0, 4);
    const Tensor root = numpy::apply("sqrt", {x * 0.0});
    const Tensor sum = numpy::sum(root);
    const Tensor one = ir::constant(Array::of<double>(DType::float64, {}, {1}));
    const auto found = first_nan_gradient({sum}, {one}, {x});
    ASSERT_TRUE(found);  // infinity times zero
    EXPECT_EQ(found->operation, "multiply");
    EXPECT_EQ(found->operand, 0U);
    EXPECT_FALSE(first_nan_gradient({numpy::sum(x * x)}, {one}, {x}));
}

}  // namespace
}  // namespace composit::eager
