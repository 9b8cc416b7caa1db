// composit/numpy/quantiles.h, covariance.h, histograms.h, binning.h and interpolation.h.
#include "casters.h"
#include "composit/numpy/binning.h"
#include "composit/numpy/covariance.h"
#include "composit/numpy/histograms.h"
#include "composit/numpy/interpolation.h"
#include "composit/numpy/quantiles.h"
#include "composit/numpy/variants.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"

namespace composit::python {
namespace {

using numpy::Operand;

// A text, an integer, or edges.
numpy::Bins bins_from(nb::handle value) {
    if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
    if (PyLong_Check(value.ptr())) return integer_from(value);
    return tensor_from(value);
}

numpy::Range range_from(nb::handle value) {
    if (value.is_none()) return {};
    if (!PySequence_Check(value.ptr())) refuse_argument(value, "A pair of numbers");
    const nb::tuple ends = nb::tuple(nb::borrow<nb::object>(value));
    if (ends.size() != 2) refuse_argument<ValueError>(value, "A pair of numbers");
    return numpy::Range({tensor_from(ends[0]), tensor_from(ends[1])});
}

nb::tuple made(const numpy::Histogram& histogram) {
    nb::list edges;
    for (const Tensor& each : histogram.edges) edges.append(wrap(each));
    return nb::make_tuple(wrap(histogram.counts), edges);
}

void bind_quantiles(nb::module_& module) {
    const nb::call_guard<Located> located;
    const auto quantiles = [&](const char* name, auto function) {
        module.def(
            name,
            [function](const Tensor& x, const Operand& q, const numpy::Axis& axis,
                       const std::string& method, TruthFlag keepdims, const MaybeOperand& weights) {
                return function(x, q, axis, method, keepdims, weights);
            },
            located);
    };
    quantiles("quantile", numpy::quantile);
    quantiles("percentile", numpy::percentile);
    quantiles("nanquantile", numpy::nanquantile);
    quantiles("nanpercentile", numpy::nanpercentile);
    module.def(
        "nanmedian",
        [](const Tensor& x, const numpy::Axis& axis, TruthFlag keepdims) {
            return numpy::nanmedian(x, axis, keepdims);
        },
        located);
}

void bind_covariance(nb::module_& module) {
    const nb::call_guard<Located> located;
    // The matrix, and whether there are no degrees of freedom.
    module.def(
        "cov",
        [](const Tensor& x, const MaybeOperand& y, TruthFlag rowvar, TruthFlag bias,
           std::optional<int64_t> ddof, const MaybeOperand& fweights, const MaybeOperand& aweights,
           std::optional<ir::DType> dtype) {
            const numpy::Covariance how{rowvar, bias, ddof, fweights, aweights, dtype};
            const Tensor result = numpy::cov(x, y, how);
            return nb::make_tuple(wrap(result), numpy::lacks_freedom(x, how));
        },
        located);
    module.def(
        "corrcoef",
        [](const Tensor& x, const MaybeOperand& y, TruthFlag rowvar,
           std::optional<ir::DType> dtype) { return numpy::corrcoef(x, y, rowvar, dtype); },
        located);
}

}  // namespace

void bind_numpy_statistics(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_quantiles(module);
    bind_covariance(module);
    module.def(
        "histogram_bin_edges",
        [](const Tensor& x, nb::handle bins, nb::handle range, const MaybeOperand& weights) {
            return numpy::histogram_bin_edges(x, bins_from(bins), range_from(range), weights);
        },
        nb::arg("x"), nb::arg("bins").none(), nb::arg("range").none(), nb::arg("weights").none(),
        located);
    module.def(
        "histogram",
        [](const Tensor& x, nb::handle bins, nb::handle range, TruthFlag density,
           const MaybeOperand& weights) {
            return made(numpy::histogram(x, bins_from(bins), range_from(range), density, weights));
        },
        nb::arg("x"), nb::arg("bins").none(), nb::arg("range").none(), nb::arg("density").none(),
        nb::arg("weights").none(), located);
    module.def(
        "histogramdd",
        [](const Tensor& sample, const nb::list& bins, const nb::list& ranges, TruthFlag density,
           const MaybeOperand& weights) {
            std::vector<numpy::Bins> each;
            for (nb::handle item : bins) each.push_back(bins_from(item));
            std::vector<numpy::Range> all;
            for (nb::handle item : ranges) all.push_back(range_from(item));
            return made(numpy::histogramdd(sample, each, all, density, weights));
        },
        nb::arg("sample"), nb::arg("bins"), nb::arg("ranges"), nb::arg("density").none(),
        nb::arg("weights").none(), located);
    module.def(
        "histogram2d",
        [](const Tensor& x, const Tensor& y, const nb::list& bins, const nb::list& ranges,
           TruthFlag density, const MaybeOperand& weights) {
            std::vector<numpy::Bins> each;
            for (nb::handle item : bins) each.push_back(bins_from(item));
            std::vector<numpy::Range> all;
            for (nb::handle item : ranges) all.push_back(range_from(item));
            return made(numpy::histogram2d(x, y, each, all, density, weights));
        },
        nb::arg("x"), nb::arg("y"), nb::arg("bins"), nb::arg("ranges"), nb::arg("density").none(),
        nb::arg("weights").none(), located);
    module.def(
        "digitize",
        [](const Tensor& x, const Tensor& bins, TruthFlag is_right) {
            return numpy::digitize(x, bins, is_right);
        },
        located);
    module.def(
        "bincount",
        [](const Tensor& x, const MaybeOperand& weights, int64_t least) {
            return numpy::bincount(x, weights, least);
        },
        located);
    module.def(
        "interp",
        [](const Tensor& x, const Tensor& xp, const Tensor& fp, const MaybeOperand& left,
           const MaybeOperand& right,
           const MaybeOperand& period) { return numpy::interp(x, xp, fp, left, right, period); },
        located);
}

}  // namespace composit::python
