// Errors name the function that was called, not one that it is made of: every public function, with
// operands and numbers of all sorts.
#include "error_names.h"

#include "composit/composit.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace composit {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using Tensors = std::vector<Tensor>;

numpy::random::Generator generator() { return numpy::random::default_rng(0); }
numpy::RandomState legacy() { return numpy::RandomState(0); }

// composit/numpy and composit/random; those of composit/nn are in error_names_nn.cpp.
// tests/python/front/test_cpp_names.py asks for all of them.
const std::vector<Call> calls = {
    // clang-format off
    CALL(array, numpy::array(std::vector<double>{1, 2}, {n})),
    CALL(zeros, numpy::zeros({n})),
    CALL(ones, numpy::ones({n})),
    CALL(empty, numpy::empty({n})),
    CALL(full, numpy::full({n}, a)),
    CALL(full, numpy::full({2}, a, b.dtype())),
    CALL(full, numpy::full({2}, ir::input("x", a.dtype(), a.shape()))),
    CALL(zeros_like, numpy::zeros_like(a, b.dtype(), Shape{n})),
    CALL(ones_like, numpy::ones_like(a, b.dtype(), Shape{n})),
    CALL(empty_like, numpy::empty_like(a, b.dtype(), Shape{n})),
    CALL(full_like, numpy::full_like(a, b, {}, Shape{n})),
    CALL(full_like, numpy::full_like(a, b)),
    CALL(arange, numpy::arange(n, 9, n)),
    CALL(linspace, numpy::linspace(0, 1, n)),
    CALL(eye, numpy::eye(n)),
    CALL(identity, numpy::identity(n)),
    CALL(tri, numpy::tri(n)),
    CALL(tril, numpy::tril(a, n)),
    CALL(triu, numpy::triu(a, n)),

    CALL(quantile, numpy::quantile(a, b, n)),
    CALL(percentile, numpy::percentile(a, b, n, "hazen", true)),
    CALL(nanquantile, numpy::nanquantile(a, 0.5, n, "inverted_cdf", false, b)),
    CALL(nanpercentile, numpy::nanpercentile(a, b, n)),
    CALL(nanmedian, numpy::nanmedian(a, n)),
    CALL(cov, numpy::cov(a, b)),
    CALL(cov, numpy::cov(a, {}, {.fweights = b})),
    CALL(corrcoef, numpy::corrcoef(a, b)),
    CALL(histogram, numpy::histogram(a, n)),
    CALL(histogram, numpy::histogram(a, b, {}, true, b)),
    CALL(histogram, numpy::histogram(a, "auto", numpy::Range({0, n}))),
    CALL(histogram_bin_edges, numpy::histogram_bin_edges(a, "stone")),
    CALL(histogram_bin_edges, numpy::histogram_bin_edges(a, b)),
    CALL(histogramdd, numpy::histogramdd(a, {n, b})),
    CALL(digitize, numpy::digitize(a, b)),
    CALL(bincount, numpy::bincount(a, b, n)),
    CALL(interp, numpy::interp(a, b, b)),
    CALL(interp, numpy::interp(a, b, b, {}, {}, b)),
    CALL(unique, numpy::unique(a, n)),
    CALL(union1d, numpy::union1d(a, b)),
    CALL(intersect1d, numpy::intersect1d(a, b)),
    CALL(setdiff1d, numpy::setdiff1d(a, b)),
    CALL(setxor1d, numpy::setxor1d(a, b, true)),
    CALL(isin, numpy::isin(a, b, false, true)),
    CALL(polyval, numpy::polyval(a, b)),
    CALL(polyadd, numpy::polyadd(a, b)),
    CALL(polysub, numpy::polysub(a, b)),
    CALL(polymul, numpy::polymul(a, b)),
    CALL(polydiv, numpy::polydiv(a, b)),
    CALL(polyder, numpy::polyder(a, n)),
    CALL(polyint, numpy::polyint(a, n, b)),
    CALL(poly, numpy::poly(a)),
    CALL(roots, numpy::roots(a)),
    CALL(polyfit, numpy::polyfit(a, b, n, {}, b)),
    CALL(packbits, numpy::packbits(a, n)),
    CALL(unpackbits, numpy::unpackbits(a, {}, n)),
    CALL(view, numpy::view(a, DType::complex128)),

    CALL(isclose, numpy::isclose(a, b)),
    CALL(allclose, numpy::allclose(a, b)),
    CALL(array_equal, numpy::array_equal(a, b, true)),
    CALL(array_equiv, numpy::array_equiv(a, b)),
    CALL(isneginf, numpy::isneginf(a)),
    CALL(isposinf, numpy::isposinf(a)),
    CALL(real, numpy::real(a)),
    CALL(imag, numpy::imag(a)),
    CALL(conjugate, numpy::conjugate(a)),
    CALL(conj, numpy::conj(a)),
    CALL(angle, numpy::angle(a, true)),
    CALL(iscomplex, numpy::iscomplex(a)),
    CALL(isreal, numpy::isreal(a)),
    CALL(real_if_close, numpy::real_if_close(a)),
    CALL(fix, numpy::fix(a)),
    CALL(sinc, numpy::sinc(a)),
    CALL(nan_to_num, numpy::nan_to_num(a, b, b, a)),
    CALL(cumulative_sum, numpy::cumulative_sum(a, n, b.dtype(), true)),
    CALL(cumulative_prod, numpy::cumulative_prod(a, n)),
    CALL(ediff1d, numpy::ediff1d(a, b, a)),
    CALL(gradient, numpy::gradient(a, {b}, n)),
    CALL(gradient, numpy::gradient(a, {}, {}, n)),
    CALL(trapezoid, numpy::trapezoid(a, b, 1.0, n)),
    CALL(unwrap, numpy::unwrap(a, b, n)),
    CALL(nansum, numpy::nansum(a, n, b.dtype(), false, b)),
    CALL(nanprod, numpy::nanprod(a, n, {}, false, {}, b)),
    CALL(nanmax, numpy::nanmax(a, n)),
    CALL(nanmin, numpy::nanmin(a, n, false, b, b)),
    CALL(nanmean, numpy::nanmean(a, n, b.dtype(), false, b)),
    CALL(nanvar, numpy::nanvar(a, n, b.dtype(), 1, false, b)),
    CALL(nanstd, numpy::nanstd(a, n, {}, 1, false, {}, b)),
    CALL(nanargmax, numpy::nanargmax(a, n)),
    CALL(nanargmin, numpy::nanargmin(a, n)),
    CALL(nancumsum, numpy::nancumsum(a, n, b.dtype())),
    CALL(nancumprod, numpy::nancumprod(a, n)),
    CALL(correlate, numpy::correlate(a, b)),
    CALL(convolve, numpy::convolve(a, b)),
    CALL(cross, numpy::cross(a, b, n, n, n)),
    CALL(i0, numpy::i0(a)),
    CALL(bartlett, numpy::bartlett(double(n))),
    CALL(hanning, numpy::hanning(double(n))),
    CALL(hamming, numpy::hamming(double(n))),
    CALL(blackman, numpy::blackman(double(n))),
    CALL(kaiser, numpy::kaiser(double(n), 2)),

    CALL(matmul, numpy::matmul(a, b)),
    CALL(dot, numpy::dot(a, b)),
    CALL(inner, numpy::inner(a, b)),
    CALL(outer, numpy::outer(a, b)),
    CALL(vdot, numpy::vdot(a, b)),
    CALL(tensordot, numpy::tensordot(a, b, n)),
    CALL(tensordot, numpy::tensordot(a, b, {n}, {0})),
    CALL(einsum, numpy::einsum("ij,jk", {a, b})),
    CALL(einsum, numpy::einsum("ii", {a})),
    CALL(einsum, numpy::einsum("...,...", {a, b})),
    CALL(diagonal, numpy::diagonal(a, n, n)),
    CALL(trace, numpy::trace(a, n)),
    CALL(trace, numpy::trace(a, 0, n, 1)),
    CALL(diag, numpy::diag(a, n)),

    CALL(reshape, numpy::reshape(a, {n, n})),
    CALL(ravel, numpy::ravel(a)),
    CALL(flatten, numpy::flatten(a)),
    CALL(transpose, numpy::transpose(a, std::vector<int64_t>{n, 0})),
    CALL(permute_dims, numpy::permute_dims(a, {n, 0})),
    CALL(matrix_transpose, numpy::matrix_transpose(a)),
    CALL(swapaxes, numpy::swapaxes(a, n, 0)),
    CALL(moveaxis, numpy::moveaxis(a, n, 0)),
    CALL(moveaxis, numpy::moveaxis(a, {n, 0}, 0)),
    CALL(rollaxis, numpy::rollaxis(a, n, n)),
    CALL(expand_dims, numpy::expand_dims(a, {n, 0})),
    CALL(squeeze, numpy::squeeze(a, n)),
    CALL(atleast_1d, numpy::atleast_1d(a)),
    CALL(atleast_2d, numpy::atleast_2d(a)),
    CALL(atleast_3d, numpy::atleast_3d(a)),
    CALL(broadcast_to, numpy::broadcast_to(a, {n, 2})),
    CALL(broadcast_arrays, numpy::broadcast_arrays({a, b})),
    CALL(broadcast_shapes, numpy::broadcast_shapes({a.shape(), b.shape()})),
    CALL(astype, numpy::astype(a, b.dtype())),
    CALL(concatenate, numpy::concatenate({a, b}, n)),
    CALL(concatenate, numpy::concatenate({})),
    CALL(stack, numpy::stack({a, b}, n)),
    CALL(stack, numpy::stack({a, a}, n)),
    CALL(hstack, numpy::hstack({a, b})),
    CALL(hstack, numpy::hstack({})),
    CALL(vstack, numpy::vstack({a, b})),
    CALL(vstack, numpy::vstack({})),
    CALL(dstack, numpy::dstack({a, b})),
    CALL(dstack, numpy::dstack({})),
    CALL(append, numpy::append(a, b, n)),
    CALL(append, numpy::append(a, b)),
    CALL(split, numpy::split(a, n)),
    CALL(split, numpy::split(a, 1, n)),
    CALL(split, numpy::split(a, {n, 1}, n)),
    CALL(array_split, numpy::array_split(a, n)),
    CALL(array_split, numpy::array_split(a, 1, n)),
    CALL(flip, numpy::flip(a, n)),
    CALL(roll, numpy::roll(a, {1, 2, 3}, {n, 0})),
    CALL(rot90, numpy::rot90(a, 1, {0, n})),
    CALL(repeat, numpy::repeat(a, n, 0)),
    CALL(repeat, numpy::repeat(a, {n, 1}, 0)),
    CALL(repeat, numpy::repeat(a, n, n)),
    CALL(tile, numpy::tile(a, {n, 1})),
    CALL(resize, numpy::resize(a, {n, 2})),
    CALL(pad, numpy::pad(a, {{n, 1}})),
    CALL(pad, numpy::pad(a, {{1, 1}, {1, n}}, "constant", b)),
    CALL(pad, numpy::pad(a, {{1, 1}}, "reflect")),
    CALL(pad, numpy::pad(a, {{1, 1}}, "mean")),
    CALL(pad, numpy::pad(a, {{1, n}}, "linear_ramp", {.values = {{n, b}}})),
    CALL(pad, numpy::pad(a, {{n, 1}}, "median", {.stat_lengths = {{n, 2}}})),
    CALL(pad, numpy::pad(a, {{2, n}}, "reflect", {.is_odd = true})),
    CALL(reduce, folds::reduce(ir::scalar::row("hypot"), a, n, {.initial = b})),
    CALL(reduce, folds::reduce(ir::scalar::row("add"), a, n, {.where = b})),
    CALL(accumulate, folds::accumulate(ir::scalar::row("maximum"), a, n)),
    CALL(reduceat, folds::reduceat(ir::scalar::row("add"), a, b, n)),
    CALL(at, folds::at(ir::scalar::row("add"), a, {n}, {b})),
    CALL(take, numpy::take(a, b, n)),
    CALL(take, numpy::take(a, b, {}, "wrap")),
    CALL(take, numpy::take(a, b, 0, "clip")),
    CALL(take_along_axis, numpy::take_along_axis(a, b, n)),
    CALL(diff, numpy::diff(a, n)),
    CALL(diff, numpy::diff(a, 1, 0, b, b)),
    CALL(diff, numpy::diff(a, 1, n, a, b)),
    CALL(sliding_window_view, numpy::sliding_window_view(a, {n}, 0)),
    CALL(sliding_window_view, numpy::sliding_window_view(a, {2, 2}, {0, n})),
    CALL(meshgrid, numpy::meshgrid({a, b})),
    CALL(meshgrid, numpy::meshgrid({a, b}, "yx")),

    CALL(sum, numpy::sum(a, n, {}, false, {}, b)),
    CALL(sum, numpy::sum(a, n, DType::uint8, false, b)),
    CALL(prod, numpy::prod(a, n, {}, false, b, b)),
    CALL(max, numpy::max(a, n, false, b)),
    CALL(max, numpy::max(a, {}, false, 0, b)),
    CALL(min, numpy::min(a, n, false, b, b)),
    CALL(amax, numpy::amax(a, n, false, b, b)),
    CALL(amin, numpy::amin(a, n, false, b, b)),
    CALL(ptp, numpy::ptp(a, n)),
    CALL(mean, numpy::mean(a, n)),
    CALL(mean, numpy::mean(a, {}, {}, false, b)),
    CALL(var, numpy::var(a, n)),
    CALL(var, numpy::var(a, {}, {}, 0, false, b)),
    CALL(std, numpy::std(a, n)),
    CALL(std, numpy::std(a, {}, b.dtype(), 0, false, b)),
    CALL(average, numpy::average(a, n)),
    CALL(average, numpy::average(a, n, b)),
    CALL(average, numpy::average(a, {}, b)),
    CALL(average_and_weights, numpy::average_and_weights(a, n, b)),
    CALL(var, numpy::var(a, n, DType::complex64, 0, false, {}, b)),
    CALL(std, numpy::std(a, n, DType::complex64, 0, false, b)),
    CALL(meshgrid, numpy::meshgrid({a, b}, "ij", true)),
    CALL(cast_inputs, numpy::cast_inputs("cast_inputs", {a, b}, DType::int8, "safe")),
    CALL(cast_parts, numpy::cast_parts("cast_parts", {a, b}, {}, "no")),
    CALL(argmax, numpy::argmax(a, n)),
    CALL(argmin, numpy::argmin(a, n)),
    CALL(any, numpy::any(a, n, false, b)),
    CALL(all, numpy::all(a, n, false, b)),
    CALL(count_nonzero, numpy::count_nonzero(a, n)),
    CALL(cumsum, numpy::cumsum(a, n)),
    CALL(cumprod, numpy::cumprod(a, n)),

    CALL(clip, numpy::clip(a, b, 300)),
    CALL(round, numpy::round(a, n)),
    CALL(around, numpy::around(a, n)),
    CALL(concat, numpy::concat({a, b}, n)),
    CALL(fliplr, numpy::fliplr(a)),
    CALL(flipud, numpy::flipud(a)),
    CALL(unique_all, numpy::unique_all(a).values),
    CALL(unique_counts, numpy::unique_counts(a).values),
    CALL(unique_inverse, numpy::unique_inverse(a).values),
    CALL(unique_values, numpy::unique_values(a)),
    CALL(histogram2d, numpy::histogram2d(a, b).counts),
    CALL(can_cast, numpy::can_cast(a.dtype(), b.dtype(), "odd")),
    CALL(isdtype, numpy::isdtype(a.dtype(), "odd")),
    CALL(power, numpy::raised(a, b)),
    CALL(power, numpy::apply("power", {a, b})),
    CALL(divmod, numpy::divmod(a, b)),
    CALL(frexp, numpy::frexp(a)),
    CALL(modf, numpy::modf(a)),
    CALL(nonzero, numpy::nonzero(ir::input("x", a.dtype(), a.shape()))),
    CALL(random, generator().random(Shape{n})),
    CALL(standard_normal, generator().standard_normal(Shape{n})),
    CALL(standard_exponential, generator().standard_exponential(Shape{n})),
    CALL(standard_cauchy, generator().standard_cauchy(Shape{n})),
    CALL(chisquare, generator().chisquare(a, Shape{2, n})),
    CALL(pareto, generator().pareto(a, Shape{2, n})),
    CALL(power, generator().power(a, Shape{2, n})),
    CALL(standard_t, generator().standard_t(a, Shape{2, n})),
    CALL(weibull, generator().weibull(a, Shape{2, n})),
    CALL(rayleigh, generator().rayleigh(a, Shape{2, n})),
    CALL(exponential, generator().exponential(a, Shape{2, n})),
    CALL(geometric, generator().geometric(a, Shape{2, n})),
    CALL(logseries, generator().logseries(a, Shape{2, n})),
    CALL(poisson, generator().poisson(a, Shape{2, n})),
    CALL(zipf, generator().zipf(a, Shape{2, n})),
    CALL(standard_gamma, generator().standard_gamma(a, Shape{2, n})),
    CALL(beta, generator().beta(a, b)),
    CALL(f, generator().f(a, b)),
    CALL(gamma, generator().gamma(a, b)),
    CALL(gumbel, generator().gumbel(a, b)),
    CALL(laplace, generator().laplace(a, b)),
    CALL(logistic, generator().logistic(a, b)),
    CALL(lognormal, generator().lognormal(a, b)),
    CALL(noncentral_chisquare, generator().noncentral_chisquare(a, b)),
    CALL(normal, generator().normal(a, b)),
    CALL(uniform, generator().uniform(a, b)),
    CALL(vonmises, generator().vonmises(a, b)),
    CALL(wald, generator().wald(a, b)),
    CALL(binomial, generator().binomial(a, b)),
    CALL(negative_binomial, generator().negative_binomial(a, b)),
    CALL(noncentral_f, generator().noncentral_f(a, b, n)),
    CALL(triangular, generator().triangular(a, b, n)),
    CALL(hypergeometric, generator().hypergeometric(a, b, n)),
    CALL(dirichlet, generator().dirichlet(a, Shape{n})),
    CALL(choice, generator().choice(n, Shape{2}, false, b)),
    CALL(permutation, generator().permutation(n)),
    CALL(random, legacy().random(Shape{n})),
    CALL(standard_normal, legacy().standard_normal(Shape{n})),
    CALL(standard_exponential, legacy().standard_exponential(Shape{n})),
    CALL(standard_cauchy, legacy().standard_cauchy(Shape{n})),
    CALL(chisquare, legacy().chisquare(a, Shape{2, n})),
    CALL(pareto, legacy().pareto(a, Shape{2, n})),
    CALL(power, legacy().power(a, Shape{2, n})),
    CALL(standard_t, legacy().standard_t(a, Shape{2, n})),
    CALL(weibull, legacy().weibull(a, Shape{2, n})),
    CALL(rayleigh, legacy().rayleigh(a, Shape{2, n})),
    CALL(exponential, legacy().exponential(a, Shape{2, n})),
    CALL(geometric, legacy().geometric(a, Shape{2, n})),
    CALL(logseries, legacy().logseries(a, Shape{2, n})),
    CALL(poisson, legacy().poisson(a, Shape{2, n})),
    CALL(zipf, legacy().zipf(a, Shape{2, n})),
    CALL(standard_gamma, legacy().standard_gamma(a, Shape{2, n})),
    CALL(beta, legacy().beta(a, b)),
    CALL(f, legacy().f(a, b)),
    CALL(gamma, legacy().gamma(a, b)),
    CALL(gumbel, legacy().gumbel(a, b)),
    CALL(laplace, legacy().laplace(a, b)),
    CALL(logistic, legacy().logistic(a, b)),
    CALL(lognormal, legacy().lognormal(a, b)),
    CALL(noncentral_chisquare, legacy().noncentral_chisquare(a, b)),
    CALL(normal, legacy().normal(a, b)),
    CALL(uniform, legacy().uniform(a, b)),
    CALL(vonmises, legacy().vonmises(a, b)),
    CALL(wald, legacy().wald(a, b)),
    CALL(binomial, legacy().binomial(a, b)),
    CALL(negative_binomial, legacy().negative_binomial(a, b)),
    CALL(noncentral_f, legacy().noncentral_f(a, b, n)),
    CALL(triangular, legacy().triangular(a, b, n)),
    CALL(hypergeometric, legacy().hypergeometric(a, b, n)),
    CALL(dirichlet, legacy().dirichlet(a, Shape{n})),
    CALL(choice, legacy().choice(n, Shape{2}, false, b)),
    CALL(permutation, legacy().permutation(n)),
    CALL(permutation, generator().permutation(a, n)),
    CALL(permutation, legacy().permutation(a)),
    CALL(choice, generator().choice(a, Shape{2}, true, b, n)),
    CALL(permuted, generator().permuted(a, n)),
    CALL(integers, generator().integers(a, b, Shape{n}, DType::int32)),
    CALL(integers, generator().integers(0, n, {}, a.dtype(), true)),
    CALL(standard_normal, generator().standard_normal({}, a.dtype())),
    CALL(multinomial, generator().multinomial(n, a)),
    CALL(multinomial, legacy().multinomial(n, a)),
    CALL(multivariate_hypergeometric, generator().multivariate_hypergeometric(a, n)),
    CALL(multivariate_normal, generator().multivariate_normal(a, b)),
    CALL(rand, legacy().rand({n})),
    CALL(randn, legacy().randn({n})),
    CALL(tomaxint, legacy().tomaxint(Shape{n})),
    CALL(randint, legacy().randint(n, 3, Shape{n}, a.dtype())),
    CALL(default_rng, numpy::random::default_rng(static_cast<uint64_t>(n))),

    CALL(split, random::split(b, n)),
    CALL(fold_in, random::fold_in(b, a)),
    CALL(bits, random::bits(b, {n}, a.dtype())),
    CALL(uniform, random::uniform(b, {n}, a.dtype(), a)),
    CALL(normal, random::normal(b, {n}, a.dtype())),
    CALL(truncated_normal, random::truncated_normal(b, a, a, {n})),
    CALL(exponential, random::exponential(b, {n})),
    CALL(laplace, random::laplace(b, {n})),
    CALL(logistic, random::logistic(b, {n})),
    CALL(gumbel, random::gumbel(b, {n})),
    CALL(gamma_slope, random::gamma_slope(a, b)),
    CALL(bernoulli, random::bernoulli(b, a, Shape{n})),
    CALL(rademacher, random::rademacher(b, {n}, a.dtype())),
    CALL(randint, random::randint(b, {n}, a, 5)),
    CALL(categorical, random::categorical(b, a, n)),
    // clang-format on
};

Tensors operands() {
    using numpy::full;
    return {
        numpy::scalar(DType::float64, 1.5),
        ir::weak_scalar(int64_t{300}),
        ir::weak_scalar(int64_t{-1}),
        full({2, 3}, 1.0),
        full({4}, 1.0, DType::float32),
        full({0, 3}, 1.0),
        full({2, 2}, true, DType::boolean),
        full({3}, true, DType::boolean),
        ir::constant(ir::Array::scalar(DType::complex64, 2)),
        ir::constant(ir::Array::zeros(DType::complex64, {3})),
        full({2, 3}, 7, DType::uint8),
        full({3}, 7, DType::int64),
        full({2, 3, 4}, 1.0),
        full({1, 2, 5, 5}, 1.0, DType::float32),
        numpy::scalar(DType::uint64, 1),
    };
}

// NumPy's words for what several functions check alike.
bool is_numpys(const std::string& message) {
    for (const char* start : {"index ", "cannot do a non-empty take", "ufunc '", "numpy boolean ",
                              "Integers to negative integer powers", "The numpy boolean negative",
                              "attempt to get arg", "zero-size array to reduction operation"})
        if (message.starts_with(start)) return true;
    return false;
}

TEST(error_names, are_those_of_the_function_called) {
    std::vector<Call> all = calls;
    for (Call& call : calls_of_nn()) all.push_back(std::move(call));
    for (const Call& call : all) {
        std::vector<std::string> wrong;
        for (const Tensor& a : operands())
            for (const Tensor& b : operands())
                for (const int64_t n : {-7, -2, -1, 0, 1, 2, 3, 7}) try {
                        call.call(a, b, n);
                    } catch (const Error& error) {
                        const std::string message = error.what();
                        if (!message.starts_with(call.function + ": ") && !is_numpys(message))
                            wrong.push_back(message);
                    }
        EXPECT_TRUE(wrong.empty()) << call.function << " (" << wrong.size()
                                   << " of its errors): " << (wrong.empty() ? "" : wrong.front());
    }
}

template <class E>
std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const E& error) {
        EXPECT_EQ(typeid(error), typeid(E));
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

TEST(error_names, keep_what_is_wrong_and_the_class) {
    const Tensor x = numpy::ones({2, 3}), w = numpy::ones({4}), v = numpy::ones({3});
    EXPECT_EQ(message_of<ValueError>([&] { (void)numpy::trace(v); }),
              "trace: diag requires an array of at least two dimensions, not (3,).");
    EXPECT_EQ(message_of<AxisError>([&] { (void)numpy::trace(x, 0, 7); }),
              "trace: axis 7 is out of bounds for an array of 2 dimensions. Axes are -2 to 1.");
    EXPECT_EQ(message_of<ValueError>([&] { (void)numpy::full({2, 3}, w); }),
              "full: operands could not be broadcast together with remapped shapes "
              "[original->remapped]: (4,) and requested shape (2, 3).");
    EXPECT_EQ(message_of<ValueError>([&] { (void)nn::layer_norm(x, w, w); }),
              "layer_norm: operands could not be broadcast together with shapes (2, 3) (4,). "
              "Lengths must be equal, or 1, from the last axis backwards.");
    EXPECT_EQ(message_of<ValueError>([&] { (void)nn::mse(x, w); }),
              "mse: operands could not be broadcast together with shapes (2, 3) (4,). "
              "Lengths must be equal, or 1, from the last axis backwards.");
    const auto act = [] {
        (void)numpy::dot(numpy::full({2}, 1, DType::uint8), ir::weak_scalar(int64_t{300}));
    };
    EXPECT_EQ(message_of<OverflowError>(act),
              "dot: Python integer 300 out of bounds for uint8, the dtype of operand 1.");
}

}  // namespace
}  // namespace composit
