// Parts of datasets.
#include "composit/aten/sample_orders.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace composit::aten {
namespace {

std::string list_of(const std::vector<double>& values) {
    std::string shown;
    for (const double value : values) shown += (shown.empty() ? "" : ", ") + number_text(value);
    return "[" + shown + "]";
}

// math.isclose(x, 1)
bool is_near_one(double x) { return std::abs(x - 1) <= 1e-9 * std::max(std::abs(x), 1.0); }

}  // namespace

std::vector<int64_t> split_counts(int64_t count, const std::vector<double>& lengths) {
    double total = 0;
    for (const double length : lengths) total += length;
    std::vector<int64_t> counts;
    if (is_near_one(total) && total <= 1) {
        user_check(std::ranges::all_of(lengths, [](double x) { return x >= 0 && x <= 1; }),
                   "random_split: the fractions ", list_of(lengths), " are not in [0, 1].");
        int64_t rest = count;
        for (const double length : lengths) {
            counts.push_back(static_cast<int64_t>(std::floor(static_cast<double>(count) * length)));
            rest -= counts.back();
        }
        for (int64_t i = 0; i < rest; ++i) ++counts[static_cast<size_t>(i) % counts.size()];
        return counts;
    }
    for (const double length : lengths) counts.push_back(static_cast<int64_t>(length));
    const int64_t sum = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    const bool are_whole = total == static_cast<double>(sum);
    user_check(are_whole && sum == count,
               "Sum of input lengths does not equal the length of the input dataset! (",
               are_whole ? std::to_string(sum) : number_text(total), " and ", count, ")");
    return counts;
}

int64_t replica_share(int64_t count, int64_t replicas, int64_t rank, bool drop_last) {
    user_check(rank >= 0 && rank < replicas, "Invalid rank ", rank,
               ", rank should be in the interval [0, ", replicas - 1, "]");
    if (drop_last && count % replicas != 0) count -= replicas;
    return static_cast<int64_t>(
        std::ceil(static_cast<double>(count) / static_cast<double>(replicas)));
}

std::vector<int64_t> replica_places(std::vector<int64_t> order, int64_t replicas, int64_t rank,
                                    bool drop_last) {
    const int64_t share =
        replica_share(static_cast<int64_t>(order.size()), replicas, rank, drop_last);
    const auto total = static_cast<size_t>(std::max<int64_t>(share, 0) * replicas);
    const size_t given = order.size();
    std::vector<int64_t> places;
    for (auto i = static_cast<size_t>(rank); given > 0 && i < total;
         i += static_cast<size_t>(replicas))
        places.push_back(order[i % given]);
    return places;
}

void check_loader(const LoaderOptions& of) {
    user_check(of.workers >= 0,
               "num_workers option should be non-negative; use num_workers=0 to disable "
               "multiprocessing.");
    user_check(!(of.timeout < 0), "timeout option should be non-negative");
    user_check(of.workers != 0 || !of.has_prefetch_factor,
               "prefetch_factor option could only be specified in multiprocessing.");
    user_check(!of.is_iterable || !of.shuffle,
               "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
               "shuffle=",
               of.shuffle.value_or(""));
    user_check(!of.is_iterable || (!of.has_sampler && !of.has_batch_sampler),
               "DataLoader with IterableDataset: expected unspecified sampler option.");
    user_check(!of.has_sampler || !of.shuffle, "sampler option is mutually exclusive with shuffle");
    user_check(!of.has_batch_sampler ||
                   (of.batch_size == 1 && !of.shuffle && !of.has_sampler && !of.drop_last),
               "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
               "drop_last");
    user_check(of.has_batch_sampler || of.batch_size || !of.drop_last,
               "batch_size=None option disables auto-batching and is mutually exclusive with "
               "drop_last");
}

int64_t batch_count(int64_t samples, std::optional<int64_t> batch_size, bool drop_last) {
    if (!batch_size) return samples;
    user_check(*batch_size > 0,
               "batch_size should be a positive integer value, but got batch_size=", *batch_size);
    return (samples + (drop_last ? 0 : *batch_size - 1)) / *batch_size;
}

void check_draws(bool is_positive, const std::string& name, const std::string& shown) {
    user_check(is_positive, name, " should be a positive integer value, but got ", name, "=",
               shown);
}

}  // namespace composit::aten
