// Archives of torch.save: which tensors their pickles make of which storages.
#include "composit/nn/torch_archive.h"

#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <set>
#include <unordered_map>

namespace composit::nn {

std::string_view name_of_pickle_instruction(unsigned char code) {
    static const std::map<unsigned char, std::string_view> names = {{'I', "INT"},
                                                                    {'L', "LONG"},
                                                                    {'F', "FLOAT"},
                                                                    {'S', "STRING"},
                                                                    {'U', "SHORT_BINSTRING"},
                                                                    {'T', "BINSTRING"},
                                                                    {'V', "UNICODE"},
                                                                    {'l', "LIST"},
                                                                    {'d', "DICT"},
                                                                    {'p', "PUT"},
                                                                    {'g', "GET"},
                                                                    {'i', "INST"},
                                                                    {'o', "OBJ"},
                                                                    {'P', "PERSID"},
                                                                    {'0', "POP"},
                                                                    {'1', "POP_MARK"},
                                                                    {'2', "DUP"},
                                                                    {0x82, "EXT1"},
                                                                    {0x83, "EXT2"},
                                                                    {0x84, "EXT4"},
                                                                    {0x8b, "LONG4"},
                                                                    {0x8d, "BINUNICODE8"},
                                                                    {0x8e, "BINBYTES8"},
                                                                    {0x91, "FROZENSET"},
                                                                    {0x96, "BYTEARRAY8"},
                                                                    {0x97, "NEXT_BUFFER"},
                                                                    {0x98, "READONLY_BUFFER"}};
    const auto found = names.find(code);
    return found == names.end() ? std::string_view() : found->second;
}

TorchArchive::TorchArchive(std::string_view content) : zip_(content) {
    constexpr std::string_view last = "/data.pkl";
    std::vector<std::string> roots;
    for (const std::string& name : zip_.names())
        if (name.ends_with(last)) roots.push_back(name.substr(0, name.size() - last.size() + 1));
    if (roots.size() != 1) throw BrokenPickle{"it has no data.pkl"};
    root_ = roots[0];
    if (zip_.has(root_ + "constants.pkl"))
        throw BrokenPickle{"it is a program of TorchScript, which is not built"};
    if (!zip_.has(root_ + "byteorder")) return;
    const std::string_view order = record("byteorder");
    if (order != "little" && order != "big")
        throw BrokenPickle{text("its order of bytes is '", order, "'")};
    is_swapped_ = (order == "little") != (std::endian::native == std::endian::little);
}

bool StorageLayout::is_whole(int64_t length) const {
    int64_t step = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        if (strides[i] != step) return false;
        step *= std::max<int64_t>(shape[i], 1);
    }
    return offset == 0 && ir::element_count(shape) == length;
}

void check_layout(const StorageLayout& layout) {
    constexpr int64_t most = int64_t{1} << 48;
    constexpr size_t most_axes = 64;
    if (layout.shape.size() != layout.strides.size() || layout.shape.size() > most_axes)
        throw BrokenPickle{"a tensor has other strides than lengths"};
    const auto is_size = [](int64_t n) { return n >= 0 && n < most; };
    bool are_sizes = is_size(layout.offset) &&
                     std::all_of(layout.shape.begin(), layout.shape.end(), is_size) &&
                     std::all_of(layout.strides.begin(), layout.strides.end(), is_size);
    int64_t count = std::count(layout.shape.begin(), layout.shape.end(), 0) > 0 ? 0 : 1;
    for (const int64_t length : layout.shape) {
        if (!are_sizes || count == 0) break;
        are_sizes = count < most / length + (most % length != 0);
        count *= are_sizes ? length : 1;
    }
    if (!are_sizes || count >= most)
        throw BrokenPickle{"a tensor's lengths and strides are no sizes"};
}

void check_reach(const StorageLayout& layout, int64_t length) {
    constexpr int64_t most_expanded = 1 << 24;  // elements beyond those of its storage
    const int64_t count = ir::element_count(layout.shape);
    if (count > std::max(length, most_expanded))
        throw BrokenPickle{
            "a tensor is expanded to more elements than are read; its clone() is not"};
    int64_t last = layout.offset;
    for (size_t i = 0; i < layout.shape.size(); ++i) {
        const int64_t steps = (layout.shape[i] - 1);
        if (steps > 0 && layout.strides[i] > length) last = length;
        if (last >= length && count > 0) throw BrokenPickle{"a tensor reaches beyond its storage"};
        last += steps * layout.strides[i];
    }
    if (count > 0 && last >= length) throw BrokenPickle{"a tensor reaches beyond its storage"};
}

namespace {

// A value while a pickle is followed. The builder owns all of them: one may hold itself.
struct Picked {
    Held held;
    std::vector<Picked*> items = {};  // of containers
    std::string name = {};            // of a function or class: "torch._utils._rebuild_tensor_v2"
    ir::DType dtype = ir::DType::float32;  // of a storage
    std::string_view storage = {};
    bool is_storage = false;
};

// Makes structures of what pickles say.
class HeldBuilder {
  public:
    using Value = Picked*;

    HeldBuilder(const TorchArchive& archive, size_t bytes_of_pickle)
        : archive_(archive), left_(bytes_of_pickle + most_repeated) {}

    Value none() { return of(Held()); }
    Value truth(bool truth) {
        Held made;
        made.kind = "truth";
        made.truth = truth;
        return of(std::move(made));
    }
    Value integer(std::string_view bytes) {
        if (bytes.size() > 8) throw BrokenPickle{"it has an integer of more than 64 bits"};
        const bool is_negative =
            !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80) != 0;
        uint64_t value = is_negative ? ~uint64_t{0} : 0;
        for (size_t i = bytes.size(); i-- > 0;)
            value = value << 8 | static_cast<unsigned char>(bytes[i]);
        return of(Held::integer(static_cast<int64_t>(value)));
    }
    Value real(double value) { return of(Held::real(value)); }
    Value text(std::string_view value) { return of(Held::of_text(std::string(value))); }
    Value bytes(std::string_view value) { return text(value); }
    Value tuple(std::vector<Value> items) { return container("tuple", std::move(items)); }
    Value list() { return container("list", {}); }
    Value dict() { return container("dict", {}); }
    Value set() { return container("list", {}); }

    void append(Value& to, std::vector<Value> items) { add_to(to, "list", std::move(items)); }
    void put(Value& to, std::vector<Value> pairs) { add_to(to, "dict", std::move(pairs)); }
    void add(Value& to, std::vector<Value> items) { add_to(to, "list", std::move(items)); }

    Value named_by(const Value& module, const Value& name) {
        return named(module->held.text, name->held.text);
    }
    Value named(const std::string& module, const std::string& name) {
        static const std::set<std::string> known = {
            "collections.OrderedDict",
            "torch.Size",
            "torch._utils._rebuild_tensor_v2",
            "torch._utils._rebuild_parameter",
            "torch._utils._rebuild_parameter_with_state",
        };
        Value made = of(Held());
        made->name = module + "." + name;
        const bool is_storage = module == "torch" && dtype_of_storage(name).has_value();
        if (!is_storage && known.count(made->name) == 0)
            throw BrokenPickle{composit::text("it names ", made->name,
                                              ", which is no part of tensors, numbers, texts and "
                                              "containers of them")};
        return made;
    }

    Value call(const Value& function, const Value& arguments) {
        const std::string& name = function->name;
        if (name == "collections.OrderedDict") return copied("dict", arguments->items);
        if (name == "torch.Size") {
            expect(arguments, 1);
            return copied("tuple", arguments->items[0]->items);
        }
        if (name == "torch._utils._rebuild_tensor_v2") return rebuilt(arguments);
        if (name.starts_with("torch._utils._rebuild_parameter")) {
            expect(arguments, 2);
            Value made = of(arguments->items[0]->held);
            if (made->held.kind != "tensor") throw BrokenPickle{"a parameter has no tensor"};
            made->held.kind = "parameter";
            made->held.truth = arguments->items[1]->held.truth;
            return made;
        }
        throw BrokenPickle{"it calls what is no function"};
    }
    Value make(const Value& kind, const Value& arguments, const std::optional<Value>&) {
        return call(kind, arguments);
    }
    void set_state(Value& object, const Value&) {
        if (object->held.kind != "dict") throw BrokenPickle{"it gives what is no object a state"};
    }

    Value outside(const Value& described) {
        expect(described, 5);
        const std::vector<Value>& parts = described->items;
        const std::optional<ir::DType> dtype = dtype_of_storage(
            parts[1]->name.starts_with("torch.") ? parts[1]->name.substr(6) : parts[1]->name);
        if (parts[0]->held.text != "storage" || !dtype)
            throw BrokenPickle{"it names something outside that is no storage"};
        Value made = of(Held());
        made->is_storage = true;
        made->dtype = *dtype;
        made->storage = archive_.record("data/" + parts[2]->held.text);
        return made;
    }

    // The structure, in which containers that hold themselves are none. A container stands in it at
    // each of its places, so that a few bytes can say any number of parts: they are counted.
    Held held_of(const Value& value, int depth = 0) {
        constexpr int most_depth = 500;
        if (depth > most_depth) throw BrokenPickle{"it is nested too deep"};
        if (value->is_storage || !value->name.empty())
            throw BrokenPickle{"it holds what is no data"};
        constexpr size_t bytes_of_part = 64;  // longer texts count as several
        spend(1 + value->held.text.size() / bytes_of_part);
        Held made = value->held;
        if (made.kind == "dict") {
            add_pairs(made, value->items, depth + 1);
        } else {
            for (const Value& item : value->items) made.items.push_back(held_of(item, depth + 1));
        }
        return made;
    }

  private:
    // Parts beyond one for each byte of the pickle, which mentions one in a byte or two.
    static constexpr size_t most_repeated = 1'000'000;

    void spend(size_t parts) {
        if (parts > left_)
            throw BrokenPickle{
                composit::text("it repeats its containers so often that they have over ",
                               most_repeated, " parts more than it has bytes")};
        left_ -= parts;
    }

    Value of(Held held) {
        all_.push_back({std::move(held)});
        return &all_.back();
    }
    Value container(const char* kind, std::vector<Value> items) {
        Value made = of(Held());
        made->held.kind = kind;
        made->items = std::move(items);
        return made;
    }
    Value copied(const char* kind, const std::vector<Value>& items) {
        spend(items.size());
        return container(kind, items);
    }

    // Keys that are equal in Python have equal texts.
    static std::string text_of_key(const Held& key) {
        if (key.kind == "text") return composit::text('"', key.text);
        if (key.kind == "truth") return key.truth ? "1" : "0";
        if (key.kind == "integer") return key.text;
        if (key.kind == "float") {
            constexpr double most = 9007199254740992;  // integers up to it are exact
            if (std::fabs(key.number) <= most && key.number == std::floor(key.number))
                return std::to_string(static_cast<int64_t>(key.number));
            return composit::text('f', std::bit_cast<uint64_t>(key.number));
        }
        if (key.kind == "none") return "none";
        if (key.kind == "tensor" || key.kind == "parameter")
            return composit::text("tensor ", static_cast<const void*>(&key.tensor.node()));
        if (key.kind != "tuple")
            throw BrokenPickle{composit::text("a dictionary has a key that is a ", key.kind)};
        std::string made = "(";
        for (const Held& item : key.items) {
            const std::string part = text_of_key(item);
            made += composit::text(part.size(), ':', part);
        }
        return made;
    }

    // A key that is set twice has its first place and its last value.
    void add_pairs(Held& to, const std::vector<Value>& pairs, int depth) {
        if (pairs.size() % 2 != 0) throw BrokenPickle{"a key has no value"};
        std::unordered_map<std::string, size_t> places;
        for (size_t i = 0; i < pairs.size(); i += 2) {
            Held key = held_of(pairs[i], depth), value = held_of(pairs[i + 1], depth);
            const auto [known, is_new] = places.try_emplace(text_of_key(key), to.items.size());
            if (is_new) {
                to.items.push_back(std::move(key));
                to.items.push_back(std::move(value));
            } else {
                to.items[known->second + 1] = std::move(value);
            }
        }
    }
    static void add_to(Value& to, const char* kind, std::vector<Value> items) {
        if (to->held.kind != kind)
            throw BrokenPickle{composit::text("it adds items to a ", to->held.kind)};
        to->items.insert(to->items.end(), items.begin(), items.end());
    }
    static void expect(const Value& arguments, size_t count) {
        if (arguments->held.kind != "tuple" || arguments->items.size() < count)
            throw BrokenPickle{"it calls a function with too few arguments"};
    }
    // The dtype of "FloatStorage".
    static std::optional<ir::DType> dtype_of_storage(std::string_view name) {
        for (const ir::DTypeTraits& row : ir::all_traits())
            if (row.torch_classes != ir::TorchClasses::none &&
                name == composit::text(row.scalar_type, "Storage"))
                return row.dtype;
        return {};
    }
    static std::vector<int64_t> integers_in(const Value& tuple) {
        std::vector<int64_t> made;
        for (const Value& item : tuple->items) {
            if (item->held.kind != "integer")
                throw BrokenPickle{"a tensor's lengths and strides are no sizes"};
            made.push_back(std::stoll(item->held.text));
        }
        return made;
    }

    Value rebuilt(const Value& arguments) {
        expect(arguments, 4);
        const Picked& storage = *arguments->items[0];
        if (!storage.is_storage || arguments->items[1]->held.kind != "integer")
            throw BrokenPickle{"a tensor has no storage"};
        StorageLayout layout{std::stoll(arguments->items[1]->held.text),
                             integers_in(arguments->items[2]), integers_in(arguments->items[3])};
        check_layout(layout);
        const auto bytes = static_cast<size_t>(ir::size_of(storage.dtype));
        const auto length = static_cast<int64_t>(storage.storage.size() / bytes);
        check_reach(layout, length);
        ir::Array array(storage.dtype, layout.shape);
        copy(storage, layout, bytes, static_cast<char*>(array.mutable_data()));
        Value made = of(Held::of(ir::constant(std::move(array))));
        const bool says = arguments->items.size() > 4;
        made->held.truth = says && arguments->items[4]->held.truth;
        return made;
    }

    // The elements of a layout, row by row.
    void copy(const Picked& storage, const StorageLayout& layout, size_t bytes, char* to) const {
        const size_t rank = layout.shape.size();
        std::vector<int64_t> place(rank);
        int64_t from = layout.offset;
        for (int64_t left = ir::element_count(layout.shape); left > 0; --left, to += bytes) {
            std::memcpy(to, storage.storage.data() + static_cast<size_t>(from) * bytes, bytes);
            if (archive_.is_swapped()) swap(to, bytes, ir::is_complex(storage.dtype));
            for (size_t axis = rank; axis-- > 0;) {
                from += layout.strides[axis];
                if (++place[axis] < layout.shape[axis]) break;
                from -= layout.strides[axis] * layout.shape[axis];
                place[axis] = 0;
            }
        }
    }
    static void swap(char* element, size_t bytes, bool is_complex) {
        const size_t part = is_complex ? bytes / 2 : bytes;
        for (size_t begin = 0; begin < bytes; begin += part)
            std::reverse(element + begin, element + begin + part);
    }

    const TorchArchive& archive_;
    size_t left_;             // parts that may still be made
    std::deque<Picked> all_;  // which stay where they are
};

}  // namespace

Held read_torch_archive(std::string_view where, std::string_view content) {
    try {
        const TorchArchive archive(content);
        const std::string_view pickle = archive.pickle();
        HeldBuilder builder(archive, pickle.size());
        return builder.held_of(PickleMachine<HeldBuilder>(builder, pickle).run());
    } catch (const BrokenPickle& broken) {
        throw ValueError(text(where, ": its archive is damaged: ", broken.why,
                              ". A file that torch.save wrote is required."));
    }
}

Held load_torch_archive(const std::filesystem::path& path) {
    const std::string where = text("load_torch_archive: ", path.string());
    const ReadingMappedFiles reading;
    const MappedFile file = map_file(where + ": ", path);
    Held found = read_torch_archive(where, {file.data, file.bytes});
    reading.check("load_torch_archive", {file.data});
    return found;
}

}  // namespace composit::nn
