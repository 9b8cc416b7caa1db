#include "composit/backends/c_family/procedure_trips.h"

#include "composit/backends/c_family/procedure_line_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"

#include <optional>
#include <string>
#include <string_view>

namespace composit::c_family {
namespace {

using Lines = std::vector<PrintedLine>;

std::string_view word_at(std::string_view text, size_t begin) {
    size_t end = begin;
    while (end < text.size() && ascii::is_of_word(text[end])) ++end;
    return text.substr(begin, end - begin);
}

// "for (int64_t trip = trips - 1; trip >= 0; --trip) {": trip and trips.
struct Head {
    std::string counter, count;
};
std::optional<Head> head_of(const std::string& line) {
    const std::string_view begin = "for (int64_t ";
    if (!line.starts_with(begin)) return {};
    Head made{std::string(word_at(line, begin.size())), ""};
    const std::string is = begin.data() + made.counter + " = ";
    if (!line.starts_with(is)) return {};
    made.count = word_at(line, is.size());
    const std::string whole =
        text(is, made.count, " - 1; ", made.counter, " >= 0; --", made.counter, ") {");
    return line == whole ? std::optional(made) : std::nullopt;
}

// The line that closes what one opens.
size_t end_of(const Lines& lines, size_t begin) {
    size_t i = begin + 1;
    while (i < lines.size() && lines[i].indent > lines[begin].indent) ++i;
    return i;
}

bool jumps(std::string_view text) {
    return has_word(text, "break") || has_word(text, "continue") || has_word(text, "return");
}

// The lines that say a word.
std::vector<size_t> places_of(const Lines& lines, const std::string& word) {
    std::vector<size_t> found;
    for (size_t i = 0; i < lines.size(); ++i)
        if (has_word(lines[i].text, word)) found.push_back(i);
    return found;
}

// The log that each iteration of the loop takes from, once, and nobody else.
std::string log_taken_in(const Lines& lines, size_t begin, size_t end) {
    constexpr std::string_view take = "take_last(";
    for (size_t i = begin + 1; i < end && !jumps(lines[i].text); ++i) {
        const std::string& line = lines[i].text;
        const size_t call = line.find(take);
        if (lines[i].indent != lines[begin].indent + 1 || call == std::string::npos ||
            line.find('?') != std::string::npos || !line.ends_with(';'))
            continue;
        return std::string(word_at(line, call + take.size()));
    }
    return "";
}

// Whether nothing between two lines leaves the block of the first.
bool are_in_one_block(const Lines& lines, size_t first, size_t second) {
    for (size_t i = first; i <= second; ++i)
        if (lines[i].indent < lines[first].indent) return false;
    return first < second && lines[second].indent == lines[first].indent;
}

// The places of a declaration, and of the one line that says so before the loop.
struct Uses {
    size_t declared = 0, in_loop = 0;
};
std::optional<Uses> uses_of(const Lines& lines, const std::string& word, size_t loop) {
    const std::vector<size_t> all = places_of(lines, word);
    if (all.size() != 3 || !are_in_one_block(lines, all[0], loop) || all[1] > loop) return {};
    return Uses{all[0], all[1]};
}

bool leave_out_count(Lines& lines, size_t loop) {
    const auto head = head_of(lines[loop].text);
    const size_t end = head ? end_of(lines, loop) : 0;
    if (!head || end == lines.size()) return false;
    for (size_t i = loop + 1; i < end; ++i)
        if (has_word(lines[i].text, head->counter)) return false;
    const std::string log = log_taken_in(lines, loop, end);
    const auto counted = uses_of(lines, head->count, loop);
    const auto logged = log.empty() ? std::nullopt : uses_of(lines, log, loop);
    if (!counted || !logged ||
        lines[counted->declared].text != "int64_t " + head->count + " = 0;" ||
        lines[counted->in_loop].text != head->count + " += 1;" ||
        !are_in_one_block(lines, counted->in_loop, logged->in_loop))
        return false;
    const std::string& push = lines[logged->in_loop].text;
    const bool is_push = push.starts_with(log + ".push_back(") && push.ends_with(");");
    if (!is_push) return false;
    for (size_t i = counted->in_loop; i < logged->in_loop; ++i)
        if (jumps(lines[i].text)) return false;
    lines[loop].text = "while (!" + log + ".empty()) {";
    for (const size_t gone : {counted->in_loop, counted->declared})
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(gone));
    return true;
}

}  // namespace

Lines without_counted_logs(Lines lines) {
    for (size_t i = 0; i < lines.size(); ++i) leave_out_count(lines, i);
    return lines;
}

}  // namespace composit::c_family
