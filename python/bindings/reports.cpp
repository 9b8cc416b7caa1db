// composit/reports/*.h, into module composit._core.reports.
#include "reports.h"

#include "arrays.h"
#include "casters.h"
#include "composit/base/snake_case.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/reports/differences.h"
#include "composit/reports/judged.h"
#include "composit/reports/models.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

// What a model's `inputs` are: objects with name, dtype, shape and description. Lengths that are no
// integers are open; only tensors of numbers have a dtype here.
std::vector<reports::OpenInput> open_inputs(const nb::handle& infos) {
    std::vector<reports::OpenInput> inputs;
    for (const nb::handle info : infos) {
        reports::OpenInput input;
        input.name = nb::cast<std::string>(info.attr("name"));
        input.description = nb::cast<std::string>(info.attr("description"));
        const bool is_tensor =
            nb::cast<std::string>(nb::getattr(info, "kind", nb::str("tensor"))) == "tensor";
        if (is_tensor) input.dtype = ir::find_dtype(nb::cast<std::string>(info.attr("dtype")));
        const nb::object shape = info.attr("shape");
        if (!shape.is_none()) {
            input.shape.emplace();
            for (const nb::handle length : shape)
                input.shape->push_back(PyLong_Check(length.ptr())
                                           ? std::optional(nb::cast<int64_t>(length))
                                           : std::nullopt);
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

std::vector<std::pair<std::string, std::string>> described_values(const nb::handle& infos) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const nb::handle info : infos)
        all.emplace_back(nb::cast<std::string>(info.attr("name")),
                         nb::cast<std::string>(info.attr("description")));
    return all;
}

using VerdictRow =
    std::tuple<std::string, std::string, std::vector<std::pair<std::string, std::string>>,
               std::string, std::string>;

ir::Array compared_array(const nb::handle& ndarray) { return array_from(ndarray, false); }

}  // namespace

void bind_model_reports(nb::module_& module) {
    module.def(
        "same_bits",
        [](const nb::object& a, const nb::object& b) {
            return reports::same_bits(compared_array(a), compared_array(b));
        },
        "Equal dtypes, shapes and bytes; any NaN equals any NaN.");
    module.def("first_difference", [](const nb::object& expected, const nb::object& found) {
        return reports::first_difference(compared_array(expected), compared_array(found));
    });
    module.def("distance", [](const nb::object& found, const nb::object& expected) {
        const reports::Distance apart =
            reports::distance(compared_array(found), compared_array(expected));
        return std::pair(apart.largest, apart.scale);
    });
    module.def("beyond_rounding", [](const nb::object& found, const nb::object& expected,
                                     double most, const std::string& whose) {
        return reports::beyond_rounding(compared_array(found), compared_array(expected), most,
                                        whose);
    });
    module.def("compared", [](const std::string& name, const nb::object& found,
                              const nb::object& expected, const std::string& peer) {
        const reports::Compared made =
            reports::compared(name, compared_array(found), compared_array(expected), peer);
        return std::pair(made.line, made.apart);
    });
    module.def(
        "drawn_inputs",
        [](const nb::object& infos, const std::vector<std::string>& shapes,
           const std::vector<uint32_t>& seed) {  // its words
            const auto inputs = open_inputs(infos);
            nb::list made;
            for (ir::Array& each :
                 reports::drawn_inputs(inputs, reports::shapes_from(shapes, inputs),
                                       numpy::random::SeedSequence(seed)))
                made.append(ndarray_from(std::move(each)));
            return made;
        },
        nb::arg("inputs"), nb::arg("shapes"), nb::arg("seed"));
    module.def(
        "text_about",
        [](const nb::object& model, const nb::list& given, const ir::kernel::Program& program) {
            reports::Outline outline{
                .headline = nb::cast<std::string>(model.attr("name")) + ": " +
                            nb::cast<std::string>(model.attr("format")),
                .inputs = described_values(model.attr("inputs")),
                .outputs = described_values(model.attr("outputs")),
                .operations = nb::cast<std::vector<std::string>>(model.attr("operations")),
                .weights = nb::cast<int64_t>(model.attr("constant_numbers"))};
            std::vector<std::pair<std::string, ir::Shape>> shapes;
            for (size_t i = 0; i < nb::len(given); ++i)
                shapes.emplace_back(outline.inputs[i].first,
                                    nb::cast<ir::Shape>(given[i].attr("shape")));
            return reports::text_about(outline, shapes, program);
        },
        nb::arg("model"), nb::arg("given"), nb::arg("program"));
    module.def("snake_case", &snake_case);
    module.def("judged_dtypes", &reports::judged_dtypes);
    module.def(
        "judged_values",
        [](ir::DType dtype, const ir::Shape& shape, int64_t seed) {
            return ndarray_from(reports::judged_values(dtype, shape, seed));
        },
        nb::arg("dtype"), nb::arg("shape"), nb::arg("seed") = 0);
    module.def(
        "finite_values",
        [](ir::DType dtype, const ir::Shape& shape) {
            return ndarray_from(reports::finite_values(dtype, shape));
        },
        nb::arg("dtype"), nb::arg("shape"));
    module.def("judged_operand", &reports::judged_operand, nb::arg("row"), nb::arg("operand"),
               nb::arg("dtype"));
    module.def("is_judged_in", &reports::is_judged_in, nb::arg("row"), nb::arg("dtype"));
    module.def("verdict", [](const std::vector<VerdictRow>& rows, const std::string& backend) {
        std::vector<reports::Outcome> outcomes;
        for (const auto& [group, name, refused, wrong, undefined] : rows)
            outcomes.push_back({group, name, refused, wrong, undefined});
        return reports::verdict(outcomes, backend);
    });
}

}  // namespace composit::python
