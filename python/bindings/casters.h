// How bound functions take and return tensors, dtypes, arrays and lists of integers.
//
// A value that cannot be converted is an exception of NumPy's class, not nanobind's "incompatible
// function arguments": the error is kept while arguments are matched and thrown when they are used.
#pragma once

#include "arguments.h"
#include "cell.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"
#include "values.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <optional>
#include <vector>

namespace composit::python {

// An Operand of a binding whose function takes Operand() for "not given".
struct MaybeOperand : numpy::Operand {
    using Operand::Operand;
};

}  // namespace composit::python

namespace nanobind::detail {

// from_python never fails; `convert` may throw, which the conversion to T passes on.
template <class T, class Derived>
struct DeferredCaster {
    using Value = T;
    template <class U>
    using Cast = T&&;
    template <class U>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        try {
            value = Derived::convert(source);
        } catch (...) {
            error = std::current_exception();
        }
        return true;
    }
    template <class U>
    static handle from_cpp(U&& source, rv_policy, cleanup_list*) noexcept {
        try {
            return Derived::made(source).release();
        } catch (...) {
            composit::python::set_python_error();
        }
        return {};
    }
    explicit operator T&&() {
        if (error) std::rethrow_exception(error);
        return static_cast<T&&>(value);
    }

    T value{};
    std::exception_ptr error;
};

template <>
struct type_caster<composit::ir::Tensor>
    : DeferredCaster<composit::ir::Tensor, type_caster<composit::ir::Tensor>> {
    static constexpr auto Name = const_name("LazyTensor");
    static composit::ir::Tensor convert(handle source) {
        return composit::python::tensor_from(source);
    }
    static nanobind::object made(const composit::ir::Tensor& tensor) {
        return tensor ? composit::python::wrap(tensor) : nanobind::none();
    }
};

template <>
struct type_caster<std::optional<composit::ir::Tensor>>
    : DeferredCaster<std::optional<composit::ir::Tensor>,
                     type_caster<std::optional<composit::ir::Tensor>>> {
    static constexpr auto Name = const_name("LazyTensor | None");
    static std::optional<composit::ir::Tensor> convert(handle source) {
        if (source.is_none()) return std::nullopt;
        return composit::python::tensor_from(source);
    }
    static nanobind::object made(const std::optional<composit::ir::Tensor>& tensor) {
        return tensor ? composit::python::wrap(*tensor) : nanobind::none();
    }
};

template <>
struct type_caster<std::vector<composit::ir::Tensor>>
    : DeferredCaster<std::vector<composit::ir::Tensor>,
                     type_caster<std::vector<composit::ir::Tensor>>> {
    static constexpr auto Name = const_name("list[LazyTensor]");
    static std::vector<composit::ir::Tensor> convert(handle source) {
        return composit::python::tensors_from(source);
    }
    static nanobind::object made(const std::vector<composit::ir::Tensor>& tensors) {
        list result;
        for (const composit::ir::Tensor& tensor : tensors)
            result.append(tensor ? composit::python::wrap(tensor) : nanobind::none());
        return result;
    }
};

template <>
struct type_caster<composit::ir::DType>
    : DeferredCaster<composit::ir::DType, type_caster<composit::ir::DType>> {
    static constexpr auto Name = const_name("numpy.dtype");
    static composit::ir::DType convert(handle source) {
        return composit::python::dtype_from(source);
    }
    static nanobind::object made(composit::ir::DType dtype) {
        return composit::python::dtype_object(dtype);
    }
};

template <>
struct type_caster<std::optional<composit::ir::DType>>
    : DeferredCaster<std::optional<composit::ir::DType>,
                     type_caster<std::optional<composit::ir::DType>>> {
    static constexpr auto Name = const_name("numpy.dtype | None");
    static std::optional<composit::ir::DType> convert(handle source) {
        if (source.is_none()) return std::nullopt;
        return composit::python::dtype_from(source);
    }
    static nanobind::object made(const std::optional<composit::ir::DType>& dtype) {
        return dtype ? composit::python::dtype_object(*dtype) : nanobind::none();
    }
};

// Deferred like one dtype: nanobind's own list conversion may not throw.
template <>
struct type_caster<std::vector<composit::ir::DType>>
    : DeferredCaster<std::vector<composit::ir::DType>,
                     type_caster<std::vector<composit::ir::DType>>> {
    static constexpr auto Name = const_name("list[numpy.dtype]");
    static std::vector<composit::ir::DType> convert(handle source) {
        std::vector<composit::ir::DType> dtypes;
        for (handle item : source) dtypes.push_back(composit::python::dtype_from(item));
        return dtypes;
    }
    static nanobind::object made(const std::vector<composit::ir::DType>& dtypes) {
        list result;
        for (const composit::ir::DType dtype : dtypes)
            result.append(composit::python::dtype_object(dtype));
        return result;
    }
};

// Shapes and axes: an integer or a sequence of integers in, a tuple out.
template <>
struct type_caster<std::vector<int64_t>>
    : DeferredCaster<std::vector<int64_t>, type_caster<std::vector<int64_t>>> {
    static constexpr auto Name = const_name("int | tuple[int, ...]");
    static std::vector<int64_t> convert(handle source) {
        return composit::python::integers_from(source);
    }
    static nanobind::object made(const std::vector<int64_t>& values) {
        return composit::python::tuple_from(values);
    }
};

template <>
struct type_caster<std::optional<std::vector<int64_t>>>
    : DeferredCaster<std::optional<std::vector<int64_t>>,
                     type_caster<std::optional<std::vector<int64_t>>>> {
    static constexpr auto Name = const_name("int | tuple[int, ...] | None");
    static std::optional<std::vector<int64_t>> convert(handle source) {
        if (source.is_none()) return std::nullopt;
        return composit::python::integers_from(source);
    }
    static nanobind::object made(const std::optional<std::vector<int64_t>>& values) {
        return values ? nanobind::object(composit::python::tuple_from(*values)) : nanobind::none();
    }
};

// axis: None, an integer, a sequence of integers.
template <>
struct type_caster<composit::numpy::Axis>
    : DeferredCaster<composit::numpy::Axis, type_caster<composit::numpy::Axis>> {
    static constexpr auto Name = const_name("int | tuple[int, ...] | None");
    static composit::numpy::Axis convert(handle source) {
        if (source.is_none()) return {};
        if (PyTuple_Check(source.ptr()) || PyList_Check(source.ptr()))
            return composit::python::integers_from(source);
        return composit::python::integer_from(source);
    }
};

// Operands; None is refused as what it is, an object.
template <>
struct type_caster<composit::numpy::Operand>
    : DeferredCaster<composit::numpy::Operand, type_caster<composit::numpy::Operand>> {
    static constexpr auto Name = const_name("LazyTensor | numpy.ndarray | float");
    static composit::numpy::Operand convert(handle source) {
        return composit::python::tensor_from(source);
    }
};

// Operands that may be left out: None is "not given".
template <>
struct type_caster<composit::python::MaybeOperand>
    : DeferredCaster<composit::python::MaybeOperand, type_caster<composit::python::MaybeOperand>> {
    static constexpr auto Name = const_name("LazyTensor | numpy.ndarray | float | None");
    static composit::python::MaybeOperand convert(handle source) {
        if (source.is_none()) return {};
        return {composit::python::tensor_from(source)};
    }
};

// None reaches the conversions above, which say what is wrong with it where it is.
template <>
struct has_arg_defaults<composit::ir::Tensor> : std::true_type {};
template <>
struct has_arg_defaults<composit::ir::DType> : std::true_type {};
template <>
struct has_arg_defaults<std::vector<int64_t>> : std::true_type {};
template <>
struct has_arg_defaults<composit::numpy::Axis> : std::true_type {};
template <>
struct has_arg_defaults<composit::numpy::Operand> : std::true_type {};
template <>
struct has_arg_defaults<composit::python::MaybeOperand> : std::true_type {};

// ndarrays: copied in, handed over or copied out.
template <>
struct type_caster<composit::ir::Array>
    : DeferredCaster<composit::ir::Array, type_caster<composit::ir::Array>> {
    static constexpr auto Name = const_name("numpy.ndarray");
    static composit::ir::Array convert(handle source) {
        return composit::python::array_from(composit::python::numpy_attribute("asarray")(source));
    }
    static nanobind::object made(const composit::ir::Array& array) {
        return composit::python::ndarray_from(array);
    }
};

}  // namespace nanobind::detail
