// What the kernels ask of the chip beyond plain CUDA C++; tests bring another one, that runs them on a CPU.
// Compute capability 8.0 or higher: reductions over a warp, and copies that do not wait.

extern __shared__ __align__(16) char shared_memory[];

__device__ __forceinline__ int bits_of(float value) { return __float_as_int(value); }
__device__ __forceinline__ float of_bits(int bits) { return __int_as_float(bits); }

// Begin to copy 16 bytes from global to shared memory, past the first cache, which does not see what others write.
__device__ __forceinline__ void begin_copy(float* to, const float* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
}
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LATER>  // wait until all groups are there but the last so many
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory"); }

// Read what another block may have written.
__device__ __forceinline__ float read_fresh(const float* from) { return __ldcg(from); }

// Wait for the blocks that count here to come to the same place, `goal` arrivals since the launch.
__device__ __forceinline__ void meet(unsigned* arrived, unsigned goal) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned seen;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    while (seen < goal);
    __threadfence();
  }
  __syncthreads();
}
