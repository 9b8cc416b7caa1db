// Shapes, parts, sorting, sequences and texts: composit/aten/shapes.h, sorting.h, sequences.h,
// printing.h.
#include "aten.h"
#include "casters.h"
#include "composit/aten/printing.h"
#include "composit/aten/sequences.h"
#include "composit/aten/shapes.h"
#include "composit/aten/sorting.h"
#include "content.h"
#include "flags.h"
#include "indexing.h"
#include "location.h"
#include "viewing.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

using Integers = std::vector<int64_t>;

// Parts that are views of x; a tuple of them, as PyTorch has it.
template <class... Arguments, class Function>
auto parting(Function function) {
    return [function](nb::handle x, Arguments... arguments) {
        return nb::tuple(viewed(function(tensor_from(x), std::move(arguments)...), x));
    };
}

void bind_views(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("dimension_of", &aten::dimension_of);
    module.def("reshape", viewing<Integers>(aten::reshape), located);
    module.def("flatten", viewing<int64_t, int64_t>(aten::flatten), located);
    module.def("unflatten", viewing<int64_t, Integers>(aten::unflatten), located);
    module.def("squeeze", viewing<numpy::Axis>(aten::squeeze), located);
    module.def("unsqueeze", viewing<int64_t>(aten::unsqueeze), located);
    module.def("transpose", viewing<int64_t, int64_t>(aten::transpose), located);
    module.def("expand", viewing<Integers>(aten::expand), located);
    module.def("narrow", viewing<int64_t, int64_t, int64_t>(aten::narrow), located);
    module.def("select",
               viewing<int64_t, nb::handle>([](const Tensor& x, int64_t dim, nb::handle index) {
                   return aten::select(x, dim, index_from(nb::make_tuple(index)).at(0));
               }),
               located);
}

void bind_parts(nb::module_& module) {
    const nb::call_guard<Located> located;
    using Parts = std::vector<Tensor>;
    using ByNumber = Parts (*)(const Tensor&, int64_t, int64_t);
    using ByList = Parts (*)(const Tensor&, const Integers&, int64_t);
    // An integer, or a list of them: functions of two forms.
    const auto either = [&](const char* name, ByNumber by_number, ByList by_list) {
        module.def(name,
                   parting<nb::handle, int64_t>(
                       [=](const Tensor& x, nb::handle sizes, int64_t dim) -> Parts {
                           if (PyIndex_Check(sizes.ptr()))
                               return by_number(x, integer_from(sizes), dim);
                           return by_list(x, integers_from(sizes), dim);
                       }),
                   nb::arg(), nb::arg(), nb::arg("dim") = 0, located);
    };
    either("split", aten::split, aten::split);
    either("tensor_split", aten::tensor_split, aten::tensor_split);
    module.def("chunk", parting<int64_t, int64_t>(aten::chunk), located);
    module.def("unbind", parting<int64_t>(aten::unbind), located);
}

void bind_sorting(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "argsort",
        [](const Tensor& x, int64_t dim, TruthFlag descending) {
            return aten::argsort(x, dim, descending);
        },
        located);
    module.def(
        "sort",
        [](const Tensor& x, int64_t dim, TruthFlag descending) {
            return aten::sort(x, dim, descending);
        },
        located);
    module.def(
        "topk",
        [](const Tensor& x, int64_t k, int64_t dim, TruthFlag largest) {
            return aten::topk(x, k, dim, largest);
        },
        located);
    module.def(
        "kthvalue",
        [](const Tensor& x, int64_t k, int64_t dim, TruthFlag keepdim) {
            return aten::kthvalue(x, k, dim, keepdim);
        },
        located);
    module.def(
        "median",
        [](const Tensor& x, std::optional<int64_t> dim, TruthFlag keepdim) {
            return aten::median(x, dim, keepdim);
        },
        nb::arg(), nb::arg("dim").none(), nb::arg("keepdim"), located);
    module.def(
        "searchsorted",
        [](const Tensor& sorted, const Tensor& values, TruthFlag right,
           std::optional<Tensor> sorter) {
            return aten::searchsorted(sorted, values, right, sorter.value_or(Tensor()));
        },
        nb::arg(), nb::arg(), nb::arg("right"), nb::arg("sorter").none(), located);
    module.def(
        "unique_consecutive",
        [](const Tensor& x, std::optional<int64_t> dim) {
            const aten::Runs found = aten::unique_consecutive(x, dim);
            return std::make_tuple(found.values, found.inverse, found.counts);
        },
        nb::arg(), nb::arg("dim").none(), located);
}

void bind_sequences(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("invert_permutation", &aten::invert_permutation);
    module.def("check_packed", &aten::check_packed);
    module.def("packing_of", [](const Integers& lengths, const Integers& sizes,
                                TruthFlag batch_first, TruthFlag enforce_sorted) {
        const aten::Packing made = aten::packing_of(lengths, sizes, batch_first, enforce_sorted);
        return std::make_tuple(made.rows, made.batch_sizes, made.order);
    });
    module.def(
        "unpacking_of",
        [](const Integers& batch_sizes, const std::optional<Integers>& unsorted,
           TruthFlag batch_first, std::optional<int64_t> total_length) {
            const aten::Unpacking made =
                aten::unpacking_of(batch_sizes, unsorted, batch_first, total_length);
            return std::make_tuple(made.rows, made.lengths, made.times);
        },
        nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
    module.def(
        "pad_sequence",
        [](const std::vector<Tensor>& sequences, TruthFlag batch_first,
           const numpy::Operand& padding_value, const std::string& side) {
            return aten::pad_sequence(sequences, batch_first, padding_value, side);
        },
        located);
    module.def(
        "run_packed",
        [](const Tensor& data, const Integers& batch_sizes, const std::vector<Tensor>& states,
           const nb::object& step, bool backwards) {
            const auto called = [&](const Tensor& x, const std::vector<Tensor>& given) {
                nb::list wrapped;
                for (const Tensor& state : given) wrapped.append(wrap(state));
                return tensors_from(step(wrap(x), wrapped));
            };
            return aten::run_packed(data, batch_sizes, states, called, backwards);
        },
        located);
    module.def(
        "text_of",
        [](const ir::Array& values, int precision, double threshold, int64_t edge_items,
           int64_t line_width, std::optional<bool> scientific, int64_t indent) {
            return aten::text_of(values, {precision, threshold, edge_items, line_width, scientific},
                                 indent);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    module.def(
        "tensor_text",
        [](const ir::Array& values, const std::string& dtype, const std::string& default_dtype,
           const std::string& device, bool requires_grad, const std::string& grad_fn,
           bool is_parameter, int precision, double threshold, int64_t edge_items,
           int64_t line_width, std::optional<bool> scientific) {
            return aten::tensor_text(
                values, {dtype, default_dtype, device, requires_grad, grad_fn, is_parameter},
                {precision, threshold, edge_items, line_width, scientific});
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace

void bind_aten_shapes(nb::module_& module) {
    const nb::call_guard<Located> located;
    bind_views(module);
    bind_parts(module);
    bind_sorting(module);
    bind_sequences(module);
    module.def("sum_to_size", &aten::sum_to_size, located);
    module.def("roll", &aten::roll, nb::arg(), nb::arg(), nb::arg("dims").none(), located);
    module.def("tril", &aten::tril, located);
    module.def("triu", &aten::triu, located);
    module.def("diag_embed", &aten::diag_embed, located);
    module.def("block_diag", &aten::block_diag, located);
    module.def("meshgrid", &aten::meshgrid, located);
    module.def("cartesian_prod", &aten::cartesian_prod, located);
    module.def(
        "pad",
        [](const Tensor& x, const Integers& widths, const std::string& mode,
           const MaybeOperand& value) {
            const numpy::Operand& given = value;
            return aten::pad(x, widths, mode, given ? given : numpy::Operand(0));
        },
        nb::arg(), nb::arg(), nb::arg("mode") = "constant", nb::arg("value").none() = nb::none(),
        located);
}

}  // namespace composit::python
