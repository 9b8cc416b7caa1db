// Keys of programs: dtypes and shapes of all inputs, bytes of those that decide.
#include "composit/onnx/decisions.h"

#include "composit/base/text.h"

namespace composit::onnx {
namespace {

// Texts of any characters, of which none is another one's beginning.
void put_apart(std::string& key, const std::string& part) {
    key += text(part.size(), ":", part, ";");
}

void put_type(std::string& key, const Value& value) {
    if (value.is_sequence()) {
        key += text("[", value.parts().size());
        for (const Value& part : value.parts()) put_type(key, part);
    } else if (value.is_strings()) {
        key += text("strings", value.shape());
        for (const std::string& element : value.strings().elements) put_apart(key, element);
    } else if (value.is_tensor()) {
        key += text(value.tensor().dtype(), value.shape());
    } else {
        key += "-";
    }
}

void put_content(std::string& key, const Value& value) {
    if (value.is_sequence()) {
        for (const Value& part : value.parts()) put_content(key, part);
    } else if (value.is_tensor()) {
        const Array held = execute::values_now({value.tensor()})[0];
        put_apart(key, std::string(static_cast<const char*>(held.data()),
                                   static_cast<size_t>(held.bytes())));
    }
}

std::string key_of_call(const std::string& types, const std::set<size_t>& deciding,
                        const Values& inputs) {
    std::string key = types;
    for (const size_t place : deciding) {
        key += text("#", place);
        put_content(key, inputs[place]);
    }
    return key;
}

}  // namespace

Decisions::Found Decisions::of(const LoadedModel& model, const Values& inputs) {
    std::string types;
    for (const Value& value : inputs) put_type(types, value);
    const auto add = [&](std::set<size_t>& deciding) {
        for (const size_t place : model.deciding_inputs(inputs)) deciding.insert(place);
    };
    const bool is_new = !deciding_.contains(types);
    std::set<size_t> deciding = is_new ? std::set<size_t>() : deciding_[types];
    if (is_new) add(deciding);
    Found found;
    found.key = key_of_call(types, deciding, inputs);
    if (!known_.contains(found.key)) {
        add(deciding);
        found.key = key_of_call(types, deciding, inputs);
    }
    deciding_[types] = deciding;
    known_.insert(found.key);
    for (size_t place = 0; place < inputs.size(); ++place)
        if (!deciding.contains(place)) found.free.push_back(place);
    return found;
}

}  // namespace composit::onnx
