// Reductions of windows, and what gradients of pools are.
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/region_bodies.h"

#include <algorithm>
#include <numeric>

namespace composit::mlir {
namespace {

using ir::kernel::Combiner;

// What an operation's attributes say of windows, as JAX's primitives name it.
struct Windowing {
    Axes window, strides, base_dilation, window_dilation, padding;  // (low, high) for each axis

    Windowing(const Site& site, size_t rank) {
        const Axes ones(rank, 1);
        window = site.integers({"window_dimensions"});
        strides = site.integers_or({"window_strides"}, ones);
        base_dilation = site.integers_or({"base_dilations"}, ones);
        window_dilation = site.integers_or({"window_dilations"}, ones);
        padding = site.integers_or({"padding"}, Axes(2 * rank, 0));
        check(site, rank);
    }

    // Of operands in that order.
    Windowing(const Site& site, size_t rank, const Tensor* operands) {
        window = site.numbers_of(operands[0], rank, "window_dimensions");
        strides = site.numbers_of(operands[1], rank, "window_strides");
        base_dilation = site.numbers_of(operands[2], rank, "base_dilations");
        window_dilation = site.numbers_of(operands[3], rank, "window_dilations");
        padding =
            site.numbers_of(ops::reshape(operands[4], {operands[4].size()}), 2 * rank, "padding");
        check(site, rank);
    }

    void check(const Site& site, size_t rank) const {
        site.checked_numbers(window, rank, 1, "window_dimensions");
        site.checked_numbers(strides, rank, 1, "window_strides");
        site.checked_numbers(base_dilation, rank, 1, "base_dilations");
        site.checked_numbers(window_dilation, rank, 1, "window_dilations");
        site.check(padding.size() == 2 * rank, "padding has ", padding.size(), " numbers. ",
                   2 * rank, " are required, two for each axis.");
    }

    // That the windows are as many as the result's type says.
    void check_counts(const Site& site, const Shape& x, const Shape& counts) const {
        site.check(counts.size() == x.size(), "the result has ", counts.size(),
                   " axes. As many as the operand are required.");
        for (size_t d = 0; d < x.size(); ++d) {
            const int64_t count =
                jax::window_count(x[d], base_dilation[d], padding[2 * d], padding[2 * d + 1],
                                  window[d], window_dilation[d], strides[d]);
            site.check(syntax::fits({counts[d]}, {count}), "there are ", count,
                       " windows along axis ", d, ", and the result has the length ", counts[d],
                       " there. Equal numbers are required.");
        }
    }

    ir::Attributes attributes() const {
        return {{"window_dimensions", window},
                {"window_strides", strides},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation},
                {"padding", padding}};
    }

    // The axis along which results are running ones: of all elements up to there, or from there on.
    std::optional<std::pair<int64_t, bool>> running(const Shape& shape) const {
        std::optional<std::pair<int64_t, bool>> found;
        for (size_t d = 0; d < shape.size(); ++d) {
            if (strides[d] != 1 || base_dilation[d] != 1 || window_dilation[d] != 1) return {};
            const int64_t low = padding[2 * d], high = padding[2 * d + 1];
            if (window[d] == 1 && low == 0 && high == 0) continue;
            const bool is_forward = low == window[d] - 1 && high == 0;
            const bool is_backward = high == window[d] - 1 && low == 0;
            if (found || window[d] != shape[d] || !(is_forward || is_backward)) return {};
            found = {static_cast<int64_t>(d), is_backward};
        }
        return found;
    }
};

// (counts…, window…) as (counts…, all of a window).
Tensor with_flat_windows(const Tensor& x, size_t rank) {
    Shape shape(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(rank));
    const Shape window(x.shape().begin() + static_cast<std::ptrdiff_t>(rank), x.shape().end());
    shape.push_back(ir::element_count(window));
    return ops::reshape(x, shape);
}

Tensors running_results(const Tensor& x, Combiner combiner, int64_t axis, bool is_backward) {
    const char* const primitive = combiner == Combiner::sum       ? "cumsum"
                                  : combiner == Combiner::product ? "cumprod"
                                  : combiner == Combiner::maximum ? "cummax"
                                                                  : "cummin";
    return jax::apply(primitive, {x}, {{"axis", axis}, {"reverse", is_backward}});
}

// Tensors and what each begins with.
void check_begun(const Site& site) {
    const size_t count = site.x.size() / 2;
    site.check(count > 0 && site.x.size() == 2 * count, "it has ", site.x.size(),
               " operands. Tensors and what each begins with are required.");
    const Shape& shape = site.x[0].shape();
    for (size_t k = 0; k < count; ++k)
        site.check<TypeError>(site.x[k].shape() == shape && site.x[count + k].rank() == 0 &&
                                  site.x[k].dtype() == site.x[count + k].dtype(),
                              "it reduces ", site.x[k].type(), " from ", site.x[count + k].type(),
                              " on. Equal shapes, and a number of the same dtype for each, are "
                              "required.");
}

Tensors reduced_by(const Site& site, const Windowing& windowing) {
    const size_t count = site.x.size() / 2;
    const Shape& shape = site.x[0].shape();
    const size_t rank = shape.size();
    windowing.check_counts(site, shape, site.result().shape);
    const ScalarBody body = scalar_body(site, 0);
    site.check(body.parameters.size() == 2 * count && body.results.size() == count,
               "its region takes ", body.parameters.size(), " numbers and makes ",
               body.results.size(), ". ", 2 * count, " and ", count, " are required.");
    check_numbers(site, body,
                  {site.x.begin(), site.x.begin() + static_cast<std::ptrdiff_t>(count)});
    const auto name = count == 1 ? row_of(body) : std::nullopt;
    const auto combiner = name ? combiner_of_row(*name, site.x[0].dtype()) : std::nullopt;
    const bool is_neutral_start = combiner && is_neutral(site.x[1], *combiner);
    if (is_neutral_start && *combiner != Combiner::any && *combiner != Combiner::all &&
        site.x[0].size() > 0)
        if (const auto axis = windowing.running(shape))
            return running_results(site.x[0], *combiner, axis->first, axis->second);
    const ir::Attributes attributes = windowing.attributes();
    Tensors windows;
    for (size_t k = 0; k < count; ++k) {
        const jax::Application a{"reduce_window", site.x, attributes};
        Axes low;
        windows.push_back(jax::padded_windows(a, site.x[k], site.x[count + k], low));
    }
    if (combiner && windows[0].size() > 0) {
        Axes axes(rank);
        std::iota(axes.begin(), axes.end(), static_cast<int64_t>(rank));
        const Tensor made =
            ops::astype(ops::reduce(*combiner, windows[0], axes), site.x[0].dtype());
        if (is_neutral_start) return {made};
        return {ops::map(*name, {ops::full(made.shape(), site.x[1]), made})};
    }
    for (Tensor& each : windows) each = with_flat_windows(each, rank);
    const Tensors initial(site.x.begin() + static_cast<std::ptrdiff_t>(count), site.x.end());
    return folded(site, 0, std::move(windows), initial);
}

Tensors reduced_windows(const Site& site) {
    check_begun(site);
    return reduced_by(site, Windowing(site, site.x[0].shape().size()));
}

Tensors scattered_to_selected(const Site& site) {
    site.check_operands(3);
    const Tensor &x = site.x[0], &source = site.x[1], &initial = site.x[2];
    site.check<TypeError>(
        source.dtype() == x.dtype() && initial.dtype() == x.dtype() && initial.rank() == 0,
        "operands are ", x.type(), ", ", source.type(), " and ", initial.type(),
        ". Equal dtypes, and a number to begin with, are required.");
    const Windowing windowing(site, x.shape().size());
    windowing.check_counts(site, x.shape(), source.shape());
    const ScalarBody select = scalar_body(site, 0), scatter = scalar_body(site, 1);
    check_numbers(site, select, {x});
    check_numbers(site, scatter, {x});
    const auto compares = row_of(select), joins = row_of(scatter);
    const bool is_known = compares && joins && *joins == "add" &&
                          (*compares == "greater_equal" || *compares == "less_equal");
    site.check<NotSupported>(is_known && is_neutral(initial, Combiner::sum),
                             "it does not add to the first greatest (GE) or least (LE) element of "
                             "each window, from 0 on. Such regions are required.");
    const std::string by = *compares == "greater_equal" ? "ge" : "le";
    ir::Attributes attributes = {{"window_dimensions", windowing.window},
                                 {"window_strides", windowing.strides},
                                 {"padding", windowing.padding},
                                 {"select_prim", by}};
    return jax::apply("select_and_scatter_add", {source, x}, attributes);
}

}  // namespace

Tensors reduced_dynamic_windows(const Site& site) {
    constexpr size_t numbers = 5;  // operands: windows, strides, two dilations, padding
    site.check(site.x.size() > numbers, "it has ", site.x.size(),
               " operands. Tensors, what each begins with, and five of numbers are required.");
    const Tensors begun(site.x.begin(), site.x.end() - numbers);
    const Site inner(site.building, site.operation, begun);
    check_begun(inner);
    const Tensor* const windowing = site.x.data() + begun.size();
    return reduced_by(inner, Windowing(site, begun[0].shape().size(), windowing));
}

void add_window_loads(LoadRules& rules) {
    rules["stablehlo.reduce_window"] = reduced_windows;
    rules["stablehlo.select_and_scatter"] = scattered_to_selected;
}

}  // namespace composit::mlir
