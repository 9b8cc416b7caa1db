// contract  [models.py:39]
// x: float32[8, 16], w: float32[16, 4] -> contract_: float32[8, 4]
static void contract_2(const float* __restrict x, const float* __restrict w,
                       float* __restrict contract_, void* scratch) {
    static constexpr int64_t rows[] = {8};
    static constexpr int64_t columns[] = {4};
    static constexpr int64_t depth[] = {16};
    static constexpr int64_t left_rows[] = {16};
    static constexpr int64_t left_depth[] = {1};
    static constexpr int64_t right_depth[] = {4};
    static constexpr int64_t right_columns[] = {1};
    static constexpr int64_t output_rows[] = {4};
    static constexpr int64_t output_columns[] = {1};
    const Contraction<float> product = {
        x, w, contract_,
        {0, nullptr}, {1, rows}, {1, columns}, {1, depth},
        nullptr, left_rows, left_depth,
        nullptr, right_depth, right_columns,
        nullptr, output_rows, output_columns};
    contract<Reading<false, true, true>>(product, {0, 1, 0, 8, 0, 4}, static_cast<float*>(scratch));
}

// add  [models.py:39]
// contract_: float32[8, 4], b: float32[4] -> add: float32[8, 4]
static void sin_add(const float* __restrict contract_, const float* __restrict b,
                    float* __restrict add) {
    for (int64_t i = 0; i < 8; ++i)
        for (int64_t j = 0; j < 4; ++j)
            add[i * 4 + j] = sin_float32(contract_[i * 4 + j]) + b[j];
}
