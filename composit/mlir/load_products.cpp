// Products of matrices, convolutions, Fourier transforms, factors.
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/region_bodies.h"
#include "composit/numpy/linear.h"

#include <algorithm>

namespace composit::mlir {
namespace {

using Kind = syntax::Attribute::Kind;

std::pair<Axes, Axes> pair_of(const Site& site, std::string_view name) {
    const syntax::Attribute* const found = site.find({name});
    if (!found) return {};
    site.check(
        found->kind == Kind::list && found->list.size() == 2 && found->list[0].kind == Kind::list,
        name, " is no pair of lists, which is required: [1] x [0].");
    return {integers_of(found->list[0], name), integers_of(found->list[1], name)};
}

Tensors product(const Site& site) {
    site.check_operands(2);
    Axes batch_a, batch_b, contracted_a, contracted_b;
    if (const syntax::Attribute* const numbers = site.find({"dot_dimension_numbers"})) {
        batch_a = site.part(*numbers, "lhs_batching_dimensions");
        batch_b = site.part(*numbers, "rhs_batching_dimensions");
        contracted_a = site.part(*numbers, "lhs_contracting_dimensions");
        contracted_b = site.part(*numbers, "rhs_contracting_dimensions");
    } else {
        std::tie(batch_a, batch_b) = pair_of(site, "batching_dims");
        std::tie(contracted_a, contracted_b) = pair_of(site, "contracting_dims");
    }
    const Tensor &a = site.x[0], &b = site.x[1];
    const auto check = [&](const Axes& of_a, const Axes& of_b) {
        site.check(of_a.size() == of_b.size(), "it pairs the axes ", of_a,
                   " of the first operand with the axes ", of_b,
                   " of the second one. Equal numbers of axes are required.");
        for (size_t k = 0; k < of_a.size(); ++k)
            site.check(
                a.shape()[static_cast<size_t>(of_a[k])] == b.shape()[static_cast<size_t>(of_b[k])],
                "axis ", of_a[k], " of ", a.type(), " and axis ", of_b[k], " of ", b.type(),
                " have other lengths. Equal lengths are required.");
    };
    const auto all = [](Axes first, const Axes& more) {
        first.insert(first.end(), more.begin(), more.end());
        return first;
    };
    site.checked_axes(all(batch_a, contracted_a), a.rank(), "the axes of the first operand");
    site.checked_axes(all(batch_b, contracted_b), b.rank(), "the axes of the second operand");
    check(batch_a, batch_b);
    check(contracted_a, contracted_b);
    return jax::apply("dot_general", site.x,
                      {{"batch_a", batch_a},
                       {"batch_b", batch_b},
                       {"contracted_a", contracted_a},
                       {"contracted_b", contracted_b},
                       {"preferred_element_type", site.result().dtype}});
}

// Of vectors and matrices, as in NumPy.
Tensors plain_product(const Site& site) {
    site.check_operands(2);
    const Tensor &a = site.x[0], &b = site.x[1];
    site.check(a.rank() > 0 && a.rank() < 3 && b.rank() > 0 && b.rank() < 3 &&
                   a.shape().back() == b.shape()[0],
               "operands are ", a.type(), " and ", b.type(),
               ". Vectors or matrices that go together are required.");
    return jax::apply("dot_general", site.x,
                      {{"batch_a", Axes()},
                       {"batch_b", Axes()},
                       {"contracted_a", Axes{a.rank() - 1}},
                       {"contracted_b", Axes{0}},
                       {"preferred_element_type", site.result().dtype}});
}

// ----- convolutions

// The places of batch and channels ("b", "f"; of filters "o", "i"), then of the spatial axes.
Axes specification(const Site& site, const syntax::Attribute& list, const char* first,
                   const char* second) {
    const size_t rank = list.list.size();
    Axes made(rank, -1);
    for (size_t d = 0; d < rank; ++d) {
        const syntax::Attribute& each = list.list[d];
        size_t place = rank;
        if (each.kind == Kind::word)
            place = each.text == first ? 0 : each.text == second ? 1 : rank;
        if (each.kind == Kind::integer && each.integer >= 0 &&
            each.integer < static_cast<int64_t>(rank) - 2)
            place = static_cast<size_t>(each.integer) + 2;
        site.check(place < rank && made[place] < 0,
                   "dimension_numbers leave out an axis, or name one twice. ", first, ", ", second,
                   " and the spatial axes from 0 on, each of them once, are required.");
        made[place] = static_cast<int64_t>(d);
    }
    site.check(rank >= 2, "there are ", rank, " axes. ", first, ", ", second,
               " and the spatial axes are required.");
    return made;
}

// What the window of a convolution is, in its own form and in the generic one.
class Window {
  public:
    // `own_padding`: two numbers for each axis, instead of the attribute's.
    Window(const Site& site, size_t spatial, std::optional<Axes> own_padding)
        : site_(site), spatial_(spatial) {
        if (const syntax::Attribute* const own = site.find({"window"})) {
            site.check(own->kind == Kind::record, "window is no record, which is required.");
            window_ = own;
        }
        strides = numbers("stride", "window_strides", 1, 1);
        padding = own_padding ? *own_padding : numbers("pad", "padding", 2, 0);
        image = numbers("lhs_dilate", "lhs_dilation", 1, 1);
        filters = numbers("rhs_dilate", "rhs_dilation", 1, 1);
        turned = numbers("reverse", "window_reversal", 1, 0);
        site.checked_numbers(strides, spatial, 1, "the strides");
        site.checked_numbers(image, spatial, 1, "the dilation of the first operand");
        site.checked_numbers(filters, spatial, 1, "the dilation of the second operand");
    }
    Axes strides, padding, image, filters, turned;

  private:
    Axes numbers(std::string_view own, std::string_view generic, size_t each, int64_t missing) {
        const syntax::Attribute* const found = window_ ? window_->find(own) : site_.find({generic});
        const Axes all = found ? integers_of(*found, own) : Axes(each * spatial_, missing);
        site_.check(all.size() == each * spatial_, own, " has ", all.size(), " numbers. ",
                    each * spatial_, " are required.");
        return all;
    }
    const Site& site_;
    size_t spatial_;
    const syntax::Attribute* window_ = nullptr;
};

Tensors convolution_padded(const Site& site, const std::optional<Axes>& padding) {
    const Tensor &x = site.x[0], &w = site.x[1];
    const syntax::Attribute& lists = site.attribute({"dim_numbers", "dimension_numbers"});
    site.check(
        lists.kind == Kind::list && lists.list.size() == 3 && lists.list[0].kind == Kind::list,
        "its dimension_numbers are not three lists, which are required: "
        "[b, 0, f]x[0, i, o]->[b, 0, f].");
    const Axes image = specification(site, lists.list[0], "b", "f"),
               filters = specification(site, lists.list[1], "o", "i"),
               result = specification(site, lists.list[2], "b", "f");
    const Shape& shape = site.result().shape;
    const size_t rank = x.shape().size();
    site.check<TypeError>(image.size() == rank && filters.size() == rank && result.size() == rank &&
                              w.shape().size() == rank && shape.size() == rank,
                          "operands are ", x.type(), " and ", w.type(),
                          ". An axis for each number of dimensions is required.");
    const Window window(site, rank - 2, padding);
    const int64_t groups = site.integer_or({"feature_group_count"}, 1),
                  batches = site.integer_or({"batch_group_count"}, 1);
    const auto of = [](const Shape& lengths, int64_t axis) {
        return lengths[static_cast<size_t>(axis)];
    };
    const int64_t channels = of(x.shape(), image[1]), outs = of(w.shape(), filters[0]);
    const int64_t images = of(x.shape(), image[0]);
    site.check(groups >= 1 && batches >= 1 && (groups == 1 || batches == 1) &&
                   groups <= std::max<int64_t>(1, channels) &&
                   batches <= std::max<int64_t>(1, images) && channels % groups == 0 &&
                   outs % groups == 0 && outs % batches == 0 && images % batches == 0 &&
                   channels / groups == of(w.shape(), filters[1]),
               "channels of ", x.type(), " in ", groups, " groups do not go with ", w.type(), " (",
               batches, " groups of the batch). Channels that do are required.");
    for (size_t d = 0; d + 2 < rank; ++d) {
        const int64_t count =
            jax::window_count(of(x.shape(), image[d + 2]), window.image[d], window.padding[2 * d],
                              window.padding[2 * d + 1], of(w.shape(), filters[d + 2]),
                              window.filters[d], window.strides[d]);
        site.check(syntax::fits({of(shape, result[d + 2])}, {count}), "there are ", count,
                   " windows along spatial axis ", d, ", and the result has the length ",
                   of(shape, result[d + 2]), " there. Equal numbers are required.");
    }
    Axes turned;
    for (size_t d = 0; d + 2 < rank; ++d)
        if (window.turned[d] != 0) turned.push_back(filters[d + 2]);
    const DType dtype = site.result().dtype;
    return jax::apply("conv_general_dilated",
                      {ops::astype(x, dtype), ops::astype(jax::reversed(w, turned), dtype)},
                      {{"dimension_numbers.lhs_spec", image},
                       {"dimension_numbers.rhs_spec", filters},
                       {"dimension_numbers.out_spec", result},
                       {"window_strides", window.strides},
                       {"padding", window.padding},
                       {"lhs_dilation", window.image},
                       {"rhs_dilation", window.filters},
                       {"feature_group_count", groups},
                       {"batch_group_count", batches}});
}

Tensors convolution(const Site& site) {
    site.check_operands(2);
    return convolution_padded(site, {});
}

Tensors dynamic_convolution(const Site& site) {
    site.check_operands(3);
    const auto spatial = static_cast<size_t>(std::max<int64_t>(site.x[0].rank() - 2, 0));
    return convolution_padded(
        site, site.numbers_of(ops::reshape(site.x[2], {site.x[2].size()}), 2 * spatial, "padding"));
}

// ----- transforms and factors

Tensors transformed(const Site& site) {
    site.check_operands(1);
    const Tensor& x = site.x[0];
    const std::string kind = site.word({"type", "fft_type"});
    const Axes lengths = site.integers({"length", "fft_length"});
    site.checked_numbers(lengths, lengths.size(), 1, "length");
    site.check(!lengths.empty() && static_cast<int64_t>(lengths.size()) <= x.rank(), "there are ",
               lengths.size(), " lengths of ", x.type(),
               ". One for each axis that is transformed is required.");
    const bool is_known = kind == "FFT" || kind == "IFFT" || kind == "RFFT" || kind == "IRFFT";
    site.check(is_known, "its type is '", kind, "'. FFT, IFFT, RFFT or IRFFT is required.");
    site.check<TypeError>(ir::is_complex(x.dtype()) == (kind != "RFFT"), "the operand is ",
                          x.type(), ". Complex numbers, of RFFT real ones, are required.");
    const Tensors made = jax::apply("fft", {x}, {{"fft_type", kind}, {"fft_lengths", lengths}});
    return {ops::astype(made[0], site.result().dtype)};
}

void check_matrices(const Site& site, const Tensor& x) {
    site.check<TypeError>(x.rank() >= 2 && ir::is_inexact(x.dtype()) &&
                              x.shape()[x.shape().size() - 2] == x.shape().back(),
                          "the operand is ", x.type(), ". Square matrices are required.");
}

Tensors cholesky_factor(const Site& site) {
    site.check_operands(1);
    const Tensor& x = site.x[0];
    check_matrices(site, x);
    return jax::apply("cholesky", {x}, {{"upper", !site.flag_or({"lower"}, false)}});
}

Tensors triangular_solution(const Site& site) {
    site.check_operands(2);
    const Tensor &a = site.x[0], &b = site.x[1];
    check_matrices(site, a);
    const bool is_left = site.flag_or({"left_side"}, false);
    bool fits = a.dtype() == b.dtype() && a.rank() == b.rank();
    const auto last = static_cast<size_t>(std::max<int64_t>(a.rank(), 2)) - 1;
    for (size_t d = 0; fits && d + 1 < last; ++d) fits = a.shape()[d] == b.shape()[d];
    fits = fits && b.shape()[is_left ? last - 1 : last] == a.shape()[last];
    site.check<TypeError>(fits, "operands are ", a.type(), " and ", b.type(),
                          ". Matrices that go together are required.");
    const std::string transpose = site.word_or({"transpose_a"}, "NO_TRANSPOSE");
    return jax::apply("triangular_solve", site.x,
                      {{"left_side", is_left},
                       {"lower", site.flag_or({"lower"}, false)},
                       {"unit_diagonal", site.flag_or({"unit_diagonal"}, false)},
                       {"transpose_a", transpose == "TRANSPOSE" || transpose == "ADJOINT"},
                       {"conjugate_a", transpose == "ADJOINT"}});
}

}  // namespace

void add_product_loads(LoadRules& rules) {
    rules["stablehlo.dot_general"] = product;
    rules["stablehlo.dot"] = plain_product;
    rules["stablehlo.convolution"] = convolution;
    rules["stablehlo.dynamic_conv"] = dynamic_convolution;
    rules["stablehlo.fft"] = transformed;
    rules["stablehlo.cholesky"] = cholesky_factor;
    rules["stablehlo.triangular_solve"] = triangular_solution;
    for (const char* name : {"stablehlo.einsum", "stablehlo.unary_einsum"})
        rules[name] = [](const Site& site) {
            const std::string config = site.word({"config", "einsum_config"});
            return Tensors{ops::astype(numpy::einsum(config, site.x), site.result().dtype)};
        };
}

}  // namespace composit::mlir
