// torch.func where the function that is differentiated calls a Function, whose backward the graph
// does not know: the outermost transform begins anew with autograd's records, or, where vmap or
// forward mode is among the transforms, with the Function's own rules.
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/manipulation.h"
#include "content.h"
#include "flows.h"
#include "level.h"
#include "location.h"
#include "provided.h"
#include "structures.h"
#include "tape.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "user_functions.h"
#include "values.h"

#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

class WithRandomness {
  public:
    explicit WithRandomness(nb::handle randomness) : before_(function_transforms().randomness) {
        if (!randomness.is_none()) function_transforms().randomness = nb::str(randomness).c_str();
    }
    ~WithRandomness() { function_transforms().randomness = before_; }
    WithRandomness(const WithRandomness&) = delete;
    WithRandomness& operator=(const WithRandomness&) = delete;

  private:
    std::string before_;
};

// A transform within which calls of Functions are nodes with rules.
nb::object with_function_rules(const nb::object& transform, nb::handle randomness,
                               const nb::tuple& args, const nb::dict& kwargs) {
    FunctionTransforms& around = function_transforms();
    if (around.records && !around.ruled) {
        PyErr_SetNone(provided("function_rules_needed").ptr());
        throw nb::python_error();
    }
    nb::object found;
    {
        const WithRandomness scope(randomness);
        const Counted ruled(around.ruled);
        found = transform(*args, **kwargs);
    }
    return without_function_rules(found);
}

nb::object in_records(const nb::object& function, const nb::tuple& args, const nb::dict& kwargs) {
    FunctionTransforms& around = function_transforms();
    struct Graphs {  // none is differentiated now
        int& now;
        int before = std::exchange(now, 0);
        ~Graphs() { now = before; }
    } graphs{around.graphs};
    const OutsideOfTraces outside;
    const Counted records(around.records);
    const eager::EnableGrad scope;
    return function(*args, **kwargs);
}

// The transform that differentiates the graph, unless that calls a Function: then by records, which
// run its backward as it is, or by its rules where vmap or forward mode is met, too.
nb::object by_graph_or_records(const nb::object& by_graph, const nb::object& by_records,
                               const nb::tuple& args, const nb::dict& kwargs) {
    FunctionTransforms& around = function_transforms();
    if (around.ruled) return with_function_rules(by_graph, nb::none(), args, kwargs);
    const bool is_first = around.records == 0;
    if (is_first) {
        const bool is_outermost = around.graphs == 0;
        try {
            const Counted graphs(around.graphs);
            return by_graph(*args, **kwargs);
        } catch (nb::python_error& error) {
            if (!is_outermost || !error.matches(provided("function_met"))) throw;
        }
    }
    try {
        return in_records(by_records, args, kwargs);
    } catch (nb::python_error& error) {
        if (!is_first || !error.matches(provided("function_rules_needed"))) throw;
    }
    return with_function_rules(by_graph, nb::none(), args, kwargs);
}

// ----- by records

using Change = std::function<nb::object(nb::handle)>;

nb::object mapped_tensors(nb::handle value, const Change& change) {
    return mapped_structure(value, change, *world().tensor);
}

// Tensors to differentiate by, of nodes of their own.
nb::object started(nb::handle value) {
    return mapped_tensors(value, [](nb::handle x) -> nb::object {
        if (is_recorded(as_tensor(x))) return provided("function_of_same")(x);
        nb::object made = x.type().attr("__new__")(x.type());
        const Located scope;
        made.attr("_lazy") = wrap_array(nn::stop_gradient(held_by(x)));
        as_tensor(made)->is_leaf = 1;
        return made;
    });
}

// Results, which only an outer transform still differentiates.
nb::object finished(nb::handle value) {
    if (function_transforms().records > 1) return nb::borrow(value);
    return mapped_tensors(value, [](nb::handle x) { return nb::object(x.attr("detach")()); });
}

// The gradients of the inputs, in their structure.
nb::object gradients_by_records(nb::handle outputs, nb::handle inputs, nb::handle flows) {
    const std::vector<nb::object> results = tensors_within(outputs), into = tensors_within(flows);
    nb::list chosen, given, ends;
    for (size_t i = 0; i < std::min(results.size(), into.size()); ++i) {
        if (!is_recorded(as_tensor(results[i]))) continue;
        chosen.append(results[i]);
        given.append(into[i]);
    }
    if (nb::len(chosen) == 0) {
        const nb::object zeros = torch_function("zeros_like");
        return mapped_tensors(inputs, [&](nb::handle x) { return nb::object(zeros(x)); });
    }
    for (const nb::object& end : tensors_within(inputs)) ends.append(end);
    GradOptions options;
    options.retain_graph = nb::bool_(true);
    options.create_graph = function_transforms().records > 1;
    options.with_zeros = true;
    const nb::tuple found = grad(chosen, ends, given, options);
    size_t next = 0;
    return mapped_tensors(inputs, [&](nb::handle) { return nb::object(found[next++]); });
}

// The arguments with those of some numbers started; and these.
std::pair<nb::list, nb::object> with_started(const nb::tuple& args, nb::handle argnums) {
    nb::list chosen;
    nb::object whole = nb::list(args);
    const bool is_one = PyLong_Check(argnums.ptr());
    for (nb::handle number : as_parts(argnums)) {
        const nb::object value = started(nb::object(whole[number]));
        whole[number] = value;
        chosen.append(value);
    }
    return {nb::borrow<nb::list>(whole),
            is_one ? nb::object(chosen[0]) : nb::object(nb::tuple(chosen))};
}

std::pair<nb::object, nb::object> parted(nb::object result, bool has_aux) {
    if (!has_aux) return {std::move(result), nb::none()};
    const nb::list both{std::move(result)};
    if (nb::len(both) != 2) {
        PyErr_SetString(PyExc_ValueError,
                        composit::text("two results are required with has_aux, and ", nb::len(both),
                                       " are given")
                            .c_str());
        throw nb::python_error();
    }
    return {nb::object(both[0]), nb::object(both[1])};
}

// (gradient, value), with has_aux (gradient, (value, aux)).
nb::tuple grad_and_value_by_records(const nb::object& function, nb::handle argnums, bool has_aux,
                                    const nb::tuple& args, const nb::dict& kwargs) {
    const auto [whole, chosen] = with_started(args, argnums);
    const auto [value, aux] = parted(function(*whole, **kwargs), has_aux);
    const ir::Shape shape = type_seen(value).shape;
    user_check<RuntimeError>(shape.empty(),
                             "grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                             "tensor, got tensor with ",
                             shape.size(), " dims.");
    const nb::object found =
        gradients_by_records(value, chosen, torch_function("ones_like")(value));
    const nb::object done = finished(value);
    return nb::make_tuple(finished(found),
                          has_aux ? nb::object(nb::make_tuple(done, finished(aux))) : done);
}

// (value, the primals that it was made of, aux).
nb::tuple vjp_by_records(const nb::object& function, const nb::tuple& primals, bool has_aux) {
    const nb::object begun = started(primals);
    const auto [value, aux] = parted(function(*begun), has_aux);
    return nb::make_tuple(value, begun, aux);
}

nb::object pulled_by_records(nb::handle value, nb::handle primals, const nb::tuple& cotangents) {
    const nb::object given =
        nb::len(cotangents) == 1 ? nb::object(cotangents[0]) : nb::object(cotangents);
    const nb::object pull = nb::cpp_function(
        [&](nb::handle flows) { return finished(gradients_by_records(value, primals, flows)); });
    return in_records(pull, nb::make_tuple(given), {});
}

// The Jacobian of one result, a row for each of its elements.
nb::object rows_by_records(nb::handle result, nb::handle chosen) {
    const ir::Shape shape = type_seen(result).shape;
    const int64_t count = ir::element_count(shape);
    ir::Shape lengths{count};
    lengths.insert(lengths.end(), shape.begin(), shape.end());
    const nb::object units =
        torch_function("eye")(count, nb::arg("dtype") = nb::object(result.attr("dtype")),
                              nb::arg("device") = nb::object(result.attr("device")))
            .attr("reshape")(tuple_from(lengths));
    std::vector<nb::list> columns(tensors_within(chosen).size());
    for (int64_t i = 0; i < count; ++i) {
        const auto row = tensors_within(gradients_by_records(result, chosen, units[i]));
        for (size_t j = 0; j < columns.size(); ++j) columns[j].append(row.at(j));
    }
    size_t next = 0;
    return mapped_tensors(chosen, [&](nb::handle x) {
        const nb::object stacked = torch_function("stack")(columns[next++]);
        ir::Shape whole = shape;
        const ir::Shape own = type_seen(x).shape;
        whole.insert(whole.end(), own.begin(), own.end());
        return finished(nb::object(stacked.attr("reshape")(tuple_from(whole))));
    });
}

nb::object jacrev_by_records(const nb::object& function, nb::handle argnums, bool has_aux,
                             const nb::tuple& args, const nb::dict& kwargs) {
    const auto [whole, chosen] = with_started(args, argnums);
    const auto [value, aux] = parted(function(*whole, **kwargs), has_aux);
    const nb::object& ends = chosen;
    const nb::object made =
        mapped_tensors(value, [&ends](nb::handle result) { return rows_by_records(result, ends); });
    return has_aux ? nb::object(nb::make_tuple(made, finished(aux))) : made;
}

// The cotangents of results, LazyTensors in their structure and of their dtypes.
nb::object fitting_cotangents(nb::handle results, nb::handle cotangents) {
    const std::vector<nb::object> outputs = tensors_within(results);
    size_t next = 0;
    return mapped_tensors(cotangents, [&](nb::handle x) {
        nb::object lazy = x.attr("_lazy");
        if (next >= outputs.size()) return lazy;  // the pullback says how many are required
        check_flow(outputs[next], x, next);
        const ir::DType wanted = type_seen(outputs[next++]).dtype;
        const Tensor held = content_of<LazyTensor>(lazy).tensor();
        const Located scope;
        return held.dtype() == wanted ? lazy : wrap_array(numpy::astype(held, wanted));
    });
}

// How many slices of arguments vmap maps over; None where nothing says.
nb::object mapped_length(nb::handle value, nb::handle dims) {
    if (is_tensor(value)) {
        if (dims.is_none()) return nb::none();
        const nb::object shape = value.attr("shape");
        return shape[dims];
    }
    const bool is_dict = PyDict_Check(value.ptr());
    if (!is_dict && !PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return nb::none();
    const Level level(" in an argument");
    const bool is_each =
        PyDict_Check(dims.ptr()) || PyList_Check(dims.ptr()) || PyTuple_Check(dims.ptr());
    const nb::list keys = is_dict ? nb::list(nb::borrow(value)) : nb::list();
    for (size_t i = 0; i < nb::len(value); ++i) {
        const nb::object key = is_dict ? nb::object(keys[i]) : nb::object(nb::int_(i));
        const nb::object part = nb::borrow(value)[key];
        const nb::object of_part = is_each ? nb::object(nb::borrow(dims)[key]) : nb::borrow(dims);
        nb::object found = mapped_length(part, of_part);
        if (!found.is_none()) return found;
    }
    return nb::none();
}

}  // namespace

OutsideOfTraces::OutsideOfTraces() : before_(provided("record_in_thread")(0)) {}
OutsideOfTraces::~OutsideOfTraces() {
    const nb::object done =
        nb::steal(PyObject_CallOneArg(provided("record_in_thread").ptr(), before_.ptr()));
    if (!done.is_valid()) PyErr_Clear();
}

void bind_function_transforms(nb::module_& module) {
    module.def("with_function_rules", with_function_rules, nb::arg("transform"),
               nb::arg("randomness").none(), nb::arg("args"), nb::arg("kwargs"),
               "The transform's result, where calls of Functions are nodes with rules.");
    module.def("without_function_rules", without_function_rules, nb::arg("value").none(),
               "The structure without the rules of calls, where no transform is around this.");
    module.def("by_graph_or_records", by_graph_or_records, nb::arg("by_graph"),
               nb::arg("by_records"), nb::arg("args"), nb::arg("kwargs"),
               "The result of the transform that differentiates the graph, or, where that calls a "
               "Function, of the one by records.");
    module.def("grad_and_value_by_records", grad_and_value_by_records, nb::arg("function"),
               nb::arg("argnums"), nb::arg("has_aux"), nb::arg("args"), nb::arg("kwargs"));
    module.def("vjp_by_records", vjp_by_records, nb::arg("function"), nb::arg("primals"),
               nb::arg("has_aux"));
    module.def("pulled_by_records", pulled_by_records, nb::arg("value"), nb::arg("primals"),
               nb::arg("cotangents"));
    module.def("finished_by_records", finished, nb::arg("value").none());
    module.def("jacrev_by_records", jacrev_by_records, nb::arg("function"), nb::arg("argnums"),
               nb::arg("has_aux"), nb::arg("args"), nb::arg("kwargs"));
    module.def("fitting_cotangents", fitting_cotangents, nb::arg("results").none(),
               nb::arg("cotangents").none(),
               "The cotangents of results, LazyTensors in their structure and of their dtypes.");
    module.def("mapped_length", mapped_length, nb::arg("value").none(), nb::arg("dims").none(),
               "How many slices of arguments vmap maps over; None where nothing says.");
    module.def(
        "differentiates_graphs",
        [] { return function_transforms().graphs > 0 && function_transforms().ruled == 0; },
        "Whether a graph is differentiated, which knows no backward of Functions.");
}

}  // namespace composit::python
