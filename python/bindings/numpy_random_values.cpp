// Python's values as numpy.random takes them: seeds, bounds, populations, and what is put in order
// in place.
#include "arguments.h"
#include "arrays.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/random.h"
#include "content.h"
#include "location.h"
#include "numpy.h"
#include "outputs.h"
#include "shown.h"

#include <cstring>
#include <span>

namespace composit::python {
namespace {

using SeedWords = std::vector<uint32_t>;

bool is_numpys(nb::handle value) { return nb::isinstance(value, numpy_attribute("ndarray")); }
bool is_integer(nb::handle value) {
    return PyLong_Check(value.ptr()) || nb::isinstance(value, numpy_attribute("integer"));
}
nb::object as_array(nb::handle value) { return numpy_attribute("asarray")(value); }
int64_t rank_of(nb::handle array) { return nb::cast<int64_t>(array.attr("ndim")); }
bool has_flag(nb::handle array, const char* name) {
    return nb::cast<bool>(array.attr("flags").attr(name));
}
// int(value)
nb::object whole(nb::handle value) {
    nb::object number = nb::steal(PyNumber_Long(value.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    return number;
}
// operator.index(value); not valid where it is no integer.
nb::object index_of(nb::handle value) {
    nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (number.is_valid()) return number;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    return number;
}

// ----- seeds

// The bytes of an integer that is not negative, the lowest first, as so many or more words.
template <class Word>
std::vector<Word> words_of_integer(nb::handle number, size_t least) {
    const auto bits = nb::cast<size_t>(number.attr("bit_length")());
    const size_t count = std::max(least, (bits + 8 * sizeof(Word) - 1) / (8 * sizeof(Word)));
    const nb::object bytes = number.attr("to_bytes")(count * sizeof(Word), "little");
    const std::span raw(reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(bytes.ptr())),
                        count * sizeof(Word));
    std::vector<Word> words(count);
    for (size_t i = 0; i < raw.size(); ++i)
        words[i / sizeof(Word)] |= static_cast<Word>(raw[i]) << (8 * (i % sizeof(Word)));
    return words;
}

bool is_negative(nb::handle number) { return number < nb::int_(0); }

// SeedWords of 32 bits, lowest first, of an integer or of each of a sequence of them.
void add_words(nb::object value, SeedWords& words) {
    if (nb::isinstance<nb::str>(value)) {
        const std::string text = nb::cast<std::string>(value);
        const bool is_hexadecimal = text.starts_with("0x");
        user_check(is_hexadecimal || (!text.empty() && text[0] >= '0' && text[0] <= '9'),
                   "SeedSequence: unrecognized seed string");
        value = nb::steal(PyLong_FromString(text.c_str(), nullptr, is_hexadecimal ? 16 : 10));
        if (!value.is_valid()) throw nb::python_error();
    }
    if (is_integer(value)) {
        const nb::object number = whole(value);
        user_check(!is_negative(number), "SeedSequence: expected non-negative integer");
        const SeedWords more = words_of_integer<uint32_t>(number, 1);
        words.insert(words.end(), more.begin(), more.end());
        return;
    }
    user_check<TypeError>(
        !PyFloat_Check(value.ptr()) && !nb::isinstance(value, numpy_attribute("inexact")),
        "SeedSequence: seed must be integer");
    for (nb::handle item : value) add_words(nb::borrow(item), words);
}

SeedWords words_of(nb::object value) {
    SeedWords words;
    add_words(std::move(value), words);
    return words;
}

// Philox's counter and key: an integer as words of 64 bits, or these words.
std::vector<uint64_t> blocks_of(nb::handle value, const std::string& name, size_t bits) {
    const nb::object array = as_array(value);
    const size_t count = bits / 64;
    if (rank_of(array) == 0) {
        const nb::object number = whole(value);
        user_check(!is_negative(number) && nb::cast<size_t>(number.attr("bit_length")()) <= bits,
                   "Philox: ", name, " must be positive and less than 2**", bits, ".");
        return words_of_integer<uint64_t>(number, count);
    }
    const nb::object words = array.attr("astype")(numpy_attribute("uint64"));
    user_check(integers_from(words.attr("shape")) == ir::Shape{static_cast<int64_t>(count)},
               "Philox: ", name, " must have ", count, " elements when using array form");
    return nb::cast<std::vector<uint64_t>>(words.attr("tolist")());
}

// RandomState's seeds: an integer below 2^32, or an array of them.
void seed_legacy(numpy::random::MT19937& twister, nb::handle seed) {
    constexpr int64_t most = (int64_t{1} << 32) - 1;
    const nb::object value = is_numpys(seed) ? seed.attr("squeeze")() : nb::borrow(seed);
    if (const nb::object number = index_of(value); number.is_valid()) {
        int overflow = 0;
        const int64_t word = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
        user_check(!overflow && word >= 0 && word <= most,
                   "seed: Seed must be between 0 and 2**32 - 1, not ", Said{number}, ".");
        twister.seed(static_cast<uint32_t>(word));
        return;
    }
    nb::object array = as_array(seed);
    user_check(nb::cast<int64_t>(array.attr("size")) > 0, "seed: Seed must be non-empty");
    array = array.attr("astype")(numpy_attribute("int64"), nb::arg("casting") = "safe");
    user_check(rank_of(array) == 1, "seed: Seed array must be 1-d");
    SeedWords words;
    for (nb::handle item : array.attr("tolist")()) {
        const auto word = nb::cast<int64_t>(item);
        user_check(word >= 0 && word <= most, "seed: Seed must be between 0 and 2**32 - 1");
        words.push_back(static_cast<uint32_t>(word));
    }
    twister.seed(words);
}

// What set_state is given, as the dictionary of a bit generator.
nb::dict state_of_legacy(nb::handle state) {
    nb::dict given;
    if (nb::isinstance<nb::dict>(state)) {
        given.update(nb::borrow<nb::dict>(state));
        user_check(given.contains("bit_generator") && given.contains("state"),
                   "set_state: state dictionary is not valid.");
        return given;
    }
    user_check<TypeError>(PyTuple_Check(state.ptr()) || PyList_Check(state.ptr()),
                          "set_state: state must be a dict or a tuple.");
    user_check(nb::object(state[0]).equal(nb::str("MT19937")),
               "set_state can only be used with legacy MT19937 state instances.");
    nb::dict words;
    words["key"] = state[1];
    words["pos"] = state[2];
    given["bit_generator"] = "MT19937";
    given["state"] = words;
    if (nb::len(state) > 3) {
        given["has_gauss"] = state[3];
        given["gauss"] = state[4];
    }
    return given;
}

// ----- integers

nb::object integer_kind(const std::string& function, nb::handle dtype) {
    if (dtype.is(nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type))))
        return dtype_object(ir::DType::int64);
    const nb::object kind = numpy_attribute("dtype")(dtype);
    user_check(nb::cast<bool>(kind.attr("isnative")), function,
               ": Providing a dtype with a non-native byteorder is not supported.");
    const auto letter = nb::cast<std::string>(kind.attr("kind"));
    user_check<TypeError>(letter == "b" || letter == "i" || letter == "u", "Unsupported dtype ",
                          Shown{kind}, " for ", function);
    return kind;
}

// Bounds as the core takes them, and whether the high one is included.
struct Bounds {
    nb::object low, high;
    bool is_closed;
};

// An array of integers wider than 64 bits as one of the dtype, which holds them.
nb::object narrowed(const std::string& function, const char* name, nb::handle values,
                    nb::handle dtype, bool is_last, nb::handle lowest, nb::handle highest) {
    nb::list numbers;
    for (nb::handle item : values.attr("flat")) {
        const nb::object number = whole(item) - nb::int_(is_last ? 1 : 0);
        user_check(!(number < lowest) && !(highest < number), function, ": ", name,
                   " is out of bounds for ", Said{dtype});
        numbers.append(number);
    }
    return numpy_attribute("array")(numbers, nb::arg("dtype") = dtype)
        .attr("reshape")(values.attr("shape"));
}

Bounds bounds_of(const std::string& function, nb::object low, nb::object high, nb::handle dtype,
                 bool is_closed) {
    const auto is_exact = [](nb::handle x) { return PyLong_CheckExact(x.ptr()); };
    if (is_exact(low) && is_exact(high)) return {low, high, is_closed};
    for (nb::object* each : {&low, &high})
        if (!is_tensor(*each)) *each = as_array(*each);
    const auto is_number = [](nb::handle x) { return is_numpys(x) && rank_of(x) == 0; };
    if (is_number(low) && is_number(high)) return {whole(low), whole(high), is_closed};
    const auto has_objects = [](nb::handle x) {
        return nb::cast<std::string>(x.attr("dtype").attr("kind")) == "O";
    };
    if (!has_objects(low) && !has_objects(high)) return {low, high, is_closed};
    nb::object lowest = nb::int_(0), highest = nb::int_(1);
    if (!dtype.equal(dtype_object(ir::DType::boolean))) {
        const nb::object limits = numpy_attribute("iinfo")(dtype);
        lowest = limits.attr("min");
        highest = limits.attr("max");
    }
    for (nb::object* each : {&low, &high})
        if (is_tensor(*each)) *each = each->attr("evaluated")();
    return {narrowed(function, "low", low, dtype, false, lowest, highest),
            narrowed(function, "high", high, dtype, !is_closed, lowest, highest), true};
}

nb::object drawn_integers(const std::string& function, nb::object draw, nb::object low,
                          nb::object high, nb::object size, nb::handle dtype, bool is_closed,
                          bool is_legacy) {
    if (high.is_none()) high = std::exchange(low, nb::int_(0));
    const nb::object kind = integer_kind(function, dtype);
    const Bounds bounds = bounds_of(function, std::move(low), std::move(high), kind, is_closed);
    return draw(function, bounds.low, bounds.high, size, kind, bounds.is_closed, is_legacy);
}

// ----- elements chosen or put in order

// As a tensor, if its dtype has numbers; else the array, whose elements NumPy moves.
nb::object held_elements(nb::handle value) {
    if (is_tensor(value)) return nb::borrow(value);
    nb::object array = as_array(value);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (std::string_view("biufc").find(kind) == std::string_view::npos) return array;
    return wrap_array(ir::constant(array_from(array)));
}

// How many elements there are to choose from, and where: None for the integers below.
nb::tuple population(nb::object a, nb::handle axis) {
    if (!is_tensor(a)) {
        if (nb::object count = index_of(a); count.is_valid())
            return nb::make_tuple(count, nb::none());
        const nb::object array = as_array(a);
        if (rank_of(array) == 0) {
            const nb::object count = index_of(array.attr("item")());
            user_check(count.is_valid(), "choice: a must be a sequence or an integer, not ",
                       Shown{a.type()});
            return nb::make_tuple(count, nb::none());
        }
        a = held_elements(array);
    }
    if (rank_of(a) == 0) return nb::make_tuple(whole(a), nb::none());
    return nb::make_tuple(a.attr("shape")[axis], a);
}

nb::object taken(nb::handle a, nb::handle places, int64_t axis) {
    if (is_numpys(a)) return a.attr("take")(places.attr("evaluated")(), nb::arg("axis") = axis);
    return wrap(numpy::take(tensor_from(a), tensor_from(places), axis, "raise"));
}

int64_t place_of_axis(const char* function, nb::handle axis, nb::handle array) {
    return numpy::normalize_axis(function, integer_from(axis), static_cast<int>(rank_of(array)));
}

nb::object in_order(nb::handle order, nb::handle array, int64_t axis) {
    return taken(array, order(array.attr("shape")[axis]), axis);
}

void shuffle_sequence(nb::handle order, nb::handle x, nb::handle axis) {
    const nb::object sequence = nb::module_::import_("collections.abc").attr("Sequence");
    constexpr int level = 2;  // behind the generator's method
    if (!nb::isinstance(x, sequence)) {
        const std::string message =
            text("you are shuffling a '", KindOf{x},
                 "' object which is not a subclass of 'Sequence'; `shuffle` is not guaranteed to ",
                 "behave correctly.");
        if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), level) < 0) throw nb::python_error();
    }
    user_check<NotSupported>(axis.equal(nb::int_(0)),
                             "shuffle: Axis argument is only supported on ndarray objects");
    const nb::object places = order(nb::len(x)).attr("evaluated")().attr("tolist")();
    nb::list items;
    for (nb::handle place : places) items.append(nb::object(x[place]));
    for (size_t i = 0; i < items.size(); ++i) x[nb::int_(i)] = items[i];
}

// x in another order, in place: a tensor, an array or a sequence; order(n) draws it.
void shuffle(nb::handle order, nb::handle x, nb::handle axis) {
    if (!is_numpys(x) && !is_tensor(x)) return shuffle_sequence(order, x, axis);
    (void)nb::len(x);  // refused where there is no axis
    user_check(is_tensor(x) || has_flag(x, "writeable"), "shuffle: array is read-only");
    const int64_t place = place_of_axis("shuffle", axis, x);
    if (nb::cast<int64_t>(x.attr("size")) > 0) x[nb::ellipsis()] = in_order(order, x, place);
}

// The integers below x, or its elements along an axis, in random order.
nb::object permutation(nb::handle order, nb::handle x, nb::handle axis) {
    if (is_integer(x)) {
        const nb::object count = whole(x);
        return order(is_negative(count) ? nb::object(nb::int_(0)) : count);
    }
    const nb::object elements = held_elements(x);
    return in_order(order, elements, place_of_axis("permutation", axis, elements));
}

bool is_by_columns(nb::handle array) {
    return has_flag(array, "f_contiguous") && !has_flag(array, "c_contiguous");
}

void check_permuted_output(nb::handle x, nb::handle out) {
    user_check<TypeError>(is_numpys(out) || is_tensor(out), "permuted: out must be a numpy array");
    user_check(is_tensor(out) || has_flag(out, "writeable"), "permuted: out is read-only");
    const nb::object from = x.attr("dtype"), to = out.attr("dtype");
    user_check(out.attr("shape").equal(x.attr("shape")),
               "permuted: out must have the same shape as x");
    user_check<TypeError>(nb::cast<bool>(numpy_attribute("can_cast")(from, to, "safe")),
                          "permuted: Cannot cast from ", Said{from}, " to ", Said{to},
                          " according to the rule 'safe'");
}

// order(x, axis) of a tensor or an array, perhaps in `out`; elements without an axis are taken as
// they lie in memory, as NumPy takes them.
nb::object permuted(nb::handle order, nb::object x, nb::object axis, nb::object out) {
    if (!is_tensor(x)) {
        x = as_array(x);
        const bool is_out = is_numpys(out) && out.attr("shape").equal(x.attr("shape"));
        if (axis.is_none() && (out.is_none() || is_out) && rank_of(x) > 1 &&
            is_by_columns(is_out ? out : x)) {
            const nb::object result = permuted(order, x.attr("T"), nb::none(),
                                               is_out ? nb::object(out.attr("T")) : nb::none());
            return is_out ? out : nb::object(result.attr("T"));
        }
    }
    if (!axis.is_none()) axis = nb::int_(place_of_axis("permuted", axis, x));
    if (!out.is_none()) check_permuted_output(x, out);
    const nb::object elements = held_elements(x);
    nb::object result;
    if (is_numpys(elements)) {
        const nb::object places =
            numpy_attribute("arange")(x.attr("size")).attr("reshape")(x.attr("shape"));
        result = nb::object(x.attr("ravel")())[order(places, axis).attr("evaluated")()];
    } else {
        result = order(elements, axis);
    }
    if (out.is_none()) return result;
    if (is_tensor(out)) {
        const auto& cell = content_of<LazyTensor>(out);
        cell.replace(numpy::astype(tensor_from(result), cell.type().dtype));
    } else {
        numpy_attribute("copyto")(out, is_tensor(result) ? result.attr("evaluated")() : result);
    }
    return out;
}

// draw(shape) in `out`, which must have this dtype, and this size if there is one; an array in
// Fortran's order is filled in that order, but for draws of broadcast parameters.
nb::object written(const std::string& function, nb::handle given, nb::handle size, nb::handle dtype,
                   nb::handle draw, bool is_exact) {
    const nb::object out = the_output(given);
    user_check<TypeError>(is_numpys(out) || is_tensor(out), function, ": out is ", Shown{out},
                          ". An array is required.");
    const bool is_fortran = is_numpys(out) && is_by_columns(out);
    if (is_numpys(out))
        user_check((has_flag(out, "c_contiguous") || (is_fortran && !is_exact)) &&
                       has_flag(out, "writeable") && has_flag(out, "aligned") &&
                       nb::cast<bool>(out.attr("dtype").attr("isnative")),
                   function, ": Supplied output array must be contiguous, writable, aligned, and ",
                   "in machine byte-order.");
    user_check<TypeError>(out.attr("dtype").equal(dtype), function,
                          ": Supplied output array has the wrong type. Expected ", Said{dtype},
                          ", got ", Said{nb::object(out.attr("dtype"))});
    user_check(size.is_none() || integers_from(size) == integers_from(out.attr("shape")), function,
               ": size must match out.shape when used together");
    if (is_tensor(out)) {
        out.attr("replaced")(draw(out.attr("shape")));
        return out;
    }
    const nb::object target = is_fortran ? out.attr("T") : out;
    numpy_attribute("copyto")(target, draw(target.attr("shape")).attr("evaluated")());
    return out;
}

// One row of probabilities, for RandomState.
Tensor one_row(nb::handle p) {
    const Tensor row = tensor_from(p);
    user_check<TypeError>(row.rank() > 0, "multinomial: pvals must be a 1-d sequence");
    user_check(row.rank() == 1, "multinomial: pvals must be a 1-d sequence");
    return row;
}

}  // namespace

void bind_numpy_random_values(nb::module_& module) {
    using namespace nb::literals;
    const nb::call_guard<Located> located;
    module.def("words_of", words_of, "value"_a);
    module.def("blocks_of", blocks_of, "value"_a, "name"_a, "bits"_a);
    module.def("seed_legacy", seed_legacy, "twister"_a, "seed"_a);
    module.def("state_of_legacy", state_of_legacy, "state"_a);
    module.def("integers", drawn_integers, "function"_a, "draw"_a, "low"_a.none(), "high"_a.none(),
               "size"_a.none(), "dtype"_a.none(), "is_closed"_a, "is_legacy"_a, located);
    module.def("population", population, "a"_a.none(), "axis"_a.none() = nb::int_(0), located);
    module.def("taken", taken, "a"_a, "places"_a, "axis"_a, located);
    module.def("shuffle", shuffle, "order"_a, "x"_a.none(), "axis"_a.none(), located);
    module.def("permutation", permutation, "order"_a, "x"_a.none(), "axis"_a.none(), located);
    module.def("permuted", permuted, "order"_a, "x"_a.none(), "axis"_a.none(), "out"_a.none(),
               located);
    module.def("written", written, "function"_a, "out"_a.none(), "size"_a.none(), "dtype"_a,
               "draw"_a, "is_exact"_a, located);
    module.def("one_row", one_row, "p"_a, located);
}

}  // namespace composit::python
