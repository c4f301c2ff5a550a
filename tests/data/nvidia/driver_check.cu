// Thirty kernels whose occupancy is asked of a driver: registers, shared memory, barriers and bounds vary; vN holds N values at once.
//   nvcc -arch=sm_90 -cubin -o driver_check.cubin driver_check.cu

extern __shared__ float launch_time[];

template <int N>
__device__ __forceinline__ void barriers() {
  if constexpr (N > 0) {
    barriers<N - 1>();
    asm volatile("bar.sync %0, 64;" ::"n"(N));
  }
}

template <int VALUES, int SHARED, int BARS, int STACK>
__device__ __forceinline__ void spend(const float *in, float *out, int n) {
  float value[VALUES];
#pragma unroll
  for (int i = 0; i < VALUES; i++) value[i] = in[threadIdx.x + 37 * i];
#pragma unroll 1
  for (int step = 0; step < n; step++) {
#pragma unroll
    for (int i = 0; i < VALUES; i++) value[i] = value[i] * in[step + i] + value[(i + 1) % VALUES];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < VALUES; i++) sum += value[i] * value[i];
  if constexpr (STACK > 0) {
    float kept[STACK];
#pragma unroll 1
    for (int i = 0; i < n; i++) kept[(i * 7) % STACK] = in[i];
    sum += kept[n % STACK];
  }
  if constexpr (SHARED > 0) {
    __shared__ char tile[SHARED];
    tile[threadIdx.x * 5 % SHARED] = (char)sum;
    __syncthreads();
    sum += tile[(threadIdx.x * 3 + n) % SHARED];
  }
  barriers<BARS>();
  if (n < 0) sum += launch_time[threadIdx.x];
  out[threadIdx.x] = sum;
}

#define KERNEL(name, values, shared, bars, stack, bounds)                      \
  extern "C" __global__ void bounds name(const float *in, float *out, int n) { \
    spend<values, shared, bars, stack>(in, out, n);                            \
  }
#define FREE

KERNEL(v1, 1, 0, 0, 0, FREE)
KERNEL(v2_s16, 2, 16, 0, 0, FREE)
KERNEL(v4_s1000, 4, 1000, 0, 0, FREE)
KERNEL(v6_b1, 6, 0, 1, 0, FREE)
KERNEL(v6_b3, 6, 0, 3, 0, FREE)
KERNEL(v6_b7, 6, 0, 7, 0, FREE)
KERNEL(v6_b15, 6, 0, 15, 0, FREE)
KERNEL(v7_s2048_b2, 7, 2048, 2, 0, FREE)
KERNEL(v8_l20, 8, 0, 0, 20, FREE)
KERNEL(v10_s4096, 10, 4096, 0, 0, FREE)
KERNEL(v12, 12, 0, 0, 0, FREE)
KERNEL(v12_t64, 12, 0, 0, 0, __launch_bounds__(64))
KERNEL(v15_s8192, 15, 8192, 0, 0, FREE)
KERNEL(v18, 18, 0, 0, 0, FREE)
KERNEL(v18_s12288_t128, 18, 12288, 0, 0, __launch_bounds__(128))
KERNEL(v20_t96, 20, 0, 0, 0, __launch_bounds__(96))
KERNEL(v24_s16384, 24, 16384, 0, 0, FREE)
KERNEL(v26_b5_t256, 26, 0, 5, 0, __launch_bounds__(256))
KERNEL(v30, 30, 0, 0, 0, FREE)
KERNEL(v30_t1024, 30, 0, 0, 0, __launch_bounds__(1024))
KERNEL(v32_s24576, 32, 24576, 0, 0, FREE)
KERNEL(v36_t512, 36, 0, 0, 0, __launch_bounds__(512))
KERNEL(v40_s32768_t256, 40, 32768, 0, 0, __launch_bounds__(256, 2))
KERNEL(v45, 45, 0, 0, 0, FREE)
KERNEL(v45_s40000_t384, 45, 40000, 0, 0, __launch_bounds__(384))
KERNEL(v72_l50, 72, 0, 0, 50, FREE)
KERNEL(v55_s49152, 55, 48 * 1024, 0, 0, FREE)
KERNEL(v80_t192_b2, 80, 0, 2, 0, __launch_bounds__(192))
KERNEL(v98, 98, 0, 0, 0, FREE)
KERNEL(v122_s100_t128, 122, 100, 0, 0, __launch_bounds__(128))
