// CUDA on one CPU thread, for tests: threads of a grid are fibers that run until they wait for each other. Shared memory
// begins as NaN, copies arrive when they are waited for and no earlier, and fibers take turns in either order, so that
// a wait that is missing shows.
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
using std::max;
using std::min;

struct Place { int x, y; };
struct alignas(16) float4 { float x, y, z, w; };
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct Meeting { int size = 0, arrived = 0; unsigned round = 0; };
struct Copy { float* to; const float* from; };
struct Warp { Meeting meeting; double slots[32]; };
struct Block { Meeting meeting; std::vector<float> memory; std::vector<Warp> warps; Place place; };
struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  Block* block;
  Place thread;
  const volatile unsigned* watched;
  unsigned seen;
  std::vector<std::vector<Copy>> copies;
  bool done;
};

static Fiber* now;
static ucontext_t scheduler;
static Place gridDim;
#define threadIdx (now->thread)
#define blockIdx (now->block->place)
#define shared_memory (reinterpret_cast<char*>(now->block->memory.data()))

inline void pause_until_changed(const volatile unsigned* watched, unsigned seen) {
  now->watched = watched, now->seen = seen;
  swapcontext(&now->context, &scheduler);
}
inline void wait_for_all(Meeting& meeting) {
  const unsigned round = meeting.round;
  if (++meeting.arrived == meeting.size) { meeting.arrived = 0, meeting.round++; return; }
  pause_until_changed(&meeting.round, round);
}
inline Warp& own_warp() { return now->block->warps[now->thread.x / 32]; }
inline void __syncthreads() { wait_for_all(now->block->meeting); }
inline void __syncwarp() { wait_for_all(own_warp().meeting); }
template <class T> T __shfl_sync(unsigned, T value, int lane) {
  Warp& warp = own_warp();
  memcpy(&warp.slots[now->thread.x % 32], &value, sizeof(T));
  __syncwarp();
  memcpy(&value, &warp.slots[lane], sizeof(T));
  __syncwarp();
  return value;
}
template <class T> T __shfl_xor_sync(unsigned all, T value, int apart) {
  return __shfl_sync(all, value, (now->thread.x % 32) ^ apart);
}
template <class T, class F> T of_warp(T value, F join) {
  for (int apart = 16; apart > 0; apart /= 2) value = join(value, __shfl_xor_sync(0u, value, apart));
  return value;
}
inline int __reduce_max_sync(unsigned, int value) { return of_warp(value, [](int a, int b) { return max(a, b); }); }
inline int __reduce_min_sync(unsigned, int value) { return of_warp(value, [](int a, int b) { return min(a, b); }); }
inline float __expf(float value) { return expf(value); }

inline int bits_of(float value) { int bits; memcpy(&bits, &value, 4); return bits; }
inline float of_bits(int bits) { float value; memcpy(&value, &bits, 4); return value; }
inline void begin_copy(float* to, const float* from) {
  if (now->copies.empty()) now->copies.emplace_back();
  now->copies.back().push_back({to, from});
}
inline void close_copies() { now->copies.resize(max<size_t>(now->copies.size(), 1) + 1); }
template <int LATER> void wait_copies() {  // the last of the list is still open
  while (now->copies.size() > LATER + 1) {
    for (const Copy& copy : now->copies.front()) memcpy(copy.to, copy.from, 16);
    now->copies.erase(now->copies.begin());
  }
}
inline float read_fresh(const float* from) { return *from; }
inline void meet(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    ++*arrived;
    while (*arrived < goal) pause_until_changed(arrived, *arrived);
  }
  __syncthreads();
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void** args, std::index_sequence<I...>) { kernel(*static_cast<A*>(args[I])...); }
template <class... A> struct Launch {
  static void (*kernel)(A...);
  static void** args;
  static void begin() {
    call(kernel, args, std::index_sequence_for<A...>());
    now->done = true;
    swapcontext(&now->context, &scheduler);
  }
};
template <class... A> void (*Launch<A...>::kernel)(A...);
template <class... A> void** Launch<A...>::args;

// Run fibers until all are done; false if they wait for each other for ever. A block goes on for as long as it can: a
// wait for other blocks that is missing shows.
inline bool take_turns(std::vector<Fiber>& fibers, int threads, bool reversed) {
  const int count = fibers.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (int first = 0; first < count; first += threads) {
      for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int i = first; i < first + threads; i++) {
          Fiber& fiber = fibers[reversed ? count - 1 - i : i];
          if (fiber.done || (fiber.watched && *fiber.watched == fiber.seen)) continue;
          now = &fiber, moved = goes_on = true;
          swapcontext(&scheduler, &fiber.context);
        }
      }
    }
  }
  return std::all_of(fibers.begin(), fibers.end(), [](const Fiber& fiber) { return fiber.done; });
}

template <class... A>
bool run(void (*kernel)(A...), int x, int y, int threads, int bytes, int together, int reversed, void** args) {
  gridDim = {x, y};
  Launch<A...>::kernel = kernel, Launch<A...>::args = args;
  const int at_once = together ? x * y : 1;
  for (int first = 0; first < x * y; first += at_once) {
    std::vector<Block> blocks(at_once);
    std::vector<Fiber> fibers(static_cast<size_t>(at_once) * threads);
    for (int b = 0; b < at_once; b++) {
      Block& block = blocks[b];
      block.place = {(first + b) % x, (first + b) / x};
      block.meeting.size = threads;
      block.memory.assign(bytes / 4, NAN);
      block.warps.resize(threads / 32);
      for (Warp& warp : block.warps) warp.meeting.size = 32;
      for (int t = 0; t < threads; t++) {
        Fiber& fiber = fibers[static_cast<size_t>(b) * threads + t];
        fiber.stack.resize(1 << 15);
        fiber.block = &block, fiber.thread = {t, 0}, fiber.watched = nullptr, fiber.done = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        makecontext(&fiber.context, &Launch<A...>::begin, 0);
      }
    }
    if (!take_turns(fibers, threads, reversed)) return false;
  }
  return true;
}
