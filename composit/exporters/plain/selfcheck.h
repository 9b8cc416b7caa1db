// NAME_selfcheck: a recorded call, and whether this machine gives the same bits.
#pragma once

#include "composit/exporters/plain/program_text.h"

#include <string>

namespace composit::plain {

// "" where no function has a recorded call.
std::string selfcheck_text(const ProgramText& program);
// "int digits_selfcheck(void)"
std::string selfcheck_declaration(const ProgramText& program);

}  // namespace composit::plain
