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
#if defined(__x86_64__)
    static constexpr uint32_t flags = 0x3f, modes = 0x1f80;  // of MXCSR
    // Of the x87 unit, by whose rounding C's library reads and prints numbers.
    static constexpr uint16_t x87_modes = 0x037f;

    static uint32_t status() noexcept {
        uint32_t value;
        __asm__ __volatile__("stmxcsr %0" : "=m"(value) : : "memory");
        return value;
    }
    static void set_status(uint32_t value) noexcept {
        __asm__ __volatile__("ldmxcsr %0" : : "m"(value) : "memory");
    }
    static uint16_t x87() noexcept {
        uint16_t value;
        __asm__ __volatile__("fnstcw %0" : "=m"(value) : : "memory");
        return value;
    }
    static void set_x87(uint16_t value) noexcept {
        __asm__ __volatile__("fldcw %0" : : "m"(value) : "memory");
    }
    void enter() noexcept {
        if ((status_ & ~flags) != modes) set_status(modes | (status_ & flags));
        if (x87_ != x87_modes) set_x87(x87_modes);
    }
    void leave() noexcept {
        const uint32_t now = status(), wanted = status_ | (now & flags);
        if (now != wanted) set_status(wanted);
        if (x87() != x87_) set_x87(x87_);
    }
    uint32_t status_ = status();
    uint16_t x87_ = x87();
#elif defined(__aarch64__)
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
#elif defined(__riscv) && defined(__riscv_flen)
    static constexpr uintptr_t flags = 0x1f;  // of fcsr; above are the modes, of which 0 are wanted
    static uintptr_t status() noexcept {
        uintptr_t value;
        __asm__ __volatile__("frcsr %0" : "=r"(value) : : "memory");
        return value;
    }
    static void set_status(uintptr_t value) noexcept {
        __asm__ __volatile__("fscsr %0" : : "r"(value) : "memory");
    }
    void enter() noexcept {
        if ((status_ & ~flags) != 0) set_status(status_ & flags);
    }
    void leave() noexcept {
        const uintptr_t now = status(), wanted = status_ | (now & flags);
        if (now != wanted) set_status(wanted);
    }
    uintptr_t status_ = status();
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
