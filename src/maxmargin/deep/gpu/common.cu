#define NOTHING of_bits(0xff800000)  // -inf, the score of what is forbidden
#define EVERY 0xffffffffu

// Whole numbers in the order of the scores; both zeros are one.
__device__ __forceinline__ int rank_of(float score) {
  const int bits = bits_of(score + 0.0f);
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

__device__ __forceinline__ float score_of(int rank) { return of_bits(rank ^ ((rank >> 31) & 0x7fffffff)); }

// The largest of a warp.
__device__ __forceinline__ float warp_max(float score) { return score_of(__reduce_max_sync(EVERY, rank_of(score))); }

#define LAST_LABEL 0x7fffffff

// Each lane brings the rank of its best label, and which that is: the lowest of all that are as good as any.
__device__ __forceinline__ int best_of_warp(int rank, int label) {
  const int largest = __reduce_max_sync(EVERY, rank);
  return __reduce_min_sync(EVERY, rank == largest ? label : LAST_LABEL);
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(EVERY, value, apart);
  return value;
}
