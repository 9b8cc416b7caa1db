// Schemas as text, and what differs between two of them.
#include "composit/mosaic/schema.h"

#include "composit/base/entry_diff.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/base/utf8.h"
#include "composit/base/whole_file.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace composit::mosaic {

Schema& Schema::put(Entry entry) {
    for (Entry& old : entries_)
        if (entry.tensor ? old.tensor == entry.tensor : !old.tensor && old.name == entry.name) {
            old = std::move(entry);
            return *this;
        }
    entries_.push_back(std::move(entry));
    return *this;
}

Schema& Schema::tile(const Tensor& tensor, TileView view) {
    user_check(ir::is_input(tensor.node()) || ir::is_constant(tensor.node()),
               "mosaic: a schema gives tiles to '", tensor.name(), "', which is the result of ",
               ir::label(tensor.node()), ". A placeholder or a constant is required.");
    return put({tensor, tensor.name(), std::move(view)});
}
Schema& Schema::tile(const std::string& name, TileView view) {
    return put({{}, name, std::move(view)});
}
Schema& Schema::tile(const Tensor& tensor, ir::Shape tile) {
    return this->tile(tensor, TileView{{"tile", std::move(tile), {}}});
}

std::string Schema::print() const {
    std::string result;
    for (const Entry& entry : entries_)
        result += entry.name + ": " + transforms::text_of(entry.view) + "\n";
    return result;
}

namespace {

// Reads "name: level (2, 3) order (1, 0), level …" from the left.
class Reader {
  public:
    Reader(const std::string& where, const std::string& line, size_t number)
        : where_(where), line_(line), number_(number) {}

    std::string name() {
        // A tensor's name may hold anything; what follows the last ": " is levels.
        const size_t colon = line_.rfind(": ");
        if (colon == std::string::npos || colon == 0) refuse("a name and ': '");
        at_ = colon + 2;
        return line_.substr(0, colon);
    }

    TileView view() {
        TileView view;
        if (line_.compare(at_, std::string::npos, "whole") == 0) return view;
        do {
            TileLevel level;
            level.name = word();
            level.tile = numbers<int64_t>();
            if (take(" order ")) level.order = numbers<int>();
            view.push_back(std::move(level));
        } while (take(", "));
        if (at_ != line_.size()) refuse("', ' or the end of the line");
        return view;
    }

  private:
    bool take(const std::string& text) {
        if (line_.compare(at_, text.size(), text) != 0) return false;
        at_ += text.size();
        return true;
    }
    std::string word() {
        const size_t end = line_.find(" (", at_);
        if (end == std::string::npos || end == at_) refuse("a level's name and ' ('");
        std::string found = line_.substr(at_, end - at_);
        at_ = end + 1;
        return found;
    }
    template <class Number>
    std::vector<Number> numbers() {
        std::vector<Number> found;
        if (!take("(")) refuse("'('");
        while (!take(")")) {
            Number number = 0;
            const char* begin = line_.data() + at_;
            const auto [end, error] = std::from_chars(begin, line_.data() + line_.size(), number);
            if (error != std::errc()) refuse("a number or ')'");
            at_ += static_cast<size_t>(end - begin);
            found.push_back(number);
            if (!take(", ")) take(",");
        }
        return found;
    }
    [[noreturn]] void refuse(const char* required) const {
        fail<ValueError>(where_, "line ", number_, ", column ", at_ + 1, ": '", line_, "'. ",
                         required, " is required there.");
    }

    const std::string &where_, &line_;
    size_t number_, at_ = 0;
};

}  // namespace

Schema Schema::parse(const std::string& text, const std::string& where) {
    if (const auto at = broken_utf8(text))
        fail<ValueError>(where, "byte ", *at, " begins no character of UTF-8. Text is required.");
    Schema schema;
    std::map<std::string, size_t> places;  // among the entries, which may be many
    std::istringstream lines(text);
    std::string line;
    for (size_t number = 1; std::getline(lines, line); ++number) {
        if (line.empty()) continue;
        Reader reader(where, line, number);
        std::string name = reader.name();
        TileView view = reader.view();
        const auto [place, is_new] = places.emplace(name, schema.entries_.size());
        if (is_new)
            schema.entries_.push_back({{}, std::move(name), std::move(view)});
        else
            schema.entries_[place->second].view = std::move(view);
    }
    return schema;
}

void Schema::save(const std::filesystem::path& path) const {
    write_whole_file("Schema.save", path, print());
}

Schema Schema::load(const std::filesystem::path& path) {
    constexpr size_t most_bytes = size_t{1} << 26;
    const std::string where = composit::text("Schema.load: ", path.string(), ": ");
    return parse(read_whole_file(where, path, most_bytes), where);
}

std::string Schema::diff(const Schema& from, const Schema& to) {
    const auto texts_of = [](const Schema& schema) {
        NamedTexts texts;
        for (const Entry& entry : schema.entries_)
            texts.emplace_back(entry.name, transforms::text_of(entry.view));
        return texts;
    };
    return diff_of_entries(texts_of(from), texts_of(to));
}

}  // namespace composit::mosaic
