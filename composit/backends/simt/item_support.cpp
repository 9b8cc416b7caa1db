// What texts for items of a batch call.
#include "composit/backends/simt/item_support.h"

#include "composit/base/text.h"

namespace composit::simt {
namespace {

constexpr std::string_view requirement = R"(
// Ends the work on an item for which something does not hold.
#define require(holds)                              \
    do {                                            \
        if (!(holds)) {                             \
            report_fault(fault, launch, item, 0, __LINE__); \
            return;                                 \
        }                                           \
    } while (0)
)";

// GLOBAL stands for what pointers to device memory begin with, FUNCTION for what functions do.
constexpr std::string_view workspace = R"(
// An item's part of the memory in which arrays lie that are large, or of a computed size.
typedef struct {
    GLOBAL char* memory;
    int64_t used, bytes;
} Workspace;

// Room for so many elements of `size` bytes; null where there is not as much.
FUNCTION GLOBAL char* room_for(Workspace* own, int64_t count, int64_t size) {
    GLOBAL char* const place = own->memory + own->used;
    if (count > (own->bytes - own->used) / size) return 0;
    own->used += (count * size + 7) / 8 * 8;
    return own->used <= own->bytes ? place : 0;
}

// Twice the room of an array that is full, with its elements; null where there is not as much.
FUNCTION GLOBAL char* grown(Workspace* own, GLOBAL char* x, int64_t* room, int64_t size) {
    const int64_t bytes = *room * size;
    *room = *room == 0 ? 16 : 2 * *room;
    GLOBAL char* const place = room_for(own, *room, size);
    if (place)
        for (int64_t i = 0; i < bytes; ++i) place[i] = x[i];
    return place;
}

// Room for the elements of an array; where it has that already, it stays where it is.
#define allocate(type, x, count)                    \
    do {                                            \
        if ((count) > x##_room) {                   \
            x = (GLOBAL type*)room_for(&workspace, count, sizeof(type)); \
            x##_room = count;                       \
            if (!x) {                               \
                report_fault(fault, launch, item, 1, __LINE__); \
                return;                             \
            }                                       \
        }                                           \
    } while (0)
// One more element, the last one, of an array that grows.
#define append(type, x, value)                      \
    do {                                            \
        if (x##_count == x##_room) {                \
            x = (GLOBAL type*)grown(&workspace, (GLOBAL char*)x, &x##_room, sizeof(type)); \
            if (!x) {                               \
                report_fault(fault, launch, item, 1, __LINE__); \
                return;                             \
            }                                       \
        }                                           \
        x[x##_count++] = value;                     \
    } while (0)
)";

std::string replaced(std::string text, std::string_view word, std::string_view by) {
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

}  // namespace

const std::set<std::string>& item_words() {
    static const std::set<std::string>& words =
        *new std::set<std::string>{"item",     "items",     "fault",           "launch",  "first",
                                   "end",      "workspace", "workspace_bytes", "require", "append",
                                   "allocate", "Workspace", "room_for",        "grown"};
    return words;
}

std::string item_support(const Dialect& dialect, bool has_workspace) {
    std::string out(requirement);
    if (!has_workspace) return out;
    out += replaced(std::string(workspace), "GLOBAL ", dialect.global);
    return replaced(std::move(out), "FUNCTION ", dialect.scalars.function_start);
}

}  // namespace composit::simt
