// Few labels: one block a sequence, one thread a label, its column of the table in registers.
// LABELS: a power of two from 8 to 128, at least K; THREADS: LABELS, at least a warp; SUMS: 1 to sum, 0 for the best;
// WAYS: 1 to follow the best back.

#define WARPS (THREADS / 32)
#define AHEAD 4  // positions whose scores are on their way
#define BACK 64  // positions whose ways are at hand on the way back
#define SOME (LABELS < 32 ? LABELS : 32)

// The best way to a label, given the scores before and the label's column.
__device__ __forceinline__ float best_over(const float* before, const float column[LABELS]) {
  float best[4] = {NOTHING, NOTHING, NOTHING, NOTHING};
#pragma unroll
  for (int j = 0; j < LABELS; j += 4) {
    const float4 four = *reinterpret_cast<const float4*>(before + j);
    best[0] = fmaxf(best[0], four.x + column[j]);
    best[1] = fmaxf(best[1], four.y + column[j + 1]);
    best[2] = fmaxf(best[2], four.z + column[j + 2]);
    best[3] = fmaxf(best[3], four.w + column[j + 3]);
  }
  return fmaxf(fmaxf(best[0], best[1]), fmaxf(best[2], best[3]));
}

// The same, and the label before, of equally good ones the lowest.
__device__ __forceinline__ float best_over(const float* before, const float column[LABELS], int& way) {
  float best[4] = {NOTHING, NOTHING, NOTHING, NOTHING};
  int from[4] = {0, 1, 2, 3};
#pragma unroll
  for (int j = 0; j < LABELS; j += 4) {
    const float4 four = *reinterpret_cast<const float4*>(before + j);
    const float scores[4] = {four.x + column[j], four.y + column[j + 1], four.z + column[j + 2], four.w + column[j + 3]};
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (scores[i] > best[i]) best[i] = scores[i], from[i] = j + i;
  }
#pragma unroll
  for (int i = 1; i < 4; i++)
    if (best[i] > best[0] || (best[i] == best[0] && from[i] < from[0])) best[0] = best[i], from[0] = from[i];
  way = from[0];
  return best[0];
}

// The sum over all ways, of exponentials, as a logarithm: some labels at a time, for registers to hold.
__device__ __forceinline__ float sum_over(const float* before, const float column[LABELS]) {
  float most = NOTHING, sum = 0.0f;
#pragma unroll
  for (int first = 0; first < LABELS; first += SOME) {
    float ways[SOME], best = most;
#pragma unroll
    for (int j = 0; j < SOME; j += 4) {
      const float4 four = *reinterpret_cast<const float4*>(before + first + j);
      ways[j] = four.x + column[first + j];
      ways[j + 1] = four.y + column[first + j + 1];
      ways[j + 2] = four.z + column[first + j + 2];
      ways[j + 3] = four.w + column[first + j + 3];
      best = fmaxf(best, fmaxf(fmaxf(ways[j], ways[j + 1]), fmaxf(ways[j + 2], ways[j + 3])));
    }
    const float base = best == NOTHING ? 0.0f : best;
    float parts[2] = {sum * __expf(most - base), 0.0f};
#pragma unroll
    for (int j = 0; j < SOME; j++) parts[j % 2] += __expf(ways[j] - base);
    sum = parts[0] + parts[1];
    most = best;
  }
  return most == NOTHING ? NOTHING : most + logf(sum);
}

// Scores of labels with the best, or with the sum, of all that leads to them: from the first position on, or from the
// last one back. Sums are logarithms; each position's are shifted by the largest of the one before, so that they keep
// their digits. With `ways` (B, T, K), the labels before, the best labelings are followed back: of equally good ones that
// with the lowest label, last position first.
extern "C" __global__ void __launch_bounds__(THREADS)
climb(const float* __restrict__ node, const float* __restrict__ table, const int* __restrict__ lengths,
      float* __restrict__ inside, double* __restrict__ values, unsigned char* ways, long long* __restrict__ labels, int T,
      int K, int backwards) {
  float* rows = reinterpret_cast<float*>(shared_memory);  // [2][LABELS]
#if SUMS
  float* peaks = rows + 2 * LABELS;  // [2][WARPS]
  double shifted = 0.0;
#endif
  const int n = threadIdx.x, length = lengths[blockIdx.x];
  const bool is_label = n < K;
  const long long first = static_cast<long long>(blockIdx.x) * T + (backwards ? length - 1 : 0);
  const long long onward = backwards ? -K : K;
  const float* scores = node + first * K + n;
  float* out = inside + first * K + n;

  float column[LABELS];
#pragma unroll
  for (int j = 0; j < LABELS; j++)
    column[j] = is_label && j < K ? table[backwards ? n * K + j : j * K + n] : NOTHING;
  float coming[AHEAD];
#pragma unroll
  for (int i = 0; i < AHEAD; i++) coming[i] = is_label && i < length ? scores[i * onward] : NOTHING;

  for (int step = 0; step < length; step++) {
    float value = coming[0];
#pragma unroll
    for (int i = 0; i < AHEAD - 1; i++) coming[i] = coming[i + 1];
    if (is_label && step + AHEAD < length) coming[AHEAD - 1] = scores[(step + AHEAD) * onward];
    const float* before = rows + (step + 1) % 2 * LABELS;
    if (step > 0) {
#if SUMS
      float shift = peaks[(step + 1) % 2 * WARPS];
      for (int warp = 1; warp < WARPS; warp++) shift = fmaxf(shift, peaks[(step + 1) % 2 * WARPS + warp]);
      if (shift == NOTHING) shift = 0.0f;
      shifted += shift;
      value += sum_over(before, column) - shift;
#elif WAYS
      int way;
      value += best_over(before, column, way);
      if (is_label) ways[(first + step) * K + n] = static_cast<unsigned char>(way);
#else
      value += best_over(before, column);
#endif
    }
    if (n < LABELS) rows[step % 2 * LABELS + n] = value;
    if (is_label) out[step * onward] = value;
#if SUMS
    const float peak = warp_max(value);
    if (n % 32 == 0) peaks[step % 2 * WARPS + n / 32] = peak;
#endif
    __syncthreads();
  }
#if SUMS
  if (n == 0 && !backwards) {
    const float* last = rows + (length + 1) % 2 * LABELS;
    float most = NOTHING, sum = 0.0f;
    for (int j = 0; j < K; j++) most = fmaxf(most, last[j]);
    for (int j = 0; j < K; j++) sum += most == NOTHING ? 0.0f : __expf(last[j] - most);
    values[blockIdx.x] = most == NOTHING ? static_cast<double>(NOTHING) : shifted + most + logf(sum);
  }
#elif WAYS
  int label = 0;
  if (n < 32) {
    const float* last = rows + (length + 1) % 2 * LABELS;
    int best = rank_of(NOTHING), found = n < K ? n : LAST_LABEL;
    for (int j = n; j < K; j += 32)
      if (rank_of(last[j]) > best) best = rank_of(last[j]), found = j;
    label = best_of_warp(best, found);
  }
  long long* own = labels + static_cast<long long>(blockIdx.x) * T;
  unsigned char* some = reinterpret_cast<unsigned char*>(rows + 2 * LABELS);  // [BACK][K]
  for (int t = length + n; t < T; t += THREADS) own[t] = 0;
  for (int end = length; end > 0; end -= BACK) {
    const int begin = max(end - BACK, 0);
    __syncthreads();
#pragma unroll 32
    for (int at = n; at < (end - begin) * K; at += THREADS) some[at] = ways[(first + begin) * K + at];
    __syncthreads();
    for (int t = end - 1; n == 0 && t >= begin; t--) {
      own[t] = label;
      label = some[(t - begin) * K + label];
    }
  }
#endif
}

// Shares of labels, one warp a position: of what leads to them from both ends, their own scores counted once.
extern "C" __global__ void __launch_bounds__(32)
share(const float* __restrict__ node, const float* __restrict__ inside, const float* __restrict__ outside,
      const int* __restrict__ lengths, const float* __restrict__ weight, float* __restrict__ shares, int T, int K) {
  const int t = blockIdx.x % T, b = blockIdx.x / T, lane = threadIdx.x;
  const long long first = (static_cast<long long>(b) * T + t) * K;
  if (t >= lengths[b]) {
    for (int n = lane; n < K; n += 32) shares[first + n] = 0.0f;
    return;
  }
  float total[LABELS / 32 + 1], peak = NOTHING, sum = 0.0f;
#pragma unroll
  for (int i = 0; i <= LABELS / 32; i++) {
    const int n = lane + 32 * i;
    const float own = n < K ? node[first + n] : NOTHING;
    total[i] = own == NOTHING ? NOTHING : inside[first + n] + (outside[first + n] - own);
    peak = fmaxf(peak, total[i]);
  }
  peak = warp_max(peak);
#pragma unroll
  for (int i = 0; i <= LABELS / 32; i++) {
    total[i] = peak == NOTHING ? 0.0f : __expf(total[i] - peak);
    sum += total[i];
  }
  const float scale = peak == NOTHING ? 0.0f : weight[b] / warp_sum(sum);  // nothing where all is forbidden
#pragma unroll
  for (int i = 0; i <= LABELS / 32; i++)
    if (lane + 32 * i < K) shares[first + lane + 32 * i] = total[i] * scale;
}

// Shares of pairs of labels, summed over the positions of a sequence: a block a sequence, groups of LABELS threads take
// positions in turn, a thread the pairs that its label is first in. What follows a label is shared out of its share.
#define GROUPS (THREADS / LABELS)
extern "C" __global__ void __launch_bounds__(THREADS)
pair(const float* __restrict__ table, const float* __restrict__ outside, const float* __restrict__ shares,
     const int* __restrict__ lengths, float* __restrict__ pairs, int T, int K) {
  float* column = reinterpret_cast<float*>(shared_memory);  // [LABELS][LABELS], the second label first
  float* total = column + LABELS * LABELS;                  // [LABELS][LABELS]
  float* rows = total + LABELS * LABELS;                    // [GROUPS][LABELS]
  const int j = threadIdx.x % LABELS, group = threadIdx.x / LABELS, length = lengths[blockIdx.x];
  const long long first = static_cast<long long>(blockIdx.x) * T * K;
  for (int n = group; n < LABELS; n += GROUPS) {
    column[n * LABELS + j] = j < K && n < K ? table[j * K + n] : NOTHING;
    total[n * LABELS + j] = 0.0f;
  }
  float found[LABELS];
#pragma unroll
  for (int n = 0; n < LABELS; n++) found[n] = 0.0f;
  float* row = rows + group * LABELS;
  for (int begin = 1; begin < length; begin += GROUPS) {
    const int t = begin + group;
    __syncthreads();
    if (t < length) row[j] = j < K ? outside[first + static_cast<long long>(t) * K + j] : NOTHING;
    __syncthreads();
    float own = t < length && j < K ? shares[first + static_cast<long long>(t - 1) * K + j] : 0.0f;
    float most = NOTHING, sum = 0.0f;
    if (own != 0.0f) {
#pragma unroll
      for (int n = 0; n < LABELS; n++) most = fmaxf(most, row[n] + column[n * LABELS + j]);
    }
    if (most != NOTHING) {
#pragma unroll 16
      for (int n = 0; n < LABELS; n++) sum += __expf(row[n] + column[n * LABELS + j] - most);
      own /= sum;
#pragma unroll
      for (int n = 0; n < LABELS; n++) found[n] += own * __expf(row[n] + column[n * LABELS + j] - most);
    }
  }
  for (int turn = 0; turn < GROUPS; turn++) {  // in this order always, so that sums are the same every time
    __syncthreads();
    if (group == turn) {
#pragma unroll
      for (int n = 0; n < LABELS; n++) total[n * LABELS + j] += found[n];
    }
  }
  __syncthreads();
  for (int at = threadIdx.x; at < K * K; at += THREADS)
    pairs[static_cast<long long>(blockIdx.x) * K * K + at] = total[(at % K) * LABELS + at / K];
}
