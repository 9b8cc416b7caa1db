// Capitals begin words, but for those within a row of capitals.
#include "composit/base/snake_case.h"

namespace composit {

std::string snake_case(std::string_view name) {
    const auto is_capital = [&](size_t i) { return name[i] >= 'A' && name[i] <= 'Z'; };
    std::string words;
    for (size_t i = 0; i < name.size(); ++i) {
        const bool ends_row = i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
        if (is_capital(i) && i > 0 && (!is_capital(i - 1) || ends_row)) words += '_';
        words += static_cast<char>(is_capital(i) ? name[i] - 'A' + 'a' : name[i]);
    }
    return words;
}

}  // namespace composit
