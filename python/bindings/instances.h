// nanobind's tables of the objects that Python holds. It adds to them in functions that may not
// throw, so that the process dies where memory ends while a table grows.
#pragma once

namespace composit::python {

// The tables have room for the objects that a call makes, up to some hundreds: they grow here or
// not at all. std::bad_alloc where there is no memory for that.
void make_room_for_instances();

}  // namespace composit::python
