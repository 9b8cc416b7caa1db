// The C++ object inside a Python object of a bound class.
#pragma once

#include "composit/base/error.h"

#include <nanobind/nanobind.h>

#include <string>

namespace composit::python {

// What an object of class T contains. TypeError: T.__new__(T) allocated it and nothing more, so
// that there is nothing in it to read.
template <class T>
T& content_of(nanobind::handle object) {
    if (!nanobind::inst_ready(object)) [[unlikely]] {
        const std::string name = nanobind::type_name(nanobind::type<T>()).c_str();
        const std::string plain = name.substr(name.rfind('.') + 1);
        fail<TypeError>("this ", plain, " was not made by composit. An object that a function of ",
                        "composit returned is required, not ", plain, ".__new__'s.");
    }
    return *nanobind::inst_ptr<T>(object);
}

}  // namespace composit::python
