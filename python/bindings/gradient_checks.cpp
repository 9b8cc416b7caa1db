// Gradients of composit.torch's functions against differences of their values (gradcheck): element
// by element, or along one direction of each input.
#include "gradient_checks.h"

#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "exact_errors.h"
#include "flags.h"
#include "location.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

nb::object values_of(nb::handle tensor) {
    return tensor.attr("detach")().attr("numpy")(nb::arg("force") = true);
}

nb::object flat(nb::handle array) { return array.attr("reshape")(-1); }

// An array's values as a tensor, where another one lies.
nb::object beside(nb::handle values, nb::handle tensor) {
    return provided("torch_from_numpy")(values).attr("to")(tensor.attr("device"));
}

std::string kind_of_dtype(nb::handle tensor) {
    return nb::str(nb::object(tensor.attr("dtype").attr("numpy").attr("kind"))).c_str();
}

// A function's results, as a list.
nb::list several(nb::handle found) {
    nb::list made;
    if (is_tensor_of_torch(found))
        made.append(found);
    else
        for (nb::handle each : found) made.append(each);
    return made;
}

// The real floating results.
nb::list outputs_of(nb::handle function, const nb::tuple& inputs) {
    nb::list made;
    for (nb::handle each : several(nb::object(function(*inputs)))) {
        if (!is_tensor_of_torch(each)) continue;
        const std::string kind = kind_of_dtype(each);
        if (kind == "f" || kind == "V") made.append(each);
    }
    return made;
}

// Inputs of which one is another tensor that requires a gradient.
nb::tuple with_input(const nb::tuple& inputs, size_t place, nb::handle values) {
    nb::list args(inputs);
    args[place] = beside(values, inputs[place]).attr("requires_grad_")();
    return nb::tuple(args);
}

// Central differences by one input: for each output (elements of the input, of the output).
nb::list numerical(nb::handle function, const nb::tuple& inputs, size_t place, double eps) {
    const nb::object values = values_of(inputs[place]);
    const int64_t count = integer_from(nb::object(values.attr("size")));
    std::vector<nb::list> rows;  // by outputs
    for (int64_t number = 0; number < count; ++number) {
        std::vector<nb::list> sides;
        for (const double step : {eps, -eps}) {
            const nb::object moved = values.attr("copy")();
            nb::object elements = flat(moved);
            elements[number] = nb::object(elements[number]) + nb::float_(step);
            const eager::EnableGrad scope;
            nb::list found;
            for (nb::handle y : outputs_of(function, with_input(inputs, place, moved)))
                found.append(flat(values_of(y)));
            sides.push_back(found);
        }
        rows.resize(nb::len(sides[0]));
        for (size_t i = 0; i < rows.size(); ++i) {
            const nb::object difference = nb::object(sides[0][i]) - nb::object(sides[1][i]);
            rows[i].append(difference / nb::float_(2 * eps));
        }
    }
    nb::list made;
    for (const nb::list& parts : rows) made.append(numpy_attribute("stack")(parts));
    return made;
}

// The same of gradients.
nb::object analytical(nb::handle output, nb::handle input) {
    const int64_t count = integer_from(nb::object(output.attr("numel")()));
    const nb::object size = input.attr("numel")();
    nb::list columns;
    for (int64_t number = 0; number < count; ++number) {
        nb::object one = numpy_attribute("zeros")(count, output.attr("dtype").attr("numpy"));
        one[number] = 1;
        nb::object gradient = nb::none();
        if (truth_of(nb::object(output.attr("requires_grad")))) {
            const nb::object flow =
                beside(one.attr("reshape")(nb::tuple(nb::object(output.attr("shape")))), output);
            gradient = nb::object(provided("torch_grad")(output, input, flow,
                                                         nb::arg("retain_graph") = true,
                                                         nb::arg("allow_unused") = true))[0];
        }
        columns.append(gradient.is_none() ? nb::object(numpy_attribute("zeros")(size))
                                          : flat(values_of(gradient)));
    }
    if (count == 0) return numpy_attribute("empty")(nb::make_tuple(size, 0));
    return numpy_attribute("stack")(columns, 1);
}

bool are_close(nb::handle a, nb::handle b, double rtol, double atol) {
    return truth_of(nb::object(numpy_attribute("allclose")(a, b, rtol, atol)));
}

[[noreturn]] void refuse_gradient(const std::string& message) {
    const nb::object kind = provided("gradcheck_error");
    PyErr_SetString(kind.ptr(), with_location(message).c_str());
    throw nb::python_error();
}

bool check_elements(nb::handle function, const nb::tuple& inputs, const std::vector<size_t>& places,
                    double eps, std::pair<double, double> tolerances, bool raises) {
    nb::list outputs;
    {
        const eager::EnableGrad scope;
        outputs = outputs_of(function, inputs);
    }
    for (const size_t place : places) {
        const nb::list differences = numerical(function, inputs, place, eps);
        for (size_t i = 0; i < nb::len(outputs); ++i) {
            const nb::object mine = analytical(outputs[i], inputs[place]);
            if (nb::len(differences) == 0) continue;
            const nb::object theirs = differences[i];
            if (are_close(mine, theirs, tolerances.first, tolerances.second)) continue;
            if (!raises) return false;
            refuse_gradient(
                composit::text("Jacobian mismatch for output ", i, " with respect to input ", place,
                               ",\nnumerical:", Said{theirs}, "\nanalytical:", Said{mine}, "\n"));
        }
    }
    return true;
}

// ----- along directions

// Any numbers will do; these are the same each time.
nb::object any_numbers(nb::handle shape, nb::handle dtype, double start) {
    const nb::object count =
        numpy_attribute("arange")(nb::int_(nb::object(numpy_attribute("prod")(shape))));
    nb::object made = numpy_attribute("cos")(count + nb::float_(start));
    const std::string kind = nb::str(nb::object(dtype.attr("kind"))).c_str();
    if (kind == "c") {
        const nb::object unit = nb::steal(PyComplex_FromDoubles(0, 1));
        made = made +
               unit * nb::object(numpy_attribute("sin")(count * nb::float_(2) + nb::float_(start)));
    }
    return made.attr("reshape")(shape).attr("astype")(dtype);
}

// A sum of all elements of the outputs, each times another number.
nb::object total_of(nb::handle function, const nb::tuple& inputs) {
    const eager::EnableGrad scope;
    nb::object total = nb::float_(0.0);
    for (nb::handle each : several(nb::object(function(*inputs)))) {
        if (!is_tensor_of_torch(each)) continue;
        nb::object y = nb::borrow(each);
        const std::string kind = kind_of_dtype(y);
        if (kind != "f" && kind != "V" && kind != "c") continue;
        if (kind == "c") y = provided("torch_view_as_real")(y);
        const nb::tuple shape = nb::tuple(nb::object(y.attr("shape")));
        const nb::object weights =
            beside(any_numbers(shape, nb::object(y.attr("dtype").attr("numpy")), 1.0), y);
        total = total + nb::object((y * weights).attr("sum")());
    }
    return total;
}

double as_number(nb::handle value) { return number_from(nb::object(nb::float_(value))); }

bool check_directions(nb::handle function, const nb::tuple& inputs,
                      const std::vector<size_t>& places, double eps,
                      std::pair<double, double> tolerances, bool raises) {
    const nb::object total = total_of(function, inputs);
    nb::list wanted;
    for (const size_t place : places) wanted.append(inputs[place]);
    nb::object gradients;
    if (is_tensor_of_torch(total) && is_recorded(as_tensor(total)))
        gradients = provided("torch_grad")(total, wanted, nb::arg("allow_unused") = true);
    for (size_t i = 0; i < places.size(); ++i) {
        const size_t place = places[i];
        const nb::object values = values_of(inputs[place]);
        const nb::object direction =
            any_numbers(nb::object(values.attr("shape")), nb::object(values.attr("dtype")), 0.5);
        double slope = 0;
        const nb::object gradient = gradients.is_valid() ? nb::object(gradients[i]) : nb::none();
        if (!gradient.is_none()) {
            const nb::object own = numpy_attribute("conj")(values_of(gradient));
            slope = as_number(nb::object((own * direction).attr("real").attr("sum")()));
        }
        double sides[2];
        for (int side = 0; side < 2; ++side) {
            const nb::object step = nb::float_(side == 0 ? eps : -eps);
            const nb::object moved = values + step * direction;
            sides[side] = as_number(total_of(function, with_input(inputs, place, moved)));
        }
        const double difference = (sides[0] - sides[1]) / (2 * eps);
        if (are_close(nb::float_(slope), nb::float_(difference), tolerances.first,
                      tolerances.second))
            continue;
        if (!raises) return false;
        refuse_gradient(composit::text(
            "Gradients computed in fast mode differ with respect to input ", place, ",\nnumerical:",
            Said{nb::float_(difference)}, "\nanalytical:", Said{nb::float_(slope)}, "\n"));
    }
    return true;
}

bool gradcheck(nb::handle function, const nb::tuple& inputs, double eps, double rtol, double atol,
               bool raises, bool along_directions) {
    std::vector<size_t> places;
    for (size_t i = 0; i < nb::len(inputs); ++i) {
        const nb::object input = inputs[i];
        if (is_tensor_of_torch(input) && is_recorded(as_tensor(input))) places.push_back(i);
    }
    user_check(!places.empty(),
               "gradcheck expects at least one input tensor to require gradient, but none of the "
               "them have requires_grad=True.");
    const std::pair tolerances(rtol, atol);
    return (along_directions ? check_directions : check_elements)(function, inputs, places, eps,
                                                                  tolerances, raises);
}

// What flows into a function's outputs, unless it is given.
nb::list flows_into_outputs(nb::handle function, const nb::tuple& inputs) {
    const eager::NoGrad scope;
    nb::list made;
    for (nb::handle y : outputs_of(function, inputs)) {
        const nb::object dtype = y.attr("dtype").attr("numpy");
        const nb::object flow = any_numbers(nb::tuple(nb::object(y.attr("shape"))), dtype, 1);
        made.append(beside(flow, y).attr("requires_grad_")());
    }
    return made;
}

}  // namespace

void bind_gradient_checks(nb::module_& module) {
    module.def("gradcheck", gradcheck, nb::arg("function"), nb::arg("inputs"), nb::arg("eps"),
               nb::arg("rtol"), nb::arg("atol"), nb::arg("raises"), nb::arg("along_directions"),
               "Whether gradients by the inputs that require them are differences of values.");
    module.def("real_outputs", outputs_of, nb::arg("function"), nb::arg("inputs"));
    module.def("flows_into_outputs", flows_into_outputs, nb::arg("function"), nb::arg("inputs"));
}

}  // namespace composit::python
