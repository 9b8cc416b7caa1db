// Operators on element types: casts, strings of numbers, bits read as another type.
#include "composit/numpy/bits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"
#include "composit/onnx/text_numbers.h"

namespace composit::onnx {
namespace casts {
namespace {

using numpy::apply;

Strings to_strings(Call& call) {
    const Array values = call.known(0);
    Strings strings{values.shape(), {}};
    for (int64_t i = 0; i < values.size(); ++i)
        strings.elements.push_back(text_of_element(values, i));
    return strings;
}

Tensor from_strings(const Strings& strings, ElementType type) {
    std::vector<double> numbers;
    for (const std::string& element : strings.elements) numbers.push_back(number_of_text(element));
    if (ir::is_floating(carrier(type)))
        return cast(numpy::array<double>(numbers, strings.shape), type);
    std::vector<int64_t> integers;
    for (const std::string& element : strings.elements)
        integers.push_back(integer_of_text(element));
    return cast(numpy::array<int64_t>(integers, strings.shape), type);
}

Value converted(Call& call, ElementType type) {
    const bool saturate = call.flag("saturate", true);
    const Value& given = call.value(0);
    if (given.element() == ElementType::string && type == ElementType::string) return given;
    if (given.is_strings()) {
        return {from_strings(given.strings(), type), type};
    }
    const Tensor& x = call.tensor(0);
    if (type == ElementType::string) return to_strings(call);
    if (given.element() == type) return given;
    if (type == ElementType::boolean) return apply("not_equal", {x, numpy::scalar(x.dtype(), 0)});
    return {cast(x, type, saturate, call.text("round_mode", "up")), type};
}

Values cast_to(Call& call) { return {converted(call, call.element("to", ElementType::undefined))}; }

Values cast_like(Call& call) {
    const Value& like = call.value(1);
    call.check(!like.is_nothing() && !like.is_sequence(), "input 1 is ", description(like),
               ". A tensor is required.");
    return {converted(call, like.element())};
}

Values bit_cast(Call& call) {
    const ElementType type = call.element("to", ElementType::undefined);
    const Value& given = call.value(0);
    const Tensor& x = call.tensor(0);
    call.check(bits(given.element()) == bits(type), "elements of ", bits(given.element()),
               " bits are read as ", name(type), " of ", bits(type),
               " bits. A type of as many bits is required.");
    if (given.element() == type) return {given};
    call.check<NotSupported>(!is_small(given.element()) && !is_small(type), "bits of ",
                             name(given.element()), " are read as ", name(type),
                             ". Types of composit's own dtypes are required.");
    return {numpy::view(x, carrier(type))};
}

}  // namespace
}  // namespace casts

void add_casts(Registry& registry) {
    using namespace casts;
    registry.add("BitCast", bit_cast);
    registry.add("Cast", cast_to);
    registry.add("CastLike", cast_like);
}

}  // namespace composit::onnx
