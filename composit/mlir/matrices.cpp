// Systems of equations, inverses and determinants: Gauss and Jordan's elimination as a loop, with
// the greatest pivot of each column, as StableHLO has no operation for them.
#include "composit/ops/matrices.h"

#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::mlir {
namespace {

using Tensors = std::vector<Tensor>;

Tensor integer(int64_t value) {
    return ir::constant(ir::Array::of<int64_t>(DType::int64, {}, {value}));
}
Tensor row_of(const Tensor& x) {  // (b, k) -> (b, 1, k)
    return ops::reshape(x, {x.shape()[0], 1, x.shape()[1]});
}
Tensor column_of(const Tensor& x) {
    Shape shape = x.shape();
    shape.push_back(1);
    return ops::reshape(x, shape);
}

// The state after one step: the matrices (b, n, k), of whose column i only row i is left, a 1; the
// sign, the logarithm of the magnitude, and the product of the pivots, with the swaps of rows.
Tensors after_one_pivot(const Tensor& i, const Tensors& state) {
    const Tensor& w = state[0];
    const int64_t batch = w.shape()[0], n = w.shape()[1];
    const Tensor rows = ops::iota({1, n}, 1);
    const Tensor sizes = ops::map("absolute", {ops::gather(w, {i}, {2})});
    const Tensor is_left = ops::map("greater_equal", {rows, i});
    const Tensor none = ops::astype(integer(-1), sizes.dtype());
    const Tensor place =
        ops::reduce(ops::Combiner::argmax, ops::map("where", {is_left, sizes, none}), {1}, true);
    const Tensor is_here = ops::map("equal", {rows, i});
    const Tensor order = ops::map(
        "where", {is_here, place, ops::map("where", {ops::map("equal", {rows, place}), i, rows})});
    const Tensor swapped = ops::gather(w, {ops::iota({batch, 1}, 0), order}, {0, 1});
    const Tensor first = ops::gather(swapped, {i}, {1});
    const Tensor pivot = ops::gather(first, {i}, {1});
    const Tensor scaled = row_of(ops::map("divide", {first, column_of(pivot)}));
    const Tensor factors = column_of(ops::gather(swapped, {i}, {2}));
    const Tensor rest = ops::map("subtract", {swapped, ops::map("multiply", {factors, scaled})});
    const Tensor is_row = ops::reshape(is_here, {1, n, 1});
    const Tensor is_swap = ops::map("not_equal", {ops::reshape(place, {batch}), i});
    const Tensor one = ops::astype(integer(1), w.dtype());
    const Tensor turn = ops::map("where", {is_swap, ops::map("negative", {one}), one});
    const Tensor signed_pivot = ops::map("multiply", {pivot, turn});
    return {ops::map("where", {is_row, scaled, rest}),
            ops::map("multiply", {state[1], ops::map("sign", {signed_pivot})}),
            ops::map("add", {state[2], ops::map("log", {ops::map("absolute", {pivot})})}),
            ops::map("multiply", {state[3], signed_pivot})};
}

// The matrices [a | b] (…, n, k) after all steps: [1 | a⁻¹ b]; signs, logarithms and determinants.
Tensors eliminated(const Tensor& joined) {
    const int64_t n = ops::rows(joined), k = ops::columns(joined);
    const Shape outer = ops::batch_of(joined);
    const int64_t batch = ir::element_count(outer);
    const DType dtype = joined.dtype(), real = ir::real_part_of(dtype);
    const Tensor one = ops::astype(integer(1), dtype), zero = ops::astype(integer(0), real);
    const Tensors initial{ops::reshape(joined, {batch, n, k}), ops::full({batch}, one),
                          ops::full({batch}, zero), ops::full({batch}, one)};
    auto body = std::make_shared<ir::Body>();
    body->name = "pivot";
    body->parameters.push_back(ir::input("i", DType::int64, {}));
    Tensors state;
    for (const Tensor& x : initial) {
        state.push_back(ir::input("state", x.dtype(), x.shape()));
        body->parameters.push_back(state.back());
    }
    body->results = after_one_pivot(body->parameters[0], state);
    Tensors made = transforms::loop(body, initial, 0, n);
    Shape shape = outer;
    shape.insert(shape.end(), {n, k});
    made[0] = ops::reshape(made[0], shape);
    for (size_t s = 1; s < made.size(); ++s) made[s] = ops::reshape(made[s], outer);
    return made;
}

Tensors placeholders_for(const Values& x) {
    Tensors made;
    for (const Value& each : x) made.push_back(ir::input("x", each.dtype, each.shape));
    return made;
}

Values solution(GraphPrinter& printer, const Values& x) {
    const Tensors given = placeholders_for(x);
    const int64_t n = ops::rows(given[0]);
    const Tensor joined =
        ops::concatenate({given[0], given[1]}, static_cast<int64_t>(x[0].shape.size()) - 1);
    return printer.made_of({ops::columns_of(eliminated(joined)[0], n, ops::columns(given[1]))},
                           given, x);
}

Values inverse(GraphPrinter& printer, const Values& x) {
    const Tensors given = placeholders_for(x);
    const int64_t n = ops::rows(given[0]);
    const Tensor joined = ops::concatenate({given[0], ops::identity_like(given[0])},
                                           static_cast<int64_t>(x[0].shape.size()) - 1);
    return printer.made_of({ops::columns_of(eliminated(joined)[0], n, n)}, given, x);
}

Values determinants(GraphPrinter& printer, const Values& x) {
    const Tensors given = placeholders_for(x);
    const Tensors made = eliminated(given[0]);
    return printer.made_of({made[1], made[2], made[3]}, given, x);
}

// Under the operation's name: who has a better way than an elimination takes it.
PrintRule named_rule(const char* name, Values (*rule)(GraphPrinter&, const Values&)) {
    return [name, rule](GraphPrinter& printer, const Node&, const Values& x) {
        return printer.composite(name, "", x,
                                 [&](const Values& inside) { return rule(printer, inside); });
    };
}

}  // namespace

void add_matrix_rules(PrintRules& rules) {
    rules["solve"] = named_rule("solve", solution);
    rules["inv"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        const bool or_nan = node.attributes().get<bool>("nan_if_singular");
        return named_rule(or_nan ? "inv_or_nan" : "inv", inverse)(printer, node, x);
    };
    rules["slogdet"] = named_rule("slogdet", determinants);
}

}  // namespace composit::mlir
