// composit/numpy/quantiles.h, covariance.h, histograms.h, binning.h and interpolation.h.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/binning.h"
#include "composit/numpy/covariance.h"
#include "composit/numpy/histograms.h"
#include "composit/numpy/interpolation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/quantiles.h"
#include "composit/numpy/variants.h"
#include "flags.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"

#include <cmath>

namespace composit::python {
namespace {

using numpy::Operand;

// A text, an integer, or edges, which have one dimension or more.
numpy::Bins bins_from(const std::string& function, nb::handle value) {
    if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
    const bool is_list =
        PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyRange_Check(value.ptr());
    const bool has_axes = has_attribute(value, "ndim") && nb::cast<int64_t>(value.attr("ndim")) > 0;
    if (is_list || has_axes) return tensor_from(value);
    user_check<TypeError>(PyIndex_Check(value.ptr()), function,
                          ": `bins` must be an integer, a string, or an array, not ", Shown{value},
                          ".");
    return integer_from(value);
}

bool is_iterable(nb::handle value) { return has_attribute(value, "__iter__"); }

// The bins of each dimension, or the same ones of all.
std::vector<numpy::Bins> bins_of_each(const std::string& function, nb::handle bins, size_t rank) {
    std::vector<numpy::Bins> each;
    if (is_iterable(bins))
        for (nb::handle item : bins) each.push_back(bins_from(function, item));
    else
        each.assign(rank, bins_from(function, bins));
    return each;
}

// Those of either axis: edges of both, unless there are one or two.
std::vector<numpy::Bins> bins_of_two(nb::handle bins) {
    const bool has_length = has_attribute(bins, "__len__") && !nb::isinstance<nb::str>(bins);
    const bool is_number = has_attribute(bins, "ndim") && nb::cast<int64_t>(bins.attr("ndim")) == 0;
    if (has_length && !is_number && nb::len(bins) != 1 && nb::len(bins) != 2)
        return {tensor_from(bins), tensor_from(bins)};
    if (has_length && !is_number) return bins_of_each("histogram2d", bins, 2);
    return std::vector<numpy::Bins>(2, bins_from("histogram2d", bins));
}

numpy::Range range_from(nb::handle value) {
    if (value.is_none()) return {};
    if (!PySequence_Check(value.ptr())) refuse_argument(value, "A pair of numbers");
    const nb::tuple ends = nb::tuple(nb::borrow<nb::object>(value));
    if (ends.size() != 2) refuse_argument<ValueError>(value, "A pair of numbers");
    return numpy::Range({tensor_from(ends[0]), tensor_from(ends[1])});
}

// A range for each dimension, or none.
std::vector<numpy::Range> ranges_from(const std::string& function, nb::handle ranges, size_t rank) {
    std::vector<numpy::Range> all;
    if (ranges.is_none()) return all;
    if (!is_iterable(ranges)) refuse_argument(ranges, "A sequence of pairs");
    for (nb::handle item : ranges) all.push_back(range_from(item));
    user_check(all.size() == rank, function,
               ": range argument must have one entry per dimension: ", all.size(),
               " are given for ", rank, ".");
    return all;
}

void check_inexact(const char* function, const std::optional<ir::DType>& dtype) {
    user_check<TypeError>(!dtype || ir::is_inexact(*dtype), function, ": dtype is ",
                          dtype.value_or(ir::DType::float64), ". A float is required.");
}

// Degrees of freedom that are taken off: a number without a fraction.
std::optional<int64_t> whole_ddof(nb::handle ddof) {
    if (ddof.is_none()) return {};
    const double number = number_from(ddof);
    numpy::check_float_fits("cov", number, ir::DType::int64);
    user_check(number == std::trunc(number), "cov: ddof must be integer, not ", Shown{ddof}, ".");
    return static_cast<int64_t>(number);
}

Tensor cov(const Tensor& x, const MaybeOperand& y, TruthFlag rowvar, TruthFlag bias,
           nb::handle ddof, const MaybeOperand& fweights, const MaybeOperand& aweights,
           std::optional<ir::DType> dtype) {
    check_inexact("cov", dtype);
    const numpy::Covariance how{rowvar, bias, whole_ddof(ddof), fweights, aweights, dtype};
    Tensor result = numpy::cov(x, y, how);
    constexpr int level = 2;  // behind the function that the user called
    if (numpy::lacks_freedom(x, how) &&
        PyErr_WarnEx(PyExc_RuntimeWarning, "cov: Degrees of freedom <= 0 for slice.", level) < 0)
        throw nb::python_error();
    return result;
}

// Lists of whole floats are counted, too.
Tensor bincount(nb::handle x, const MaybeOperand& weights, int64_t least) {
    Tensor counted = tensor_from(x);
    if ((PyList_Check(x.ptr()) || PyTuple_Check(x.ptr())) && ir::is_floating(counted.dtype()))
        counted = numpy::astype(counted, ir::DType::int64);
    return numpy::bincount(counted, weights, least);
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
    module.def("cov", cov, nb::arg("x"), nb::arg("y").none(), nb::arg("rowvar").none(),
               nb::arg("bias").none(), nb::arg("ddof").none(), nb::arg("fweights").none(),
               nb::arg("aweights").none(), nb::arg("dtype").none(), located);
    module.def(
        "corrcoef",
        [](const Tensor& x, const MaybeOperand& y, TruthFlag rowvar,
           std::optional<ir::DType> dtype) {
            check_inexact("corrcoef", dtype);
            return numpy::corrcoef(x, y, rowvar, dtype);
        },
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
            return numpy::histogram_bin_edges(x, bins_from("histogram_bin_edges", bins),
                                              range_from(range), weights);
        },
        nb::arg("x"), nb::arg("bins").none(), nb::arg("range").none(), nb::arg("weights").none(),
        located);
    module.def(
        "histogram",
        [](const Tensor& x, nb::handle bins, nb::handle range, TruthFlag density,
           const MaybeOperand& weights) {
            return made(numpy::histogram(x, bins_from("histogram", bins), range_from(range),
                                         density, weights));
        },
        nb::arg("x"), nb::arg("bins").none(), nb::arg("range").none(), nb::arg("density").none(),
        nb::arg("weights").none(), located);
    module.def(
        "histogramdd",
        [](nb::handle sample, nb::handle bins, nb::handle ranges, TruthFlag density,
           const MaybeOperand& weights) {
            Tensor points = tensor_from(sample);
            const bool is_table =
                has_attribute(sample, "ndim") && nb::cast<int64_t>(sample.attr("ndim")) == 2;
            if (!is_table) points = numpy::transpose(numpy::atleast_2d(points));
            const auto rank = static_cast<size_t>(points.shape()[1]);
            return made(numpy::histogramdd(points, bins_of_each("histogramdd", bins, rank),
                                           ranges_from("histogramdd", ranges, rank), density,
                                           weights));
        },
        nb::arg("sample"), nb::arg("bins").none(), nb::arg("ranges").none(),
        nb::arg("density").none(), nb::arg("weights").none(), located);
    module.def(
        "histogram2d",
        [](const Tensor& x, const Tensor& y, nb::handle bins, nb::handle ranges, TruthFlag density,
           const MaybeOperand& weights) {
            return made(numpy::histogram2d(
                x, y, bins_of_two(bins), ranges_from("histogram2d", ranges, 2), density, weights));
        },
        nb::arg("x"), nb::arg("y"), nb::arg("bins").none(), nb::arg("ranges").none(),
        nb::arg("density").none(), nb::arg("weights").none(), located);
    module.def(
        "digitize",
        [](const Tensor& x, const Tensor& bins, TruthFlag is_right) {
            return numpy::digitize(x, bins, is_right);
        },
        located);
    module.def("bincount", bincount, nb::arg("x"), nb::arg("weights").none(), nb::arg("least"),
               located);
    module.def(
        "interp",
        [](const Tensor& x, const Tensor& xp, const Tensor& fp, const MaybeOperand& left,
           const MaybeOperand& right,
           const MaybeOperand& period) { return numpy::interp(x, xp, fp, left, right, period); },
        located);
}

}  // namespace composit::python
