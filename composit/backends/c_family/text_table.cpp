// Tables of texts as arrays of C's strings.
#include "composit/backends/c_family/text_table.h"

#include "composit/backends/c_family/kernel_names.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <set>

namespace composit::c_family {

void check_text_tables(const std::vector<TextTable>& tables,
                       const std::vector<std::string>& taken) {
    std::set<std::string> names(taken.begin(), taken.end());
    for (const TextTable& table : tables) {
        user_check(!table.name.empty() && identifier(table.name) == table.name,
                   "export: a table of texts has the name ", string_literal(table.name),
                   ". An identifier of C is required.");
        user_check(names.insert(table.name).second, "export: a table of texts has the name ",
                   string_literal(table.name),
                   ", as a function, or another table. A name of its own is required.");
        user_check(!table.texts.empty(), "export: the table of texts ", string_literal(table.name),
                   " is empty. At least one text is required.");
    }
}

std::string declarator(const TextTable& table, const std::string& name) {
    return text("const char* const ", name, "[", table.texts.size(), "]");
}

std::string initializer(const TextTable& table) {
    constexpr size_t most_columns = 90;
    std::string result = "{", line = "\n    ";
    for (size_t i = 0; i < table.texts.size(); ++i) {
        const std::string literal = string_literal(table.texts[i]);
        if (line.size() > 5 && line.size() + literal.size() > most_columns) {
            result += line;
            line = "\n    ";
        }
        line += literal + (i + 1 < table.texts.size() ? ", " : "");
    }
    return result + line + "\n}";
}

}  // namespace composit::c_family
