// Regions compared with formulas, and applied to many elements.
#include "composit/mlir/region_bodies.h"

#include "composit/functional/functional.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/tracing.h"
#include "composit/jax/rules.h"
#include "composit/ops/components.h"

#include <algorithm>
#include <cstring>

namespace composit::mlir {
namespace {

using ir::kernel::Combiner;

Tensors joined_lists(Tensors a, const Tensors& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Constants in the order of the walk.
std::vector<ir::Array> constants_of(const Tensors& roots) {
    std::vector<ir::Array> all;
    for (const ir::Node* node : ir::topological_order(roots))
        if (ir::is_constant(*node)) all.push_back(ir::constant_value(*node));
    return all;
}

bool have_equal_bytes(const ir::Array& a, const ir::Array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace

ScalarBody scalar_body(const Site& site, size_t region) {
    const ir::TraceScope scope;
    ScalarBody body;
    for (const syntax::Type& type : site.region_arguments(region)) {
        site.check(type.kind == syntax::Type::Kind::tensor && type.tensor.shape.empty(),
                   "a region takes ", syntax::type_text(type),
                   ". Tensors without dimensions are required.");
        body.parameters.push_back(ir::input("x", type.tensor.dtype, {}));
    }
    body.results = site.run(region, body.parameters);
    return body;
}

void check_numbers(const Site& site, const ScalarBody& body, const Tensors& x) {
    for (size_t i = 0; i < body.parameters.size(); ++i)
        site.check<TypeError>(body.parameters[i].dtype() == x[i % x.size()].dtype(),
                              "its region takes ", body.parameters[i].type(), " for elements of ",
                              x[i % x.size()].type(), ". Equal dtypes are required.");
}

bool is_same(const Tensor& result, const Tensors& parameters, const GraphFormula& made) {
    const ir::TraceScope scope;
    const Tensor other = made(parameters);
    return ir::same_structure({result}, parameters, {other}, parameters) &&
           std::ranges::equal(constants_of(joined_lists(parameters, {result})),
                              constants_of(joined_lists(parameters, {other})), have_equal_bytes);
}

std::optional<std::string> row_of(const ScalarBody& body) {
    if (body.parameters.size() != 2 || body.results.size() != 1) return {};
    const ir::Node& node = body.results[0].node();
    if (!ops::is_map(node) || node.operands().size() != 2) return {};
    const Tensor &a = body.parameters[0], &b = body.parameters[1];
    const std::string& row = ops::specialisation_of(node).row->name;
    if (node.operand(0) == a && node.operand(1) == b) return row;
    constexpr std::string_view symmetric[] = {"add",         "multiply",   "maximum",    "minimum",
                                              "bitwise_and", "bitwise_or", "bitwise_xor"};
    const bool is_turned = node.operand(0) == b && node.operand(1) == a;
    if (is_turned && std::ranges::find(symmetric, row) != std::end(symmetric)) return row;
    return {};
}

std::optional<Combiner> combiner_of_row(std::string_view row, DType dtype) {
    if (dtype == DType::boolean) {
        if (row == "add" || row == "maximum" || row == "bitwise_or") return Combiner::any;
        if (row == "multiply" || row == "minimum" || row == "bitwise_and") return Combiner::all;
        return {};
    }
    if (row == "add") return Combiner::sum;
    if (row == "multiply") return Combiner::product;
    if (ir::is_complex(dtype)) return {};
    if (row == "maximum") return Combiner::maximum;
    if (row == "minimum") return Combiner::minimum;
    return {};
}

bool is_neutral(const Tensor& x, Combiner combiner) {
    if (x.node().is_open()) return false;
    Tensor wanted;
    switch (combiner) {
        case Combiner::sum:
        case Combiner::any: wanted = jax::number(x.dtype(), 0); break;
        case Combiner::product:
        case Combiner::all: wanted = jax::number(x.dtype(), 1); break;
        case Combiner::maximum:
        case Combiner::argmax: wanted = jax::extreme(x.dtype(), true); break;
        default: wanted = jax::extreme(x.dtype(), false);
    }
    const std::vector<ir::Array> values = execute::evaluate_and_keep({x, wanted});
    return have_equal_bytes(values[0], values[1]);
}

Tensors for_elements(const Site& site, size_t region, const Tensors& x) {
    const Shape shape = x[0].shape();
    Tensors flat;
    for (const Tensor& each : x) flat.push_back(ops::reshape(each, {each.size()}));
    const Tensors made =
        vmap_function([&](const Tensors& numbers) { return site.run(region, numbers); }, flat,
                      InAxes(flat.size(), 0));
    Tensors results;
    for (const Tensor& each : made) results.push_back(ops::reshape(each, shape));
    return results;
}

Tensors folded(const Site& site, size_t region, Tensors x, const Tensors& initial) {
    const size_t rank = x[0].shape().size(), last = rank - 1;
    const Shape kept(x[0].shape().begin(), x[0].shape().end() - 1);
    const auto every = [&](const Tensor& each, int64_t start, int64_t count, int64_t step) {
        Axes starts(rank, 0), lengths = each.shape(), steps(rank, 1);
        starts[last] = start;
        lengths[last] = count;
        steps[last] = step;
        return ops::slice(each, starts, lengths, steps);
    };
    Tensors first;
    for (const Tensor& each : initial) first.push_back(ops::full(kept, each));
    if (x[0].shape()[last] == 0 || ir::element_count(kept) == 0) return first;
    while (x[0].shape()[last] > 1) {
        const int64_t length = x[0].shape()[last], half = length / 2;
        Tensors pairs;
        for (const Tensor& each : x) pairs.push_back(every(each, 0, half, 2));
        for (const Tensor& each : x) pairs.push_back(every(each, 1, half, 2));
        Tensors made = for_elements(site, region, pairs);
        site.check(made.size() == x.size(), "its region returns ", made.size(), " values for ",
                   x.size(), ". As many are required.");
        for (size_t k = 0; k < x.size(); ++k)
            x[k] = length % 2 == 0 ? made[k]
                                   : ops::concatenate({made[k], every(x[k], length - 1, 1, 1)},
                                                      static_cast<int64_t>(last));
    }
    Tensors pairs = first;
    for (const Tensor& each : x) pairs.push_back(ops::reshape(each, kept));
    return for_elements(site, region, pairs);
}

}  // namespace composit::mlir
