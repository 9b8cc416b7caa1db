// Protobuf's wire format, read within bounds, and written.
#include "composit/onnx/wire.h"

#include "composit/base/error.h"

#include <cstring>

namespace composit::onnx {

void WireReader::fail(std::string_view what, std::string_view required) const {
    composit::fail(*where_, ": ", what, " at byte ", at_ - begin_, ". ", required, " is required.");
}

uint64_t WireReader::varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (at_ == end_) fail("a number is cut off", "A whole file");
        const auto byte = static_cast<unsigned char>(*at_++);
        if (shift == 63 && byte > 1) break;
        value |= uint64_t{byte & 0x7fu} << shift;
        if (!(byte & 0x80)) return value;
    }
    fail("a number has more than 64 bits", "A file in ONNX's format");
}

const char* WireReader::fixed(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) fail("a number is cut off", "A whole file");
    const char* value = at_;
    at_ += bytes;
    return value;
}

bool WireReader::next() {
    if (at_ == end_) return false;
    const uint64_t tag = varint();
    field_ = static_cast<uint32_t>(tag >> 3);
    kind_ = static_cast<Kind>(tag & 7);
    const bool is_known = kind_ == Kind::varint || kind_ == Kind::fixed64 ||
                          kind_ == Kind::length || kind_ == Kind::fixed32;
    if (!is_known || field_ == 0 || tag >> 32 != 0)
        fail("there is no field of protobuf's format", "A file in ONNX's format");
    return true;
}

void WireReader::expect(Kind kind) const {
    if (kind_ != kind)
        fail(composit::text("field ", field_, " has wire type ", static_cast<uint32_t>(kind_)),
             composit::text("Wire type ", static_cast<uint32_t>(kind)));
}

int64_t WireReader::integer() {
    expect(Kind::varint);
    return static_cast<int64_t>(varint());
}

float WireReader::number() {
    expect(Kind::fixed32);
    float value;
    std::memcpy(&value, fixed(sizeof value), sizeof value);
    return value;
}

std::string_view WireReader::bytes() {
    expect(Kind::length);
    const uint64_t length = varint();
    if (length > static_cast<uint64_t>(end_ - at_))
        fail(
            composit::text("a field of ", length, " bytes begins where ", end_ - at_, " are left,"),
            "A whole file");
    const std::string_view value(at_, static_cast<size_t>(length));
    at_ += length;
    return value;
}

WireReader WireReader::message() {
    WireReader inner = *this;
    const std::string_view content = bytes();
    if (depth_ == most_depth)
        fail(composit::text("messages are nested more than ", most_depth, " deep"), "Less nesting");
    inner.at_ = content.data();
    inner.end_ = content.data() + content.size();
    inner.depth_ = depth_ + 1;
    return inner;
}

void WireReader::skip() {
    switch (kind_) {
        case Kind::varint: varint(); return;
        case Kind::fixed64: fixed(8); return;
        case Kind::fixed32: fixed(4); return;
        case Kind::length: (void)bytes(); return;
    }
}

void WireReader::append(std::vector<int64_t>& values) {
    if (kind_ == Kind::varint) {
        values.push_back(integer());
        return;
    }
    WireReader packed = *this;
    const std::string_view content = bytes();
    packed.at_ = content.data();
    packed.end_ = content.data() + content.size();
    while (packed.at_ != packed.end_) values.push_back(static_cast<int64_t>(packed.varint()));
}

template <class T>
void WireReader::append_fixed(std::vector<T>& values, Kind kind) {
    if (kind_ == kind) {
        T value;
        std::memcpy(&value, fixed(sizeof value), sizeof value);
        values.push_back(value);
        return;
    }
    const std::string_view content = bytes();
    if (content.size() % sizeof(T) != 0)
        fail(composit::text(content.size(), " bytes are no numbers of ", sizeof(T), " bytes"),
             "A whole count of numbers");
    const size_t before = values.size(), count = content.size() / sizeof(T);
    values.resize(before + count);
    if (count) std::memcpy(values.data() + before, content.data(), content.size());
}

void WireReader::append(std::vector<float>& values) { append_fixed(values, Kind::fixed32); }
void WireReader::append(std::vector<double>& values) { append_fixed(values, Kind::fixed64); }

void WireWriter::varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) content_ += static_cast<char>(value | 0x80);
    content_ += static_cast<char>(value);
}

void WireWriter::integer(uint32_t field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
}

void WireWriter::number(uint32_t field, float value) {
    tag(field, 5);
    content_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::text(uint32_t field, std::string_view bytes) {
    tag(field, 2);
    varint(bytes.size());
    content_ += bytes;
}

void WireWriter::integers(uint32_t field, const std::vector<int64_t>& values) {
    WireWriter packed;
    for (const int64_t value : values) packed.varint(static_cast<uint64_t>(value));
    text(field, packed.content_);
}

void WireWriter::numbers(uint32_t field, const std::vector<float>& values) {
    text(field, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

}  // namespace composit::onnx
