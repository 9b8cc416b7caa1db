// Outlines of structures, written and read.
#include "composit/nn/checkpoints.h"

#include "composit/base/error.h"
#include "composit/base/json_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

namespace composit::nn {
namespace {

using Kind = JsonValue::Kind;

bool is_one(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// The number to the last bit, as Python's float.hex: "0x1.8000000000000p+0".
std::string hexadecimal_text(double number) {
    if (!std::isfinite(number)) return python_number_text(number, false);
    if (number == 0) return std::signbit(number) ? "-0x0.0p+0" : "0x0.0p+0";
    int exponent = 0;
    double fraction = std::frexp(std::fabs(number), &exponent);  // from 0.5 on, below 1
    const int least = std::numeric_limits<double>::min_exponent;
    exponent -= 1;
    fraction *= 2;
    if (exponent < least - 1) {  // a number below the normal ones
        fraction = std::ldexp(fraction, exponent - (least - 1));
        exponent = least - 1;
    }
    std::string made = text(number < 0 ? "-0x" : "0x", static_cast<int>(fraction), '.');
    double rest = fraction - std::floor(fraction);
    for (int i = 0; i < 13; ++i) {
        rest *= 16;
        const int digit = static_cast<int>(rest);
        made += "0123456789abcdef"[digit];
        rest -= digit;
    }
    return text(made, 'p', exponent < 0 ? "" : "+", exponent);
}

JsonValue labelled(const std::string& kind, JsonValue value) {
    JsonValue made = JsonValue::of_object({});
    made.members.emplace_back(kind, std::move(value));  // a list in braces would copy it
    return made;
}

class OutlineWriter {
  public:
    OutlineWriter(const OutlineFormat& format, NamedTensors& tensors)
        : format_(format), tensors_(tensors) {}

    JsonValue write(const Held& held, const std::string& place) {
        const std::string& kind = held.kind;
        if (is_one(format_.tensors, kind)) return tensor(held, place);
        if (is_one(format_.mappings, kind)) {
            std::vector<JsonValue> pairs;
            for (size_t i = 0; i + 1 < held.items.size(); i += 2) {
                const Held& key = held.items[i];
                std::vector<JsonValue> pair;
                pair.reserve(2);
                pair.push_back(format_.has_plain_values ? write(key, "") : plain(key));
                pair.push_back(write(held.items[i + 1], place_within(place, name_of(key))));
                pairs.push_back(JsonValue::of_list(std::move(pair)));
            }
            return labelled(kind, JsonValue::of_list(std::move(pairs)));
        }
        if (is_one(format_.sequences, kind)) {
            std::vector<JsonValue> items;
            for (size_t i = 0; i < held.items.size(); ++i)
                items.push_back(write(held.items[i], place_within(place, std::to_string(i))));
            return labelled(kind, JsonValue::of_list(std::move(items)));
        }
        if (is_one(format_.texts, kind)) return labelled(kind, JsonValue::of_text(held.text));
        if (kind == "complex") {
            std::vector<JsonValue> parts;
            for (const Held& part : held.items) parts.push_back(JsonValue::of_number(part.number));
            return labelled(kind, JsonValue::of_list(std::move(parts)));
        }
        if (format_.has_plain_values) return plain(held);
        if (kind == "float")
            return labelled(kind, JsonValue::of_text(hexadecimal_text(held.number)));
        return labelled("value", plain(held));
    }

  private:
    static std::string name_of(const Held& key) {
        return key.kind == "text" || key.kind == "integer" ? key.text : key.name;
    }

    static JsonValue plain(const Held& held) {
        if (held.kind == "truth") return JsonValue::of_truth(held.truth);
        if (held.kind == "integer") return JsonValue::of_integer(held.text);
        if (held.kind == "float") return JsonValue::of_number(held.number);
        if (held.kind == "text") return JsonValue::of_text(held.text);
        user_check<TypeError>(held.kind == "none", "checkpoint: a part of the structure is ",
                              held.kind, ". One of the format's kinds is required.");
        return {};
    }

    JsonValue tensor(const Held& held, const std::string& place) {
        std::string name = place;
        if (name.empty()) name = format_.says_gradients ? "tensor" : "value";
        if (format_.says_gradients)
            while (tensors_.count(name)) name += "'";
        user_check<ValueError>(!tensors_.count(name), format_.function, ": two tensors are named ",
                               shown_as_python(JsonValue::of_text(name)),
                               ", by keys with dots. Names of their own are required.");
        tensors_.emplace(name, held.tensor);
        JsonValue made = labelled(held.kind, JsonValue::of_text(name));
        if (format_.says_gradients)
            made.members.emplace_back("requires_grad", JsonValue::of_truth(held.truth));
        return made;
    }

    const OutlineFormat& format_;
    NamedTensors& tensors_;
};

std::string shown(const JsonValue& value) {
    constexpr size_t longest = 60, kept = 57;
    std::string words = shown_as_python(value);
    std::vector<size_t> begins;  // of characters
    for (size_t i = 0; i < words.size(); ++i)
        if ((static_cast<unsigned char>(words[i]) & 0xc0) != 0x80) begins.push_back(i);
    return begins.size() <= longest ? words : words.substr(0, begins[kept]) + "...";
}

class OutlineReader {
  public:
    OutlineReader(const OutlineFormat& format, const NamedTensors& tensors)
        : format_(format), tensors_(tensors) {}

    Held read(const JsonValue& value, const std::string& place) {
        if (format_.has_plain_values && !value.is(Kind::list) && !value.is(Kind::object))
            return plain(value);
        const auto& [kind, content] = only_kind(value, place);
        if (is_one(format_.tensors, kind)) return tensor(kind, content, value, place);
        if (is_one(format_.mappings, kind)) return mapping(kind, content, place);
        Held made;
        made.kind = kind;
        if (is_one(format_.sequences, kind)) {
            const std::vector<JsonValue>& items = items_of(content, place);
            for (size_t i = 0; i < items.size(); ++i)
                made.items.push_back(read(items[i], place_within(place, std::to_string(i))));
            return made;
        }
        if (is_one(format_.texts, kind)) {
            made.text = text_of(content, place);
            return made;
        }
        if (format_.has_plain_values && kind == "complex") {
            bool are_floats = true;
            for (const JsonValue& part : items_of(content, place)) {
                are_floats = are_floats && part.is(Kind::number) && !part.is_integer();
                made.items.push_back(Held::real(part.number()));
            }
            if (made.items.size() != 2 || !are_floats)
                refuse_outline(place, "is a complex number without its two parts");
            return made;
        }
        if (!format_.has_plain_values && kind == "float") return real(content, place);
        const bool is_plain = content.is(Kind::null) || content.is(Kind::truth) ||
                              content.is(Kind::text) || content.is_integer();
        if (!format_.has_plain_values && kind == "value" && is_plain) return plain(content);
        refuse_outline(place,
                       text("is of the unknown kind ", shown_as_python(JsonValue::of_text(kind))));
    }

    void check_all_used() const {
        for (const auto& [name, tensor] : tensors_)
            if (!used_.count(name))
                throw BrokenOutline{text("the tensor ", shown_as_python(JsonValue::of_text(name)),
                                         " stands nowhere in it")};
    }

  private:
    static Held plain(const JsonValue& value) {
        Held made;
        if (value.is(Kind::truth)) {
            made.kind = "truth";
            made.truth = value.truth;
        } else if (value.is(Kind::text)) {
            made = Held::of_text(value.text);
        } else if (value.is_integer()) {
            made.kind = "integer";
            made.text = value.text;
        } else if (value.is(Kind::number)) {
            made = Held::real(value.number());
        }
        return made;
    }

    // The only name of an object, beside what says gradients, and its value.
    const std::pair<std::string, JsonValue>& only_kind(const JsonValue& value,
                                                       const std::string& place) const {
        const std::pair<std::string, JsonValue>* found = nullptr;
        size_t count = 0;
        if (value.is(Kind::object))
            for (const auto& member : value.members) {
                if (format_.says_gradients && member.first == "requires_grad") continue;
                found = &member;
                ++count;
            }
        if (count != 1)
            refuse_outline(place, text("is ", shown(value), ", not an object of one kind"));
        return *found;
    }

    static const std::vector<JsonValue>& items_of(const JsonValue& content,
                                                  const std::string& place) {
        if (!content.is(Kind::list))
            refuse_outline(place, text("holds ", shown(content), " in place of a list"));
        return content.items;
    }

    static const std::string& text_of(const JsonValue& content, const std::string& place) {
        if (!content.is(Kind::text))
            refuse_outline(place, text("holds ", shown(content), " in place of a text"));
        return content.text;
    }

    Held tensor(const std::string& kind, const JsonValue& content, const JsonValue& whole,
                const std::string& place) {
        const auto found = content.is(Kind::text) ? tensors_.find(content.text) : tensors_.end();
        if (found == tensors_.end())
            refuse_outline(
                place, text("is the tensor ", shown(content), ", which the file does not have"));
        if (!used_.insert(content.text).second)
            refuse_outline(place, text("is the tensor ", shown(content),
                                       ", which stands in another place, too"));
        Held made = Held::of(found->second);
        made.kind = kind;
        if (kind == "scalar" && !made.tensor.shape().empty())
            refuse_outline(place, text("is a scalar of shape ", shown_shape(made.tensor.shape())));
        if (!format_.says_gradients) return made;
        const auto says = std::find_if(whole.members.begin(), whole.members.end(),
                                       [](const auto& m) { return m.first == "requires_grad"; });
        if (says == whole.members.end() || !says->second.is(Kind::truth))
            refuse_outline(place, "does not say whether it requires gradients");
        made.truth = says->second.truth;
        const ir::DType dtype = made.tensor.dtype();
        if (made.truth && !(kind == "parameter" ? ir::is_floating(dtype) : ir::is_inexact(dtype)))
            refuse_outline(place, text("is torch.", ir::name(dtype), " and requires gradients"));
        return made;
    }

    static std::string shown_shape(const ir::Shape& shape) {
        return text('(', join(shape), shape.size() == 1 ? ",)" : ")");
    }

    Held mapping(const std::string& kind, const JsonValue& content, const std::string& place) {
        Held made;
        made.kind = kind;
        std::set<std::pair<bool, std::string>> known;
        for (const JsonValue& pair : items_of(content, place)) {
            if (!pair.is(Kind::list) || pair.items.size() != 2)
                refuse_outline(place,
                               text("holds ", shown(pair), " in place of a key and a value"));
            const JsonValue& key = pair.items[0];
            const bool is_name = key.is(Kind::text) || key.is_integer();
            if (!format_.has_plain_values && !is_name)
                refuse_outline(place, text("has the key ", shown_as_python(key),
                                           ", which is no text and no integer"));
            Held held = format_.has_plain_values ? read(key, place) : plain(key);
            const std::string name = is_name ? held.text : shown_as_python(key);
            made.items.push_back(std::move(held));
            made.items.push_back(read(pair.items[1], place_within(place, name)));
            if (is_name && !known.insert({key.is(Kind::text), name}).second)
                refuse_outline(place, text("has the key ", shown(key), " twice"));
        }
        return made;
    }

    static Held real(const JsonValue& content, const std::string& place) {
        std::string_view words = text_of(content, place);
        const bool is_negative = words.starts_with('-');
        if (is_negative) words.remove_prefix(1);
        const bool is_hexadecimal = words.starts_with("0x");
        if (is_hexadecimal) words.remove_prefix(2);
        // Unlike strtod, from_chars reads a point whatever the program's locale is.
        double number = 0;
        const char* const end = words.data() + words.size();
        const auto read =
            std::from_chars(words.data(), end, number,
                            is_hexadecimal ? std::chars_format::hex : std::chars_format::general);
        const bool is_whole = read.ec == std::errc() && read.ptr == end;
        if (!is_whole || words.starts_with('-') || is_hexadecimal != std::isfinite(number))
            refuse_outline(place,
                           text("is the float ", shown_as_python(content), ", which is none"));
        return Held::real(is_negative ? -number : number);
    }

    const OutlineFormat& format_;
    const NamedTensors& tensors_;
    std::set<std::string> used_;
};

}  // namespace

Held Held::of(Tensor tensor) {
    Held made;
    made.kind = "tensor";
    made.tensor = std::move(tensor);
    return made;
}

Held Held::integer(int64_t value) {
    Held made;
    made.kind = "integer";
    made.text = std::to_string(value);
    return made;
}

Held Held::real(double value) {
    Held made;
    made.kind = "float";
    made.number = value;
    return made;
}

Held Held::of_text(std::string text) {
    Held made;
    made.kind = "text";
    made.text = std::move(text);
    return made;
}

Held Held::list(std::vector<Held> items) {
    Held made;
    made.kind = "list";
    made.items = std::move(items);
    return made;
}

Held Held::dictionary(std::vector<std::pair<std::string, Held>> members) {
    Held made;
    made.kind = "dict";
    for (auto& [key, value] : members) {
        made.items.push_back(of_text(key));
        made.items.push_back(std::move(value));
    }
    return made;
}

const Held& Held::at(std::string_view key) const {
    for (size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].kind == "text" && items[i].text == key) return items[i + 1];
    throw KeyError(composit::text("checkpoint: there is no key '", key, "' in the ", kind, "."));
}

const OutlineFormat& checkpoint_format() {
    static const OutlineFormat format{"composit.checkpoint",
                                      "save_checkpoint",
                                      {"dict"},
                                      {"list", "tuple"},
                                      {"tensor", "array", "scalar"},
                                      {},
                                      false,
                                      false};
    return format;
}

const OutlineFormat& torch_format() {
    static const OutlineFormat format{"composit.torch",
                                      "save",
                                      {"dict", "OrderedDict", "Counter"},
                                      {"list", "tuple", "Size"},
                                      {"tensor", "parameter"},
                                      {"dtype", "device"},
                                      true,
                                      true};
    return format;
}

std::string place_within(std::string_view place, std::string_view key) {
    return place.empty() ? std::string(key) : text(place, '.', key);
}

void refuse_outline(std::string_view place, const std::string& what) {
    throw BrokenOutline{text(place.empty() ? "the whole" : place, ' ', what)};
}

void refuse_broken_outline(std::string_view where, std::string_view required,
                           const BrokenOutline& broken) {
    throw ValueError(
        text(where, ": its outline is broken: ", broken.why, ". ", required, " is required."));
}

std::string outline_text(const OutlineFormat& format, const Held& structure,
                         NamedTensors& tensors) {
    return json_text(OutlineWriter(format, tensors).write(structure, ""));
}

Held read_outline(const OutlineFormat& format, std::string_view where, std::string_view required,
                  std::string_view text, const NamedTensors& tensors) {
    try {
        JsonValue outline;
        try {
            outline = parse_json(text);
        } catch (const ValueError& error) {
            const std::string why = error.what();
            throw BrokenOutline{why.starts_with("it is nested") ? why : "it is no JSON: " + why};
        }
        OutlineReader reader(format, tensors);
        Held found = reader.read(outline, "");
        reader.check_all_used();
        return found;
    } catch (const BrokenOutline& broken) {
        refuse_broken_outline(where, required, broken);
    }
}

void save_checkpoint(const std::filesystem::path& path, const Held& structure) {
    NamedTensors tensors;
    const std::string outline = outline_text(checkpoint_format(), structure, tensors);
    save_safetensors(path, tensors, {{checkpoint_format().key, outline}});
}

Held load_checkpoint(const std::filesystem::path& path) {
    const LoadedTensors loaded = load_safetensors(path, false, "load_checkpoint");
    const std::string where = text("load_checkpoint: ", path.string());
    const auto outline = loaded.metadata.find(checkpoint_format().key);
    user_check(outline != loaded.metadata.end(), where,
               ": it was not written by save_checkpoint. A checkpoint is required; "
               "load_safetensors reads any safetensors file.");
    return read_outline(checkpoint_format(), where, "A file that save_checkpoint wrote",
                        outline->second, loaded.tensors);
}

}  // namespace composit::nn
