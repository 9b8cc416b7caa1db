// Arrays of values as initialisers.
#pragma once

#include "composit/exporters/plain/language.h"
#include "composit/ir/array.h"

#include <string>

namespace composit::plain {

// "static const float weights[4][16] = {\n    {0.5f, …},\n};\n", in lines of at most 100 columns.
std::string constant_text(Language language, const std::string& name, const ir::Array& value);

}  // namespace composit::plain
