// contract  [models.py:39]
// x: float32[8, 16], w: float32[16, 4] -> contract_: float32[8, 4]
static void contract_2(const float* __restrict x, const float* __restrict w,
                       float* __restrict contract_) {
    contract_small<8, 4, 16, float>({x, 16, 1}, {w, 4, 1}, {contract_, 4, 1});
}

// add  [models.py:39]
// contract_: float32[8, 4], b: float32[4] -> add: float32[8, 4]
COMPOSIT_IN_VECTORS
static void sin_add(const float* __restrict contract_, const float* __restrict b,
                    float* __restrict add) {
    for (int64_t i = 0; i < 8; ++i)
        for (int64_t j = 0; j < 4; ++j)
            add[i * 4 + j] = sin_float32(contract_[i * 4 + j]) + b[j];
}
