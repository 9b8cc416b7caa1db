// Weights in few bits, into module composit._core.nn.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/nn/quantization.h"
#include "location.h"
#include "nn.h"

namespace composit::python {

void bind_nn_quantization(nb::module_& module) {
    using nn::QuantizationError;
    using nn::QuantizedWeight;
    const nb::call_guard<Located> located;
    nb::class_<QuantizedWeight>(module, "QuantizedWeight",
                                "A weight, and what storing it in few bits cost.")
        .def_ro("name", &QuantizedWeight::name)
        .def_ro("shape", &QuantizedWeight::shape)
        .def_ro("depth", &QuantizedWeight::depth)
        .def_ro("columns", &QuantizedWeight::columns)
        .def_ro("bytes_before", &QuantizedWeight::bytes_before)
        .def_ro("bytes_after", &QuantizedWeight::bytes_after)
        .def_ro("largest_error", &QuantizedWeight::largest_error)
        .def_ro("relative_error", &QuantizedWeight::relative_error)
        .def_ro("kept_because", &QuantizedWeight::kept_because);
    nb::class_<QuantizationError>(module, "QuantizationError",
                                  "How far a quantised model's output is from the model's.")
        .def_ro("largest", &QuantizationError::largest)
        .def_ro("relative", &QuantizationError::relative)
        .def_ro("same_argmax", &QuantizationError::same_argmax);
    nb::class_<nn::Quantizer>(module, "Quantizer")
        .def(
            "__init__",
            [](nn::Quantizer* self, std::optional<int64_t> bits, std::optional<int64_t> group,
               int64_t least_elements, std::optional<ir::DType> dtype) {
                if (bits && dtype)
                    fail<ValueError>("quantize: both bits=", *bits, " and dtype=", *dtype,
                                     " are given. One of the two is required.");
                nn::QuantizeOptions options{
                    .group = group.value_or(0), .least_elements = least_elements, .dtype = dtype};
                if (bits) options.bits = *bits;
                new (self) nn::Quantizer(options);
            },
            nb::arg("bits").none(), nb::arg("group").none(), nb::arg("least_elements"),
            nb::arg("dtype").none())
        .def("observe", &nn::Quantizer::observe, nb::arg("outputs"), nb::arg("arguments"), located)
        .def("__call__", &nn::Quantizer::operator(), nb::arg("outputs"), nb::arg("arguments"),
             located)
        .def(
            "errors",
            [](nn::Quantizer& self,
               const std::vector<std::pair<std::vector<Tensor>, std::vector<Tensor>>>& given) {
                std::vector<nn::Quantizer::Example> examples;
                for (const auto& [outputs, arguments] : given)
                    examples.push_back({outputs, arguments});
                return self.errors(examples);
            },
            nb::arg("examples"), "Of pairs of outputs and arguments.", located)
        .def("report", &nn::Quantizer::report, nb::arg("errors"))
        .def_prop_ro("weights", &nn::Quantizer::weights);
}

}  // namespace composit::python
