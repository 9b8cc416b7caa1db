// Operators on shapes: reshaping, joining, splitting, repeating, padding, filling.
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/padding.h"
#include "composit/onnx/operators.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace composit::onnx {
namespace shaping {
namespace {

using numpy::apply;

// A tensor of another shape keeps the type of what it is made of.
Value like(const Value& given, Tensor tensor) { return {std::move(tensor), given.element()}; }

// Strings are moved as their positions are.
template <class Move>
Value moved(Call& call, size_t input, const Move& move) {
    const Value& given = call.value(input);
    if (given.is_chosen()) return ChosenStrings{move(given.chosen().places), given.chosen().texts};
    if (!given.is_strings()) return like(given, move(call.tensor(input)));
    const Strings& strings = given.strings();
    const auto count = static_cast<int64_t>(strings.elements.size());
    return call.strings_at(move(numpy::reshape(numpy::arange(count), strings.shape)),
                           strings.elements);
}

Values identity(Call& call) { return {call.value(0)}; }

// Lengths of 0 are those of x unless allowzero.
Values reshape(Call& call) {
    std::vector<int64_t> shape = call.known_integers(1);
    const Shape& before = call.value(0).shape();
    if (!call.flag("allowzero"))
        for (size_t i = 0; i < shape.size(); ++i) {
            if (shape[i] != 0) continue;
            call.check(i < before.size(), "the shape ", shape, " has a 0 at ", i,
                       ", but the tensor has shape ", before,
                       ". A length to be kept is required there.");
            shape[i] = before[i];
        }
    return {moved(call, 0, [&](const Tensor& x) { return numpy::reshape(x, shape); })};
}

Values flatten(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t given = call.integer("axis", 1), rank = x.rank();
    call.check(given >= -rank && given <= rank, "axis ", given, " of a tensor of rank ", rank,
               ". An axis from ", -rank, " to ", rank, " is required.");
    const int64_t axis = given < 0 ? given + rank : given;
    Shape shape{1, 1};
    for (int64_t i = 0; i < rank; ++i) shape[i < axis ? 0 : 1] *= x.shape()[static_cast<size_t>(i)];
    return {like(call.value(0), numpy::reshape(x, shape))};
}

Values squeeze(Call& call) {
    const Tensor& x = call.tensor(0);
    const auto axes = call.axes(1, "axes", x.rank());
    return {like(call.value(0), axes ? numpy::squeeze(x, *axes) : numpy::squeeze(x))};
}

Values unsqueeze(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> given = call.has(1) ? call.known_integers(1) : call.integers("axes");
    return {like(call.value(0), numpy::expand_dims(x, given))};
}

Values transpose(Call& call) {
    const std::vector<int64_t> order = call.integers("perm");
    return {moved(call, 0, [&](const Tensor& x) {
        return call.has_attribute("perm") ? numpy::transpose(x, order) : numpy::transpose(x);
    })};
}

Values expand(Call& call) {
    const std::vector<int64_t> shape = call.known_integers(1);
    const Tensor& x = call.tensor(0);
    return {
        like(call.value(0), numpy::broadcast_to(x, numpy::broadcast_shapes({x.shape(), shape})))};
}

Values concat(Call& call) {
    if (call.value(0).is_strings()) {
        Strings all{call.strings(0).shape, {}};
        call.check<NotSupported>(all.shape.size() == 1, "strings of shape ", all.shape,
                                 " are joined. One axis is required.");
        all.shape[0] = 0;
        for (size_t i = 0; i < call.input_count(); ++i) {
            const Strings& part = call.strings(i);
            all.elements.insert(all.elements.end(), part.elements.begin(), part.elements.end());
        }
        all.shape[0] = static_cast<int64_t>(all.elements.size());
        return {all};
    }
    const std::vector<Tensor> parts = call.tensors();
    return {like(call.value(0),
                 numpy::concatenate(parts, call.axis(parts[0].rank(), call.integer("axis", 0))))};
}

// Lengths: given, or as even as possible, the last one the shorter.
Values split(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), 0);
    const int64_t length = x.shape()[static_cast<size_t>(axis)];
    std::vector<int64_t> lengths = call.has(1) ? call.known_integers(1) : call.integers("split");
    if (lengths.empty()) {
        const auto parts = call.integer("num_outputs", static_cast<int64_t>(call.output_count()));
        call.check(parts > 0, "num_outputs is ", parts, ". At least 1 is required.");
        const int64_t part = (length + parts - 1) / parts;
        for (int64_t i = 0; i < parts; ++i)
            lengths.push_back(std::clamp<int64_t>(length - i * part, 0, part));
    }
    const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    call.check(total == length && std::all_of(lengths.begin(), lengths.end(),
                                              [](int64_t each) { return each >= 0; }),
               "the parts have lengths ", lengths, " of ", length,
               ". Lengths that add up to that are required.");
    std::vector<int64_t> ends(lengths.begin(), lengths.end() - 1);
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Values values;
    for (const Tensor& part : numpy::split(x, ends, axis))
        values.push_back(like(call.value(0), part));
    return values;
}

// Bounds of one axis; beyond the ends they are the ends, as Python's slices.
Values slice(Call& call) {
    const Tensor& x = call.tensor(0);
    const bool by_attributes = call.opset() < 10;
    const auto starts = by_attributes ? call.integers("starts") : call.known_integers(1);
    const auto stops = by_attributes ? call.integers("ends") : call.known_integers(2);
    std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = call.axes(3, "axes", x.rank())) axes = *given;
    if (call.has(4)) steps = call.known_integers(4);
    call.check(stops.size() == starts.size() && axes.size() == starts.size() &&
                   steps.size() == starts.size(),
               "there are ", starts.size(), " starts, ", stops.size(), " ends, ", axes.size(),
               " axes and ", steps.size(), " steps. As many of each are required.");
    numpy::Index index(static_cast<size_t>(x.rank()), numpy::Slice{});
    for (size_t i = 0; i < axes.size(); ++i) {
        call.check(axes[i] < x.rank(), "axis ", axes[i], " of a tensor of rank ", x.rank(),
                   ". An axis of the tensor is required.");
        call.check(steps[i] != 0, "a step is 0. Another one is required.");
        const int64_t length = x.shape()[static_cast<size_t>(axes[i])];
        numpy::Slice bounds{starts[i], stops[i], steps[i]};
        // Going backwards, an end before the first element is the one before it.
        if (steps[i] < 0 && stops[i] < -length) bounds.stop = std::nullopt;
        index[static_cast<size_t>(axes[i])] = bounds;
    }
    return {like(call.value(0), numpy::get_item(x, index))};
}

Values shape_of(Call& call) {
    const Shape& shape = call.value(0).shape();
    const auto rank = static_cast<int64_t>(shape.size());
    const auto bound = [&](int64_t place) {
        return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
    };
    const int64_t start = bound(call.integer("start", 0)), stop = bound(call.integer("end", rank));
    return {numpy::array<int64_t>(
        start < stop ? std::vector<int64_t>(shape.begin() + start, shape.begin() + stop)
                     : std::vector<int64_t>{})};
}

Values size_of(Call& call) {
    return {numpy::array<int64_t>({ir::element_count(call.value(0).shape())}, {})};
}

Values tile(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> counts = call.known_integers(1);
    call.check(static_cast<int>(counts.size()) == x.rank(), "there are ", counts.size(),
               " repeats for a tensor of rank ", x.rank(), ". One for each axis is required.");
    return {like(call.value(0), numpy::tile(x, counts))};
}

// Pads may be negative, which crops.
Values pad(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::string mode = call.text("mode", "constant");
    const auto pads = call.opset() < 11 ? call.integers("pads") : call.known_integers(1);
    std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = call.axes(3, "axes", x.rank())) axes = *given;
    call.check(pads.size() == 2 * axes.size(), "there are ", pads.size(), " pads for ", axes.size(),
               " axes. Two for each are required.");
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    numpy::Index inside(static_cast<size_t>(x.rank()), numpy::Slice{});
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        const int64_t low = pads[i], high = pads[i + axes.size()];
        widths[axis] = {std::max<int64_t>(low, 0), std::max<int64_t>(high, 0)};
        if (low < 0 || high < 0)
            inside[axis] = numpy::Slice{std::max<int64_t>(-low, 0),
                                        x.shape()[axis] + std::min<int64_t>(high, 0)};
    }
    const Tensor cropped = numpy::get_item(x, inside);
    if (mode != "constant")
        return {like(call.value(0), numpy::pad(cropped, widths, mode, numpy::PadOptions{}))};
    numpy::Operand value = call.number("value", 0);
    if (call.opset() >= 11) value = 0;
    if (call.has(2)) value = numpy::reshape(call.tensor(2), {});
    const Tensor filled = ir::is_integer(x.dtype()) && call.opset() < 11
                              ? numpy::pad(cropped, widths, "constant", 0)
                              : numpy::pad(cropped, widths, "constant", value);
    return {like(call.value(0), filled)};
}

Values constant(Call& call) {
    if (call.has_attribute("value")) return {*call.constant("value")};
    if (call.has_attribute("sparse_value")) return {*call.constant("sparse_value")};
    if (call.has_attribute("value_float"))
        return {numpy::array<float>({static_cast<float>(call.number("value_float", 0))}, {})};
    if (call.has_attribute("value_floats")) {
        const std::vector<double> numbers = call.numbers("value_floats");
        return {numpy::array<float>({numbers.begin(), numbers.end()})};
    }
    if (call.has_attribute("value_int"))
        return {numpy::array<int64_t>({call.integer("value_int")}, {})};
    if (call.has_attribute("value_ints"))
        return {numpy::array<int64_t>(call.integers("value_ints"))};
    if (call.has_attribute("value_string")) return {Strings{{}, {call.text("value_string")}}};
    call.check(call.has_attribute("value_strings"),
               "there is no value. One of the attributes value, value_int, … is required.");
    const std::vector<std::string> texts = call.texts("value_strings");
    return {Strings{{static_cast<int64_t>(texts.size())}, texts}};
}

Values constant_of_shape(Call& call) {
    const std::vector<int64_t> shape = call.known_integers(0);
    for (const int64_t length : shape)
        call.check(length >= 0, "the shape is ", shape, ". Lengths of 0 and more are required.");
    const auto value = call.constant("value");
    if (!value) return {numpy::zeros(shape, DType::float32)};
    return {like(*value, numpy::full(shape, numpy::reshape(value->tensor(), {})))};
}

Values range(Call& call) {
    const DType dtype = call.tensor(0).dtype();
    const double start = call.known_number(0), stop = call.known_number(1);
    const double step = call.known_number(2);
    call.check(step != 0, "the step is 0. Another one is required.");
    const auto count = static_cast<int64_t>(std::max(std::ceil((stop - start) / step), 0.0));
    const Tensor places = numpy::arange(count);
    if (ir::is_integer(dtype))
        return {numpy::astype(call.known_integer(0) + places * call.known_integer(2), dtype)};
    const DType wide = dtype == DType::float64 ? DType::float64 : DType::float32;
    const Tensor line =
        numpy::reshape(numpy::astype(call.tensor(0), wide), {}) +
        numpy::astype(places, wide) * numpy::reshape(numpy::astype(call.tensor(2), wide), {});
    return {numpy::astype(line, dtype)};
}

Values eye_like(Call& call) {
    const Tensor& x = call.tensor(0);
    call.check(x.rank() == 2, "a tensor of shape ", x.shape(), ". Two axes are required.");
    const ElementType type = call.element("dtype", call.value(0).element());
    return {Value(cast(numpy::eye(x.shape()[0], x.shape()[1], call.integer("k", 0)), type), type)};
}

Values trilu(Call& call) {
    const int64_t k = call.has(1) ? call.known_integer(1) : 0;
    const Tensor& x = call.tensor(0);
    return {like(call.value(0), call.flag("upper", true) ? numpy::triu(x, k) : numpy::tril(x, k))};
}

// Blocks of channels as blocks of pixels, and back.
Values depth_to_space(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t block = call.integer("blocksize");
    const Shape& s = x.shape();
    call.check(s.size() == 4 && block > 0 && s[1] % (block * block) == 0, "a tensor of shape ", s,
               " with blocks of ", block,
               ". (batch, channels, height, width), with channels that blocks divide, is "
               "required.");
    const int64_t depth = s[1] / (block * block);
    const Shape whole{s[0], depth, s[2] * block, s[3] * block};
    if (call.text("mode", "DCR") == "CRD") {
        const Tensor parts = numpy::reshape(x, {s[0], depth, block, block, s[2], s[3]});
        return {
            numpy::reshape(numpy::transpose(parts, std::vector<int64_t>{0, 1, 4, 2, 5, 3}), whole)};
    }
    const Tensor parts = numpy::reshape(x, {s[0], block, block, depth, s[2], s[3]});
    return {numpy::reshape(numpy::transpose(parts, std::vector<int64_t>{0, 3, 4, 1, 5, 2}), whole)};
}

Values space_to_depth(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t block = call.integer("blocksize");
    const Shape& s = x.shape();
    call.check(s.size() == 4 && block > 0 && s[2] % block == 0 && s[3] % block == 0,
               "a tensor of shape ", s, " with blocks of ", block,
               ". (batch, channels, height, width), with lengths that blocks divide, is "
               "required.");
    const int64_t high = s[2] / block, wide = s[3] / block;
    const Shape whole{s[0], s[1] * block * block, high, wide};
    const Tensor parts = numpy::reshape(x, {s[0], s[1], high, block, wide, block});
    if (call.text("mode", "DCR") == "CRD")
        return {
            numpy::reshape(numpy::transpose(parts, std::vector<int64_t>{0, 1, 3, 5, 2, 4}), whole)};
    return {numpy::reshape(numpy::transpose(parts, std::vector<int64_t>{0, 3, 5, 1, 2, 4}), whole)};
}

// Crops around, or pads to, the middle.
Values center_crop_pad(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> lengths = call.known_integers(1);
    std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), 0);
    if (const auto given = call.axes(size_t(-1), "axes", x.rank())) axes = *given;
    call.check(axes.size() == lengths.size(), "there are ", lengths.size(), " lengths for ",
               axes.size(), " axes. As many are required.");
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    numpy::Index inside(static_cast<size_t>(x.rank()), numpy::Slice{});
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        const int64_t missing = lengths[i] - x.shape()[axis];
        if (missing > 0) {
            widths[axis] = {missing / 2, missing - missing / 2};
        } else {
            const int64_t start = -missing / 2;
            inside[axis] = numpy::Slice{start, start + lengths[i]};
        }
    }
    return {like(call.value(0), numpy::pad(numpy::get_item(x, inside), widths))};
}

}  // namespace
}  // namespace shaping

void add_shaping(Registry& registry) {
    using namespace shaping;
    registry.add("CenterCropPad", center_crop_pad);
    registry.add("Concat", concat);
    registry.add("Constant", constant);
    registry.add("ConstantOfShape", constant_of_shape);
    registry.add("DepthToSpace", depth_to_space);
    registry.add("Expand", expand);
    registry.add("EyeLike", eye_like);
    registry.add("Flatten", flatten);
    registry.add("Identity", identity);
    registry.add("Pad", pad);
    registry.add("Range", range);
    registry.add("Reshape", reshape);
    registry.add("Shape", shape_of);
    registry.add("Size", size_of);
    registry.add("Slice", slice);
    registry.add("SpaceToDepth", space_to_depth);
    registry.add("Split", split);
    registry.add("Squeeze", squeeze);
    registry.add("Tile", tile);
    registry.add("Transpose", transpose);
    registry.add("Trilu", trilu);
    registry.add("Unsqueeze", unsqueeze);
}

}  // namespace composit::onnx
