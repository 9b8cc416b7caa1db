#include "composit/backends/c_family/code_alone.h"

#include <algorithm>

namespace composit::c_family {

std::string code_alone(std::string_view text) {
    std::string code;
    code.reserve(text.size());
    char quote = 0;  // of the literal that we are in
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != 0) {
            code += c;
            if (c == '\\' && i + 1 < text.size()) {
                code += text[++i];
            } else if (c == quote || c == '\n') {
                quote = 0;
            }
        } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
            while (!code.empty() && code.back() == ' ') code.pop_back();
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else {
            if (c == '"' || c == '\'') quote = c;
            code += c;
        }
    }
    return code;
}

}  // namespace composit::c_family
