// A reader of the JSON that safetensors headers are, as strict as the format, and its writer.
#include "composit/nn/safetensors_header.h"

#include "composit/base/error.h"
#include "composit/base/json_text.h"
#include "composit/base/utf8.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace composit::nn {
namespace {

using ir::DType;

// In the order of the library's own list, by which files are sorted.
constexpr std::array<std::string_view, 23> names_of_format{
    "BOOL",    "F4",          "F6_E2M3",     "F6_E3M2", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",     "U16", "F16", "BF16",    "I32",
    "U32",     "F32",         "C64",         "F64",     "I64", "U64", "C128",
};

// The parts of JSON that headers have: objects of texts, lists of integers. No depth to recurse
// into.
class Reader {
  public:
    Reader(std::string_view where, std::string_view text) : where_(where), text_(text) {
        if (const auto at = broken_utf8(text))
            fail_at(*at, "the header is no UTF-8", "Text in UTF-8");
    }

    [[noreturn]] void fail_at(size_t at, std::string_view what, std::string_view required) const {
        fail(where_, what, " at byte ", at, " of the header. ", required, " is required.");
    }

    bool accept(char c) {
        skip_space();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (accept(c)) return;
        const std::string required = text("'", c, "'");
        if (at_ == text_.size()) fail_at(at_, "the header ends", required);
        fail_at(at_, text("there is ", shown(text_[at_])), required);
    }
    // Calls `read` for each key of an object.
    template <class Read>
    void object(const Read& read) {
        expect('{');
        if (accept('}')) return;
        do {
            skip_space();
            const size_t at = at_;
            std::string key = string();
            expect(':');
            read(std::move(key), at);
        } while (accept(','));
        expect('}');
    }
    std::vector<uint64_t> integers() {
        std::vector<uint64_t> values;
        expect('[');
        if (accept(']')) return values;
        do values.push_back(integer());
        while (accept(','));
        expect(']');
        return values;
    }
    std::string string() {
        expect('"');
        std::string value;
        for (;;) {
            if (at_ == text_.size()) fail_at(at_, "the header ends", "The end of a text");
            const char c = text_[at_++];
            if (c == '"') return value;
            if (static_cast<unsigned char>(c) < 0x20)
                fail_at(at_ - 1, "a text holds a control character", "An escape such as \\n");
            if (c == '\\')
                escape(value);
            else
                value.push_back(c);
        }
    }
    void end() {
        skip_space();
        if (at_ != text_.size()) fail_at(at_, "there is more", "Nothing but spaces");
    }

  private:
    static std::string shown(char c) {
        return c >= 0x20 && c < 0x7f ? text("'", c, "'")
                                     : text("byte ", int{static_cast<unsigned char>(c)});
    }
    void skip_space() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\t' || text_[at_] == '\r'))
            ++at_;
    }
    uint64_t integer() {
        skip_space();
        const size_t begin = at_;
        uint64_t value = 0;
        constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            const auto digit = static_cast<uint64_t>(text_[at_] - '0');
            if (value > (largest - digit) / 10)
                fail_at(begin, "there is a number of more than 63 bits", "A number below 2^63");
            value = value * 10 + digit;
        }
        const bool is_number = at_ > begin && (text_[begin] != '0' || at_ == begin + 1);
        const bool goes_on =
            at_ < text_.size() && (text_[at_] == '.' || (text_[at_] | 0x20) == 'e');
        if (!is_number || goes_on) fail_at(begin, "there is no number", "An integer from 0");
        return value;
    }
    void escape(std::string& value) {
        const size_t begin = at_ - 1;
        const char c = at_ < text_.size() ? text_[at_++] : '\0';
        constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        if (const size_t which = letters.find(c); c != '\0' && which != std::string_view::npos) {
            value.push_back(meant[which]);
            return;
        }
        if (c != 'u') fail_at(begin, "there is no such escape", "One of JSON");
        uint32_t code = four_digits(begin);
        if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            const uint32_t low = four_digits(begin);
            if (low < 0xdc00 || low >= 0xe000)
                fail_at(begin, "half a character is escaped", "Both halves");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else if (code >= 0xd800 && code < 0xe000) {
            fail_at(begin, "half a character is escaped", "Both halves");
        }
        append_character(value, code);
    }
    uint32_t four_digits(size_t begin) {
        uint32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const char c = at_ < text_.size() ? text_[at_++] : '\0';
            const char lower = static_cast<char>(c | 0x20);
            if (c >= '0' && c <= '9')
                code = code * 16 + static_cast<uint32_t>(c - '0');
            else if (lower >= 'a' && lower <= 'f')
                code = code * 16 + static_cast<uint32_t>(lower - 'a' + 10);
            else
                fail_at(begin, "there is an escape of fewer digits", "\\u with four digits");
        }
        return code;
    }

    std::string_view where_, text_;
    size_t at_ = 0;
};

DType dtype_named(std::string_view where, const std::string& tensor, const std::string& name) {
    for (const ir::DTypeTraits& row : ir::all_traits())
        if (row.safetensors == name) return row.dtype;
    const bool is_of_others =
        std::find(names_of_format.begin(), names_of_format.end(), name) != names_of_format.end();
    user_check<NotSupported>(!is_of_others, where, "tensor '", tensor, "' is ", name,
                             ", which composit does not have. Convert it before saving.");
    fail(where, "tensor '", tensor, "' has the dtype '", name,
         "'. One of the format's is required, such as F32.");
}

// Bytes of a shape; nothing if they are too many to count, or its strides are.
std::optional<uint64_t> bytes_of(const std::vector<uint64_t>& shape, DType dtype) {
    bool is_empty = false;
    auto bytes = static_cast<uint64_t>(ir::size_of(dtype));
    for (const uint64_t length : shape) {
        if (length == 0) {
            is_empty = true;
            continue;
        }
        if (bytes > std::numeric_limits<int64_t>::max() / length) return std::nullopt;
        bytes *= length;
    }
    return is_empty ? 0 : bytes;
}

StoredTensor read_tensor(std::string_view where, Reader& reader, std::string name) {
    std::optional<std::string> dtype;
    std::optional<std::vector<uint64_t>> shape, offsets;
    reader.object([&](const std::string& key, size_t at) {
        const bool is_again = (key == "dtype" && dtype) || (key == "shape" && shape) ||
                              (key == "data_offsets" && offsets);
        if (is_again) reader.fail_at(at, text("'", key, "' comes twice"), "Each key once");
        if (key == "dtype")
            dtype = reader.string();
        else if (key == "shape")
            shape = reader.integers();
        else if (key == "data_offsets")
            offsets = reader.integers();
        else
            reader.fail_at(at, text("there is the key '", key, "'"),
                           "dtype, shape or data_offsets");
    });
    user_check(dtype && shape && offsets && offsets->size() == 2, where, "tensor '", name,
               "' lacks its dtype, its shape or one of its two offsets. All of them are required.");
    constexpr size_t most_axes = 64;  // NumPy's
    user_check(shape->size() <= most_axes, where, "tensor '", name, "' has ", shape->size(),
               " axes. At most ", most_axes, " are required.");
    const DType found = dtype_named(where, name, *dtype);
    StoredTensor tensor{std::move(name), found, {}, (*offsets)[0], (*offsets)[1]};
    const std::optional<uint64_t> bytes = bytes_of(*shape, tensor.dtype);
    user_check(bytes.has_value(), where, "tensor '", tensor.name, "' has shape ", *shape,
               ", whose bytes are more than 2^63. A shape that fits its bytes is required.");
    user_check(tensor.begin <= tensor.end && tensor.end - tensor.begin == *bytes, where, "tensor '",
               tensor.name, "' of shape ", *shape, " and dtype ", tensor.dtype, " has bytes ",
               tensor.begin, " to ", tensor.end, ". ", *bytes, " bytes are required.");
    tensor.shape.assign(shape->begin(), shape->end());
    return tensor;
}

// Sorts the tensors, too.
void check_places(std::string_view where, std::vector<StoredTensor>& tensors, uint64_t bytes) {
    std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    uint64_t end = 0;
    for (const StoredTensor& tensor : tensors) {
        user_check(tensor.end <= bytes, where, "tensor '", tensor.name, "' has bytes ",
                   tensor.begin, " to ", tensor.end, " of ", bytes,
                   ". The file is truncated, or its header is wrong; save it again.");
        user_check(tensor.begin >= end, where, "tensor '", tensor.name, "' begins at byte ",
                   tensor.begin, ", where another one has not ended: it does at ", end,
                   ". Tensors one behind the other are required.");
        user_check(tensor.begin == end, where, "bytes ", end, " to ", tensor.begin,
                   " belong to no tensor. Tensors one behind the other are required.");
        end = tensor.end;
    }
    user_check(end == bytes, where, "bytes ", end, " to ", bytes,
               " belong to no tensor. A file that ends with its last tensor is required.");
}

void put_string(std::string& out, std::string_view where, const std::string& value) {
    user_check(!broken_utf8(value), where, "the name '", value,
               "' is no UTF-8, which is required.");
    out += json_string(value);
}

std::string_view format_name(std::string_view where, const StoredTensor& tensor) {
    const std::string_view name = ir::traits(tensor.dtype).safetensors;
    if (!name.empty()) return name;
    fail<NotSupported>(where, "tensor '", tensor.name, "' is ", tensor.dtype,
                       ", which the format does not have. Save its real and its imaginary part, or "
                       "complex64.");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view where, std::string_view text,
                                           uint64_t bytes) {
    SafetensorsHeader header;
    Reader reader(where, text);
    std::set<std::string> names;
    if (text.empty() || text[0] != '{') reader.fail_at(0, "there is no object", "'{'");
    reader.object([&](std::string name, size_t at) {
        if (!names.insert(name).second)
            reader.fail_at(at, composit::text("'", name, "' comes twice"), "Each name once");
        if (name != "__metadata__") {
            header.tensors.push_back(read_tensor(where, reader, std::move(name)));
            return;
        }
        reader.object([&](std::string key, size_t key_at) {
            if (header.metadata.contains(key))
                reader.fail_at(key_at, composit::text("'", key, "' comes twice"), "Each key once");
            header.metadata.emplace(std::move(key), reader.string());
        });
    });
    reader.end();
    check_places(where, header.tensors, bytes);
    return header;
}

std::string safetensors_header_text(std::string_view where, const SafetensorsHeader& header) {
    std::string out = "{";
    const auto separate = [&] {
        if (out.back() != '{') out.push_back(',');
    };
    if (!header.metadata.empty()) {
        out += "\"__metadata__\":{";
        for (const auto& [key, value] : header.metadata) {
            separate();
            put_string(out, where, key);
            out.push_back(':');
            put_string(out, where, value);
        }
        out.push_back('}');
    }
    for (const StoredTensor& tensor : header.tensors) {
        user_check(tensor.name != "__metadata__", where,
                   "a tensor is named '__metadata__'. Another name is required.");
        separate();
        put_string(out, where, tensor.name);
        out += text(":{\"dtype\":\"", format_name(where, tensor), "\",\"shape\":[",
                    join(tensor.shape, ","), "],\"data_offsets\":[", tensor.begin, ",", tensor.end,
                    "]}");
    }
    out.push_back('}');
    out.resize((out.size() + 7) / 8 * 8, ' ');
    return out;
}

int safetensors_rank(DType dtype) {
    const std::string_view name = ir::traits(dtype).safetensors;
    const auto found = std::find(names_of_format.begin(), names_of_format.end(), name);
    return found == names_of_format.end() ? -1 : static_cast<int>(found - names_of_format.begin());
}

}  // namespace composit::nn
