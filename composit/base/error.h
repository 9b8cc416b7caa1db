// Errors: one class for each of Python's exception classes that NumPy would raise, and two checks.
//
// A message reads `function: what is wrong, with the values. What is required.`
// `user_check` is for what a user can get wrong; `internal_check` is for what only we can.
#pragma once

#include "composit/base/text.h"

#include <stdexcept>
#include <string>

namespace composit {

class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class ValueError : public Error {
    using Error::Error;
};
// In NumPy's words to the last character, of which programs read the end: Python gives the user's
// line as a note, which tracebacks show.
class VerbatimValueError : public ValueError {
    using ValueError::ValueError;
};
// A ValueError of PyTorch's own, where its operations turn other ValueErrors into RuntimeErrors.
class PyTorchValueError : public ValueError {
    using ValueError::ValueError;
};
class TypeError : public Error {
    using Error::Error;
};
class IndexError : public Error {
    using Error::Error;
};
class KeyError : public Error {
    using Error::Error;
};
// numpy.exceptions.AxisError
class AxisError : public ValueError {
    using ValueError::ValueError;
};
class OverflowError : public Error {
    using Error::Error;
};
class ZeroDivisionError : public Error {
    using Error::Error;
};
// NotImplementedError
class NotSupported : public Error {
    using Error::Error;
};
// MemoryError
class OutOfMemory : public Error {
    using Error::Error;
};
// OSError
class InputOutputError : public Error {
    using Error::Error;
};
// FileNotFoundError
class FileNotFound : public InputOutputError {
    using InputOutputError::InputOutputError;
};
class RuntimeError : public Error {
    using Error::Error;
};
class LinAlgError : public ValueError {
    using ValueError::ValueError;
};
// our fault, says so
class InternalError : public Error {
    using Error::Error;
};

template <class E = ValueError, class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    throw E(text(parts...));
}

// user_check<TypeError>(condition, parts of the message...): the text is built only on failure.
template <class E = ValueError, class... Parts>
void user_check(bool condition, const Parts&... parts) {
    if (!condition) [[unlikely]]
        fail<E>(parts...);
}

template <class... Parts>
void internal_check(bool condition, const Parts&... parts) {
    if (!condition) [[unlikely]]
        fail<InternalError>("composit internal error: ", parts...,
                            ". This is a bug in composit, not in your program; please report it.");
}

}  // namespace composit
