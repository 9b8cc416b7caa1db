// Dtypes are found by trying: what a function does with an integer is known when it has been given
// a float.
//
// Source: NEP 50, https://numpy.org/neps/nep-0050-scalar-promotion.html
#include "composit/cg/numbers.h"

#include "composit/base/error.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/node_state.h"
#include "composit/ir/body.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/row.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace composit::cg {
namespace {

using ir::DType;

bool is_weak(const Tensor& x) { return x.type().weak; }

// What the function makes of the tensors; empty where it refuses them.
Tensor accepted(const OfTensors& compute, const Tensors& tensors) {
    try {
        return compute(tensors);
    } catch (const TypeError&) {
    } catch (const ValueError&) {
    } catch (const IndexError&) {
    } catch (const NotSupported&) {
    }
    return {};
}

using Places = std::vector<size_t>;

// With those of `instead` at these places, one by one, that the function takes, and by which its
// dtype stays if that is wanted.
void try_instead(const OfTensors& compute, Applied& applied, const Tensors& instead,
                 const Places& places, bool is_dtype_kept) {
    for (const size_t i : places) {
        Tensors trial = applied.operands;
        trial[i] = instead[i];
        const Tensor made = accepted(compute, trial);
        if (made && (!is_dtype_kept || made.dtype() == applied.made.dtype()))
            applied = {made, std::move(trial)};
    }
}

using NodeSet = std::unordered_set<const ir::Node*>;

NodeSet nodes_of(const Tensors& tensors) {
    NodeSet nodes;
    for (const Tensor& x : tensors) nodes.insert(&x.node());
    return nodes;
}

// The nodes that the tensors are computed from, up to the ends, by those that count.
template <class Counts>
NodeSet reached(const Tensors& made, const NodeSet& ends, const Counts& counts) {
    NodeSet seen;
    std::vector<const ir::Node*> waiting;
    for (const Tensor& x : made) waiting.push_back(&x.node());
    while (!waiting.empty()) {
        const ir::Node* const node = waiting.back();
        waiting.pop_back();
        if (!counts(*node) || !seen.insert(node).second || ends.contains(node)) continue;
        for (const Tensor& operand : node->operands()) waiting.push_back(&operand.node());
    }
    return seen;
}

bool counts_always(const ir::Node&) { return true; }

bool has_floats(const ir::Node& node) {
    return std::ranges::any_of(node.types(),
                               [](const auto& type) { return ir::is_inexact(type.dtype); });
}

// Whether a row rounds, which has the derivative 0 before it is cast.
bool is_rounded(const ir::Node& node) {
    const ir::Attribute* const row = node.attributes().find("row");
    const auto* const found = row ? std::get_if<ir::scalar::RowRef>(row) : nullptr;
    if (!found) return false;
    const std::string& name = (*found)->name;
    return name == "ceil" || name == "floor" || name == "rint" || name == "trunc";
}

// Whether the function takes floats in these places, and casts nothing that it computes of them to
// integers.
bool takes_numbers(const OfTensors& compute, const Tensors& tensors, const Places& places) {
    Tensors given = tensors, leaves;
    for (const size_t i : places) leaves.push_back(tensors[i]);
    leaves = apart_from(leaves);
    for (size_t i = 0; i < places.size(); ++i) given[places[i]] = leaves[i];
    const Tensor made = accepted(compute, given);
    if (!made) return false;
    const NodeSet ends = nodes_of(leaves);
    const Tensors inlined = transforms::inline_calls({made});
    for (const ir::Node* const node : reached(inlined, ends, counts_always)) {
        if (!ops::is_astype(*node) || !ir::is_integer(node->types()[0].dtype)) continue;
        const Tensor& cast = node->operand(0);
        const bool is_float = ir::is_floating(cast.dtype()) && !ir::is_extension(cast.dtype());
        if (!is_float || is_rounded(cast.node())) continue;
        for (const ir::Node* const source : reached({cast}, ends, has_floats))
            if (ends.contains(source)) return false;
    }
    return true;
}

// Integers as float64; weak ones stay weak.
Tensor as_float(const Tensor& x) {
    if (!is_weak(x)) return ops::astype(x, DType::float64);
    const ir::Array value = numpy::concrete("as_numbers", "a number", numpy::strong(x));
    const Tensor made = ir::constant(value);
    const ir::Array wide =
        numpy::concrete("as_numbers", "a number", ops::astype(made, DType::float64));
    return ir::weak_scalar(*wide.data_as<double>());
}

Tensors floated(const Tensors& tensors, const Places& places) {
    Tensors result = tensors;
    for (const size_t i : places) result[i] = as_float(tensors[i]);
    return result;
}

}  // namespace

Applied applied_to_numbers(const OfTensors& compute, const Tensors& tensors,
                           const std::vector<bool>& are_numbers, std::optional<size_t> promoted) {
    const size_t count = std::min(promoted.value_or(tensors.size()), tensors.size());
    std::vector<bool> take_dtype(tensors.size());
    Tensors others;
    for (size_t i = 0; i < count; ++i) {
        const Tensor& x = tensors[i];
        take_dtype[i] = are_numbers[i] && x.rank() == 0 && !is_weak(x);
        if (!take_dtype[i] && !is_weak(x)) others.push_back(x);
    }
    Applied applied{{}, tensors};
    Places integers;
    for (size_t i = 0; i < count; ++i) {
        if (!take_dtype[i]) continue;
        applied.operands[i] = beside(tensors[i], others);
        if (applied.operands[i] != tensors[i] && ir::is_integer(tensors[i].dtype()))
            integers.push_back(i);
    }
    const auto where = [&](bool is_integer) {
        Places places;
        for (const size_t i : integers)
            if (ir::is_integer(applied.operands[i].dtype()) == is_integer) places.push_back(i);
        return places;
    };
    const auto with_integers_kept = [&]() -> bool {
        Tensors kept = applied.operands;
        for (const size_t i : integers) kept[i] = tensors[i];
        const Tensor made = integers.empty() ? Tensor() : accepted(compute, kept);
        if (!made) return false;
        const Tensors instead = applied.operands;
        const Places places = where(false);
        applied = {made, kept};
        try_instead(compute, applied, instead, places, false);
        return true;
    };
    applied.made = integers.empty() ? Tensor() : accepted(compute, applied.operands);
    if (!applied.made) {
        if (with_integers_kept()) return applied;
        applied.made = compute(applied.operands);  // which says why not
    }
    // Of float operands the number is a float; of integers it may be wider than their dtype.
    try_instead(compute, applied, tensors, where(true), true);
    return applied;
}

Tensors as_numbers(const OfTensors& compute, const Tensors& tensors,
                   const std::vector<bool>& are_free) {
    Places places;
    for (size_t i = 0; i < tensors.size(); ++i)
        if ((are_free.empty() || are_free[i]) && ir::is_integer(tensors[i].dtype()))
            places.push_back(i);
    if (places.empty()) return tensors;
    Tensors all = floated(tensors, places);
    if (takes_numbers(compute, all, places)) return all;
    Tensors kept = tensors;
    for (const size_t i : places) {
        Tensors trial = floated(kept, {i});
        if (takes_numbers(compute, trial, {i})) kept = std::move(trial);
    }
    return kept;
}

Tensors apart_from(const Tensors& tensors, const std::vector<bool>& are_known) {
    Tensors result = tensors;
    for (size_t i = 0; i < tensors.size(); ++i)
        if (!is_weak(tensors[i]) && (are_known.empty() || !are_known[i]))
            result[i] = ir::input(text("x", i), tensors[i].dtype(), tensors[i].shape());
    return result;
}

std::vector<bool> are_reached(const Tensors& made, const Tensors& ends) {
    const NodeSet all = reached(made, nodes_of(ends), counts_always);
    std::vector<bool> result;
    for (const Tensor& x : ends) result.push_back(all.contains(&x.node()));
    return result;
}

Tensor jacobian_at(const OfTensors& compute, const Tensors& given, size_t place,
                   const std::string& function, const std::string& name,
                   const std::vector<bool>& are_known) {
    std::vector<bool> are_free = are_known;
    are_free.flip();
    const Tensors numbers = as_numbers(compute, given, are_free);
    const Tensors apart = apart_from(numbers, are_known);
    const Tensor made = compute(apart);
    check_differentiable(function, name, apart[place], made);
    return ir::substitute(jacobians(made, {apart[place]}), apart, numbers)[0];
}

void check_differentiable(const std::string& function, const std::string& name, const Tensor& x,
                          const Tensor& result) {
    const auto check = [&](bool holds, const auto&... what) {
        user_check<TypeError>(holds, function, " has no derivative with respect to '", name,
                              "': the ", what...);
    };
    check(!ir::is_complex(result.dtype()), "result is ", result.dtype(),
          ". A result of real numbers is required (op.real, op.imag).");
    constexpr auto required =
        ", and cannot be taken as numbers. A floating or complex dtype is required.";
    check(ir::is_inexact(x.dtype()), "input '", name, "' is ", x.dtype(), required);
    check(ir::is_inexact(result.dtype()), "result is ", result.dtype(), required);
}

}  // namespace composit::cg
