// Writes graphs, one line per node.
#include "composit/ir/print.h"

#include "composit/base/ascii.h"
#include "composit/base/default_floating_point.h"
#include "composit/base/sha256.h"
#include "composit/base/text.h"
#include "composit/ir/listing.h"
#include "composit/ir/operation.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace composit::ir {
namespace {

bool is_word(std::string_view text) {
    if (text.empty() || ascii::is_digit(text[0])) return false;
    return std::all_of(text.begin(), text.end(), ascii::is_of_word);
}

std::string word_or_quoted(std::string_view text) {
    return is_word(text) ? std::string(text) : quoted(text);
}

template <class T>
T read(const void* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
}

std::string hex_text(const void* element, int bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, element, static_cast<size_t>(bytes));
    std::string digits;
    for (int shift = 8 * bytes - 4; shift >= 0; shift -= 4)
        digits += "0123456789abcdef"[(bits >> shift) & 15];
    return "bits(0x" + digits + ")";
}

std::string float_text(DType dtype, const void* element) {
    scalar::Bits bits{};
    std::memcpy(bits.data(), element, static_cast<size_t>(size_of(dtype)));
    const double value = scalar::value_of(dtype, bits);
    if (std::isnan(value)) {
        const auto usual = scalar::bits_of(dtype, std::numeric_limits<double>::quiet_NaN());
        return bits == usual ? "nan" : hex_text(element, size_of(dtype));
    }
    return dtype == DType::float64 ? number_text(value) : number_text(static_cast<float>(value));
}

std::string array_name(const Array& array) {
    const std::string type = text(array.dtype(), tuple_text(array.shape()));
    Sha256 sha;
    sha.update(type.data(), type.size());
    sha.update(array.data(), static_cast<size_t>(array.bytes()));
    return sha.hex();
}

std::string array_text(const Array& array) {
    std::string out = text(TensorType{array.shape(), array.dtype(), false});
    if (array.size() > most_inline_elements) return out + " data(\"" + array_name(array) + "\")";
    out += '{';
    const char* element = array.data_as<char>();
    for (int64_t i = 0; i < array.size(); ++i, element += size_of(array.dtype()))
        out += (i ? ", " : "") + element_text(array.dtype(), element);
    return out + '}';
}

using BodyNumbers = std::unordered_map<const Body*, size_t>;

struct AttributeText {
    const BodyNumbers& bodies;

    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return float_text(DType::float64, &v); }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(DType v) const { return std::string(name(v)); }
    std::string operator()(const std::vector<int64_t>& v) const { return "[" + join(v) + "]"; }
    std::string operator()(const ConstantArray& v) const { return array_text(v.value()); }
    std::string operator()(const scalar::RowRef& v) const { return "row(" + quoted(v->name) + ")"; }
    std::string operator()(const BodyRef& v) const {
        return "body(" + std::to_string(bodies.at(v.get())) + ")";
    }
};

class Printer {
  public:
    Printer(const std::vector<Tensor>& outputs, size_t first, size_t last)
        : sections_(sections_of(outputs)), first_(first), last_(last) {}

    std::string print() {
        out_ = "composit graph " + std::to_string(text_version) + "\n";
        for (const Section& section : sections_) write(section);
        flush_skipped();
        return std::move(out_);
    }

  private:
    void write(const Section& section) {
        for (const Node* node : section.nodes) number_.emplace(node, number_.size());
        const size_t begin = number_.size() - section.nodes.size(), end = number_.size();
        const bool is_shown =
            is_whole() || (begin < last_ && first_ < end) || (!section.body && last_ >= end);
        if (section.body) body_number_.emplace(section.body.get(), body_number_.size());
        if (is_shown && section.body) {
            flush_skipped();
            out_ += "body " + std::to_string(body_number_.size() - 1) + " " +
                    quoted(section.body->name) + tensors(section.body->parameters) + " {\n";
        }
        const char* indent = section.body ? "  " : "";
        for (size_t i = 0; i < section.nodes.size(); ++i) {
            if (begin + i < first_ || begin + i >= last_) {
                ++skipped_;
                continue;
            }
            flush_skipped();
            out_ += indent;
            write(*section.nodes[i], begin + i);
        }
        if (!is_shown || (!is_whole() && last_ < end)) return;
        flush_skipped();
        out_ += indent;
        out_ += "return";
        for (size_t i = 0; i < section.results.size(); ++i)
            out_ += (i ? ", " : " ") + reference(section.results[i]);
        out_ += section.body ? "\n}\n" : "\n";
    }

    void write(const Node& node, size_t number) {
        out_ += '%' + std::to_string(number) + " = " + word_or_quoted(node.operation().name);
        if (!node.operands().empty()) out_ += tensors(node.operands());
        if (!node.attributes().empty()) {
            out_ += '{';
            bool first = true;
            for (const auto& [key, value] : node.attributes().items()) {
                out_ += (first ? "" : ", ") + word_or_quoted(key) + '=';
                out_ += std::visit(AttributeText{body_number_}, value);
                first = false;
            }
            out_ += '}';
        }
        out_ += " : ";
        for (size_t i = 0; i < node.types().size(); ++i)
            out_ += (i ? ", " : "") + text(node.types()[i]);
        if (!node.name().empty()) out_ += ' ' + quoted(node.name());
        if (!node.location().empty()) out_ += " at " + quoted(node.location());
        out_ += '\n';
    }

    std::string reference(const Tensor& tensor) const {
        std::string out = '%' + std::to_string(number_.at(&tensor.node()));
        if (tensor.node().output_count() > 1) out += '.' + std::to_string(tensor.output_index());
        return out;
    }

    std::string tensors(const std::vector<Tensor>& list) const {
        std::string out = "(";
        for (size_t i = 0; i < list.size(); ++i) out += (i ? ", " : "") + reference(list[i]);
        return out + ')';
    }

    bool is_whole() const { return first_ == 0 && last_ == SIZE_MAX; }

    void flush_skipped() {
        if (skipped_ > 0) out_ += "# " + std::to_string(skipped_) + " nodes not shown\n";
        skipped_ = 0;
    }

    std::vector<Section> sections_;
    size_t first_, last_, skipped_ = 0;
    std::unordered_map<const Node*, size_t> number_;
    BodyNumbers body_number_;
    std::string out_;
};

}  // namespace

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 32 || byte == 127) {
            out += "\\x";
            out += "0123456789abcdef"[byte >> 4];
            out += "0123456789abcdef"[byte & 15];
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string element_text(DType dtype, const void* element) {
    switch (dtype) {
        case DType::boolean: return read<uint8_t>(element) ? "true" : "false";
        case DType::int8: return std::to_string(read<int8_t>(element));
        case DType::int16: return std::to_string(read<int16_t>(element));
        case DType::int32: return std::to_string(read<int32_t>(element));
        case DType::int64: return std::to_string(read<int64_t>(element));
        case DType::uint8: return std::to_string(read<uint8_t>(element));
        case DType::uint16: return std::to_string(read<uint16_t>(element));
        case DType::uint32: return std::to_string(read<uint32_t>(element));
        case DType::uint64: return std::to_string(read<uint64_t>(element));
        default: break;
    }
    if (!is_complex(dtype)) return float_text(dtype, element);
    const DType part = real_part_of(dtype);
    return "(" + float_text(part, element) + ", " +
           float_text(part, static_cast<const char*>(element) + size_of(part)) + ")";
}

std::string print(const std::vector<Tensor>& outputs) { return print(outputs, 0, SIZE_MAX); }

std::string print(const std::vector<Tensor>& outputs, size_t first, size_t last) {
    const DefaultFloatingPoint floating_point;
    return Printer(outputs, first, last).print();
}

std::map<std::string, Array> large_constants(const std::vector<Tensor>& outputs) {
    std::map<std::string, Array> found;
    for (const Section& section : sections_of(outputs))
        for (const Node* node : section.nodes)
            for (const auto& [key, value] : node->attributes().items())
                if (const auto* array = std::get_if<ConstantArray>(&value))
                    if (array->size() > most_inline_elements) {
                        const Array elements = array->value();
                        found.emplace(array_name(elements), elements);
                    }
    return found;
}

}  // namespace composit::ir
