#include "composit/backends/c_family/procedure_memory.h"

#include <string_view>

namespace composit::c_family {

std::string with_kept_memory(std::string text) {
    constexpr std::string_view given = "std::vector<", wanted = "composit_vector<";
    for (size_t at = 0; (at = text.find(given, at)) != std::string::npos; at += wanted.size())
        text.replace(at, given.size(), wanted);
    return text;
}

std::string kept_memory() {
    return R"(namespace {

// The large blocks that a thread has given back, for those that it asks for next.
struct composit_blocks {
    struct Block {
        Block* next;
        size_t bytes;
    };
    static constexpr size_t smallest = 1 << 16, most = 1 << 26;
    Block* first = nullptr;
    size_t kept = 0;

    ~composit_blocks() {
        while (first) ::operator delete(static_cast<void*>(taken_behind(first)));
    }
    Block* taken_behind(Block*& link) {
        Block* const block = link;
        link = block->next;
        kept -= block->bytes;
        return block;
    }
    // As much as n bytes take: a power of two, so that few sizes are asked for.
    static size_t size_for(size_t n) {
        size_t bytes = smallest;
        while (bytes < n) bytes *= 2;
        return bytes;
    }
    void* take(size_t n) {
        const size_t bytes = size_for(n);
        for (Block** link = &first; *link; link = &(*link)->next)
            if ((*link)->bytes == bytes) return taken_behind(*link);
        return ::operator new(bytes);
    }
    void give(void* block, size_t n) {
        const size_t bytes = size_for(n);
        if (kept + bytes > most) return ::operator delete(block);
        first = new (block) Block{first, bytes};
        kept += bytes;
    }
};
thread_local composit_blocks composit_kept;

template <class T>
struct composit_memory {
    using value_type = T;
    composit_memory() = default;
    template <class U>
    composit_memory(const composit_memory<U>&) {}
    // No other pointer leads there, which compilers cannot see within.
    __attribute__((noinline, malloc)) T* allocate(size_t n) {
        const size_t bytes = n * sizeof(T);
        return static_cast<T*>(bytes < composit_blocks::smallest ? ::operator new(bytes)
                                                                 : composit_kept.take(bytes));
    }
    void deallocate(T* x, size_t n) {
        const size_t bytes = n * sizeof(T);
        bytes < composit_blocks::smallest ? ::operator delete(x) : composit_kept.give(x, bytes);
    }
    // Elements to which nothing gives a value have none.
    template <class U>
    void construct(U* x) {
        ::new (static_cast<void*>(x)) U;
    }
    template <class U, class... Values>
    void construct(U* x, Values&&... values) {
        ::new (static_cast<void*>(x)) U(static_cast<Values&&>(values)...);
    }
    bool operator==(const composit_memory&) const { return true; }
    bool operator!=(const composit_memory&) const { return false; }
};

// n zeros, or n elements that are written before they are read; resize() adds such.
struct composit_unset {};
template <class T>
struct composit_vector : std::vector<T, composit_memory<T>> {
    using Elements = std::vector<T, composit_memory<T>>;
    using Elements::Elements;
    composit_vector() = default;
    explicit composit_vector(size_t n) : Elements(n, T()) {}
    composit_vector(size_t n, composit_unset) : Elements(n) {}
};

}  // namespace

)";
}

}  // namespace composit::c_family
