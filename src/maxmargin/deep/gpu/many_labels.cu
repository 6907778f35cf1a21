// Many labels: a product of scores and table a position, of sums and maxima (SUMS 0) or of products and sums (SUMS 1).
// A launch goes through all positions. A block has COLUMNS columns of the table in shared memory, for all of them, and
// ROWS sequences; after each position it meets the blocks that have the other columns of the same sequences.
// Each warp of a block has all of its rows and columns, and some of the labels before; a thread has a part of
// PART_ROWS x PART_COLUMNS (4 or 8 each). WARPS: how many; labels are filled up to a multiple of WARPS * CHUNK.

#define ROWS (8 * PART_ROWS)
#define COLUMNS (4 * PART_COLUMNS)
#define THREADS (32 * WARPS)
#define CHUNK 8   // labels that are copied at once
#define STAGES 3  // chunks that a warp has room for
#define LOG_2 0.69314718055994530942

#if SUMS
#define NEUTRAL 0.0f
__device__ __forceinline__ float joined(float total, float score, float edge) { return fmaf(score, edge, total); }
__device__ __forceinline__ float joined(float total, float other) { return total + other; }
#else
#define NEUTRAL NOTHING
__device__ __forceinline__ float joined(float total, float score, float edge) { return fmaxf(total, score + edge); }
__device__ __forceinline__ float joined(float total, float other) { return fmaxf(total, other); }
#endif

// Fours are side by side in memory and go to neighbouring threads, so that a warp reads without conflicts.
__device__ __forceinline__ int row_of(int i) { return i / 4 * 32 + threadIdx.x % 32 / 4 * 4 + i % 4; }
__device__ __forceinline__ int column_of(int i) { return i / 4 * 16 + threadIdx.x % 4 * 4 + i % 4; }

template <int COUNT>
__device__ __forceinline__ void read_fours(float* to, const float* from, int apart) {
#pragma unroll
  for (int i = 0; i < COUNT / 4; i++)
    reinterpret_cast<float4*>(to)[i] = *reinterpret_cast<const float4*>(from + i * apart);
}

__device__ __forceinline__ void copy_chunk(float* to, const float* from) {
#pragma unroll
  for (int at = 4 * (threadIdx.x % 32); at < CHUNK * ROWS; at += 128) begin_copy(to + at, from + at);
}

// What a warp's share of the labels before adds to its part of the product; `from` [n_chunks * CHUNK][ROWS].
__device__ __forceinline__ void multiply(float total[PART_ROWS][PART_COLUMNS], const float* from, const float* table,
                                         float* stages, int n_chunks) {
#pragma unroll
  for (int i = 0; i < PART_ROWS; i++)
#pragma unroll
    for (int j = 0; j < PART_COLUMNS; j++) total[i][j] = NEUTRAL;
#pragma unroll
  for (int chunk = 0; chunk < STAGES - 1; chunk++) {
    if (chunk < n_chunks) copy_chunk(stages + chunk * CHUNK * ROWS, from + chunk * CHUNK * ROWS);
    close_copies();
  }
  for (int chunk = 0; chunk < n_chunks; chunk++) {
    wait_copies<STAGES - 2>();
    __syncwarp();  // this chunk is here for all, and the last one is not needed any more
    const int coming = chunk + STAGES - 1;
    if (coming < n_chunks) copy_chunk(stages + coming % STAGES * CHUNK * ROWS, from + coming * CHUNK * ROWS);
    close_copies();
    const float* scores = stages + chunk % STAGES * CHUNK * ROWS + row_of(0);
    const float* edges = table + chunk * CHUNK * COLUMNS + column_of(0);
#pragma unroll
    for (int k = 0; k < CHUNK; k++) {
      float score[PART_ROWS], edge[PART_COLUMNS];
      read_fours<PART_ROWS>(score, scores + k * ROWS, 32);
      read_fours<PART_COLUMNS>(edge, edges + k * COLUMNS, 16);
#pragma unroll
      for (int i = 0; i < PART_ROWS; i++)
#pragma unroll
        for (int j = 0; j < PART_COLUMNS; j++) total[i][j] = joined(total[i][j], score[i], edge[j]);
    }
  }
}

// Scores of labels with the best, or with the sum, of all that leads to them, from either end. Of sums, `node` and
// `table` are still logarithms, `peaks` (B, T) the largest scores of positions and `widest` that of the table; results
// are exponentials, at each position after the first divided by 2^exponents, that of the largest one before.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
climb(const float* __restrict__ node, const float* __restrict__ table, const int* __restrict__ lengths,
      const float* __restrict__ peaks, float* __restrict__ inside, int* __restrict__ exponents, float* front,
      float* front_peaks, unsigned* arrived, float widest, int B, int T, int K, int filled, int backwards) {
  float* columns = reinterpret_cast<float*>(shared_memory);  // [filled][COLUMNS]
  float* results = columns + filled * COLUMNS;      // [ROWS][COLUMNS + 1]
  float* factors = results + ROWS * (COLUMNS + 4);  // [ROWS]
  float* parts = factors + ROWS;  // [WARPS][ROWS][COLUMNS], after the copies
  const int tid = threadIdx.x, warp = tid / 32, n_blocks = gridDim.x, group = blockIdx.y;
  float* stages = parts + warp * STAGES * CHUNK * ROWS;  // [STAGES][CHUNK][ROWS] of each warp
  const int first_row = group * ROWS, first_column = blockIdx.x * COLUMNS, share = filled / WARPS;
  // what is known of a position and asked of the next: [2][gridDim.y][filled][ROWS] and [2][gridDim.y][n_blocks][ROWS]
  const long long front_size = static_cast<long long>(gridDim.y) * filled * ROWS;
  front += static_cast<long long>(group) * filled * ROWS;
#if SUMS
  const int peaks_size = gridDim.y * n_blocks * ROWS;
  front_peaks += group * n_blocks * ROWS;
#endif

  for (int at = tid; at < filled * COLUMNS; at += THREADS) {
    const int k = at / COLUMNS, n = first_column + at % COLUMNS;
    float edge = NEUTRAL;
    if (k < K && n < K) {
      edge = table[backwards ? static_cast<long long>(n) * K + k : static_cast<long long>(k) * K + n];
#if SUMS
      edge = expf(edge - widest);
#endif
    }
    columns[at] = edge;  // read after the first meeting
  }

  for (int step = 0; step < T; step++) {
    const int t = backwards ? T - 1 - step : step;
    if (step > 0) {
      float total[PART_ROWS][PART_COLUMNS];
      const float* before = front + (step + 1) % 2 * front_size;
      multiply(total, before + warp * share * ROWS, columns + warp * share * COLUMNS, stages, share / CHUNK);
#if SUMS
      if (tid < ROWS) {
        const float* largest = front_peaks + (step + 1) % 2 * peaks_size + tid;
        float peak = 0.0f;
#pragma unroll 8
        for (int block = 0; block < n_blocks; block++) peak = fmaxf(peak, read_fresh(largest + block * ROWS));
        const int biased = min(max(bits_of(peak) >> 23, 1), 253);
        const int exponent = peak > 0.0f ? biased - 127 : 0;
        factors[tid] = of_bits((127 - exponent) << 23);
        const int b = first_row + tid;
        if (blockIdx.x == 0 && b < B) exponents[static_cast<long long>(b) * T + t] = exponent;
      }
#endif
      __syncthreads();  // all have read their copies, where parts go now
#pragma unroll
      for (int i = 0; i < PART_ROWS; i++)
#pragma unroll
        for (int j = 0; j < PART_COLUMNS; j += 4)
          *reinterpret_cast<float4*>(parts + (warp * ROWS + row_of(i)) * COLUMNS + column_of(j)) =
              make_float4(total[i][j], total[i][j + 1], total[i][j + 2], total[i][j + 3]);
      __syncthreads();
    }
    for (int at = tid; at < ROWS * COLUMNS; at += THREADS) {
      const int row = at / COLUMNS, b = first_row + row, n = first_column + at % COLUMNS;
      float value = NEUTRAL;
      if (b < B && n < K) {
        const long long place = static_cast<long long>(b) * T + t;
        const bool begins = backwards ? t >= lengths[b] - 1 : t == 0;
#if SUMS
        value = expf(node[place * K + n] - peaks[place]);
#else
        value = node[place * K + n];
#endif
        if (!begins) {
          float all = parts[at];
#pragma unroll
          for (int other = 1; other < WARPS; other++) all = joined(all, parts[other * ROWS * COLUMNS + at]);
#if SUMS
          value *= all * factors[row];
#else
          value += all;
#endif
        }
        inside[place * K + n] = value;
      }
      results[row * (COLUMNS + 1) + at % COLUMNS] = value;
    }
    __syncthreads();
    if (step == T - 1) break;
    for (int at = tid; at < ROWS * COLUMNS; at += THREADS) {
      const int row = at % ROWS, n = first_column + at / ROWS;
      if (n < filled) front[step % 2 * front_size + n * ROWS + row] = results[row * (COLUMNS + 1) + at / ROWS];
    }
#if SUMS
    if (tid < ROWS) {
      float peak = 0.0f;
      for (int n = 0; n < COLUMNS; n++) peak = fmaxf(peak, results[tid * (COLUMNS + 1) + n]);
      front_peaks[step % 2 * peaks_size + blockIdx.x * ROWS + tid] = peak;
    }
#endif
    meet(arrived + group, (step + 1) * n_blocks);
  }
}

// The largest score of each position, 0 where all is forbidden: one warp a position.
extern "C" __global__ void __launch_bounds__(32)
peak(const float* __restrict__ node, float* __restrict__ peaks, int K) {
  const long long first = static_cast<long long>(blockIdx.x) * K;
  float most = NOTHING;
#pragma unroll 8
  for (int n = threadIdx.x; n < K; n += 32) most = fmaxf(most, node[first + n]);
  most = warp_max(most);
  if (threadIdx.x == 0) peaks[blockIdx.x] = most == NOTHING || most == -NOTHING ? 0.0f : most;
}

// Log-partition functions from what the way forward left, one warp a sequence.
extern "C" __global__ void __launch_bounds__(32)
total(const float* __restrict__ inside, const float* __restrict__ peaks, const int* __restrict__ exponents,
      const int* __restrict__ lengths, float* __restrict__ values, float widest, int T, int K) {
  const int b = blockIdx.x, lane = threadIdx.x, length = lengths[b];
  const long long first = static_cast<long long>(b) * T;
  double sum = 0.0, logs = 0.0;
  for (int n = lane; n < K; n += 32) sum += inside[(first + length - 1) * K + n];
  for (int t = lane; t < length; t += 32) logs += peaks[first + t] + LOG_2 * exponents[first + t];
  sum = warp_sum(sum), logs = warp_sum(logs);
  if (lane == 0) values[b] = static_cast<float>(log(sum) + logs + (length - 1) * static_cast<double>(widest));
}

// Shares of labels, one warp a position, of what leads to them from both ends, and `outside` divided so that its
// products with `inside` of the position before are shares of pairs, where the table is multiplied in.
extern "C" __global__ void __launch_bounds__(32)
share(const float* __restrict__ node, const float* __restrict__ peaks, const float* __restrict__ inside,
      const int* __restrict__ exponents, const int* __restrict__ lengths, const float* __restrict__ weight,
      float* __restrict__ outside, float* __restrict__ shares, int T, int K) {
  const int t = blockIdx.x % T, b = blockIdx.x / T, lane = threadIdx.x;
  const long long place = static_cast<long long>(b) * T + t, first = place * K;
  const bool counts = t < lengths[b];
  float sum = 0.0f;
  for (int n = lane; counts && n < K; n += 32) {
    const float own = expf(node[first + n] - peaks[place]);
    const float whole = own > 0.0f ? inside[first + n] / own * outside[first + n] : 0.0f;
    shares[first + n] = whole;
    sum += whole;
  }
  sum = warp_sum(sum);
  const float scale = counts && sum > 0.0f ? weight[b] / sum : 0.0f;  // nothing where all is forbidden
  const float beside = counts && t > 0 ? scale * of_bits((127 - exponents[place]) << 23) : 0.0f;
  for (int n = lane; n < K; n += 32) {
    shares[first + n] = counts ? shares[first + n] * scale : 0.0f;
    outside[first + n] = t > 0 && counts ? outside[first + n] * beside : 0.0f;
  }
}
