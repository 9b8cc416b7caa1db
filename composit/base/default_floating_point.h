// The floating-point state in which composit computes, whatever the caller's is.
//
// Exported programs carry the text of the class (backends/c_family/prelude.cmake).
#pragma once

#include <cfenv>
#include <cstdint>

namespace composit {

// While it lives, arithmetic on this thread rounds to nearest, keeps subnormal numbers and traps
// nothing. Then the caller's modes are back, with his flags and those that were raised meanwhile.
// Threads that are born meanwhile inherit it. Costs some nanoseconds.
class DefaultFloatingPoint {
  public:
    DefaultFloatingPoint() noexcept { enter(); }
    ~DefaultFloatingPoint() { leave(); }
    DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
    DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

  private:
#if defined(__aarch64__)
    static uint64_t modes() noexcept {
        uint64_t value;
        __asm__ __volatile__("mrs %0, fpcr" : "=r"(value) : : "memory");
        return value;
    }
    static void set_modes(uint64_t value) noexcept {
        __asm__ __volatile__("msr fpcr, %0" : : "r"(value) : "memory");
    }
    static uint64_t flags() noexcept {
        uint64_t value;
        __asm__ __volatile__("mrs %0, fpsr" : "=r"(value) : : "memory");
        return value;
    }
    void enter() noexcept {
        if (modes_ != 0) set_modes(0);
    }
    void leave() noexcept {
        const uint64_t raised = flags();
        if ((raised | flags_) != raised)
            __asm__ __volatile__("msr fpsr, %0" : : "r"(raised | flags_) : "memory");
        if (modes() != modes_) set_modes(modes_);
    }
    uint64_t modes_ = modes(), flags_ = flags();
#elif defined(__x86_64__) || (defined(__riscv) && defined(__riscv_flen))
    // Modes and flags are bits of one register.
#if defined(__x86_64__)
    typedef uint32_t Status;
    static constexpr Status flags = 0x3f, modes = 0x1f80;  // of MXCSR
    static Status status() noexcept {
        Status value;
        __asm__ __volatile__("stmxcsr %0" : "=m"(value) : : "memory");
        return value;
    }
    static void set_status(Status value) noexcept {
        __asm__ __volatile__("ldmxcsr %0" : : "m"(value) : "memory");
    }
    // The x87 unit, by whose rounding C's library reads and prints numbers.
    class X87 {
      public:
        X87() noexcept {
            if (was_ != modes) set(modes);
        }
        ~X87() {
            if (get() != was_) set(was_);
        }

      private:
        static constexpr uint16_t modes = 0x037f;
        static uint16_t get() noexcept {
            uint16_t value;
            __asm__ __volatile__("fnstcw %0" : "=m"(value) : : "memory");
            return value;
        }
        static void set(uint16_t value) noexcept {
            __asm__ __volatile__("fldcw %0" : : "m"(value) : "memory");
        }
        uint16_t was_ = get();
    };
    X87 x87_;
#else
    typedef uintptr_t Status;
    static constexpr Status flags = 0x1f, modes = 0;  // of fcsr
    static Status status() noexcept {
        Status value;
        __asm__ __volatile__("frcsr %0" : "=r"(value) : : "memory");
        return value;
    }
    static void set_status(Status value) noexcept {
        __asm__ __volatile__("fscsr %0" : : "r"(value) : "memory");
    }
#endif
    void enter() noexcept {
        if ((status_ & ~flags) != modes) set_status(modes | (status_ & flags));
    }
    void leave() noexcept {
        const Status now = status(), wanted = status_ | (now & flags);
        if (now != wanted) set_status(wanted);
    }
    Status status_ = status();
#else
    void enter() noexcept {
        std::fegetenv(&state_);
        std::fesetenv(FE_DFL_ENV);
    }
    void leave() noexcept { std::feupdateenv(&state_); }
    std::fenv_t state_;
#endif
};

}  // namespace composit
