// Reductions: by a combiner where the region is one, else pair by pair.
#include "composit/jax/rules.h"
#include "composit/mlir/region_bodies.h"

#include <algorithm>

namespace composit::mlir {
namespace {

using ir::kernel::Combiner;

// (a, i, b, j) -> whether a is taken, and i: JAX's region of argmax ("greater") and argmin.
Tensors jaxs_position(const char* direction, const Tensors& v) {
    const Tensor wins =
        row("bitwise_or", {row(direction, {v[0], v[2]}), row("not_equal", {v[0], v[0]})});
    const Tensor ties = row("bitwise_and", {row("equal", {v[0], v[2]}), row("less", {v[1], v[3]})});
    return {wins, row("bitwise_or", {wins, ties})};
}

// composit's own.
Tensors own_position(const char* direction, const Tensors& v) {
    Tensor wins = row(direction, {v[0], v[2]}), ties = row("equal", {v[0], v[2]});
    if (ir::is_floating(v[0].dtype())) {
        const Tensor a_is_nan = row("not_equal", {v[0], v[0]}),
                     b_is_nan = row("not_equal", {v[2], v[2]});
        wins = row("bitwise_or", {wins, row("bitwise_and", {a_is_nan, row("invert", {b_is_nan})})});
        ties = row("bitwise_or", {ties, row("bitwise_and", {a_is_nan, b_is_nan})});
    }
    wins = row("bitwise_or", {wins, row("bitwise_and", {ties, row("less", {v[1], v[3]})})});
    return {wins, wins};
}

// The extreme whose first place the region finds.
std::optional<Combiner> position_of(const ScalarBody& body) {
    if (body.parameters.size() != 4 || body.results.size() != 2) return {};
    const Tensors& p = body.parameters;
    if (p[0].dtype() != p[2].dtype() || p[1].dtype() != p[3].dtype() ||
        !ir::is_integer(p[1].dtype()) || ir::is_complex(p[0].dtype()))
        return {};
    for (const auto& [direction, combiner] :
         {std::pair("greater", Combiner::argmax), std::pair("less", Combiner::argmin)}) {
        for (const auto& formula : {jaxs_position, own_position}) {
            const bool is_value = is_same(body.results[0], p, [&](const Tensors& v) {
                return row("where", {formula(direction, v)[0], v[0], v[2]});
            });
            if (is_value && is_same(body.results[1], p, [&](const Tensors& v) {
                    return row("where", {formula(direction, v)[1], v[1], v[3]});
                }))
                return combiner;
        }
    }
    return {};
}

// The axes behind the others, as one.
Tensor with_axes_last(const Tensor& x, const Axes& axes) {
    Axes order;
    Shape shape;
    int64_t length = 1;
    for (int64_t d = 0; d < x.rank(); ++d) {
        if (std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
        order.push_back(d);
        shape.push_back(x.shape()[static_cast<size_t>(d)]);
    }
    for (const int64_t d : axes) {
        order.push_back(d);
        length *= x.shape()[static_cast<size_t>(d)];
    }
    shape.push_back(length);
    return ops::reshape(ops::transpose(x, order), shape);
}

void check_reduced(const Site& site, const Axes& axes) {
    const size_t count = site.x.size() / 2;
    site.check(count > 0 && site.x.size() == 2 * count, "it has ", site.x.size(),
               " operands. Tensors and what each begins with are required.");
    for (size_t k = 0; k < count; ++k) {
        const Tensor &x = site.x[k], &initial = site.x[count + k];
        site.check<TypeError>(
            x.shape() == site.x[0].shape() && initial.rank() == 0 && initial.dtype() == x.dtype(),
            "it reduces ", x.type(), " from ", initial.type(),
            " on. Equal shapes, and a number of the same dtype for each, are "
            "required.");
    }
    site.checked_axes(axes, site.x[0].rank(), "dimensions");
}

// Where a region finds a place among all along one axis.
std::optional<Tensors> positions(const Site& site, const ScalarBody& body, const Axes& axes) {
    if (site.x.size() != 4 || axes.size() != 1) return {};
    const Tensor& x = site.x[0];
    const auto combiner = position_of(body);
    if (!combiner || !is_neutral(site.x[2], *combiner)) return {};
    if (x.shape()[static_cast<size_t>(axes[0])] == 0) return {};
    const DType dtype = site.x[1].dtype();
    const bool counts = is_same(site.x[1], {}, [&](const Tensors&) {
        return ops::astype(ops::iota(x.shape(), axes[0]), dtype);
    });
    if (!counts) return {};
    const bool is_greatest = *combiner == Combiner::argmax;
    return Tensors{
        ops::astype(ops::reduce(is_greatest ? Combiner::maximum : Combiner::minimum, x, axes),
                    x.dtype()),
        ops::astype(ops::reduce(*combiner, x, axes), dtype)};
}

Tensors reduced(const Site& site) {
    const Axes axes = site.integers({"dimensions"});
    check_reduced(site, axes);
    const ScalarBody body = scalar_body(site, 0);
    const size_t count = site.x.size() / 2;
    site.check(body.parameters.size() == 2 * count && body.results.size() == count,
               "its region takes ", body.parameters.size(), " numbers and makes ",
               body.results.size(), ". ", 2 * count, " and ", count, " are required.");
    check_numbers(site, body,
                  {site.x.begin(), site.x.begin() + static_cast<std::ptrdiff_t>(count)});
    if (const auto made = positions(site, body, axes)) return *made;
    const Tensor& x = site.x[0];
    const auto name = count == 1 ? row_of(body) : std::nullopt;
    const auto combiner = name ? combiner_of_row(*name, x.dtype()) : std::nullopt;
    bool is_empty = false;
    for (const int64_t axis : axes)
        is_empty = is_empty || x.shape()[static_cast<size_t>(axis)] == 0;
    if (combiner && !is_empty) {
        const Tensor made = axes.empty() ? x : ops::reduce(*combiner, x, axes);
        const Tensor same = ops::astype(made, x.dtype());
        if (is_neutral(site.x[1], *combiner)) return {same};
        return {ops::map(*name, {ops::full(same.shape(), site.x[1]), same})};
    }
    Tensors rows;
    for (size_t k = 0; k < count; ++k) rows.push_back(with_axes_last(site.x[k], axes));
    const Tensors initial(site.x.begin() + static_cast<std::ptrdiff_t>(count), site.x.end());
    return folded(site, 0, std::move(rows), initial);
}

}  // namespace

void add_reduction_loads(LoadRules& rules) { rules["stablehlo.reduce"] = reduced; }

}  // namespace composit::mlir
