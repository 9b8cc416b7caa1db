// Types and lists of StableHLO as text.
#include "composit/base/text.h"
#include "composit/ir/dtype_traits.h"
#include "composit/mlir/writer.h"

namespace composit::mlir {

std::string element_type_text(DType dtype) { return std::string(ir::traits(dtype).mlir); }

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
