// A level of what users nest: lists in lists, and lists that hold themselves.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

// Stands while a function that calls itself works on a level. RecursionError where there are more
// levels than Python's functions may call one another.
class Level {
  public:
    // `where` ends the error's message: " in a structure".
    explicit Level(const char* where) {
        if (Py_EnterRecursiveCall(where) != 0) throw nanobind::python_error();
    }
    ~Level() { Py_LeaveRecursiveCall(); }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
};

}  // namespace composit::python
