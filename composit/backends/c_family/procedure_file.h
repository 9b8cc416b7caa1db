// Procedures as one header and one source that need nothing but the standard library.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::c_family {

// A function and its derivatives, in one floating dtype.
struct ProcedureFamily {
    ir::procedure::Procedure value;
    std::vector<ir::procedure::Procedure> derivatives;  // vjp, jvp: may be empty
};

struct ProcedureFile {
    std::string header, source;
};

// NAME.hpp and NAME.cpp, in the namespace NAME (NAME_1, where C++ or its library has that name):
// each procedure, and over arrays with a v before its name. Of families of double that have a vjp
// the file has a selfcheck.
ProcedureFile print_file(const std::string& name, const std::vector<ProcedureFamily>& families);

// One source for the loader: the same functions, and for each procedure in turn
//   int call_N(const Slot* in, Slot* out)                             for one element, and
//   int map_N(const void* const* in, void* const* out, int64_t n)     over arrays.
// Or, of those with arrays, and of all if `runs`:
//   int run_N(const Slot* in, Slot* out, void* const* arrays)
// They return 0; `was_stopped` where a loop stopped, as it was asked to by the function that the
// loader puts into `bool (*composit_is_asked_to_stop)()`, which is there where loops ask; and run_N
// something else where an assertion does not hold.
inline constexpr int was_stopped = INT32_MIN;
std::string print_loadable(const std::string& name, const std::vector<ProcedureFamily>& families,
                           bool runs = false);
// The functions that print_loadable defines for the loader.
std::vector<std::string> loadable_symbols(const std::vector<ProcedureFamily>& families, bool runs);

// The procedures' functions and the types of their results, after what they call; each has its own
// name. Needs <algorithm>, <cassert>, <cstdint> and <vector>; may be put into any namespace.
std::string print_functions(const std::vector<ir::procedure::Procedure>& procedures);

// Where the code asserts, what keeps compilers from naming what assertions alone read when NDEBUG
// leaves them out.
std::string assertions_pragma(const std::string& code);

// A value of any dtype, as call_N takes them.
union Slot {
    double as_float64;
    float as_float32;
    int64_t as_int64;
    bool as_boolean;
};

}  // namespace composit::c_family
