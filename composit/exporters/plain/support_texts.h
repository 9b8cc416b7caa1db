// The texts of the functions that plain programs call.
#pragma once

#include <string>
#include <vector>

namespace composit::plain {

struct SupportText {
    std::string name, text;
    std::string text_of_cpp;  // where it is another one
};

// In an order in which each uses only those before it.
const std::vector<SupportText>& support_texts();

}  // namespace composit::plain
