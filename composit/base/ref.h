// Ref<T>: an intrusive, thread-safe reference-counted pointer to an immutable object.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace composit {

// Derive from Counted<T>; the object is deleted by T::release() (static) when the last Ref goes,
// which lets long chains free themselves without recursion.
template <class T>
class Counted {
  public:
    Counted() = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    // True when this was the last reference.
    bool drop() const noexcept { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    // Takes a reference unless the last one has gone: for tables that do not own what they hold.
    [[nodiscard]] bool retain_if_alive() const noexcept {
        uint32_t count = use_count();
        while (count != 0)
            if (count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed))
                return true;
        return false;
    }
    uint32_t use_count() const noexcept { return count_.load(std::memory_order_relaxed); }

  protected:
    ~Counted() = default;

  private:
    mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class Ref {
  public:
    Ref() = default;
    Ref(std::nullptr_t) {}
    explicit Ref(const T* object) : object_(object) {
        if (object_) object_->retain();
    }
    Ref(const Ref& other) : Ref(other.object_) {}
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_ && object_->drop()) T::release(object_);
    }

    const T* get() const noexcept { return object_; }
    const T* operator->() const noexcept { return object_; }
    const T& operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    bool operator==(const Ref& other) const noexcept { return object_ == other.object_; }

    // The owner of a reference that was taken before.
    static Ref adopt(const T* object) noexcept {
        Ref result;
        result.object_ = object;
        return result;
    }
    // Gives up the pointer without dropping the reference; the caller owns that reference.
    const T* detach() noexcept { return std::exchange(object_, nullptr); }

  private:
    const T* object_ = nullptr;
};

}  // namespace composit
