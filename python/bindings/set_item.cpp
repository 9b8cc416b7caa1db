// x[key] = value: what is written of a value, and where.
#include "set_item.h"

#include "arguments.h"
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/as_strided.h"
#include "composit/eager/history.h"
#include "composit/eager/overwriting.h"
#include "composit/execute/devices.h"
#include "composit/numpy/index_plan.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operand.h"
#include "content.h"
#include "elements.h"
#include "indexing.h"
#include "node.h"
#include "provided.h"

#include <algorithm>
#include <variant>

namespace composit::python {
namespace {

// x[i] += 1 reads a view, writes through it and then assigns that view to where it came from.
bool is_what_is_there(const LazyTensor& self, const numpy::Index& index, nb::handle value) {
    if (!nb::isinstance<LazyTensor>(value)) return false;
    const auto* view = &content_of<LazyTensor>(value);
    if (!view->cell()->is_view() || view->cell()->root() != self.cell()->root()) return false;
    const Tensor here = numpy::get_item(self.tensor(), index);
    const Tensor* a = &here;
    const Tensor* b = &view->tensor();
    const Tensor& base = self.tensor();
    while (!(*a == base) && !(*b == base)) {
        if (&a->node().operation() != &b->node().operation() || a->type() != b->type() ||
            a->output_index() != b->output_index())
            return false;
        const auto& x = a->node().attributes().items();
        const auto& y = b->node().attributes().items();
        if (x.size() != y.size()) return false;
        for (size_t i = 0; i < x.size(); ++i)
            if (!ir::structurally_equal(x[i].second, y[i].second)) return false;
        if (a->node().operands().empty() || b->node().operands().empty()) return false;
        a = &a->node().operand(0);
        b = &b->node().operand(0);
    }
    return *a == base && *b == base;
}

// As NumPy, where complex values are written into real ones.
void warn_of_lost_parts() {
    const nb::object category = numpy_attribute("exceptions").attr("ComplexWarning");
    if (PyErr_WarnEx(category.ptr(), "Casting complex values to real discards the imaginary part",
                     1) != 0)
        throw nb::python_error();
}

// x[index] = value where that is a region of x's memory, and x holds `written` then. False: it is
// to be written in another way.
bool write_in_place(const LazyTensor& self, const numpy::Index& index, const Tensor& value,
                    const Tensor& written) {
    if (!numpy::is_basic(index) || !self.cell()->is_plain()) return false;
    const Tensor& before = self.tensor();
    const Tensor part = numpy::get_item(before, index);
    if (!eager::is_layout_path(before, part)) return false;
    // Kept values are row-major, however NumPy's array lies in memory.
    const auto region =
        eager::region_through(before, {0, ir::row_major_strides(before.shape())}, part);
    return region && eager::write_region(*self.cell(), *region,
                                         numpy::value_to_store(before, index, value), written);
}

// A scalar is converted as Python's numbers are: one that is no integer of the dtype is refused.
void check_scalar_fits(nb::handle value, ir::DType dtype) {
    if (!ir::is_integer(dtype)) return;
    if (is_tensor(value)) {
        if (!is_scalar(value)) return;
        const Tensor& tensor = content_of<LazyTensor>(value).tensor();
        if (!ir::is_floating(tensor.dtype()) || tensor.node().is_open()) return;
    } else if (!nb::isinstance(value, numpy_attribute("floating"))) {
        return;
    }
    numpy::check_float_fits("set_item", nb::cast<double>(nb::float_(value)), dtype);
}

// Whether an integer for each axis names one element, which takes no list in NumPy.
bool is_element(const numpy::Index& index, const ir::Shape& shape) {
    const auto is_place = [](const numpy::IndexEntry& entry) {
        return std::holds_alternative<int64_t>(entry);
    };
    return index.size() == shape.size() && std::all_of(index.begin(), index.end(), is_place);
}

// A scalar of NumPy's dates or spans of time.
bool is_date(nb::handle value) {
    return nb::isinstance(value, numpy_attribute("datetime64")) ||
           nb::isinstance(value, numpy_attribute("timedelta64"));
}

// What is written of a value: lists, texts, None, dates and other objects become elements of the
// dtype one by one, as NumPy converts them.
Tensor source_from(nb::handle value, ir::DType dtype, bool is_one) {
    PyObject* const object = value.ptr();
    const bool is_list = PyList_Check(object) || PyTuple_Check(object);
    const bool is_number = PyFloat_Check(object) || PyComplex_Check(object) ||
                           PyBool_Check(object) || is_tensor(object);
    const bool is_converted =
        is_list ? is_one || ir::is_integer(dtype) : !is_number && !is_operand(value);
    const auto stored = [&] {
        return tensor_from(provided("stored")(value, dtype_object(dtype), "set_item", is_one));
    };
    const bool is_plain = is_list || is_number || PyLong_CheckExact(object);
    if (is_converted || holds_no_numbers(value) || (!is_plain && is_date(value))) return stored();
    if (!is_list && !PyLong_CheckExact(object)) return tensor_from(value);
    try {
        return tensor_from(value);
    } catch (const TypeError&) {
    } catch (const ValueError&) {
    }
    return stored();
}

}  // namespace

namespace {

WrittenItem written_item(const LazyTensor& self, const numpy::Index& index, nb::handle value) {
    const ir::DType dtype = self.type().dtype;
    Tensor source = source_from(value, dtype, is_element(index, self.type().shape));
    if (numpy::is_basic(index)) check_scalar_fits(value, dtype);
    Tensor written =
        execute::written_beside(numpy::set_item(self.tensor(), index, source), self.tensor());
    return {std::move(written), std::move(source)};
}

}  // namespace

WrittenItem written_item(const LazyTensor& self, nb::handle key, nb::handle value) {
    return written_item(self, index_from(key), value);
}

void set_item(const LazyTensor& self, nb::handle key, nb::handle value) {
    const numpy::Index index = index_from(key);
    if (is_what_is_there(self, index, value)) return;
    const ir::DType dtype = self.type().dtype;
    const auto [written, source] = written_item(self, index, value);
    user_check<TypeError>(
        !PyComplex_CheckExact(value.ptr()) || ir::is_complex(dtype) || dtype == ir::DType::boolean,
        "a tensor of dtype ", dtype, " cannot hold a complex number. Take its real part.");
    const bool is_whole = ir::is_complex(dtype) || dtype == ir::DType::boolean;
    if (ir::is_complex(source.dtype()) && !is_whole) warn_of_lost_parts();
    self.check_writeable();
    if (self.cell()->sees_selection()) {  // an element that is seen twice is written once
        const Tensor& before = self.tensor();
        self.cell()->replace_at(numpy::get_item(eager::numbers_of(before.shape()), index),
                                numpy::value_to_store(before, index, source));
    } else if (!write_in_place(self, index, source, written)) {
        self.replace(written);
    }
    eager::shorten_history();
}

}  // namespace composit::python
