// Elements of tensors in ONNX files: in line, packed, in files beside the model, sparse.
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/onnx/model.h"

#include <charconv>
#include <cstring>
#include <limits>

namespace composit::onnx {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;

std::string where_of(const TensorData& tensor) {
    return text("onnx.load: tensor '", tensor.name, "'");
}

// The product of lengths. ValueError for negative ones, and products that no file can hold.
int64_t checked_count(const std::string& where, const Shape& dims) {
    int64_t count = 1;
    for (const int64_t length : dims) {
        user_check(length >= 0, where, ": its shape is ", dims,
                   ". Lengths of 0 and more are required.");
        user_check(!__builtin_mul_overflow(count, length, &count), where, ": its shape is ", dims,
                   ". As many elements as the file holds are required.");
    }
    return count;
}

// How many bytes so many elements take in a file.
int64_t bytes_in_file(const std::string& where, int64_t count, int bits) {
    user_check(count <= std::numeric_limits<int64_t>::max() / 128, where, ": it has ", count,
               " elements. As many elements as the file holds are required.");
    return bits == 6 ? count : (count * bits + 7) / 8;
}

void store(Array& array, int64_t i, double value) {
    void* data = array.mutable_data();
    switch (array.dtype()) {
        case DType::float32: static_cast<float*>(data)[i] = static_cast<float>(value); break;
        case DType::int8: static_cast<int8_t*>(data)[i] = static_cast<int8_t>(value); break;
        default: static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(value);
    }
}

// Elements of a small type, several of which may share a byte, the first in its lowest bits.
Array unpacked(ElementType type, const Shape& dims, int64_t count, const unsigned char* bytes) {
    Array array(carrier(type), dims);
    const int width = bits(type) == 6 ? 8 : bits(type), per_byte = 8 / width;
    const uint32_t mask = (1u << width) - 1;
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t code = bytes[i / per_byte] >> (i % per_byte * width) & mask;
        store(array, i, value_of_code(type, code));
    }
    return array;
}

Array from_bytes(const std::string& where, const TensorData& tensor, const Shape& dims,
                 int64_t count, std::string_view bytes) {
    const int64_t required = bytes_in_file(where, count, bits(tensor.element));
    user_check(static_cast<int64_t>(bytes.size()) == required, where, ": it has ", bytes.size(),
               " bytes. ", required, " bytes are required for ", name(tensor.element),
               " elements of shape ", dims, ".");
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (is_small(tensor.element)) return unpacked(tensor.element, dims, count, data);
    Array array(carrier(tensor.element), dims);
    auto* out = static_cast<unsigned char*>(array.mutable_data());
    if (tensor.element == ElementType::boolean)
        for (int64_t i = 0; i < count; ++i) out[i] = data[i] != 0;
    else if (count)
        std::memcpy(out, data, bytes.size());
    return array;
}

template <class T, class Source>
void convert(Array& array, const std::vector<Source>& values) {
    T* out = static_cast<T*>(array.mutable_data());
    for (size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
}

void convert_integers(Array& array, const std::vector<int64_t>& values) {
    const DType dtype = array.dtype();
    // Bits of short floats are written as integers.
    switch (ir::is_short_float(dtype) ? ir::unsigned_of_size(ir::size_of(dtype)) : dtype) {
        case DType::int8: return convert<int8_t>(array, values);
        case DType::int16: return convert<int16_t>(array, values);
        case DType::int32: return convert<int32_t>(array, values);
        case DType::int64: return convert<int64_t>(array, values);
        case DType::uint8: return convert<uint8_t>(array, values);
        case DType::uint32: return convert<uint32_t>(array, values);
        case DType::uint64: return convert<uint64_t>(array, values);
        case DType::boolean: {
            bool* out = static_cast<bool*>(array.mutable_data());
            for (size_t i = 0; i < values.size(); ++i) out[i] = values[i] != 0;
            return;
        }
        default: return convert<uint16_t>(array, values);
    }
}

// Elements in the list of a type.
Array from_lists(const std::string& where, const TensorData& tensor, const Shape& dims,
                 int64_t count) {
    const auto check = [&](size_t found, int64_t required) {
        user_check(static_cast<int64_t>(found) == required, where, ": it has ", found, " numbers. ",
                   required, " are required for ", name(tensor.element), " elements of shape ",
                   dims, ".");
    };
    const DType dtype = carrier(tensor.element);
    if (is_small(tensor.element)) {
        // Each number is a byte, of several elements.
        check(tensor.integers.size(), bytes_in_file(where, count, bits(tensor.element)));
        std::vector<unsigned char> bytes(tensor.integers.begin(), tensor.integers.end());
        return unpacked(tensor.element, dims, count, bytes.data());
    }
    const bool is_single = dtype == DType::float32 || dtype == DType::complex64;
    const bool is_double = dtype == DType::float64 || dtype == DType::complex128;
    const int64_t numbers = ir::is_complex(dtype) ? 2 * count : count;
    check(is_single   ? tensor.floats.size()
          : is_double ? tensor.doubles.size()
                      : tensor.integers.size(),
          numbers);
    Array array(dtype, dims);
    const auto bytes = static_cast<size_t>(array.bytes());
    if (is_single && bytes)
        std::memcpy(array.mutable_data(), tensor.floats.data(), bytes);
    else if (is_double && bytes)
        std::memcpy(array.mutable_data(), tensor.doubles.data(), bytes);
    else if (!is_single && !is_double)
        convert_integers(array, tensor.integers);
    return array;
}

int64_t external_number(const std::string& where, const TensorData& tensor, const std::string& key,
                        int64_t missing) {
    const auto found = tensor.external.find(key);
    if (found == tensor.external.end()) return missing;
    const std::string& digits = found->second;
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    user_check(error == std::errc() && end == digits.data() + digits.size() && value >= 0, where,
               ": the ", key, " of its external data is '", digits,
               "'. A count of bytes is required.");
    return value;
}

// The file of external data, which lies in the model's folder or below, also where links lead.
std::filesystem::path external_path(const std::string& where, const TensorData& tensor,
                                    const std::filesystem::path& folder) {
    const auto found = tensor.external.find("location");
    user_check(found != tensor.external.end() && !found->second.empty(), where,
               ": its external data has no location. A file's name is required.");
    user_check(!folder.empty(), where, ": its elements are in the file '", found->second,
               "', but the model was given as bytes. The model's folder is required.");
    std::error_code error;
    const auto root = std::filesystem::weakly_canonical(folder, error);
    const auto path = std::filesystem::weakly_canonical(folder / found->second, error);
    const auto relative = path.lexically_relative(root);
    const bool is_inside = !error && !relative.empty() && *relative.begin() != "..";
    user_check(is_inside && !std::filesystem::path(found->second).is_absolute(), where,
               ": its elements are in '", found->second,
               "', outside the model's folder. A file in that folder is required.");
    return path;
}

Array from_file(const std::string& where, const TensorData& tensor, const Shape& dims,
                int64_t count, const std::filesystem::path& folder) {
    const auto path = external_path(where, tensor, folder);
    const MappedFile file = map_file(where + ": ", path);
    const int64_t size = static_cast<int64_t>(file.bytes);
    const int64_t offset = external_number(where, tensor, "offset", 0);
    user_check(offset <= size, where, ": its elements begin at byte ", offset, " of a file of ",
               size, " bytes. An offset within the file is required.");
    const int64_t length = external_number(where, tensor, "length", size - offset);
    user_check(length <= size - offset, where, ": it has ", length, " bytes from byte ", offset,
               " of a file of ", size, " bytes. A range within the file is required.");
    const ReadingMappedFiles reading;
    Array array =
        from_bytes(where, tensor, dims, count, {file.data + offset, static_cast<size_t>(length)});
    reading.check("onnx.load", {file.data});
    return array;
}

}  // namespace

Array array_of(const TensorData& tensor, const std::filesystem::path& folder) {
    const std::string where = where_of(tensor);
    user_check<TypeError>(
        tensor.element != ElementType::undefined && tensor.element != ElementType::string, where,
        ": it has ", name(tensor.element), " elements. Numbers or bool are required.");
    const Shape dims = tensor.dims;
    const int64_t count = checked_count(where, dims);
    if (tensor.is_external) return from_file(where, tensor, dims, count, folder);
    if (tensor.has_raw) return from_bytes(where, tensor, dims, count, tensor.raw);
    return from_lists(where, tensor, dims, count);
}

Array array_of(const SparseTensorData& tensor, const std::filesystem::path& folder) {
    const std::string where = where_of(tensor.values);
    const Array values = array_of(tensor.values, folder);
    const Array indices = array_of(tensor.indices, folder);
    const Shape& dims = tensor.dims;
    const int64_t count = checked_count(where, dims), stored = values.size();
    const auto rank = static_cast<int64_t>(dims.size());
    const bool is_flat = indices.shape() == Shape{stored};
    user_check(indices.dtype() == DType::int64 && values.shape().size() == 1 &&
                   (is_flat || indices.shape() == Shape{stored, rank}),
               where, ": a sparse tensor of rank ", rank, " has values of shape ", values.shape(),
               " and indices of shape ", indices.shape(),
               ". As many int64 positions as values are required.");
    // A sparse tensor may stand for a far larger one: what this file may ask for is bounded.
    constexpr int64_t most = int64_t{1} << 30;
    user_check(count <= most, where, ": a sparse tensor has shape ", dims, ". At most ", most,
               " elements are required.");
    Array array = Array::zeros(values.dtype(), dims);
    const auto size = static_cast<size_t>(ir::size_of(values.dtype()));
    const auto* from = static_cast<const char*>(values.data());
    auto* to = static_cast<char*>(array.mutable_data());
    const auto* index = indices.data_as<int64_t>();
    const auto strides = ir::row_major_strides(dims);
    for (int64_t i = 0; i < stored; ++i) {
        int64_t place = 0;
        bool is_inside = true;
        if (is_flat) {
            place = index[i];
            is_inside = place >= 0 && place < count;
        } else {
            for (size_t axis = 0; axis < dims.size(); ++axis) {
                const int64_t at = index[i * rank + static_cast<int64_t>(axis)];
                is_inside = is_inside && at >= 0 && at < dims[axis];
                place += is_inside ? at * strides[axis] : 0;
            }
        }
        user_check(is_inside, where, ": a sparse tensor of shape ", dims,
                   " has an index outside of it. Positions within it are required.");
        std::memcpy(to + static_cast<size_t>(place) * size, from + static_cast<size_t>(i) * size,
                    size);
    }
    return array;
}

}  // namespace composit::onnx
