// Errors thrown again in the name of another function.
#include "composit/base/errors_as.h"

#include "composit/base/assertion_error.h"
#include "composit/base/printable.h"
#include "composit/base/utf8.h"

#include <typeinfo>

namespace composit {
namespace {

bool is_name(std::string_view text) {
    constexpr std::string_view letters =
        "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

// Thrown only as exactly the class that it is: its bases have nothing to do with it.
template <class E>
void throw_if(const Error& error, const std::string& message) {
    if (typeid(error) == typeid(E)) throw E(message);
}

template <class... Errors>
void throw_one_of(const Error& error, const std::string& message) {
    (throw_if<Errors>(error, message), ...);
}

}  // namespace

void rethrow_as(std::string_view function, const Error& error) {
    const std::string_view said = error.what();
    const size_t colon = said.find(": ");
    const bool has_name = colon != std::string_view::npos && is_name(said.substr(0, colon));
    std::string message = text(function, ": ", has_name ? said.substr(colon + 2) : said);
    // Parts of files may be bytes that are none.
    if (broken_utf8(message)) message = printable(message);
    throw_one_of<ValueError, TypeError, IndexError, KeyError, AxisError, OverflowError,
                 ZeroDivisionError, AssertionError, NotSupported, OutOfMemory, InputOutputError,
                 FileNotFound, RuntimeError, LinAlgError>(error, message);
    throw;  // InternalError, or a class that is not composit's
}

}  // namespace composit
