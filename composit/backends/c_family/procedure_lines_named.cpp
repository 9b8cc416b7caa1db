#include "composit/backends/c_family/procedure_lines_named.h"

#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/procedure_line_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace composit::c_family {
namespace {

using Lines = std::vector<PrintedLine>;

bool declares_constants(const PrintedLine& line) {
    return declared_type(line.text).starts_with("const ");
}

// The constants that the lines before a place declare and that its block sees, with their types.
std::map<std::string, std::string> constants_before(const Lines& lines, size_t place) {
    std::map<std::string, std::string> found;
    size_t indent = lines[place].indent;
    for (size_t i = place + 1; i-- > 0;) {
        if (lines[i].indent > indent) continue;
        indent = lines[i].indent;
        if (!declares_constants(lines[i])) continue;
        for (const std::string& name : names_declared(lines[i].text))
            found.emplace(name, declared_type(lines[i].text));
    }
    return found;
}

// The words of a value that is made of names, literals, + - * / and their roundings alone; nothing
// where it is not.
std::optional<std::vector<std::string>> words_of_part(std::string_view value) {
    std::vector<std::string> words;
    for (size_t i = 0; i < value.size();) {
        const bool is_in_word = ascii::is_of_word(value[i]);
        if (!is_in_word) {
            if (std::string_view(" +-*/()").find(value[i]) == std::string_view::npos) return {};
            ++i;
            continue;
        }
        size_t end = i;
        while (end < value.size() && (ascii::is_of_word(value[end]) || value[end] == '.')) ++end;
        const std::string_view word = value.substr(i, end - i);
        const bool is_call = end < value.size() && value[end] == '(';
        if (is_call && word != "rounded") return {};
        if (!is_call) words.emplace_back(word);
        i = end;
    }
    return words;
}

// "1.0", and "1.0f" of floats: no integer, which would be of another type.
bool is_literal_of(std::string_view word, std::string_view type) {
    const bool is_float = type == "const float ";
    return ascii::is_digit(word[0]) && word.find('.') != std::string_view::npos &&
           word.ends_with('f') == is_float;
}

// What stands in parentheses as a whole, or as one of several arguments: where it begins and ends.
using Part = std::pair<size_t, size_t>;
std::vector<Part> parts_in(std::string_view text) {
    std::vector<Part> places;
    std::vector<size_t> begins;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool separates = text[i] == ',' && !begins.empty();
        if ((text[i] == ')' || text[i] == ']' || text[i] == '}' || separates) && !begins.empty()) {
            const bool is_of_call = text[i] == ')' || text[i] == ',';
            if (is_of_call) places.emplace_back(begins.back(), i);
            begins.pop_back();
        }
        if (text[i] == '(' || text[i] == '[' || text[i] == '{')
            begins.push_back(i + 1);
        else if (separates)
            begins.push_back(i + 2);
    }
    return places;
}

// The text with a name for a part, how often it has it: parentheses that are no call's go with it.
size_t name_part(std::string& text, std::string_view part, const std::string& name) {
    size_t count = 0;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (auto [begin, end] : parts_in(text)) {
            if (std::string_view(text).substr(begin, end - begin) != part) continue;
            const bool is_group = text[begin - 1] == '(' && text[end] == ')' &&
                                  (begin < 2 || !ascii::is_of_word(text[begin - 2]));
            if (is_group) --begin, ++end;
            text.replace(begin, end - begin, name);
            is_changed = true;
            ++count;
            break;
        }
    }
    return count;
}

class PartNamer {
  public:
    PartNamer(Lines lines, TakenNames& taken) : lines_(std::move(lines)), taken_(taken) {}

    Lines run() {
        for (size_t i = 0; i + 1 < lines_.size(); ++i)
            while (declares_constants(lines_[i]) && name_one(i)) continue;
        return std::move(lines_);
    }

  private:
    // The line behind those that see what one declares.
    size_t end_of_scope(size_t declaration) const {
        size_t end = declaration + 1;
        while (end < lines_.size() && lines_[end].indent >= lines_[declaration].indent) ++end;
        return end;
    }

    // The parts that wide lines of the block have, of which the declaration gives a constant.
    std::set<std::string> parts_of(size_t declaration) const {
        const std::string type(declared_type(lines_[declaration].text));
        const auto known = constants_before(lines_, declaration);
        const auto own = names_declared(lines_[declaration].text);
        const auto is_own = [&](const std::string& word) {
            return std::find(own.begin(), own.end(), word) != own.end();
        };
        const auto fits = [&](const std::string& word) {
            const auto found = known.find(word);
            return is_literal_of(word, type) || (found != known.end() && found->second == type);
        };
        std::set<std::string> parts;
        if (type != "const double " && type != "const float ") return parts;
        for (size_t i = declaration + 1; i < end_of_scope(declaration); ++i) {
            if (lines_[i].indent != lines_[declaration].indent || count_of_lines(lines_[i]) < 2)
                continue;
            for (const auto& [begin, end] : parts_in(lines_[i].text)) {
                const std::string part = lines_[i].text.substr(begin, end - begin);
                const auto words = words_of_part(part);
                if (words && words->size() > 1 && std::all_of(words->begin(), words->end(), fits) &&
                    std::any_of(words->begin(), words->end(), is_own))
                    parts.insert(part);
            }
        }
        return parts;
    }

    // The lines with a name for a part, and how many fewer they are; nothing where they are not.
    struct Named {
        Lines lines;
        std::string name;
        size_t fewer = 0;
    };
    std::optional<Named> named(size_t declaration, const std::string& part) const {
        const PrintedLine& line = lines_[declaration];
        TakenNames trial = TakenNames::within(taken_);
        Named made{lines_, unique_name("t", trial), 0};
        const std::string declared = text(made.name, " = ", part, ";");
        PrintedLine joined = line;
        joined.text.back() = ',';
        joined.text += " " + declared;
        const PrintedLine apart{line.indent, text(declared_type(line.text), declared), 0};
        const bool stores = line.text.find("] = ") != std::string::npos;
        const bool joins = !stores && 4 * line.indent + joined.text.size() <= longest_line;
        size_t before = 0, behind = joins ? 0 : count_of_lines(apart), times = 0;
        for (size_t i = declaration + 1; i < end_of_scope(declaration); ++i) {
            const size_t here = name_part(made.lines[i].text, part, made.name);
            if (here == 0) continue;
            times += here;
            before += count_of_lines(lines_[i]);
            behind += count_of_lines(made.lines[i]);
        }
        if (times < 2 || behind >= before) return {};
        made.fewer = before - behind;
        if (joins)
            made.lines[declaration] = joined;
        else
            made.lines.insert(made.lines.begin() + static_cast<std::ptrdiff_t>(declaration) + 1,
                              apart);
        return made;
    }

    bool name_one(size_t declaration) {
        std::optional<Named> best;
        std::pair<size_t, size_t> most;  // lines fewer, then how long the part is
        for (const std::string& part : parts_of(declaration)) {
            auto made = named(declaration, part);
            const auto worth =
                made ? std::pair(made->fewer, part.size()) : std::pair(size_t{0}, size_t{0});
            if (worth <= most) continue;
            best = std::move(made);
            most = worth;
        }
        if (!best) return false;
        taken_.insert(best->name);
        lines_ = std::move(best->lines);
        return true;
    }

    Lines lines_;
    TakenNames& taken_;
};

}  // namespace

Lines with_low_numbers(Lines lines, const std::set<std::string>& names) {
    const auto is_numbered = [](std::string_view word) {
        return word == "t" || (word.starts_with("t_") && word.size() > 2 &&
                               std::all_of(word.begin() + 2, word.end(), ascii::is_digit));
    };
    std::vector<std::string> declared;
    std::set<std::string> others;
    for (const PrintedLine& line : lines)
        if (declares_constants(line))
            for (const std::string& name : names_declared(line.text))
                if (is_numbered(name) && (name != "t" || !names.contains(name)))
                    declared.push_back(name);
    const std::set<std::string> own(declared.begin(), declared.end());
    const auto for_words = [&](std::string& text, const auto& visit) {
        for (size_t i = 0; i < text.size();) {
            size_t end = i;
            while (end < text.size() && ascii::is_of_word(text[end])) ++end;
            const std::string word = text.substr(i, end - i);
            if (is_numbered(word)) {
                const std::string other = visit(word);
                text.replace(i, word.size(), other);
                end = i + other.size();
            }
            i = std::max(end, i + 1);
        }
    };
    for (PrintedLine& line : lines)
        for_words(line.text, [&](const std::string& word) {
            if (!own.contains(word)) others.insert(word);
            return word;
        });
    std::map<std::string, std::string> given;
    int number = 0;
    for (const std::string& name : declared) {
        if (given.contains(name)) continue;  // in scopes that do not meet
        std::string other;
        do {
            other = ++number == 1 ? "t" : text("t_", number);
        } while (others.contains(other));
        given.emplace(name, other);
    }
    for (PrintedLine& line : lines)
        for_words(line.text, [&](const std::string& word) {
            const auto found = given.find(word);
            return found == given.end() ? word : found->second;
        });
    return lines;
}

Lines with_parts_named(Lines lines, TakenNames& taken) {
    return PartNamer(std::move(lines), taken).run();
}

}  // namespace composit::c_family
