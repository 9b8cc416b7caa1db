// Samples of composit.torch's data sets as batches: tensors are stacked, numbers become tensors,
// structures are kept.
#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "flags.h"
#include "gradient_checks.h"
#include "shown.h"
#include "torch_objects.h"
#include "values.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::python {
namespace {

nb::object function_named(const nb::dict& functions, const char* name) {
    return functions[nb::str(name)];
}

bool is_numpy_array(nb::handle value) { return nb::isinstance(value, numpy_attribute("ndarray")); }

bool is_numpy_scalar(nb::handle value) { return nb::isinstance(value, numpy_attribute("generic")); }

// Whether composit's tensors hold elements of the dtype.
bool holds_numbers(nb::handle array) {
    const std::string kind = nb::str(nb::object(array.attr("dtype").attr("kind"))).c_str();
    return std::string_view("biufc").find(kind) != std::string_view::npos;
}

bool is_abstract(nb::handle value, const char* name) {
    return nb::isinstance(value, nb::module_::import_("collections.abc").attr(name));
}

bool is_named_tuple(nb::handle value) {
    return PyTuple_Check(value.ptr()) && has_attribute(value, "_fields");
}

// Arrays as tensors, wherever they are in a structure.
nb::object converted_sample(const nb::dict& functions, nb::handle data) {
    if (is_numpy_array(data) && holds_numbers(data))
        return function_named(functions, "from_numpy")(data);
    if (is_numpy_scalar(data) && holds_numbers(data))
        return function_named(functions, "as_tensor")(numpy_attribute("asarray")(data));
    if (is_abstract(data, "Mapping")) {
        nb::dict made;
        for (nb::handle pair : nb::object(data.attr("items")()))
            made[nb::object(pair[0])] = converted_sample(functions, nb::object(pair[1]));
        return made;
    }
    if (!PyTuple_Check(data.ptr()) && !PyList_Check(data.ptr())) return nb::borrow(data);
    nb::list parts;
    for (nb::handle each : data) parts.append(converted_sample(functions, each));
    if (is_named_tuple(data)) return nb::borrow(data.type())(*nb::tuple(parts));
    return parts;
}

// Arrays of one shape as one tensor.
nb::object stacked(const nb::dict& functions, const nb::list& arrays) {
    nb::object whole;
    try {
        whole = numpy_attribute("stack")(arrays);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        nb::set shapes;
        for (nb::handle each : arrays) shapes.add(nb::object(each.attr("shape")));
        nb::list sorted(shapes);
        sorted.attr("sort")();
        fail<RuntimeError>("stack expects each tensor to be equal size, but got ", Said{sorted});
    }
    return function_named(functions, "from_numpy")(whole);
}

nb::object collated(const nb::dict& functions, const nb::dict& dtypes, nb::handle batch);

// The parts at the same place of all samples, each as a batch.
nb::list collated_parts(const nb::dict& functions, const nb::dict& dtypes, nb::handle batch) {
    nb::list made;
    const nb::object zip = nb::module_::import_("builtins").attr("zip");
    for (nb::handle part : nb::object(zip(*nb::tuple(nb::list(batch)))))
        made.append(collated(functions, dtypes, nb::list(part)));
    return made;
}

nb::object collated_tensors(const nb::dict& functions, nb::handle batch, bool is_on_cpu) {
    nb::list values;
    for (nb::handle each : batch) {
        const nb::object detached = each.attr("detach")();
        values.append(is_on_cpu ? nb::object(detached.attr("numpy")()) : detached);
    }
    return is_on_cpu ? stacked(functions, values) : function_named(functions, "stack")(values);
}

nb::object collated(const nb::dict& functions, const nb::dict& dtypes, nb::handle batch) {
    const nb::object first = batch[0];
    if (is_tensor_of_torch(first))
        return collated_tensors(functions, batch, truth_of(nb::object(first.attr("is_cpu"))));
    if (is_numpy_array(first) || is_numpy_scalar(first)) {
        user_check<TypeError>(holds_numbers(first), "default_collate: arrays of dtype ",
                              Said{nb::object(first.attr("dtype"))}, ".");
        nb::list arrays;
        for (nb::handle each : batch) arrays.append(numpy_attribute("asarray")(each));
        return stacked(functions, arrays);
    }
    if (PyFloat_Check(first.ptr()))
        return function_named(functions, "tensor")(nb::list(batch),
                                                   nb::arg("dtype") = dtypes["float64"]);
    if (PyLong_Check(first.ptr())) return function_named(functions, "tensor")(nb::list(batch));
    if (PyUnicode_Check(first.ptr()) || PyBytes_Check(first.ptr())) return nb::list(batch);
    if (is_abstract(first, "Mapping")) {
        nb::dict made;
        for (nb::handle key : first) {
            nb::list values;
            for (nb::handle sample : batch) values.append(nb::object(sample[key]));
            made[key] = collated(functions, dtypes, values);
        }
        return made;
    }
    if (is_named_tuple(first))
        return nb::borrow(first.type())(*nb::tuple(collated_parts(functions, dtypes, batch)));
    user_check<TypeError>(
        is_abstract(first, "Sequence"),
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        "found ",
        Said{first.type()});
    for (nb::handle sample : batch)
        user_check<RuntimeError>(nb::len(sample) == nb::len(first),
                                 "each element in list of batch should be of equal size");
    return collated_parts(functions, dtypes, batch);
}

// A batch of a data set, by what a sampler says of it: of `items`, the iterator of one that is
// iterable, else None, so many as it says. StopIteration where these are at their end.
nb::object read_batch(nb::handle reader, nb::handle which) {
    const nb::object collate = reader.attr("collate"), items = reader.attr("items"),
                     dataset = reader.attr("dataset");
    const bool is_batched = truth_of(reader.attr("is_batched"));
    if (items.is_none()) {
        if (!is_batched) return collate(dataset[which]);
        if (has_attribute(dataset, "__getitems__"))
            return collate(dataset.attr("__getitems__")(which));
        nb::list samples;
        for (nb::handle i : which) samples.append(nb::object(dataset[i]));
        return collate(samples);
    }
    const nb::object next = nb::module_::import_("builtins").attr("next");
    if (!is_batched) return collate(next(items));
    const size_t count = nb::len(which);
    const nb::list batch(nb::module_::import_("itertools").attr("islice")(items, count));
    if (nb::len(batch) == 0 || (truth_of(reader.attr("drop_last")) && nb::len(batch) < count))
        throw nb::stop_iteration();
    return collate(batch);
}

}  // namespace

void bind_sample_batches(nb::module_& module) {
    module.def("converted_sample", converted_sample, nb::arg("functions"), nb::arg("data").none());
    module.def("read_batch", read_batch, nb::arg("reader"), nb::arg("which").none(),
               "A batch of a data set, by what a sampler says of it.");
    module.def("collated_samples", collated, nb::arg("functions"), nb::arg("dtypes"),
               nb::arg("batch"));
}

}  // namespace composit::python
