// The domain ai.onnx.ml: encoders, scalers and linear models.
#include "composit/onnx/ml_models.h"

#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/operators.h"
#include "composit/onnx/text_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace composit::onnx {

Tensor post_transformed(const Call& call, const Tensor& scores) {
    const std::string name = call.text("post_transform", "NONE");
    if (name == "NONE") return scores;
    if (name == "LOGISTIC") return nn::sigmoid(scores);
    if (name == "SOFTMAX") return nn::softmax(scores, -1);
    if (name == "SOFTMAX_ZERO") {
        // Zeros stay zeros.
        const Tensor is_zero = numpy::apply("equal", {scores, 0.0});
        const Tensor kept = numpy::apply("where", {is_zero, -HUGE_VAL, scores});
        return numpy::apply("where", {is_zero, 0.0, nn::softmax(kept, -1)});
    }
    if (name == "PROBIT") return numpy::apply("ndtri", {scores});
    call.check(false, "post_transform is '", name,
               "'. NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT is required.");
    return scores;
}

Value labels_of(const Call& call, const Tensor& places) {
    const std::vector<int64_t> numbers = call.has_attribute("classlabels_int64s")
                                             ? call.integers("classlabels_int64s")
                                             : call.integers("classlabels_ints");
    if (!numbers.empty()) return numpy::take(numpy::array<int64_t>(numbers), places, 0);
    const std::vector<std::string> texts = call.texts("classlabels_strings");
    call.check(!texts.empty(), "there are no labels of classes. Integers or strings are required.");
    return call.strings_at(places, texts);
}

size_t label_count(const Call& call) {
    return call.integers("classlabels_int64s").size() + call.integers("classlabels_ints").size() +
           call.texts("classlabels_strings").size();
}

namespace ml_models {
namespace {

using numpy::apply;

Values feature_extractor(Call& call) {
    const Tensor places = numpy::ravel(numpy::astype(call.tensor(1), DType::int64));
    if (call.value(0).is_strings()) {
        const Strings& strings = call.strings(0);
        call.check<NotSupported>(strings.elements.size() == 1 || strings.shape.size() == 1 ||
                                     (strings.shape.size() == 2 && strings.shape[0] == 1),
                                 "strings of shape ", strings.shape,
                                 " are extracted. One row is required.");
        return {call.strings_at(numpy::expand_dims(places, 0), strings.elements)};
    }
    const Tensor& x = call.tensor(0);
    const Tensor taken = numpy::take(x, places, x.rank() - 1);
    return {x.rank() == 1 ? numpy::expand_dims(taken, 0) : taken};
}

Values binarizer(Call& call) {
    const Tensor& x = call.tensor(0);
    return {numpy::astype(x > call.number("threshold", 0), x.dtype())};
}

// ----- label encoder: keys and values as texts, integers or floats
struct Labels {
    std::vector<std::string> texts;  // a key of each
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    ElementType type = ElementType::undefined;
};

std::string key_of(const Array& values, int64_t i) { return text_of_element(values, i); }

Labels labels(const Call& call, const std::string& prefix) {
    Labels made;
    if (call.has_attribute(prefix + "_strings")) {
        made.texts = call.texts(prefix + "_strings");
        made.type = ElementType::string;
    } else if (const auto tensor = call.constant(prefix + "_tensor")) {
        made.type = tensor->element();
        if (tensor->is_strings()) {
            made.texts = tensor->strings().elements;
        } else {
            const Array values = call.known(tensor->tensor());
            const Array wide = call.known(numpy::astype(tensor->tensor(), DType::float64));
            const Array whole = call.known(numpy::astype(tensor->tensor(), DType::int64));
            for (int64_t i = 0; i < values.size(); ++i) {
                made.texts.push_back(key_of(values, i));
                made.numbers.push_back(wide.data_as<double>()[i]);
                made.integers.push_back(whole.data_as<int64_t>()[i]);
            }
        }
    } else if (call.has_attribute(prefix + "_int64s")) {
        made.type = ElementType::int64;
        made.integers = call.integers(prefix + "_int64s");
        for (const int64_t value : made.integers) {
            made.texts.push_back(std::to_string(value));
            made.numbers.push_back(static_cast<double>(value));
        }
    } else {
        made.type = ElementType::float32;
        made.numbers = call.numbers(prefix + "_floats");
        for (const double value : made.numbers) {
            const auto number = static_cast<float>(value);
            made.texts.push_back(key_of(Array::of<float>(DType::float32, {1}, {number}), 0));
            made.integers.push_back(0);
        }
    }
    return made;
}

// Keys of an input whose values are known.
std::vector<std::string> keys_of_input(Call& call) {
    if (call.value(0).is_strings()) return call.strings(0).elements;
    const Array values = call.known(0);
    std::vector<std::string> keys;
    for (int64_t i = 0; i < values.size(); ++i) keys.push_back(key_of(values, i));
    return keys;
}

// For each element the place of its key, the last one of equal keys; as many as there are keys
// where it is none.
Tensor places_of_keys(Call& call, const Labels& keys) {
    const auto count = static_cast<int64_t>(keys.texts.size());
    if (call.value(0).is_chosen()) {
        const ChosenStrings& chosen = call.value(0).chosen();
        std::vector<int64_t> of_text;
        for (const std::string& text : chosen.texts) {
            const auto found = std::find(keys.texts.rbegin(), keys.texts.rend(), text);
            of_text.push_back(found == keys.texts.rend() ? count : keys.texts.rend() - found - 1);
        }
        return numpy::take(numpy::array<int64_t>(of_text), chosen.places, 0);
    }
    if (call.value(0).is_tensor() && !Call::is_known(call.tensor(0))) {
        const Tensor& x = call.tensor(0);
        const bool is_float = ir::is_floating(x.dtype());
        Tensor places = numpy::full(x.shape(), count, DType::int64);
        for (int64_t i = 0; i < count; ++i) {
            const auto place = static_cast<size_t>(i);
            Tensor is_key = is_float ? apply("equal", {x, keys.numbers[place]})
                                     : apply("equal", {x, keys.integers[place]});
            if (is_float && std::isnan(keys.numbers[place])) is_key = apply("isnan", {x});
            places = apply("where", {is_key, i, places});
        }
        return places;
    }
    std::map<std::string, int64_t> place_of;
    for (int64_t i = 0; i < count; ++i) place_of[keys.texts[static_cast<size_t>(i)]] = i;
    std::vector<int64_t> places;
    for (const std::string& key : keys_of_input(call)) {
        const auto found = place_of.find(key);
        places.push_back(found == place_of.end() ? count : found->second);
    }
    return numpy::array<int64_t>(places, call.value(0).shape());
}

Values label_encoder(Call& call) {
    const Labels keys = labels(call, "keys"), values = labels(call, "values");
    call.check(keys.texts.size() == values.texts.size(), "there are ", keys.texts.size(),
               " keys and ", values.texts.size(), " values. As many are required.");
    const Tensor places = places_of_keys(call, keys);
    std::optional<Value> missing;
    if (call.has_attribute("default_tensor")) missing = call.constant("default_tensor");
    if (values.type == ElementType::string) {
        std::string other = call.text("default_string", "_Unused");
        if (missing && missing->is_strings() && !missing->strings().elements.empty())
            other = missing->strings().elements[0];
        std::vector<std::string> all = values.texts;
        all.push_back(other);
        return {call.strings_at(places, all)};
    }
    const DType dtype = carrier(values.type);
    Tensor table, other;
    if (ir::is_floating(dtype)) {
        table = numpy::astype(numpy::array<double>(values.numbers), dtype);
        other = numpy::scalar(dtype, call.number("default_float", -0.0));
    } else {
        table = numpy::astype(numpy::array<int64_t>(values.integers), dtype);
        other = numpy::scalar(dtype, static_cast<double>(call.integer("default_int64", -1)));
    }
    if (missing && missing->is_tensor()) other = numpy::astype(missing->tensor(), dtype);
    table = numpy::concatenate({table, numpy::reshape(other, {1})}, 0);
    return {numpy::take(table, places, 0)};
}

// Categories that have a number and a name each: names of numbers, or numbers of names.
Values category_mapper(Call& call) {
    Labels names, numbers;
    names.texts = call.texts("cats_strings");
    numbers.integers = call.integers("cats_int64s");
    call.check(names.texts.size() == numbers.integers.size(), "there are ", numbers.integers.size(),
               " numbers and ", names.texts.size(), " names. As many are required.");
    for (const int64_t value : numbers.integers) numbers.texts.push_back(std::to_string(value));
    if (call.value(0).is_tensor()) {
        call.check<TypeError>(ir::is_integer(call.tensor(0).dtype()), "the input is ",
                              call.tensor(0).dtype(), ". Strings or int64 are required.");
        std::vector<std::string> all = names.texts;
        all.push_back(call.text("default_string", "_Unused"));
        return {call.strings_at(places_of_keys(call, numbers), all)};
    }
    std::vector<int64_t> all = numbers.integers;
    all.push_back(call.integer("default_int64", -1));
    return {numpy::take(numpy::array<int64_t>(all), places_of_keys(call, names), 0)};
}

// ----- numbers
Tensor row(const std::vector<double>& numbers) {
    return numpy::array<float>({numbers.begin(), numbers.end()});
}
Tensor as_float(const Tensor& x) { return numpy::astype(x, DType::float32); }

Values scaler(Call& call) {
    return {(as_float(call.tensor(0)) - row(call.numbers("offset"))) * row(call.numbers("scale"))};
}

Values normalizer(Call& call) {
    const Tensor x = as_float(call.tensor(0));
    const std::string norm = call.text("norm", "MAX");
    call.check(norm == "MAX" || norm == "L1" || norm == "L2", "norm is '", norm,
               "'. MAX, L1 or L2 is required.");
    const Tensor size = apply("absolute", {x});
    const Tensor by = norm == "MAX"  ? numpy::max(x, -1, true)
                      : norm == "L1" ? numpy::sum(size, -1, {}, true)
                                     : apply("sqrt", {numpy::sum(x * x, -1, {}, true)});
    return {apply("where", {apply("equal", {by, 0.0}), x, x / by})};
}

Values imputer(Call& call) {
    const Tensor& x = call.tensor(0);
    if (ir::is_integer(x.dtype())) {
        const Tensor is_missing = apply("equal", {x, call.integer("replaced_value_int64", 0)});
        return {apply("where", {is_missing,
                                numpy::array<int64_t>(call.integers("imputed_value_int64s")), x})};
    }
    const double replaced = call.number("replaced_value_float", 0);
    const Tensor is_missing =
        std::isnan(replaced) ? apply("isnan", {x}) : apply("equal", {x, replaced});
    const Tensor values = numpy::astype(row(call.numbers("imputed_value_floats")), x.dtype());
    return {apply("where", {is_missing, values, x})};
}

// x (batch, features) times coefficients (targets, features).
Tensor linear_scores(const Call& call, int64_t targets) {
    const Tensor x = as_float(call.tensor(0));
    const Tensor weights = row(call.numbers("coefficients"));
    call.check(targets > 0 && weights.size() % targets == 0, "there are ", weights.size(),
               " coefficients for ", targets, " targets. As many for each are required.");
    const Tensor sums = numpy::matmul(
        x.rank() == 1 ? numpy::expand_dims(x, 0) : x,
        numpy::transpose(numpy::reshape(weights, {targets, weights.size() / targets})));
    return call.has_attribute("intercepts") ? sums + row(call.numbers("intercepts")) : sums;
}

Values linear_regressor(Call& call) {
    return {post_transformed(call, linear_scores(call, call.integer("targets", 1)))};
}

Values linear_classifier(Call& call) {
    const auto classes = static_cast<int64_t>(label_count(call));
    const auto intercepts = static_cast<int64_t>(call.numbers("intercepts").size());
    const bool is_binary = classes == 2 && intercepts == 1;
    Tensor scores = linear_scores(call, is_binary ? 1 : classes);
    if (is_binary) {
        const Tensor is_second = scores > 0.0;
        const Tensor second = post_transformed(call, scores);
        const bool is_probability = call.text("post_transform", "NONE") == "LOGISTIC";
        scores = numpy::concatenate({is_probability ? 1 - second : 0 - second, second}, 1);
        return {labels_of(call, numpy::astype(numpy::ravel(is_second), DType::int64)), scores};
    }
    return {labels_of(call, numpy::argmax(scores, -1)), post_transformed(call, scores)};
}

Values one_hot_encoder(Call& call) {
    Labels keys;
    for (const int64_t key : call.integers("cats_int64s")) {
        keys.texts.push_back(std::to_string(key));
        keys.integers.push_back(key);
        keys.numbers.push_back(static_cast<double>(key));
    }
    for (const std::string& key : call.texts("cats_strings")) keys.texts.push_back(key);
    const auto count = static_cast<int64_t>(keys.texts.size());
    const Tensor places = places_of_keys(call, keys);
    return {nn::one_hot(places, count, DType::float32)};
}

Values feature_vectorizer(Call& call) {
    std::vector<Tensor> parts;
    for (const Tensor& part : call.tensors())
        parts.push_back(as_float(part.rank() == 1 ? numpy::expand_dims(part, -1) : part));
    return {numpy::concatenate(parts, 1)};
}

// Maps from classes to scores, as the table that they are made of: a column for each class.
Values zip_map(Call& call) {
    const Tensor& x = call.tensor(0);
    const auto classes = static_cast<int64_t>(call.integers("classlabels_int64s").size() +
                                              call.texts("classlabels_strings").size());
    const Tensor rows = x.rank() == 1 ? numpy::expand_dims(x, 0) : x;
    call.check(rows.rank() == 2 && (rows.shape()[1] == classes || rows.shape()[1] == 1),
               "scores of shape ", x.shape(), " for ", classes,
               " classes. A column for each, or one for two classes, is required.");
    return {rows};
}

}  // namespace
}  // namespace ml_models

void add_ml_models(Registry& registry) {
    using namespace ml_models;
    constexpr std::string_view domain = "ai.onnx.ml";
    registry.add("ArrayFeatureExtractor", feature_extractor, domain);
    registry.add("Binarizer", binarizer, domain);
    registry.add("CategoryMapper", category_mapper, domain);
    registry.add("FeatureVectorizer", feature_vectorizer, domain);
    registry.add("Imputer", imputer, domain);
    registry.add("LabelEncoder", label_encoder, domain);
    registry.add("LinearClassifier", linear_classifier, domain);
    registry.add("LinearRegressor", linear_regressor, domain);
    registry.add("Normalizer", normalizer, domain);
    registry.add("OneHotEncoder", one_hot_encoder, domain);
    registry.add("Scaler", scaler, domain);
    registry.add("ZipMap", zip_map, domain);
}

}  // namespace composit::onnx
