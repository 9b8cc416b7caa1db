// Demands of functions, differences, orders of samples, sparse tensors and names of devices:
// composit/aten/argument_checks.h, differences.h, sample_orders.h, sparse.h, device_names.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/argument_checks.h"
#include "composit/aten/autocast.h"
#include "composit/aten/device_names.h"
#include "composit/aten/differences.h"
#include "composit/aten/sample_orders.h"
#include "composit/aten/sparse.h"
#include "composit/aten/summaries.h"
#include "flags.h"
#include "location.h"

#include <optional>
#include <string>
#include <vector>

namespace composit::python {
namespace {

using MaybeCount = std::optional<int64_t>;

void bind_checks(nb::module_& module) {
    using ir::Shape;
    module.def("check_segments", [](bool has_indices, bool has_lengths, bool has_offsets,
                                    const Shape& segments, int64_t dim) {
        aten::check_segments(has_indices, has_lengths, has_offsets, segments, dim);
    });
    module.def("check_strided", &aten::check_strided);
    module.def("check_eye", &aten::check_eye);
    module.def("check_steps", &aten::check_steps);
    module.def("check_window_length", &aten::check_window_length);
    module.def("check_strides", &aten::check_strides);
    module.def("check_layout", &aten::check_layout);
    module.def(
        "low_rank", [](MaybeCount q, const Shape& shape) { return aten::low_rank(q, shape); },
        nb::arg().none(), nb::arg());
    module.def(
        "principal_rank",
        [](MaybeCount q, const Shape& shape, int64_t iterations) {
            return aten::principal_rank(q, shape, iterations);
        },
        nb::arg().none(), nb::arg(), nb::arg());
    module.def("check_complex_is_said", &aten::check_complex_is_said);
    module.def("check_integer_bounds", &aten::check_integer_bounds, nb::arg(), nb::arg(),
               nb::arg() = ir::DType::int64);
    module.def("check_deviation", &aten::check_deviation);
    module.def("check_chance", &aten::check_chance);
    module.def("check_weights", &aten::check_weights);
    module.def("can_cast", [](ir::DType from, ir::DType to) { return aten::can_cast(from, to); });
    module.def("check_order_is_unique", &aten::check_order_is_unique);
}

void bind_differences(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "gradient",
        [](const Tensor& x, nb::handle spacing, const std::optional<std::vector<int64_t>>& dims,
           int64_t edge_order) {
            std::vector<numpy::Operand> steps;
            const bool is_one = !PyList_Check(spacing.ptr()) && !PyTuple_Check(spacing.ptr());
            if (is_one)
                steps.push_back(tensor_from(spacing));
            else
                for (nb::handle each : spacing) steps.push_back(tensor_from(each));
            return aten::gradient(x, steps, dims, edge_order, is_one);
        },
        nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), located);
    module.def(
        "cumulative_trapezoid",
        [](const Tensor& y, const MaybeOperand& x, double dx, int64_t dim) {
            return aten::cumulative_trapezoid(y, x, dx, dim);
        },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), located);
    module.def(
        "tensordot",
        [](const Tensor& a, const Tensor& b, const std::vector<int64_t>& dims_a,
           const std::vector<int64_t>& dims_b) { return aten::tensordot(a, b, dims_a, dims_b); },
        located);
    module.def(
        "tensordot",
        [](const Tensor& a, const Tensor& b, int64_t count) {
            return aten::tensordot(a, b, count);
        },
        located);
}

void bind_sample_orders(nb::module_& module) {
    module.def("split_counts", &aten::split_counts);
    module.def("replica_share", &aten::replica_share);
    module.def("replica_places", [](const std::vector<int64_t>& order, int64_t replicas,
                                    int64_t rank, TruthFlag drop_last) {
        return aten::replica_places(order, replicas, rank, drop_last);
    });
    module.def(
        "check_loader",
        [](int64_t workers, double timeout, TruthFlag has_sampler, TruthFlag has_batch_sampler,
           nb::handle shuffle, MaybeCount batch_size, TruthFlag drop_last,
           TruthFlag has_prefetch_factor, TruthFlag is_iterable) {
            std::optional<std::string> shown;
            if (truth_of(shuffle)) shown = nb::str(shuffle).c_str();
            aten::check_loader({workers, timeout, has_prefetch_factor, is_iterable, shown,
                                has_sampler, has_batch_sampler, batch_size, drop_last});
        },
        nb::arg("workers"), nb::arg("timeout"), nb::arg("has_sampler"),
        nb::arg("has_batch_sampler"), nb::arg("shuffle").none(), nb::arg("batch_size").none(),
        nb::arg("drop_last"), nb::arg("has_prefetch_factor"), nb::arg("is_iterable"));
    module.def(
        "batch_count",
        [](int64_t samples, MaybeCount batch_size, TruthFlag drop_last) {
            return aten::batch_count(samples, batch_size, drop_last);
        },
        nb::arg(), nb::arg().none(), nb::arg());
    module.def("check_draws", &aten::check_draws);
}

void bind_summaries(nb::module_& module) {
    module.def("edges_of_bins", [] {
        nb::list edges;
        for (const double edge : aten::edges_of_bins()) edges.append(edge);
        return edges;
    });
    // (upper edges, counts)
    module.def(
        "shown_bins",
        [](const std::vector<double>& counts, const std::vector<double>& edges, MaybeCount most) {
            const aten::ShownBins made = aten::shown_bins(counts, edges, most);
            return nb::make_tuple(made.limits, made.counts);
        },
        nb::arg(), nb::arg(), nb::arg().none());
    module.def("pixel_rows", [](const ir::Array& pixels, const std::string& letters) {
        return aten::pixel_rows(pixels, letters);
    });
    module.def(
        "sparse_size",
        [](const ir::Shape& indices, const ir::Shape& values, const std::vector<int64_t>& least,
           const std::vector<int64_t>& greatest, const std::optional<ir::Shape>& given) {
            return aten::sparse_size(indices, values, least, greatest, given);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    module.def("sparse_transposed", &aten::sparse_transposed);
    module.def("sparse_dims", &aten::sparse_dims, nb::arg(), nb::arg().none(), nb::arg().none());
}

void bind_sparse(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "coalesce",
        [](const Tensor& indices, const Tensor& values, const ir::Shape& shape) {
            const aten::SparseElements made = aten::coalesce({indices, values}, shape);
            return std::vector<Tensor>{made.indices, made.values};
        },
        located);
    module.def(
        "sparse_to_dense",
        [](const Tensor& indices, const Tensor& values, const ir::Shape& shape) {
            return aten::sparse_to_dense({indices, values}, shape);
        },
        located);
    module.def(
        "sparse_mm",
        [](const Tensor& indices, const Tensor& values, const ir::Shape& shape,
           const Tensor& dense) { return aten::sparse_mm({indices, values}, shape, dense); },
        located);
    module.def(
        "sparse_mv",
        [](const Tensor& indices, const Tensor& values, const ir::Shape& shape,
           const Tensor& dense) { return aten::sparse_mv({indices, values}, shape, dense); },
        located);
    module.def(
        "sparse_softmax",
        [](const Tensor& indices, const Tensor& values, const ir::Shape& shape, int64_t dim,
           TruthFlag is_log) {
            return aten::sparse_softmax({indices, values}, shape, dim, is_log);
        },
        located);
}

// A device's kind and number, or None.
nb::tuple parts_of_device(const aten::DeviceName& name) {
    return nb::make_tuple(name.kind, name.index ? nb::object(nb::int_(*name.index)) : nb::none());
}

void bind_names(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("device_kinds", &aten::device_kinds);
    module.def(
        "parse_device_name",
        [](const std::string& name, const std::vector<std::string>& more) {
            return parts_of_device(aten::parse_device_name(name, more));
        },
        located);
    module.def(
        "device_name_with",
        [](const std::string& name, std::optional<int64_t> index,
           const std::vector<std::string>& more) {
            return parts_of_device(aten::device_name_with(name, index, more));
        },
        nb::arg(), nb::arg().none(), nb::arg(), located);
    module.def("autocast_of", [](const std::string& function, const std::string& mode) {
        constexpr const char* names[] = {"none", "lower", "float32", "widest"};
        return names[static_cast<size_t>(aten::autocast_of(function, mode))];
    });
}

}  // namespace

void bind_aten_arguments(nb::module_& module) {
    bind_summaries(module);
    bind_sparse(module);
    bind_names(module);
    bind_checks(module);
    bind_differences(module);
    bind_sample_orders(module);
}

}  // namespace composit::python
