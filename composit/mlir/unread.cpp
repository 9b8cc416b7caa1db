// Lines from the last to the first: who is read is known before who computes it.
#include "composit/mlir/unread.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace composit::mlir {
namespace {

// The names that a line reads join `read`; beginning behind `from`.
void add_names(const std::string& line, size_t from, std::set<std::string>& read) {
    for (size_t at = line.find('%', from); at != std::string::npos; at = line.find('%', at + 1)) {
        size_t end = at + 1;
        while (end < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                std::string_view("_.-$").find(line[end]) != std::string_view::npos))
            ++end;
        read.insert(line.substr(at, end - at));
    }
}

}  // namespace

std::vector<std::string> without_unread(const std::vector<std::string>& lines,
                                        std::set<std::string>& read) {
    std::vector<std::string> kept;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        const size_t start = line->find_first_not_of(' '), equals = line->find(" = ");
        const bool is_operation = (*line)[start] == '%' && equals != std::string::npos &&
                                  line->find("stablehlo.while") == std::string::npos &&
                                  !line->ends_with("({");
        if (is_operation) {
            const size_t end = std::min(line->find(':', start), equals);
            if (!read.contains(line->substr(start, end - start))) continue;
        }
        add_names(*line, is_operation ? equals : 0, read);
        kept.push_back(*line);
    }
    return {kept.rbegin(), kept.rend()};
}

}  // namespace composit::mlir
