// Tables of texts that exported headers have beside their functions, as the names of classes.
//
//   const char* const classes[3] = {"red", "white", "rosé"};
#pragma once

#include <string>
#include <vector>

namespace composit::c_family {

struct TextTable {
    std::string name;
    std::vector<std::string> texts;
};

// ValueError for a table without texts, or with a name that is no identifier of C, is given twice,
// or is one of `taken`.
void check_text_tables(const std::vector<TextTable>& tables, const std::vector<std::string>& taken);

// "const char* const NAME[3]"
std::string declarator(const TextTable& table, const std::string& name);
// "{"red", "white"}", in lines of at most 100 columns.
std::string initializer(const TextTable& table);

}  // namespace composit::c_family
