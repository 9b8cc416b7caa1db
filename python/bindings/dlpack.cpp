// DLPack and __cuda_array_interface__: values that lie on a CUDA device, given to other libraries
// there and taken from them.
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/cell.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"
#include "dlpack_types.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/string.h>

namespace composit::python {
namespace {

using ir::DType;
using ir::Tensor;

constexpr int cuda_type = 2;  // kDLCUDA

// The number of a CUDA device; -1 of any other place.
int cuda_number(const std::string& device) {
    constexpr std::string_view start = "cuda:";
    return device.starts_with(start) ? std::stoi(device.substr(start.size())) : -1;
}

DType dtype_of(const nb::dlpack::dtype& given) {
    for (int i = 0; i < ir::dtype_count; ++i)
        if (dlpack_dtype(static_cast<DType>(i)) == given) return static_cast<DType>(i);
    fail<TypeError>("from_dlpack: elements of DLPack's type ", static_cast<int>(given.code), " of ",
                    static_cast<int>(given.bits), " bits. A dtype of composit is required.");
}

// The values in memory of the device that nobody else has, computed.
ir::Array exported(const Tensor& x) {
    const Released released;
    const ir::Array value = eager::look({x}, {})[0];
    const std::string name = value.is_remote() ? value.remote()->device() : "cpu";
    user_check<TypeError>(cuda_number(name) >= 0, "__dlpack__: the tensor lies on ", name,
                          ", whose memory other libraries do not reach. Take it to the cpu with "
                          ".to(\"cpu\").");
    const auto device = runtime::device(name);
    ir::Array copy = runtime::array_on(device, value.dtype(), value.shape());
    if (value.bytes() > 0)
        device->copy(copy.remote()->address(), value.remote()->address(), value.bytes());
    device->synchronise();  // the others' queues know nothing of this one
    return copy;
}

nb::object as_ndarray(const ir::Array& array) {
    std::vector<size_t> shape(array.shape().begin(), array.shape().end());
    auto owner = std::make_unique<ir::Array>(array);
    const nb::capsule keeper(owner.get(), [](void* held) noexcept {
        delete static_cast<ir::Array*>(held);
    });
    owner.release();
    return nb::cast(nb::ndarray<>(array.remote()->address(), shape.size(), shape.data(), keeper,
                                  nullptr, dlpack_dtype(array.dtype()), cuda_type,
                                  cuda_number(array.remote()->device())),
                    nb::rv_policy::reference);
}

std::string type_text(DType dtype) {
    const std::string size = std::to_string(ir::size_of(dtype));
    user_check<TypeError>(dtype != DType::bfloat16,
                          "__cuda_array_interface__: bfloat16 has no letter there. Use DLPack.");
    if (dtype == DType::boolean) return "|b1";
    if (ir::is_complex(dtype)) return "<c" + size;
    if (ir::is_floating(dtype)) return "<f" + size;
    const auto code = static_cast<nb::dlpack::dtype_code>(dlpack_dtype(dtype).code);
    return (code == nb::dlpack::dtype_code::Int ? "<i" : "<u") + size;
}

// A copy, on its device, of an array of another library that lies there, in row-major order.
nb::object imported(nb::handle object, const std::string& name) {
    const auto given = nb::cast<nb::ndarray<nb::ro, nb::c_contig>>(object);
    const auto device = runtime::device("cuda:" + std::to_string(given.device_id()));
    ir::Shape shape;
    for (size_t d = 0; d < given.ndim(); ++d) shape.push_back(static_cast<int64_t>(given.shape(d)));
    ir::Array copy = runtime::array_on(device, dtype_of(given.dtype()), std::move(shape));
    device->wait_for_others();
    if (copy.bytes() > 0) device->copy(copy.remote()->address(), given.data(), copy.bytes());
    device->synchronise();  // before the other library's memory is used again
    return wrap_array(ir::constant(std::move(copy), name));
}

}  // namespace

void bind_dlpack(nb::module_& module) {
    module.def(
        "exported_to_cuda", [](const Tensor& x) { return as_ndarray(exported(x)); },
        nb::call_guard<Located>(), "The values, on their CUDA device, as an object with __dlpack__.");
    module.def(
        "cuda_array_interface",
        [](const Tensor& x) {
            const ir::Array array = exported(x);
            nb::dict result;
            result["shape"] = tuple_from(array.shape());
            result["typestr"] = type_text(array.dtype());
            result["data"] = nb::make_tuple(
                reinterpret_cast<uintptr_t>(array.remote()->address()), false);
            result["version"] = 3;
            result["strides"] = nb::none();
            result["stream"] = nb::none();
            return nb::make_tuple(result, as_ndarray(array));
        },
        nb::call_guard<Located>(), "The dictionary, and what keeps its memory alive.");
    module.def("imported_from_cuda", imported, nb::arg("array"), nb::arg("name") = "",
               nb::call_guard<Located>(), "A tensor of a CUDA array's values, on its device.");
    module.def(
        "cuda_number",
        [](const Tensor& x) { return cuda_number(ir::device_name(x.node().device())); },
        "The number of the CUDA device that a tensor lies on; -1 elsewhere.");
}

}  // namespace composit::python
