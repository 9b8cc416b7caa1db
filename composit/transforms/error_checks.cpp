#include "composit/transforms/error_checks.h"

#include "composit/ir/dtype_traits.h"
#include "composit/ir/operation.h"
#include "composit/ops/components.h"
#include "composit/ops/ops.h"
#include "composit/transforms/loop.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace composit::transforms {
namespace {

using ir::DType;
using ir::Node;
using ir::kernel::Combiner;
using ir::scalar::RowRef;
using Kind = ir::ErrorHandling::Kind;
using Tensors = std::vector<Tensor>;

Tensor both(const Tensor& a, const Tensor& b) { return ops::map("logical_and", {a, b}); }
Tensor negation(const Tensor& a) { return ops::map("logical_not", {a}); }
// Of conditions of which some are absent; absent where all are.
Tensor any_of(const Tensor& a, const Tensor& b) {
    return !a ? b : !b ? a : ops::map("logical_or", {a, b});
}
Tensor all_of(const Tensor& a, const Tensor& b) { return !a ? b : !b ? a : both(a, b); }

Tensor number(DType dtype, double value) { return ir::constant(ir::Array::scalar(dtype, value)); }

ops::Axes all_axes(const Tensor& x) {
    ops::Axes axes(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}
Tensor anywhere(const Tensor& condition) {
    return condition.rank() == 0 ? condition
                                 : ops::reduce(Combiner::any, condition, all_axes(condition));
}

Tensor is_nan(const Tensor& x) { return ops::map("isnan", {x}); }
Tensor is_infinite(const Tensor& x) { return ops::map("isinf", {x}); }
Tensor is_finite(const Tensor& x) { return ops::map("isfinite", {x}); }

bool is_operation(const Node& node, std::string_view name) { return node.operation().name == name; }

std::string name_in_reports(const Node& node) {
    if (is_operation(node, "astype")) return "cast";
    const ir::scalar::Row* row =
        is_operation(node, "map") ? node.attributes().get<RowRef>("row").get() : nullptr;
    if (row && !row->signals.warning.empty()) return row->signals.warning;
    if (node.reported_as()) return *node.reported_as();
    if (is_operation(node, "reduce")) return "reduce";
    if (is_operation(node, "scan")) return "accumulate";
    if (!row) return ir::label(node);
    return row->signals.reported_as.empty() ? row->name : row->signals.reported_as;
}

class Checks {
  public:
    Checks(const Node& node, uint8_t kinds) : node_(node), kinds_(kinds) {}

    bool wants(Kind kind) const { return (kinds_ & kind) != 0; }
    void add(Kind kind, const Tensor& condition) {
        if (condition && wants(kind))
            made_.push_back({name_in_reports(node_), node_.line(), node_.error_handling(), kind,
                             anywhere(condition)});
    }
    std::vector<ErrorCheck> take() { return std::move(made_); }

  private:
    const Node& node_;
    uint8_t kinds_;
    std::vector<ErrorCheck> made_;
};

// Where an operand is at one of the row's poles.
Tensor at_pole(const RowRef& row, const Tensors& x) {
    Tensor result;
    for (const auto& pole : row->signals.poles) {
        const Tensor& operand = x[static_cast<size_t>(pole.operand)];
        result = any_of(result, ops::map("equal", {operand, number(operand.dtype(), pole.at)}));
    }
    return result;
}

Tensor is_normal_number(const Tensor& x) {
    const Tensor magnitude = ops::map("absolute", {x});
    const Tensor least = number(magnitude.dtype(), ir::float_format(x.dtype()).least_normal());
    return both(is_finite(x), ops::map("greater_equal", {magnitude, least}));
}

void check_floats(const RowRef& row, const Tensors& x, const Tensor& y, Checks& checks) {
    if (!row->signals.warning.empty()) return checks.add(Kind::remark, x.back());
    if (row->signals.is_silent) return;
    Tensor has_nan, has_finite;
    for (const Tensor& operand : x) {
        if (!ir::is_inexact(operand.dtype())) continue;
        has_nan = any_of(has_nan, is_nan(operand));
        has_finite = all_of(has_finite, is_finite(operand));
    }
    const Tensor infinite = all_of(is_infinite(y), has_finite);
    if (row->signals.only_at_poles) {
        checks.add(Kind::divide, infinite);
    } else if (const Tensor pole = at_pole(row, x)) {
        checks.add(Kind::divide, both(infinite, pole));
        checks.add(Kind::over, both(infinite, negation(pole)));
    } else {
        checks.add(Kind::over, infinite);
    }
    if (row->signals.may_underflow && checks.wants(Kind::under) && !ir::is_complex(y.dtype())) {
        Tensor tiny = both(negation(is_normal_number(y)), is_finite(y));
        for (const Tensor& operand : x)
            if (ir::is_inexact(operand.dtype()) || x.size() > 1)
                tiny = both(tiny, is_normal_number(ops::astype(operand, y.dtype())));
        checks.add(Kind::under, tiny);
    }
    const bool only_new = has_nan && !row->signals.refuses_nan;
    checks.add(Kind::invalid, only_new ? both(is_nan(y), negation(has_nan)) : is_nan(y));
}

void check_integers(const RowRef& row, const Tensors& x, Checks& checks) {
    const Tensor pole = at_pole(row, x);
    if (!pole) return;
    const DType dtype = x[0].dtype();
    if (!ir::is_integer(dtype)) return;
    if (row->name != "power") checks.add(Kind::divide, pole);
    if (row->name == "reciprocal") checks.add(Kind::invalid, pole);  // infinity becomes an integer
    const bool gives_quotient = row->name == "floor_divide" || row->name == "divmod_quotient";
    if (!gives_quotient || !ir::is_signed_integer(dtype)) return;
    // The one quotient that does not fit: of the least integer and -1.
    const Tensor minus = ops::map("equal", {x[1], number(dtype, -1)});
    const Tensor less_than_zero = ops::map("less", {x[0], number(dtype, 0)});
    const Tensor own_negative = ops::map("equal", {x[0], ops::map("negative", {x[0]})});
    checks.add(Kind::over, both(minus, both(less_than_zero, own_negative)));
}

void check_map(const Node& node, Checks& checks) {
    const auto& row = node.attributes().get<RowRef>("row");
    const ir::scalar::Signature& signature = ops::map_signature(node);
    const Tensor y(Ref<Node>(&node), 0);
    Tensors x;
    for (size_t i = 0; i < signature.operands.size(); ++i)
        x.push_back(ops::astype(node.operand(static_cast<int>(i)), signature.operands[i]));
    if (ir::is_inexact(signature.result)) return check_floats(row, x, y, checks);
    if (ir::is_integer(signature.result)) return check_integers(row, x, checks);
}

// Where a float fits an integer dtype, as the processor's conversion sees it: narrow types go
// through int32, unsigned ones of 32 bits through int64.
Tensor fits(const Tensor& x, DType to) {
    const Tensor wide = ops::astype(x, DType::float64);
    const bool is_wide = ir::size_of(to) == 8 || to == DType::uint32;
    const double above = to == DType::uint64 ? 0x1p64 : is_wide ? 0x1p63 : 0x1p31;
    const Tensor high = ops::map("less", {wide, number(DType::float64, above)});
    const Tensor low = is_wide ? ops::map("greater_equal", {wide, number(DType::float64, -0x1p63)})
                               : ops::map("greater", {wide, number(DType::float64, -0x1p31 - 1)});
    return both(high, low);
}

void check_cast(const Node& node, Checks& checks) {
    const Tensor& x = node.operand(0);
    const Tensor y(Ref<Node>(&node), 0);
    const DType to = y.dtype();
    if (ir::is_integer(to) && ir::is_inexact(x.dtype())) {
        const Tensor real = ir::is_complex(x.dtype()) ? ops::map("real", {x}) : x;
        return checks.add(Kind::invalid, negation(fits(real, to)));
    }
    if (!ir::is_inexact(to) || ir::size_of(to) >= ir::size_of(x.dtype())) return;
    const Tensor infinite = is_infinite(y);
    checks.add(Kind::over, ir::is_inexact(x.dtype()) ? both(infinite, is_finite(x)) : infinite);
    if (!checks.wants(Kind::under) || ir::is_complex(to) || !ir::is_inexact(x.dtype())) return;
    const Tensor changed = ops::map("not_equal", {ops::astype(y, x.dtype()), x});
    checks.add(Kind::under, both(changed, both(is_finite(x), negation(is_normal_number(y)))));
}

// Sums and products of many: whether operands were fit is asked along the same axes.
void check_reduce(const Node& node, Checks& checks) {
    const Tensor& x = node.operand(0);
    const Tensor y(Ref<Node>(&node), 0);
    const auto combiner = static_cast<Combiner>(node.attributes().get<int64_t>("combiner"));
    if (!ir::is_inexact(y.dtype())) return;
    if (combiner != Combiner::sum && combiner != Combiner::product) return;
    const auto among = [&](Combiner how, const Tensor& condition) {
        return ops::reduce(how, condition, node.attributes().get<ops::Axes>("axes"),
                           node.attributes().get<bool>("keepdims"));
    };
    checks.add(Kind::over, both(is_infinite(y), among(Combiner::all, is_finite(x))));
    checks.add(Kind::invalid, both(is_nan(y), negation(among(Combiner::any, is_nan(x)))));
}

// A condition on each sum of a contraction, of a condition on one operand's elements: whether it
// holds for any (or all) of those that the sum reads. Axes that only the other operand has are of
// length 1: `before` of them stand before this operand's own, `behind` of them after.
Tensor of_sums(Combiner how, const Tensor& condition, const ops::Axes& batch,
               const ops::Axes& contracted, size_t before, size_t behind) {
    const ops::Axes own = ops::free_axes(condition, batch, contracted);
    ops::Axes order = batch;
    order.insert(order.end(), own.begin(), own.end());
    order.insert(order.end(), contracted.begin(), contracted.end());
    Tensor result = ops::transpose(condition, order);
    ops::Axes last(contracted.size());
    std::iota(last.begin(), last.end(), static_cast<int64_t>(batch.size() + own.size()));
    if (!last.empty()) result = ops::reduce(how, result, last);
    ir::Shape shape = result.shape();
    shape.insert(shape.begin() + static_cast<long>(batch.size()), before, 1);
    shape.insert(shape.end(), behind, 1);
    return ops::reshape(result, shape);
}

// Sums of products, in the name of the function that made them; others, as NumPy's einsum and
// convolve, say nothing.
void check_contract(const Node& node, Checks& checks) {
    const Tensor &a = node.operand(0), &b = node.operand(1);
    const Tensor y(Ref<Node>(&node), 0);
    if (!node.reported_as() || !ir::is_inexact(y.dtype())) return;
    const ops::Contraction c = ops::contraction_of(node.attributes());
    const size_t rows = ops::free_axes(a, c.batch_a, c.contracted_a).size();
    const size_t columns = ops::free_axes(b, c.batch_b, c.contracted_b).size();
    const auto of_a = [&](Combiner how, const Tensor& condition) {
        return of_sums(how, condition, c.batch_a, c.contracted_a, 0, columns);
    };
    const auto of_b = [&](Combiner how, const Tensor& condition) {
        return of_sums(how, condition, c.batch_b, c.contracted_b, rows, 0);
    };
    const Tensor fit = both(of_a(Combiner::all, is_finite(a)), of_b(Combiner::all, is_finite(b)));
    const Tensor has_nan = any_of(of_a(Combiner::any, is_nan(a)), of_b(Combiner::any, is_nan(b)));
    // NaN of finite operands is a difference of infinities.
    checks.add(Kind::over, both(negation(is_finite(y)), fit));
    checks.add(Kind::invalid, both(is_nan(y), negation(has_nan)));
    if (!checks.wants(Kind::under) || ir::is_complex(y.dtype())) return;
    // Where no product is of different sign a small sum is one of small products.
    const auto sums = [&](const Tensor& left, const Tensor& right) {
        return ops::contract(left, right, c);
    };
    const auto is_factor = [&](const Tensor& x) {
        return ops::astype(ops::map("not_equal", {x, number(x.dtype(), 0)}), DType::float32);
    };
    const Tensor magnitude = sums(ops::map("absolute", {a}), ops::map("absolute", {b}));
    const Tensor is_tiny = both(is_finite(magnitude), negation(is_normal_number(magnitude)));
    const Tensor factors = sums(is_factor(a), is_factor(b));
    checks.add(Kind::under,
               both(is_tiny, ops::map("greater", {factors, number(DType::float32, 0)})));
}

// Determinants: of slogdet's outputs those that the function returns.
void check_determinants(const Node& node, Checks& checks) {
    const Tensor& x = node.operand(0);
    const auto output = [&](int i) { return Tensor(Ref<Node>(&node), i); };
    if (!node.reported_as()) return;
    if (*node.reported_as() == "slogdet")
        return checks.add(Kind::invalid, any_of(is_nan(output(0)), is_nan(output(1))));
    const Tensor value = output(2);
    const Tensor fit = ops::reduce(Combiner::all, is_finite(x), {x.rank() - 2, x.rank() - 1});
    checks.add(Kind::over, both(negation(is_finite(value)), fit));
    checks.add(Kind::invalid, is_nan(value));
    if (!checks.wants(Kind::under) || ir::is_complex(value.dtype())) return;
    const Tensor is_tiny = both(is_finite(value), negation(is_normal_number(value)));
    checks.add(Kind::under, both(is_tiny, is_finite(output(1))));
}

// Sums at places that are given, where a function has asked for reports: which updates went where
// is not followed.
void check_scatter(const Node& node, Checks& checks) {
    const Tensor &x = node.operand(0), &updates = node.operands().back();
    const Tensor y(Ref<Node>(&node), 0);
    if (!node.reported_as() || !node.attributes().get<bool>("add") || !ir::is_inexact(y.dtype()))
        return;
    const Tensor are_finite = negation(anywhere(negation(is_finite(updates))));
    checks.add(Kind::over, both(both(is_infinite(y), is_finite(x)), are_finite));
    const Tensor have_nan = anywhere(is_nan(updates));
    checks.add(Kind::invalid, both(both(is_nan(y), negation(is_nan(x))), negation(have_nan)));
}

// Of what combines elements of several operands in ways that are not followed here: new infinities
// and new NaN.
void check_whole(const Node& node, Checks& checks) {
    const Tensor y(Ref<Node>(&node), 0);
    if (!ir::is_inexact(y.dtype())) return;
    Tensor has_nan, all_finite;
    for (const Tensor& x : node.operands()) {
        if (!ir::is_inexact(x.dtype())) continue;
        has_nan = any_of(has_nan, anywhere(is_nan(x)));
        all_finite = all_of(all_finite, negation(anywhere(negation(is_finite(x)))));
    }
    checks.add(Kind::over, all_of(anywhere(is_infinite(y)), all_finite));
    const Tensor made_nan = anywhere(is_nan(y));
    checks.add(Kind::invalid, has_nan ? both(made_nan, negation(has_nan)) : made_nan);
}

// The loop once more, with a state beside the others for each condition: whether it has held.
std::vector<ErrorCheck> checks_of_loop(const Node& node, uint8_t flagged) {
    const LoopParts parts(node);
    std::vector<ErrorCheck> checks;
    for (const Node* inner : ir::topological_order(parts.body.results))
        for (ErrorCheck& check : error_checks(*inner, flagged)) checks.push_back(std::move(check));
    if (checks.empty()) return {};
    const auto states = static_cast<long>(parts.states);
    auto body = std::make_shared<ir::Body>(parts.body);
    body->name += "_checked";
    Tensors operands = node.operands(), parameters;
    for (ErrorCheck& check : checks) {
        parameters.push_back(ir::input("happened", DType::boolean, {}));
        body->results.push_back(any_of(parameters.back(), check.happened));
    }
    const Tensor no = ir::constant(ir::Array::zeros(DType::boolean, {}));
    operands.insert(operands.begin() + states, checks.size(), no);
    body->parameters.insert(body->parameters.begin() + 1 + states, parameters.begin(),
                            parameters.end());
    const Tensors made = loop(std::move(body), operands, parts.begin, parts.end);
    for (size_t i = 0; i < checks.size(); ++i) checks[i].happened = made[parts.states + i];
    return checks;
}

// Of the kinds that are wanted those that flags of `flagged` kinds admit. NaN are made by invalid
// arithmetic only, infinities by overflows and divisions by zero, but for functions that are
// infinite at poles, which choose both in one go; not of integers, which have conditions of their
// own, of complex and 16-bit numbers, which are computed in others, and of what libraries compute.
uint8_t admitted(const Node& node, uint8_t kinds, uint8_t flagged) {
    const auto is_plain = [](const Tensor& x) {
        return x.dtype() == DType::float32 || x.dtype() == DType::float64;
    };
    if (node.operation().is_opaque() || !is_plain(Tensor(Ref<Node>(&node), 0)) ||
        !std::all_of(node.operands().begin(), node.operands().end(), is_plain))
        return kinds;
    const bool is_map = is_operation(node, "map");
    if (is_map && node.attributes().get<RowRef>("row")->signals.only_at_poles &&
        (flagged & Kind::invalid) != 0)
        flagged |= Kind::divide;
    return kinds & flagged;
}

}  // namespace

std::vector<ErrorCheck> error_checks(const Node& node, uint8_t flagged) {
    if (is_loop(node)) return checks_of_loop(node, flagged);
    if (!node.error_handling()) return {};
    const uint8_t kinds = admitted(node, node.error_handling()->reported(), flagged);
    if (kinds == 0) return {};
    Checks checks(node, kinds);
    if (is_operation(node, "map"))
        check_map(node, checks);
    else if (is_operation(node, "astype"))
        check_cast(node, checks);
    else if (is_operation(node, "reduce"))
        check_reduce(node, checks);
    else if (is_operation(node, "scan"))
        check_whole(node, checks);
    else if (is_operation(node, "contract"))
        check_contract(node, checks);
    else if (is_operation(node, "scatter"))
        check_scatter(node, checks);
    else if (is_operation(node, "slogdet"))
        check_determinants(node, checks);
    return checks.take();
}

}  // namespace composit::transforms
