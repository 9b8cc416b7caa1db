// In which order, by whom and in which parts the samples of a dataset are read, as torch.utils.data
// has it. Errors have PyTorch's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace composit::aten {

// How many samples each part of `count` has: counts as they are given, or fractions that add up to
// 1, rounded down, where the first parts get one more of what is left. ValueError for fractions
// outside [0, 1], and for counts that do not add up.
[[nodiscard]] std::vector<int64_t> split_counts(int64_t count, const std::vector<double>& lengths);

// The share of one of several processes: how many samples each reads, all of as many. ValueError
// for a rank that is none. The last ones are left out with drop_last, else the first ones come
// again.
[[nodiscard]] int64_t replica_share(int64_t count, int64_t replicas, int64_t rank, bool drop_last);
// Its places of an order.
[[nodiscard]] std::vector<int64_t> replica_places(std::vector<int64_t> order, int64_t replicas,
                                                  int64_t rank, bool drop_last);

// ValueError for options of a loader that exclude each other.
struct LoaderOptions {
    int64_t workers = 0;
    double timeout = 0;
    bool has_prefetch_factor = false, is_iterable = false;
    std::optional<std::string> shuffle = {};  // as it is shown, where it is true
    bool has_sampler = false, has_batch_sampler = false;
    std::optional<int64_t> batch_size = 1;
    bool drop_last = false;
};
void check_loader(const LoaderOptions& options);
// How many batches there are of so many samples; samples, without a batch size.
[[nodiscard]] int64_t batch_count(int64_t samples, std::optional<int64_t> batch_size,
                                  bool drop_last);
// ValueError unless a number of draws, as it is shown, is a positive one.
void check_draws(bool is_positive, const std::string& name, const std::string& shown);

}  // namespace composit::aten
