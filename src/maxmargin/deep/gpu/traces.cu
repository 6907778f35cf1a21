// From the last position back to the first, one warp a sequence. There are no pointers back: the scores of the way
// forward are there, and what led to a label is looked for again, for the labels that matter alone.
// TOP: how many labelings, at most 32.

// The best labeling; of equally good labels the lowest. `across` is the table, the second label first.
extern "C" __global__ void __launch_bounds__(32)
trace_best(const float* __restrict__ inside, const float* __restrict__ across, const int* __restrict__ lengths,
           long long* __restrict__ labels, int T, int K) {
  const int b = blockIdx.x, lane = threadIdx.x, length = lengths[b];
  const long long first = static_cast<long long>(b) * T;
  for (int t = length + lane; t < T; t += 32) labels[first + t] = 0;
  int label = -1;
  for (int t = length - 1; t >= 0; t--) {
    const float* here = inside + (first + t) * K;
    const float* toward = across + static_cast<long long>(label < 0 ? 0 : label) * K;
    int best = rank_of(NOTHING), found = lane < K ? lane : LAST_LABEL;
#pragma unroll 8
    for (int j = lane; j < K; j += 32) {
      const int rank = rank_of(label < 0 ? here[j] : here[j] + toward[j]);
      if (rank > best) best = rank, found = j;
    }
    label = best_of_warp(best, found);
    if (lane == 0) labels[first + t] = label;
  }
}

// Whether one way is before another: better, or as good and listed earlier.
__device__ __forceinline__ bool is_before(double score, int way, double other, int other_way) {
  return score > other || (score == other && way < other_way);
}

// The k best. Of all ends of labelings from a position on, those k are kept whose best beginnings make the best wholes:
// were a labeling among the k best and its end not, k others would be as good. Lane i has the i-th end.
extern "C" __global__ void __launch_bounds__(32)
trace_top(const float* __restrict__ node, const float* __restrict__ inside, const float* __restrict__ across,
          const int* __restrict__ lengths, int* __restrict__ ways, long long* __restrict__ labels,
          float* __restrict__ values, int T, int K) {
  const int b = blockIdx.x, lane = threadIdx.x, length = lengths[b];
  const long long first = static_cast<long long>(b) * T;
  int label = 0, n_ends = 1;
  double rest = 0.0, whole = NOTHING;  // of the end: what its labels score but for the first, and the best whole with it
  for (int t = length - 1; t >= 0; t--) {
    const float* here = inside + (first + t) * K;
    if (t < length - 1) rest += node[(first + t + 1) * K + label];
    double scores[TOP];
    int found[TOP];
#pragma unroll
    for (int i = 0; i < TOP; i++) scores[i] = NOTHING, found[i] = LAST_LABEL;
    int next[TOP];
    double beyond[TOP];
#pragma unroll
    for (int end = 0; end < TOP; end++) {
      next[end] = __shfl_sync(EVERY, label, end);
      beyond[end] = __shfl_sync(EVERY, rest, end);
    }
    for (int j = lane; j < K; j += 32) {
      float edges[TOP];  // all on their way at once
#pragma unroll
      for (int end = 0; end < TOP; end++)
        edges[end] = t < length - 1 && end < n_ends ? across[static_cast<long long>(next[end]) * K + j] : 0.0f;
      const double own = here[j];
#pragma unroll
      for (int end = 0; end < TOP; end++) {
        double score = own + edges[end] + beyond[end];
        int way = end * K + j;
        if (end >= n_ends || !(score > scores[TOP - 1])) continue;
#pragma unroll
        for (int i = 0; i < TOP; i++) {  // put it where it belongs, and go on with what was there
          if (score > scores[i]) {
            const double other = scores[i];
            const int other_way = found[i];
            scores[i] = score, found[i] = way;
            score = other, way = other_way;
          }
        }
      }
    }
    int mine = 0, n_found = 0;
    double chosen = NOTHING;
    for (int i = 0; i < TOP; i++) {  // the best of all lanes, one after the other
      double score = scores[0];
      int way = found[0];
      for (int apart = 16; apart > 0; apart /= 2) {
        const double other = __shfl_xor_sync(EVERY, score, apart);
        const int other_way = __shfl_xor_sync(EVERY, way, apart);
        if (is_before(other, other_way, score, way)) score = other, way = other_way;
      }
      if (way == LAST_LABEL) break;  // of all lanes at once: there are no more
      if (found[0] == way) {
#pragma unroll
        for (int k = 0; k < TOP - 1; k++) scores[k] = scores[k + 1], found[k] = found[k + 1];
        scores[TOP - 1] = NOTHING, found[TOP - 1] = LAST_LABEL;
      }
      if (lane == i) mine = way, chosen = score;
      n_found++;
    }
    const int end = mine / K;
    const int after = __shfl_sync(EVERY, label, end);
    rest = __shfl_sync(EVERY, rest, end);
    label = mine - end * K;
    if (t < length - 1) rest += across[static_cast<long long>(after) * K + label];
    whole = chosen, n_ends = n_found;
    if (lane < TOP) ways[(first + t) * TOP + lane] = mine;
    if (n_found == 0) break;  // everything is forbidden
  }
  __syncwarp();
  if (lane >= TOP) return;
  const bool is_there = lane < n_ends;
  values[b * TOP + lane] = is_there ? static_cast<float>(whole) : NOTHING;
  long long* own = labels + (static_cast<long long>(b) * TOP + lane) * T;
  int end = lane;
  for (int t = 0; t < T; t++) {
    const bool counts = is_there && t < length;
    const int way = counts ? ways[(first + t) * TOP + end] : 0;
    own[t] = way % K;
    end = way / K;
  }
}
