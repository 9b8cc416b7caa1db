// map: a row of the scalar table applied elementwise under broadcasting and promotion; and astype.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/ir/scalar/convert.h"
#include "composit/ir/scalar/slopes.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/lift.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <unordered_map>

namespace composit::ops {

using ir::scalar::Expr;
using ir::scalar::RowRef;
using ir::scalar::Specialisation;

Shape broadcast_shapes(std::string_view function, const std::vector<Shape>& shapes) {
    Shape result;
    for (const Shape& shape : shapes) {
        if (shape.size() > result.size())
            result.insert(result.begin(), shape.size() - result.size(), 1);
        const size_t extra = result.size() - shape.size();
        for (size_t d = 0; d < shape.size(); ++d) {
            int64_t& length = result[extra + d];
            if (length == shape[d] || shape[d] == 1) continue;
            if (length == 1) {
                length = shape[d];
                continue;
            }
            std::vector<std::string> texts;
            for (const Shape& s : shapes) texts.push_back(tuple_text(s));
            fail<ValueError>(function, ": operands could not be broadcast together with shapes ",
                             join(texts, " "),
                             ". Lengths must be equal, or 1, from the last axis backwards.");
        }
    }
    return result;
}

namespace {

// The rows of kernels have a point in their names, "relu3.kernel": errors say what is called.
std::string_view called_name(const RowRef& row) {
    return std::string_view(row->name).substr(0, row->name.find('.'));
}

bool fits(const Tensor& scalar, DType dtype) {
    if (!ir::is_integer(dtype) || !ir::is_constant(scalar.node())) return true;
    const int64_t value = *ir::constant_value(scalar.node()).data_as<int64_t>();
    const int bits = 8 * ir::size_of(dtype);
    if (ir::is_unsigned_integer(dtype))
        return value >= 0 && (bits >= 63 || value < (int64_t{1} << bits));
    return bits == 64 ||
           (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1)));
}

// The dtypes of the operands with weak ones made strong; `dtypes` has room for them.
void find_strong_dtypes(const RowRef& row, const std::vector<Tensor>& operands,
                        std::span<DType> dtypes) {
    bool any_strong = false, any_weak = false;
    DType strong = DType::boolean;
    for (size_t i = 0; i < operands.size(); ++i) {
        const TensorType& type = operands[i].type();
        dtypes[i] = type.dtype;
        any_weak = any_weak || type.weak;
        if (type.weak) continue;
        strong = any_strong ? ir::promote(strong, type.dtype) : type.dtype;
        any_strong = true;
    }
    if (!any_weak) return;
    for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i].type().weak && any_strong) dtypes[i] = strengthened(dtypes[i], strong);
    for (size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].type().weak || operands[i].dtype() != DType::int64 ||
            fits(operands[i], dtypes[i]))
            continue;
        // Comparisons with a Python integer of any size are exact in NumPy; other loops of integers
        // refuse it.
        const auto loop = row->types(row->name, {dtypes.begin(), dtypes.end()});
        if (!ir::is_integer(loop.operands[i])) continue;
        if (loop.result != DType::boolean)
            fail<OverflowError>(called_name(row), ": Python integer ",
                                *ir::constant_value(operands[i].node()).data_as<int64_t>(),
                                " out of bounds for ", dtypes[i], ", the dtype of operand ", i,
                                ".");
        dtypes[i] = DType::int64;
    }
}

const Specialisation& specialisation_of(const RowRef& row, const std::vector<Tensor>& operands) {
    std::array<DType, 8> few;
    std::vector<DType> many;
    if (operands.size() > few.size()) many.resize(operands.size());
    const std::span<DType> dtypes =
        many.empty() ? std::span(few).first(operands.size()) : std::span(many);
    find_strong_dtypes(row, operands, dtypes);
    try {
        return ir::scalar::specialise(row, dtypes);
    } catch (const NotSupported& error) {  // of an operation within the row's definition
        rethrow_as(called_name(row), error);
    }
}

Shape broadcast_shape_of(const RowRef& row, const std::vector<Tensor>& operands) {
    const Shape* longest = &operands[0].shape();
    for (const Tensor& x : operands)
        if (x.shape().size() > longest->size()) longest = &x.shape();
    Shape result = *longest;
    bool is_possible = true;
    for (const Tensor& x : operands) {
        const size_t extra = result.size() - x.shape().size();
        for (size_t d = 0; d < x.shape().size(); ++d) {
            int64_t& length = result[extra + d];
            if (length == 1) length = x.shape()[d];
            is_possible = is_possible && (x.shape()[d] == length || x.shape()[d] == 1);
        }
    }
    if (is_possible) return result;
    std::vector<Shape> shapes;
    for (const Tensor& x : operands) shapes.push_back(x.shape());
    return broadcast_shapes(called_name(row), shapes);  // says what is wrong
}

void check_arity(const RowRef& row, const std::vector<Tensor>& operands) {
    if (static_cast<int>(operands.size()) != row->arity)
        fail<TypeError>(called_name(row), ": ", operands.size(), " operands given. ", row->arity,
                        " required.");
}

std::vector<TensorType> infer_map(const std::vector<Tensor>& operands,
                                  const Attributes& attributes) {
    const RowRef& row = attributes.get<RowRef>("row");
    check_arity(row, operands);
    const DType dtype = specialisation_of(row, operands).signature.result;
    return {{broadcast_shape_of(row, operands), dtype}};
}

// Operands whose shape broadcasting cannot change: all of one shape, or of one shape and of no
// dimensions. The one with that shape; null where it takes more to find out.
const Tensor* shape_of_all(const std::vector<Tensor>& operands) {
    const Tensor* widest = &operands[0];
    for (const Tensor& x : operands)
        if (x.rank() > widest->rank()) widest = &x;
    for (const Tensor& x : operands)
        if (x.rank() != 0 && x.shape() != widest->shape()) return nullptr;
    return widest;
}

// What infer_map finds, mostly without memory for it: a chain's nodes share their types.
ir::SharedTypes types_of(const RowRef& row, const std::vector<Tensor>& operands) {
    const Tensor* widest = shape_of_all(operands);
    const DType dtype = specialisation_of(row, operands).signature.result;
    Shape shape;
    if (!widest) shape = broadcast_shape_of(row, operands);
    const Shape& found = widest ? widest->shape() : shape;
    for (const Tensor& x : operands) {
        const TensorType& type = x.type();
        if (type.dtype == dtype && !type.weak && x.node().output_count() == 1 &&
            type.shape == found)
            return x.node().shared_types();
    }
    ir::check_shape(called_name(row), found);
    return std::make_shared<const ir::HashedTypes>(std::vector<TensorType>{{found, dtype}});
}

const ir::SharedAttributes& attributes_of(const RowRef& row) {
    if (const ir::SharedAttributes* kept = row->memo.attributes()) return *kept;
    return row->memo.keep(ir::shared({{"row", row}}));
}

// What operand i receives as one map of its own; `values` are the row's operands, result and
// gradient.
Tensor pulled_back(const RowRef& row, const std::vector<DType>& dtypes, int i,
                   const std::vector<Tensor>& values) {
    const ir::scalar::Pullback pullback = ir::scalar::pullback_row(row, dtypes, i);
    std::vector<Tensor> operands;
    for (const int use : pullback.uses) operands.push_back(values[static_cast<size_t>(use)]);
    return map(pullback.row, operands);
}

std::vector<Tensor> vjp_map(const Node& node, const std::vector<Tensor>& gradients,
                            const std::vector<bool>& wanted) {
    const RowRef& row = node.attributes().get<RowRef>("row");
    const auto& signature = specialisation_of(row, node.operands()).signature;
    std::vector<Tensor> result(node.operands().size());
    if (!ir::is_inexact(signature.result) || !gradients[0]) return result;

    std::vector<Expr> x;
    std::vector<Tensor> values;
    for (size_t i = 0; i < node.operands().size(); ++i) {
        x.push_back(Expr::argument(static_cast<int>(i), signature.operands[i]));
        values.push_back(astype(node.operands()[i], signature.operands[i]));
    }
    const int n = static_cast<int>(x.size());
    const Expr y = Expr::argument(n, signature.result), g = Expr::argument(n + 1, signature.result);
    values.emplace_back(Ref<Node>(&node), 0);
    values.push_back(gradients[0]);
    for (int i = 0; i < n; ++i) {
        const Tensor& operand = node.operand(i);
        if (!wanted[static_cast<size_t>(i)] || !ir::is_inexact(operand.dtype())) continue;
        const Expr slope = ir::scalar::pull_back(row, x, y, g, i);
        if (!slope) continue;
        Tensor lifted;
        if (!slope.is_product_with(g)) lifted = lift(slope, values);
        if (!lifted) lifted = pulled_back(row, signature.operands, i, values);
        const Tensor full = broadcast_to(lifted, node.types()[0].shape);
        result[static_cast<size_t>(i)] =
            astype(sum_to_shape(full, operand.shape()), operand.dtype());
    }
    return result;
}

void lower_map(const Node& node, ir::Lowering& lowering) {
    const RowRef& row = node.attributes().get<RowRef>("row");
    const auto& signature = specialisation_of(row, node.operands()).signature;
    std::vector<Nest> nests;
    for (size_t i = 0; i < node.operands().size(); ++i)
        nests.push_back(
            broadcast(lowering.operand(static_cast<int>(i)), node.types()[0].shape, lowering));
    lowering.result(0, combine(nests, [&](std::vector<Expr> values) {
                        for (size_t i = 0; i < values.size(); ++i)
                            values[i] = Expr::cast(values[i], signature.operands[i]);
                        return Expr::call(row, values);
                    }));
}

// Operands line up from the last axis backwards, so a batched one gets axes of length 1 after its
// leading one.
std::vector<Tensor> batch_map(const Node& node, const std::vector<Tensor>& operands,
                              const Batched& batched, int64_t) {
    const int rank = static_cast<int>(node.types()[0].shape.size());
    std::vector<Tensor> aligned;
    for (size_t i = 0; i < operands.size(); ++i)
        aligned.push_back(batched[i] ? with_rank(operands[i], rank) : operands[i]);
    return {map(node.attributes().get<RowRef>("row"), aligned)};
}

std::vector<Tensor> batch_astype(const Node& node, const std::vector<Tensor>& x, const Batched&,
                                 int64_t) {
    return {astype(x[0], node.types()[0].dtype)};
}

const ir::Operation& map_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "map",
        .doc = "A row of the scalar table applied to every element, under broadcasting.",
        .infer = infer_map,
        .vjp = vjp_map,
        .batch = batch_map,
        .lower = lower_map,
        .by_components = map_by_components,
        .label = [](const Node& node) { return node.attributes().get<RowRef>("row")->name; },
        .check =
            [](const std::vector<Tensor>&, const Attributes& attributes) {
                ir::checked_attribute<RowRef>("map", attributes, "row");
            },
    });
    return operation;
}

const ir::Operation& astype_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "astype",
        .doc = "Elements converted to another dtype.",
        .infer = [](const std::vector<Tensor>& x, const Attributes& attributes)
            -> std::vector<TensorType> { return {{x[0].shape(), attributes.get<DType>("dtype")}}; },
        .vjp = [](const Node& node, const std::vector<Tensor>& g,
                  const std::vector<bool>&) -> std::vector<Tensor> {
            const DType from = node.operand(0).dtype();
            if (!ir::is_inexact(from) || !ir::is_inexact(node.types()[0].dtype)) return {Tensor()};
            return {astype(g[0], from)};
        },
        .batch = batch_astype,
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                lowering.result(0, combine({lowering.operand(0)}, [&](const std::vector<Expr>& x) {
                                    return ir::scalar::convert(x[0], node.types()[0].dtype);
                                }));
            },
        .by_components = astype_by_components,
        .check = check_astype,
    });
    return operation;
}

}  // namespace

DType strengthened(DType weak, DType strong) {
    if (ir::is_complex(weak))
        return ir::is_inexact(strong) ? ir::promote(strong, DType::complex64) : DType::complex128;
    if (ir::is_floating(weak)) return ir::is_inexact(strong) ? strong : DType::float64;
    if (ir::is_integer(weak)) return strong == DType::boolean ? DType::int64 : strong;
    return DType::boolean;
}

bool is_map(const Node& node) { return &node.operation() == &map_operation(); }
bool is_astype(const Node& node) { return &node.operation() == &astype_operation(); }

const ir::scalar::Specialisation& map_specialisation(const Node& node) {
    return specialisation_of(node.attributes().get<RowRef>("row"), node.operands());
}

const ir::scalar::Signature& map_signature(const Node& node) {
    return specialisation_of(node.attributes().get<RowRef>("row"), node.operands()).signature;
}

const Specialisation& specialisation_of(const Node& node) {
    return specialisation_of(node.attributes().get<RowRef>("row"), node.operands());
}

Tensor map(const RowRef& row, std::vector<Tensor> operands) {
    check_arity(row, operands);
    ir::SharedTypes types = types_of(row, operands);
    return {ir::make_typed_node(map_operation(), std::move(operands), attributes_of(row),
                                std::move(types)),
            0};
}

Tensor map(std::string_view row_name, std::vector<Tensor> operands) {
    return map(ir::scalar::row(row_name), std::move(operands));
}

Tensor astype(const Tensor& x, DType dtype) {
    if (x.dtype() == dtype && !x.type().weak) return x;
    static const auto& attributes = *new auto([] {
        std::array<ir::SharedAttributes, ir::dtype_count> all;
        for (int d = 0; d < ir::dtype_count; ++d)
            all[static_cast<size_t>(d)] = ir::shared({{"dtype", static_cast<DType>(d)}});
        return all;
    }());
    return {ir::make_node(astype_operation(), {x}, attributes[static_cast<size_t>(dtype)]), 0};
}

void register_map() {
    map_operation();
    astype_operation();
}

}  // namespace composit::ops
