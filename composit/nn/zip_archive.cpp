// A reader of ZIP files whose entries are stored as they are.
#include "composit/base/error.h"
#include "composit/nn/torch_archive.h"

#include <algorithm>
#include <array>

namespace composit::nn {
namespace {

// Checksums of bytes, and of bytes that so many others follow.
struct ChecksumTable {
    std::array<std::array<uint32_t, 256>, 8> of{};
    ChecksumTable() {
        for (uint32_t byte = 0; byte < 256; ++byte) {
            uint32_t sum = byte;
            for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? 0xedb88320U : 0U);
            of[0][byte] = sum;
        }
        for (size_t after = 1; after < 8; ++after)
            for (size_t byte = 0; byte < 256; ++byte)
                of[after][byte] = (of[after - 1][byte] >> 8) ^ of[0][of[after - 1][byte] & 0xff];
    }
};

// CRC-32, as ZIP files have it.
uint32_t checksum_of(std::string_view bytes) {
    static const ChecksumTable table;
    uint32_t sum = 0xffffffffU;
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        uint32_t next = 0;
        for (size_t i = 0; i < 4; ++i)
            next ^= table.of[7 - i][(sum >> (8 * i) & 0xff) ^ byte(at + i)];
        for (size_t i = 4; i < 8; ++i) next ^= table.of[7 - i][byte(at + i)];
        sum = next;
    }
    for (; at < bytes.size(); ++at) sum = (sum >> 8) ^ table.of[0][(sum ^ byte(at)) & 0xff];
    return ~sum;
}

uint64_t number_at(std::string_view content, uint64_t at, size_t bytes) {
    if (at > content.size() || content.size() - at < bytes)
        throw BrokenPickle{"File is not a zip file"};
    uint64_t made = 0;
    for (size_t i = bytes; i-- > 0;) made = made << 8 | static_cast<unsigned char>(content[at + i]);
    return made;
}

constexpr std::string_view end_mark = "PK\5\6", large_end_mark = "PK\6\6", locator_mark = "PK\6\7",
                           entry_mark = "PK\1\2", header_mark = "PK\3\4";

}  // namespace

ZipArchive::ZipArchive(std::string_view content) : content_(content) {
    constexpr size_t bytes_of_end = 22, most_comment = 0xffff, bytes_of_locator = 20;
    const size_t first = content.size() > bytes_of_end + most_comment
                             ? content.size() - bytes_of_end - most_comment
                             : 0;
    const size_t end = content.rfind(end_mark);
    if (end == content.npos || end < first || content.size() - end < bytes_of_end)
        throw BrokenPickle{"File is not a zip file"};
    uint64_t count = number_at(content, end + 10, 2);
    uint64_t size = number_at(content, end + 12, 4), offset = number_at(content, end + 16, 4);
    uint64_t begin_of_end = end;
    if (end >= bytes_of_locator &&
        content.substr(end - bytes_of_locator, locator_mark.size()) == locator_mark) {
        const uint64_t large = number_at(content, end - bytes_of_locator + 8, 8);
        if (large < content.size() &&
            content.substr(large, large_end_mark.size()) == large_end_mark) {
            count = number_at(content, large + 32, 8);
            size = number_at(content, large + 40, 8);
            offset = number_at(content, large + 48, 8);
            begin_of_end = large;
        }
    }
    if (size > begin_of_end || offset > begin_of_end - size)
        throw BrokenPickle{"Bad magic number for central directory"};
    read_directory(begin_of_end - size, size, count);
}

void ZipArchive::read_directory(uint64_t begin, uint64_t size, uint64_t count) {
    constexpr uint64_t bytes_of_entry = 46, in_extra = 0xffffffffU;
    uint64_t at = begin;
    for (uint64_t i = 0; i < count && at < begin + size; ++i) {
        if (content_.substr(at, entry_mark.size()) != entry_mark)
            throw BrokenPickle{"Bad magic number for central directory"};
        Entry entry;
        entry.is_stored = number_at(content_, at + 10, 2) == 0;
        entry.checksum = static_cast<uint32_t>(number_at(content_, at + 16, 4));
        entry.stored_size = number_at(content_, at + 20, 4);
        entry.size = number_at(content_, at + 24, 4);
        const uint64_t name = number_at(content_, at + 28, 2);
        const uint64_t extra = number_at(content_, at + 30, 2);
        const uint64_t comment = number_at(content_, at + 32, 2);
        entry.offset = number_at(content_, at + 42, 4);
        const uint64_t begin_of_extra = at + bytes_of_entry + name;
        // Numbers of more than 32 bits stand behind the name.
        for (uint64_t part = begin_of_extra; part + 4 <= begin_of_extra + extra;) {
            const uint64_t kind = number_at(content_, part, 2);
            const uint64_t length = number_at(content_, part + 2, 2);
            uint64_t place = part + 4;
            if (kind == 1)
                for (uint64_t* const field : {&entry.size, &entry.stored_size, &entry.offset})
                    if (*field == in_extra) {
                        *field = number_at(content_, place, 8);
                        place += 8;
                    }
            part += 4 + length;
        }
        if (begin_of_extra > content_.size()) throw BrokenPickle{"File is not a zip file"};
        entries_.insert_or_assign(std::string(content_.substr(at + bytes_of_entry, name)), entry);
        at = begin_of_extra + extra + comment;
    }
}

std::vector<std::string> ZipArchive::names() const {
    std::vector<std::string> found;
    for (const auto& [name, entry] : entries_) found.push_back(name);
    return found;
}

std::string_view ZipArchive::read(const std::string& name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end())
        throw BrokenPickle{text("There is no item named '", name, "' in the archive")};
    const Entry& entry = found->second;
    const std::string rest = name.substr(name.find('/') == name.npos ? 0 : name.find('/') + 1);
    const auto refuse = [&](const char* what) {
        throw BrokenPickle{text("the entry '", rest, "' is ", what)};
    };
    if (!entry.is_stored || entry.size != entry.stored_size) refuse("compressed");
    if (entry.offset > content_.size() || entry.size > content_.size() - entry.offset)
        refuse("cut off");
    constexpr uint64_t bytes_of_header = 30;
    if (content_.substr(entry.offset, header_mark.size()) != header_mark)
        throw BrokenPickle{"Bad magic number for file header"};
    const uint64_t begin = entry.offset + bytes_of_header +
                           number_at(content_, entry.offset + 26, 2) +
                           number_at(content_, entry.offset + 28, 2);
    if (begin > content_.size() || entry.size > content_.size() - begin) refuse("cut off");
    const std::string_view bytes = content_.substr(begin, entry.size);
    if (checksum_of(bytes) != entry.checksum)
        throw BrokenPickle{text("Bad CRC-32 for file '", name, "'")};
    return bytes;
}

}  // namespace composit::nn
