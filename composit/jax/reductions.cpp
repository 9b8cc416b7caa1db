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
    if (windows.size() == 0) return ops::full(x.shape(), number(source.dtype(), 0));
    const Shape& all = windows.shape();
    Shape flat(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank));
    flat.push_back(windows.size() / std::max<int64_t>(1, ir::element_count(flat)));
    const Axes& padding = a.axes("padding");
    const bool is_padded = std::ranges::any_of(padding, [](int64_t each) { return each > 0; });
    const bool is_cropped = std::ranges::any_of(padding, [](int64_t each) { return each < 0; });
    const Axes along{static_cast<int64_t>(rank)};
    Tensor place;
    if (!is_padded) {
        place = ops::reduce(is_greatest ? Combiner::argmax : Combiner::argmin,
                            ops::reshape(windows, flat), along, true);
    } else {
        // The first of the extremes that is none of the padding.
        const Tensor elements = ops::reshape(windows, flat);
        const Tensor yes = ops::full(x.shape(), number(DType::boolean, 1));
        Axes same;
        const Tensor lies_within =
            ops::reshape(padded_windows(a, yes, number(DType::boolean, 0), same), flat);
        Tensor is_best = ops::map(
            "equal", {elements, ops::reduce(is_greatest ? Combiner::maximum : Combiner::minimum,
                                            elements, along, true)});
        if (ir::is_floating(x.dtype()))  // NaN is the extreme where there is one
            is_best =
                ops::map("bitwise_or", {is_best, ops::map("not_equal", {elements, elements})});
        const Tensor may_be = ops::map("bitwise_and", {is_best, lies_within});
        place = ops::reduce(Combiner::argmax, ops::astype(may_be, DType::uint8), along, true);
    }
    const Tensor is_first = ops::map("equal", {place, counted(flat.back(), rank, rank + 1)});
    const Tensor spread = ops::map(
        "where", {is_first, with_axes_behind(source, rank + 1), number(source.dtype(), 0)});
    Shape padded;
    for (size_t d = 0; d < rank; ++d)
        padded.push_back(x.shape()[d] + padding[2 * d] + padding[2 * d + 1]);
    const Tensor sums =
        ops::fold(ops::reshape(spread, all), padded, a.axes("window_strides"), Axes(rank, 1));
    if (!is_cropped) return ops::slice(sums, low, x.shape(), Axes(rank, 1));
    // Elements that padding cuts off get nothing.
    Axes before, behind;
    for (size_t d = 0; d < rank; ++d) {
        before.push_back(-padding[2 * d]);
        behind.push_back(-padding[2 * d + 1]);
    }
    return ops::pad(sums, number(source.dtype(), 0), before, behind, Axes(rank, 0));
}

}  // namespace

int64_t window_count(int64_t length, int64_t base_dilation, int64_t low, int64_t high,
                     int64_t window, int64_t dilation, int64_t stride) {
    using Wide = __int128;
    const auto spread = [](int64_t count, int64_t step) {
        return count == 0 ? Wide{0} : static_cast<Wide>(count - 1) * step + 1;
    };
    const Wide whole = spread(length, base_dilation) + low + high;
    const Wide reach = spread(window, dilation);
    return whole < reach ? 0 : static_cast<int64_t>((whole - reach) / stride + 1);
}

Tensor padded_windows(const Application& a, const Tensor& x, const Tensor& around, Axes& low) {
    const size_t rank = x.shape().size();
    const Axes& padding = a.axes("padding");
    const Axes ones(rank, 1), base_dilation = a.axes_or("base_dilation", ones),
                              dilation = a.axes_or("window_dilation", ones);
    const Axes &window = a.axes("window_dimensions"), &strides = a.axes("window_strides");
    Axes high, interior;
    Shape counts;
    for (size_t d = 0; d < rank; ++d) {
        low.push_back(padding[2 * d]);
        high.push_back(padding[2 * d + 1]);
        interior.push_back(base_dilation[d] - 1);
        counts.push_back(window_count(x.shape()[d], base_dilation[d], low[d], high[d], window[d],
                                      dilation[d], strides[d]));
    }
    if (ir::element_count(counts) == 0) {
        counts.resize(2 * rank, 1);
        return ops::full(counts, around);
    }
    const Tensor padded = ops::pad(x, around, low, high, interior);
    return ops::windows(padded, window, strides, dilation);
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
