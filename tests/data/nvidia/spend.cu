// Kernels that spend a chosen amount of everything a cubin records: compiled many times with other numbers.
// REGS values live at once, SHARED bytes, STACK floats indexed at run time, BARS named barriers, SIZE threads.

#ifndef REGS
#define REGS 8
#endif
#ifndef SHARED
#define SHARED 0
#endif
#ifndef STACK
#define STACK 0
#endif
#ifndef BARS
#define BARS 0
#endif
#ifndef SIZE
#define SIZE 0
#endif

#if SIZE
#define BOUND __launch_bounds__(SIZE)
#else
#define BOUND
#endif

__device__ __forceinline__ float live(const float *in, int n) {
  float value[REGS];
#pragma unroll
  for (int i = 0; i < REGS; i++) value[i] = in[threadIdx.x + 37 * i];
#pragma unroll 1
  for (int step = 0; step < n; step++) {
#pragma unroll
    for (int i = 0; i < REGS; i++) value[i] = value[i] * in[step + i] + value[(i + 1) % REGS];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < REGS; i++) sum += value[i] * value[i];
  return sum;
}

template <int N>
__device__ __forceinline__ void barriers() {
  if constexpr (N > 0) {
    barriers<N - 1>();
    asm volatile("bar.sync %0, 64;" ::"n"(N));
  }
}

extern "C" __global__ void BOUND spend(const float *in, float *out, int n) {
  float sum = live(in, n);
#if STACK
  float kept[STACK];
#pragma unroll 1
  for (int i = 0; i < n; i++) kept[(i * 7) % STACK] = in[i];
  sum += kept[n % STACK];
#endif
#if SHARED
  __shared__ char tile[SHARED];
  tile[threadIdx.x * 5 % SHARED] = (char)sum;
  __syncthreads();
  sum += tile[(threadIdx.x * 3 + n) % SHARED];
#endif
#if BARS
  barriers<BARS>();
#endif
  out[threadIdx.x] = sum;
}

// What is given at launch stands in no file.
extern __shared__ float launch_time[];

template <int N>
__global__ void __launch_bounds__(N, 2) named(const float *in, float *out) {
  launch_time[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = launch_time[N - 1 - threadIdx.x];
}
template __global__ void named<96>(const float *, float *);

#ifdef CALLS
__device__ __noinline__ float leaf(const float *in, int n) {
  float kept[50];
#pragma unroll 1
  for (int i = 0; i < n; i++) kept[(i * 37) % 50] = in[i];
  return kept[n % 50];
}
__device__ __noinline__ float again(const float *in, int n) {
  if (n < 2) return in[0];
  float kept[10];
#pragma unroll 1
  for (int i = 0; i < n; i++) kept[(i * 7) % 10] = in[i];
  return again(in, n - 1) + kept[n % 10] * again(in + 1, n - 2);
}
typedef float (*Function)(const float *, int);
__device__ Function table[2] = {leaf, again};

extern "C" __global__ void calls(const float *in, float *out, int n) {
  float kept[5];
#pragma unroll 1
  for (int i = 0; i < n; i++) kept[(i * 3) % 5] = in[i];
  out[0] = leaf(in, n) + kept[n % 5];
}
extern "C" __global__ void recursive(const float *in, float *out, int n) { out[0] = again(in, n); }
extern "C" __global__ void indirect(const float *in, float *out, int n) { out[0] = table[n & 1](in, n); }
#endif

#if defined(CLUSTER) && __CUDA_ARCH__ >= 900
extern "C" __global__ void __block_size__((64, 2, 1)) required(const float *in, float *out) {
  out[threadIdx.x] = in[threadIdx.y];
}
#endif
