// Types and lists of StableHLO as text.
#include "composit/base/text.h"
#include "composit/mlir/writer.h"

namespace composit::mlir {

std::string element_type_text(DType dtype) {
    switch (dtype) {
        case DType::boolean: return "i1";
        case DType::int8: return "i8";
        case DType::int16: return "i16";
        case DType::int32: return "i32";
        case DType::int64: return "i64";
        case DType::uint8: return "ui8";
        case DType::uint16: return "ui16";
        case DType::uint32: return "ui32";
        case DType::uint64: return "ui64";
        case DType::float16: return "f16";
        case DType::bfloat16: return "bf16";
        case DType::float32: return "f32";
        case DType::float64: return "f64";
        case DType::complex64: return "complex<f32>";
        case DType::complex128: return "complex<f64>";
    }
    return "";
}

std::string type_text(const ValueType& type) {
    std::string text = "tensor<";
    for (const int64_t length : type.shape)
        text += (length == open_length ? "?" : std::to_string(length)) + "x";
    return text + element_type_text(type.dtype) + ">";
}

std::string type_texts(const std::vector<ValueType>& types) {
    std::vector<std::string> texts;
    for (const ValueType& type : types) texts.push_back(type_text(type));
    return join(texts);
}

std::string list_text(const Axes& values) { return "[" + join(values) + "]"; }

std::string names_text(const Values& values) {
    std::vector<std::string> names;
    for (const Value& value : values) names.push_back(value.name);
    return join(names);
}

std::vector<ValueType> types_of(const Values& values) {
    std::vector<ValueType> types;
    for (const Value& value : values) types.push_back(value.type());
    return types;
}

}  // namespace composit::mlir
