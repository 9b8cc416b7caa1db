// Reductions, running ones, and those of windows.
#include "composit/base/error.h"
#include "composit/functional/folds.h"
#include "composit/jax/rules.h"

#include <algorithm>
#include <numeric>

namespace composit::jax {
namespace {

using ops::Combiner;

ApplyRule reduction(Combiner combiner) {
    return [combiner](const Application& a) {
        const Tensor made = ops::reduce(combiner, a.x[0], a.axes("axes"));
        return Tensors{ops::astype(made, a.x[0].dtype())};
    };
}

Tensor parity_of_bits(const Application& a) {
    Axes axes = a.axes("axes");
    std::sort(axes.rbegin(), axes.rend());
    Tensor made = a.x[0];
    for (const int64_t axis : axes) {
        folds::Options options;
        options.dtype = made.dtype();
        made = folds::reduce(ir::scalar::row("bitwise_xor"), made, numpy::Axis(axis), options);
    }
    return made;
}

// Over axes of mapped functions, which are axes of the operands by now.
ApplyRule over_mapped(Combiner combiner) {
    return [combiner](const Application& a) {
        user_check<NotSupported>(a.parameters.has("axes") && !a.parameters.has("axis_index_groups"),
                                 "trace_jax: ", a.name,
                                 " over named devices, or groups of them. The axis of a vmap is "
                                 "required.");
        Tensors results;
        for (const Tensor& x : a.x)
            results.push_back(ops::astype(ops::reduce(combiner, x, a.axes("axes")), x.dtype()));
        return results;
    };
}

ApplyRule place_of_extreme(Combiner combiner) {
    return [combiner](const Application& a) {
        const Tensor made = ops::reduce(combiner, a.x[0], a.axes("axes"));
        return Tensors{ops::astype(made, a.dtype("index_dtype"))};
    };
}

ApplyRule running(const std::function<Tensor(const Tensor&, int64_t)>& scan) {
    return [scan](const Application& a) {
        const int64_t axis = a.integer("axis");
        if (!a.flag("reverse")) return Tensors{scan(a.x[0], axis)};
        return Tensors{reversed(scan(reversed(a.x[0], {axis}), axis), {axis})};
    };
}

Axes window_axes_of(size_t rank) {
    Axes axes(rank);
    std::iota(axes.begin(), axes.end(), static_cast<int64_t>(rank));
    return axes;
}

ApplyRule window_reduction(Combiner combiner) {
    return [combiner](const Application& a) {
        const Tensor& x = a.x[0];
        const Tensor around = combiner == Combiner::sum
                                  ? number(x.dtype(), 0)
                                  : extreme(x.dtype(), combiner == Combiner::maximum);
        Axes low;
        const Tensor windows = padded_windows(a, x, around, low);
        return Tensors{ops::reduce(combiner, windows, window_axes_of(x.shape().size()))};
    };
}

// What a pool's gradient is: each element of `source` goes to the first extreme of its window.
Tensor scattered_to_extremes(const Application& a) {
    const Tensor &source = a.x[0], &x = a.x[1];
    const size_t rank = x.shape().size();
    const std::string select = a.text_or("select_prim", "ge");
    user_check<NotSupported>(select == "ge" || select == "le",
                             "trace_jax: select_and_scatter_add by '", select,
                             "'. 'ge' or 'le' is required.");
    const bool is_greatest = select == "ge";
    Axes low;
    const Tensor windows = padded_windows(a, x, extreme(x.dtype(), is_greatest), low);
    const Shape& all = windows.shape();
    Shape flat(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank));
    flat.push_back(windows.size() / std::max<int64_t>(1, ir::element_count(flat)));
    const Tensor place =
        ops::reduce(is_greatest ? Combiner::argmax : Combiner::argmin, ops::reshape(windows, flat),
                    {static_cast<int64_t>(rank)}, true);
    const Tensor is_first = ops::map("equal", {place, counted(flat.back(), rank, rank + 1)});
    const Tensor spread = ops::map(
        "where", {is_first, with_axes_behind(source, rank + 1), number(source.dtype(), 0)});
    Shape padded;
    const Axes& padding = a.axes("padding");
    for (size_t d = 0; d < rank; ++d)
        padded.push_back(x.shape()[d] + padding[2 * d] + padding[2 * d + 1]);
    const Tensor sums =
        ops::fold(ops::reshape(spread, all), padded, a.axes("window_strides"), Axes(rank, 1));
    return ops::slice(sums, low, x.shape(), Axes(rank, 1));
}

}  // namespace

Tensor padded_windows(const Application& a, const Tensor& x, const Tensor& around, Axes& low) {
    const size_t rank = x.shape().size();
    const Axes& padding = a.axes("padding");
    Axes high, interior;
    for (size_t d = 0; d < rank; ++d) {
        low.push_back(padding[2 * d]);
        high.push_back(padding[2 * d + 1]);
    }
    for (const int64_t step : a.axes_or("base_dilation", Axes(rank, 1)))
        interior.push_back(step - 1);
    const Tensor padded = ops::pad(x, around, low, high, interior);
    return ops::windows(padded, a.axes("window_dimensions"), a.axes("window_strides"),
                        a.axes_or("window_dilation", Axes(rank, 1)));
}

void add_reduction_primitives(ApplyRules& rules) {
    rules["reduce_sum"] = reduction(Combiner::sum);
    rules["reduce_prod"] = reduction(Combiner::product);
    rules["reduce_max"] = reduction(Combiner::maximum);
    rules["reduce_min"] = reduction(Combiner::minimum);
    rules["reduce_and"] = reduction(Combiner::all);
    rules["reduce_or"] = reduction(Combiner::any);
    rules["reduce_xor"] = [](const Application& a) { return Tensors{parity_of_bits(a)}; };
    rules["psum"] = over_mapped(Combiner::sum);
    rules["pmax"] = over_mapped(Combiner::maximum);
    rules["pmin"] = over_mapped(Combiner::minimum);
    rules["argmax"] = place_of_extreme(Combiner::argmax);
    rules["argmin"] = place_of_extreme(Combiner::argmin);
    const auto by = [](Combiner combiner) {
        return running(
            [combiner](const Tensor& x, int64_t axis) { return ops::scan(combiner, x, axis); });
    };
    rules["cumsum"] = by(Combiner::sum);
    rules["cumprod"] = by(Combiner::product);
    rules["cummax"] = by(Combiner::maximum);
    rules["cummin"] = by(Combiner::minimum);
    rules["cumlogsumexp"] = running([](const Tensor& x, int64_t axis) {
        return folds::accumulate(ir::scalar::row("logaddexp"), x, axis);
    });
    rules["reduce_window_sum"] = window_reduction(Combiner::sum);
    rules["reduce_window_max"] = window_reduction(Combiner::maximum);
    rules["reduce_window_min"] = window_reduction(Combiner::minimum);
    rules["select_and_scatter_add"] = [](const Application& a) {
        return Tensors{scattered_to_extremes(a)};
    };
}

}  // namespace composit::jax
