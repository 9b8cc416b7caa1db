// The user's source line: the nearest Python frame outside the package, as "train.py:41".
#pragma once

#include "composit/ir/node.h"
#include "error_handling.h"

#include <Python.h>
#include <string>
#include <string_view>

namespace composit::python {

// Null when no Python code of the user is running. Costs well under a microsecond: lines are cached
// by code object and instruction.
ir::Interned user_location();

// Whether user_location(), when it was last asked on this thread, found that the user called the
// NumPy door, and no other one that calls it for him.
bool is_called_by_user();

// From now on user_location() on this thread is `line`, unless that is null: for nodes of calls
// that were recorded there and are made late. Returns what it was before.
ir::Interned set_replayed_line(ir::Interned line);

// The part of a model, such as "encoder.layer.0", that nodes made on this thread belong to from now
// on: it stands in front of their lines. Empty: none.
void set_current_part(std::string part);

// A RuntimeWarning at the user's line, by Python's filters; one that they make an error is thrown
// as nanobind::python_error. Needs the interpreter's lock.
void warn_user(const std::string& text);

// While it lives, nodes made on this thread carry the user's line and errstate. A call guard of
// bound functions.
struct Located {
    ir::LocationScope scope{user_location(), current_error_handling()};
};

// Where a location's text stands for; no path where it is not known. Two files of one base name
// share their texts: it is the one that was met first.
struct Place {
    std::string path;
    int line = 0;
};
Place place_of(ir::Interned location);

// "message [train.py:41]", once: a message that ends with a line already is left as it is.
std::string with_location(std::string_view message);

// The frame of the package's function that the user called: a new reference, or null where the user
// called the core itself.
PyObject* public_frame();

// Code below `folder` is the package's own, except below its folder `examples`.
void add_internal_folder(std::string folder);

}  // namespace composit::python
