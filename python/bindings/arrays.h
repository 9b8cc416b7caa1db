// NumPy's arrays and dtypes as composit's, and back.
#pragma once

#include "composit/ir/array.h"

#include <nanobind/nanobind.h>

#include <optional>

namespace composit::python {

namespace nb = nanobind;

// numpy.<name>, imported once.
nb::handle numpy_attribute(const char* name);

// Anything numpy.dtype accepts, and "bfloat16" or another of ml_dtypes'. TypeError for dtypes
// without numbers.
ir::DType dtype_from(nb::handle value);
// numpy.dtype (of ml_dtypes where NumPy has none).
nb::object dtype_object(ir::DType dtype);

// A copy of an ndarray in composit's memory; without `copy` the ndarray's own memory where that is
// contiguous.
ir::Array array_from(nb::handle ndarray, bool copy = true);
// A writable ndarray. Memory that nobody else owns is handed over, other memory is copied.
nb::object ndarray_from(ir::Array array);
// An ndarray of the array's memory itself, in host memory, which may be written.
nb::object ndarray_over(const ir::Array& array);

// What an ndarray holds, where no conversion is needed to read it: exactly numpy.ndarray, of a
// built-in dtype, native, aligned, row-major. The shape belongs to the array.
struct PlainArray {
    ir::DType dtype;
    const Py_ssize_t* shape;
    int rank;
    const void* data;
};
std::optional<PlainArray> plain_array(nb::handle value);

// Whether it is of a subclass of ndarray that says what operators make of it: a matrix, or an array
// with a mask.
bool has_class_of_its_own(nb::handle value);

// Whether it is such an ndarray, or one of texts, objects, records or dates.
bool holds_no_numbers(nb::handle value);

// Whether an ndarray's memory belongs to it and to results of earlier calls only.
bool owns_memory(nb::handle ndarray);
// Another ndarray of the same memory, which is given up, with the dtype that it had.
nb::object view_of(nb::handle ndarray, nb::object dtype);
// The dtype that makes an array useless, whoever holds it: its elements become records, with which
// neither NumPy nor composit calculates. Null for what is no ndarray, or has been given up.
nb::object given_up_dtype(nb::handle value);
// The dtype that an array has, which is to be given up; null for what is no ndarray. ValueError
// where it has been given up. Runs no code of Python's.
nb::object dtype_to_give_up(nb::handle value);
// Gives the array that dtype, unless it is null. Runs no code of Python's: none of its exceptions,
// a KeyboardInterrupt among them, could leave a destructor.
void give_up(nb::handle ndarray, nb::object given_up_dtype) noexcept;

void bind_arrays(nb::module_& module);

}  // namespace composit::python
