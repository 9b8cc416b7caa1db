// What differs between two lists of named values, as text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace composit {

// A name and the text of its value; names may come several times.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// "- x: before" and "+ x: after" for each name, in alphabetical order, whose values differ; empty
// when none do.
std::string diff_of_entries(const NamedTexts& from, const NamedTexts& to);

}  // namespace composit
