// What the machine can do at most: fused multiply-adds of float32 per second by one core, and bytes
// per second that a copy by several threads reads and writes. `limits THREADS` prints "GFLOP/s
// GB/s"; as a library it has `multiply_adds`. Built by limits.py for the CPU it runs on.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16, chains = 24;
#elif defined(__AVX__)
constexpr int lanes = 8, chains = 12;
#else
constexpr int lanes = 4, chains = 12;
#endif
constexpr int rounds = 2'000'000;
typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

template <class Work>
void in_threads(int threads, const Work& work) {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
}

// The best of several tries of `work` in all threads at once, in units per second.
template <class Work>
double best_rate(int threads, int attempts, double units, const Work& work) {
    double best = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const double start = now();
        in_threads(threads, work);
        best = std::max(best, threads * units / (now() - start));
    }
    return best;
}

// Enough independent chains to hide the latency of each.
void multiply_add(int rounds) {
    Vector sums[chains];
    Vector factor = Vector{} + 0.999f, term = Vector{} + 0.5f;
#pragma GCC unroll 32
    for (Vector& sum : sums) {
        sum = Vector{};
        __asm__("" : "+x"(sum));  // else equal chains would become one
    }
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
        for (Vector& sum : sums) sum = sum * factor + term;
    }
#pragma GCC unroll 32
    for (Vector& sum : sums) __asm__ volatile("" ::"x"(sum));
}

}  // namespace

// As many operations as `operations`, two to a multiply-add, shared by the threads.
extern "C" void multiply_adds(int threads, double operations) {
    const int rounds = static_cast<int>(operations / (2.0 * threads * chains * lanes));
    in_threads(threads, [rounds](int) { multiply_add(rounds); });
}

int main(int count, char** arguments) {
    const int threads = count > 1 ? std::atoi(arguments[1]) : 1;
    const double flops =
        best_rate(1, 80, 2.0 * rounds * chains * lanes, [](int) { multiply_add(rounds); });

    constexpr size_t bytes = size_t{1} << 27;
    std::vector<std::vector<char>> from(threads), to(threads);
    for (int i = 0; i < threads; ++i) {
        from[i].assign(bytes, 1);
        to[i].assign(bytes, 2);
    }
    const double moved = best_rate(threads, 12, 2.0 * bytes, [&](int i) {
        std::memcpy(to[i].data(), from[i].data(), bytes);
        __asm__ volatile("" ::: "memory");
    });
    std::printf("%.2f %.2f\n", flops / 1e9, moved / 1e9);
}
