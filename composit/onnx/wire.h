// A reader and a writer of protobuf's wire format, which ONNX files are written in.
//
// A message is a row of fields, each a tag (field number and wire type) and a value. The reader
// walks bytes that somebody else owns, checks every length against the bytes that are left, and
// never allocates. Messages nest at most `most_depth` deep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::onnx {

// The walk over one message:
//
//   while (reader.next()) {
//       if (reader.field() == 1) name = reader.text();
//       else reader.skip();
//   }
//
// Errors are ValueErrors that begin with `where` and name the byte.
class WireReader {
  public:
    static constexpr int most_depth = 64;

    // `where`: of the file, "onnx.load: model.onnx". It must outlive the reader.
    WireReader(const std::string& where, std::string_view content)
        : where_(&where), begin_(content.data()), at_(begin_), end_(at_ + content.size()) {}

    // The next field, whose value is to be read or skipped then; false at the end of the message.
    bool next();
    [[nodiscard]] uint32_t field() const { return field_; }

    // ----- the value of the field
    [[nodiscard]] int64_t integer();         // a varint, as two's complement
    [[nodiscard]] float number();            // four bytes
    [[nodiscard]] std::string_view bytes();  // of the content
    [[nodiscard]] std::string text() { return std::string(bytes()); }
    [[nodiscard]] WireReader message();
    void skip();

    // Repeated numbers: one, or packed ones.
    void append(std::vector<int64_t>& values);
    void append(std::vector<float>& values);
    void append(std::vector<double>& values);

    // A ValueError at the current byte.
    [[noreturn]] void fail(std::string_view what, std::string_view required) const;

  private:
    enum class Kind : uint32_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

    uint64_t varint();
    const char* fixed(size_t bytes);
    void expect(Kind kind) const;
    template <class T>
    void append_fixed(std::vector<T>& values, Kind kind);

    const std::string* where_;
    const char *begin_, *at_, *end_;
    uint32_t field_ = 0;
    Kind kind_ = Kind::varint;
    int depth_ = 0;
};

// Writes one message, field after field, in the order of the calls:
//
//   WireWriter graph;
//   graph.text(2, "digits");
//   graph.message(1, node);  // another writer's fields
class WireWriter {
  public:
    void integer(uint32_t field, int64_t value);  // a varint
    void number(uint32_t field, float value);     // four bytes
    void text(uint32_t field, std::string_view bytes);
    void message(uint32_t field, const WireWriter& fields) { text(field, fields.content_); }
    // Repeated numbers, packed.
    void integers(uint32_t field, const std::vector<int64_t>& values);
    void numbers(uint32_t field, const std::vector<float>& values);

    [[nodiscard]] const std::string& content() const { return content_; }
    [[nodiscard]] std::string take() { return std::move(content_); }

  private:
    void varint(uint64_t value);
    void tag(uint32_t field, uint32_t kind) { varint(uint64_t{field} << 3 | kind); }

    std::string content_;
};

}  // namespace composit::onnx
