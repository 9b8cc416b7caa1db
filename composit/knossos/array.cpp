// Arrays as values.
#include "composit/knossos/array.h"

#include <algorithm>

namespace composit::knossos {

Array::Array(Kind kind, std::vector<Value> shape, At at, ArrayOrigin origin)
    : kind(kind),
      shape(std::move(shape)),
      at(std::move(at)),
      reads(std::move(origin.reads)),
      lists(origin.lists),
      is_zero(origin.is_zero),
      parts_of(std::move(origin.parts_of)) {
    if (origin.elsewhere)
        elsewhere = *std::move(origin.elsewhere);
    else
        for (const int each : reads) elsewhere.insert(each);
}

const Value& first_extent(const Array& array) {
    if (array.shape.empty())
        throw Mismatch("an array without axes", "Its element, as x[()], or an axis is required.");
    return array.shape.front();
}

const Value& last_extent(const Array& array) {
    first_extent(array);
    return array.shape.back();
}

std::string Array::outline() const { return "an array of " + std::to_string(rank()) + " axes"; }

bool Array::needs_others(int number, const std::optional<Line>& line) const {
    if (!reads.contains(number)) return false;
    std::vector<std::variant<int, Line>> read;
    for (const auto& each : elsewhere) {
        const Line* along = std::get_if<Line>(&each);
        if ((along ? along->array : std::get<int>(each)) == number) read.push_back(each);
    }
    if (!line) return !read.empty();
    if (read.empty()) return line->begin != 0 || line->step != 1;
    return std::any_of(read.begin(), read.end(), [&](const auto& each) {
        const Line* along = std::get_if<Line>(&each);
        return !along || *along != *line;
    });
}

Stored::Stored(int number, std::string name, Kind kind, std::vector<Value> shape, At at,
               bool is_argument, int lists)
    : Array(kind, std::move(shape), std::move(at),
            {.reads = {number}, .lists = lists, .parts_of = {number}, .elsewhere = Elsewhere{}}),
      number(number),
      name(std::move(name)),
      is_argument(is_argument) {}

ArrayRef array(Kind kind, std::vector<Value> shape, Array::At at, ArrayOrigin origin) {
    return std::make_shared<Array>(kind, std::move(shape), std::move(at), std::move(origin));
}

StoredRef stored(const Value& value) { return std::dynamic_pointer_cast<Stored>(value.array()); }

Numbers reads_of(const std::vector<ArrayRef>& arrays) {
    Numbers all;
    for (const ArrayRef& each : arrays) all.insert(each->reads.begin(), each->reads.end());
    return all;
}

}  // namespace composit::knossos
