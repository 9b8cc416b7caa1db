// Arguments that the core does not take: messages with the function that the user called, the name
// and value of the argument, and what is required.
#pragma once

#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "instances.h"

#include <nanobind/nanobind.h>

#include <exception>
#include <string>

namespace composit::python {

// What every call of Python's holds: the caller's floating-point state stays outside, and what must
// not be missing where memory ends is there: what this thread needs to throw (C++ asks for it at a
// thread's first throw, and the process dies where there is none), and nanobind's room for results.
// std::bad_alloc where it is not.
class Entered {
  public:
    Entered() {
        thread_local const int thrown = std::uncaught_exceptions();
        static_cast<void>(thrown);
        make_room_for_instances();
    }

  private:
    DefaultFloatingPoint floating_point_;
};

// "sum: axis is 1.5. An integer is required.", from composit._mismatch.
std::string mismatch(nanobind::handle value, const char* required);

template <class E = TypeError>
[[noreturn]] void refuse_argument(nanobind::handle value, const char* required) {
    throw E(mismatch(value, required));
}

// "multiply: …" as "layer_norm: …" where layer_norm is the function that the user called. A message
// with a line comes from elsewhere and is left as it is.
std::string in_the_words_of_the_call(const std::string& message);

// In a handler of exceptions: sets what is being handled as Python's error, as nanobind does for
// the functions that it calls.
void set_python_error() noexcept;

// Functions of the module and of all that is in it raise TypeErrors like these, in place of
// nanobind's list of signatures, when their arguments do not fit. Call it when all is bound.
void wrap_calls(nanobind::module_& module);

}  // namespace composit::python
