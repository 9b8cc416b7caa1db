// DLPack and __cuda_array_interface__: memory of a CUDA device, shared with other libraries, and
// their values in the host's.
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/cell.h"
#include "composit/eager/exposing.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/remote_memory.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"
#include "dlpack_types.h"
#include "evaluated.h"
#include "interpreter_lock.h"
#include "location.h"
#include "shown.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <optional>

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

// Where a tensor's values lie, computed: memory that the tensor shares from now on, or a copy.
ir::Array exported(const LazyTensor& self, bool is_copied) {
    const std::string name = ir::device_name(self.tensor().node().device());
    user_check<TypeError>(cuda_number(name) >= 0, "__dlpack__: the tensor lies on ", name,
                          ", whose memory other libraries do not reach. Take it to the cpu with "
                          ".to(\"cpu\").");
    check_not_differentiated(self);
    const bool can_share = !is_copied && !self.is_read_only && !is_scalar(nb::handle(self.self));
    const Released released;
    const auto device = runtime::device(name);
    ir::Array given;
    if (can_share) given = eager::exposed(self.cell());
    if (!given) given = runtime::copy_on(device, eager::look({self.tensor()}, {})[0]);
    device->synchronise();  // the others' queues know nothing of this one
    return given;
}

nb::object as_ndarray(const ir::Array& array) {
    std::vector<size_t> shape(array.shape().begin(), array.shape().end());
    auto owner = std::make_unique<ir::Array>(array);
    const nb::capsule keeper(owner.get(),
                             [](void* held) noexcept { delete static_cast<ir::Array*>(held); });
    owner.release();
    return nb::cast(
        nb::ndarray<nb::array_api>(array.remote()->address(), shape.size(), shape.data(), keeper,
                                   nullptr, dlpack_dtype(array.dtype()), cuda_type,
                                   cuda_number(array.remote()->device())),
        nb::rv_policy::reference);
}

std::string type_text(DType dtype) {
    const std::string size = std::to_string(ir::size_of(dtype));
    user_check<TypeError>(!ir::is_extension(dtype), "__cuda_array_interface__: ", dtype,
                          " has no letter there. Use DLPack.");
    if (dtype == DType::boolean) return "|b1";
    if (ir::is_complex(dtype)) return "<c" + size;
    if (ir::is_floating(dtype)) return "<f" + size;
    const auto code = static_cast<nb::dlpack::dtype_code>(dlpack_dtype(dtype).code);
    return (code == nb::dlpack::dtype_code::Int ? "<i" : "<u") + size;
}

bool is_row_major(const nb::ndarray<nb::ro>& array) {
    int64_t expected = 1;
    for (size_t d = array.ndim(); d-- > 0;) {
        if (array.shape(d) > 1 && array.stride(d) != expected) return false;
        expected *= static_cast<int64_t>(array.shape(d));
    }
    return true;
}

// The array of another library, on its device: in its memory where that is row-major, unless a copy
// is wanted, else in a copy.
nb::object imported(nb::handle object, std::optional<bool> copy, const std::string& name) {
    auto given = nb::cast<nb::ndarray<nb::ro>>(object);
    internal_check(given.device_type() == cuda_type, "from_dlpack: an array of device type ",
                   given.device_type(), " was taken for one on a CUDA device");
    const bool is_shared = !copy.value_or(false) && is_row_major(given);
    user_check(is_shared || copy.value_or(true),
               "from_dlpack: Unable to avoid copy of an array that is not row-major. copy is "
               "False.");
    if (!is_row_major(given))
        given = nb::ndarray<nb::ro>(nb::cast<nb::ndarray<nb::ro, nb::c_contig>>(object));
    const auto device = runtime::device("cuda:" + std::to_string(given.device_id()));
    ir::Shape shape;
    for (size_t d = 0; d < given.ndim(); ++d) shape.push_back(static_cast<int64_t>(given.shape(d)));
    const DType dtype = dtype_of(given.dtype());
    const int64_t bytes = ir::element_count(shape) * ir::size_of(dtype);
    void* const address = const_cast<void*>(given.data());
    if (is_shared && bytes > 0) {
        // The last owner may end on any thread.
        const auto release = [](const nb::ndarray<nb::ro>* held) {
            const Acquired acquired;
            delete held;
        };
        const std::shared_ptr<const void> owner(new nb::ndarray<nb::ro>(given), release);
        return wrap_array(ir::constant(
            {dtype, std::move(shape), runtime::shared_memory(device, address, bytes, owner)},
            name));
    }
    ir::Array made = runtime::array_on(device, dtype, std::move(shape));
    device->wait_for_others();
    device->copy(made.remote()->address(), address, bytes);
    device->synchronise();  // before the other library's memory is used again
    return wrap_array(ir::constant(std::move(made), name));
}

// The values of another library's array in the host's memory, of a dtype that NumPy may not know,
// as an array of NumPy's. None for one that lies elsewhere.
nb::object host_values(nb::handle object) {
    const auto given = nb::cast<nb::ndarray<nb::ro>>(object);
    if (given.device_type() != nb::device::cpu::value) return nb::none();
    const DType dtype = dtype_of(given.dtype());
    ir::Shape lengths, steps;
    for (size_t d = 0; d < given.ndim(); ++d) {
        lengths.push_back(static_cast<int64_t>(given.shape(d)));
        steps.push_back(given.stride(d));
    }
    const nb::object made = numpy_attribute("empty")(tuple_from(lengths), dtype_object(dtype));
    const int64_t count = ir::element_count(lengths), size = ir::size_of(dtype);
    auto* to =
        reinterpret_cast<char*>(nb::cast<uintptr_t>(nb::object(made.attr("ctypes").attr("data"))));
    const auto* const from = static_cast<const char*>(given.data());
    ir::Shape at(lengths.size());
    for (int64_t i = 0, place = 0; i < count; ++i, to += size) {
        std::memcpy(to, from + place * size, static_cast<size_t>(size));
        for (size_t d = at.size(); d-- > 0;) {
            place += steps[d];
            if (++at[d] < lengths[d]) break;
            place -= steps[d] * lengths[d];
            at[d] = 0;
        }
    }
    return made;
}

}  // namespace

void bind_dlpack(nb::module_& module) {
    module.def(
        "exported_to_cuda",
        [](const LazyTensor& x, bool copy) { return as_ndarray(exported(x, copy)); }, nb::arg("x"),
        nb::arg("copy") = false, nb::call_guard<Located>(),
        "The values, on their CUDA device, as an object with __dlpack__.");
    module.def(
        "cuda_array_interface",
        [](const LazyTensor& x) {
            const ir::Array array = exported(x, false);
            nb::dict result;
            result["shape"] = tuple_from(array.shape());
            result["typestr"] = type_text(array.dtype());
            result["data"] =
                nb::make_tuple(reinterpret_cast<uintptr_t>(array.remote()->address()), false);
            result["version"] = 3;
            result["strides"] = nb::none();
            result["stream"] = nb::none();
            return nb::make_tuple(result, as_ndarray(array));
        },
        nb::call_guard<Located>(), "The dictionary, and what keeps its memory alive.");
    module.def("imported_from_cuda", imported, nb::arg("array"), nb::arg("copy").none(),
               nb::arg("name") = "", nb::call_guard<Located>(),
               "A tensor of a CUDA array, on its device, in its memory where that can be.");
    module.def("host_values", host_values, nb::arg("array"),
               "The values of another library's array in the host's memory, as NumPy's; None for "
               "one that lies elsewhere.");
    module.def(
        "check_dlpack",
        [](const Tensor& x, nb::handle wanted, nb::handle copy) {
            const std::string device = ir::device_name(x.node().device());
            if (device == "cpu") return;  // NumPy checks
            const int number = cuda_number(device);
            const std::pair<int, int> host(1, 0);
            const std::pair<int, int> here = number < 0 ? host : std::pair(2, number);
            const auto there = wanted.is_none()
                                   ? here
                                   : nb::cast<std::pair<int, int>>(nb::tuple(nb::borrow(wanted)));
            if (there != here && there != host)
                throw nb::buffer_error(
                    with_location(text("__dlpack__: dl_device is ", Shown{wanted},
                                       ", and the tensor lies on ", device, ". (", here.first, ", ",
                                       here.second,
                                       "), or (1, 0) for a copy in host memory, is required."))
                        .c_str());
            if (copy.is(Py_False) && there == host)
                throw nb::buffer_error(
                    with_location(text("__dlpack__: copy=False, and the tensor lies on ", device,
                                       ". What is given of it in host memory is a copy."))
                        .c_str());
        },
        nb::arg("tensor"), nb::arg("wanted").none(), nb::arg("copy").none(),
        "BufferError where a capsule is wanted on a device that is neither the tensor's nor the "
        "host, or without the copy that it needs.");
    module.def(
        "cuda_number",
        [](const Tensor& x) { return cuda_number(ir::device_name(x.node().device())); },
        "The number of the CUDA device that a tensor lies on; -1 elsewhere.");
}

}  // namespace composit::python
