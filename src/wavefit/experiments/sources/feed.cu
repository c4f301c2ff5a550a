// The feed experiment in CUDA C++: is the tensor unit fed, and is the memory asked for enough.
//
//   matrix: every warp runs ILP independent chains of one instruction, registers only; how many warps are
//           resident is set apart from that by shared memory that each block reserves and never touches.
//   read:   every thread keeps LOADS loads of one width in flight and does nothing else.
//
// Build: nvcc -O3 -arch=sm_90 -o feed feed.cu        Run: ./feed > feed.csv     (./feed quick: fewer points)
// One CSV on standard output, header first; what cannot be resident is left out. Times are medians.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t status_ = (call);                                                            \
        if (status_ != cudaSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

constexpr int kThreads = 128;  // one warp a sub-partition
constexpr int kSimds = 4;
constexpr int kMatrixWork = 65536;
constexpr int kVectorWork = 262144;

// When and where one warp ran.
struct Stamp {
    unsigned long long start_ns, end_ns;
    long long cycles;
    unsigned sm, slot;
};

__device__ unsigned long long now_ns() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__device__ void leave(Stamp* stamps, unsigned long long start, long long cycles) {
    if (threadIdx.x % 32) return;
    unsigned sm, slot;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    stamps[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {start, now_ns(), clock64() - cycles, sm, slot};
}

template <int ILP>
__global__ void mma_bf16(Stamp* stamps, float* out, int iterations) {
    const unsigned long long start = now_ns();
    const long long cycles = clock64();
    const unsigned t = threadIdx.x;
    const unsigned a0 = t * 3, a1 = t * 5, a2 = t * 7, a3 = t * 9, b0 = t ^ 21, b1 = t ^ 42;
    float c[ILP][4];
#pragma unroll
    for (int k = 0; k < ILP; ++k)
        for (int j = 0; j < 4; ++j) c[k][j] = 0.5f * (k + j);
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int k = 0; k < ILP; ++k)
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
                : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    leave(stamps, start, cycles);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < ILP; ++k)
        for (int j = 0; j < 4; ++j) sum += c[k][j];
    if (sum == 12345.678f) out[0] = sum;
}

template <int ILP>
__global__ void fma_f32(Stamp* stamps, float* out, int iterations) {
    const unsigned long long start = now_ns();
    const long long cycles = clock64();
    // A register times a register plus a register: no constant bank takes part.
    const float x = 1.0f + threadIdx.x * 1e-9f, y = threadIdx.x * 1e-3f;
    float c[ILP];
#pragma unroll
    for (int k = 0; k < ILP; ++k) c[k] = k + threadIdx.x;
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int k = 0; k < ILP; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(c[k]) : "f"(x), "f"(y));
    }
    leave(stamps, start, cycles);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < ILP; ++k) sum += c[k];
    if (sum == 12345.678f) out[0] = sum;
}

template <int BYTES>
struct Word;
template <>
struct Word<4> {
    unsigned x;
    __device__ void load(const char* from) { asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(x) : "l"(from)); }
    __device__ unsigned fold() const { return x; }
};
template <>
struct Word<8> {
    unsigned x, y;
    __device__ void load(const char* from) {
        asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(from));
    }
    __device__ unsigned fold() const { return x ^ y; }
};
template <>
struct Word<16> {
    unsigned x, y, z, w;
    __device__ void load(const char* from) {
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(from));
    }
    __device__ unsigned fold() const { return x ^ y ^ z ^ w; }
};

// All LOADS are issued before the first is used; then the next LOADS. Without the bounds ptxas keeps to 32
// registers and, of eight 16-byte loads, to five in flight; unrolled, it would mix the rounds.
template <int BYTES, int LOADS>
__global__ void __launch_bounds__(kThreads, 1) read(const char* from, unsigned* out, size_t rounds) {
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    const char* at = from + (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * BYTES;
    unsigned fold = 0;
#pragma unroll 1
    for (size_t round = 0; round < rounds; ++round) {
        Word<BYTES> words[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k) words[k].load(at + k * threads * BYTES);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) fold ^= words[k].fold();
        at += LOADS * threads * BYTES;
    }
    if (fold == 0x12345678u) out[0] = fold;
}

struct Machine {
    cudaDeviceProp prop;
    int driver, runtime, nominal_khz;
    float* sink;
    Stamp* stamps;
    char* buffer;
    size_t buffer_bytes;
    cudaEvent_t before, after;
};

static Machine machine;
static int repeats = 7;

template <class Launch>
float median_ms(Launch launch) {
    std::vector<float> times;
    launch();
    CHECK(cudaGetLastError());
    for (int i = 0; i < repeats; ++i) {
        CHECK(cudaEventRecord(machine.before));
        launch();
        CHECK(cudaEventRecord(machine.after));
        CHECK(cudaEventSynchronize(machine.after));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, machine.before, machine.after));
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Shared memory per block with which exactly `blocks` are resident; false where something else allows fewer.
template <class Kernel>
bool throttle(Kernel kernel, int blocks, int* bytes) {
    const int reserved = int(machine.prop.reservedSharedMemPerBlock);
    const int pool = int(machine.prop.sharedMemPerMultiprocessor), most = int(machine.prop.sharedMemPerBlockOptin);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    *bytes = std::min(most, (pool / blocks - reserved) / 128 * 128);
    int resident = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kThreads, *bytes));
    return resident == blocks;
}

static void row(const char* experiment, const char* instruction, int ilp, int blocks, int lds, int work, int sms,
                int bytes, int loads, float ms, double flops, double rate, double clock, double cycles, double first) {
    std::printf("%s,%s,sm_%d%d,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.6f,%.6g,%.6g,%.1f,%.4f,%.4f,%.0f,%d.%d,nvcc %d.%d\n",
                experiment, machine.prop.name, machine.prop.major, machine.prop.minor, instruction, ilp,
                blocks * kThreads / 32 / kSimds, blocks, kThreads, lds, work, sms, bytes, loads, ms, flops, rate,
                clock, cycles, first, machine.nominal_khz / 1e3, machine.driver / 1000, machine.driver % 1000 / 10,
                __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    std::fflush(stdout);
}

// What the stamps of the last run say of one SM: its clock, the cycles of a warp, when the first warp ended.
static void read_stamps(int warps, double* clock_mhz, double* cycles, double* first) {
    std::vector<Stamp> stamps(warps);
    CHECK(cudaMemcpy(stamps.data(), machine.stamps, warps * sizeof(Stamp), cudaMemcpyDeviceToHost));
    unsigned long long begin = ~0ull, first_end = ~0ull, last_end = 0;
    const unsigned sm = stamps[0].sm;
    const Stamp* longest = nullptr;
    for (const Stamp& each : stamps) {
        if (each.sm != sm) continue;
        begin = std::min(begin, each.start_ns);
        first_end = std::min(first_end, each.end_ns);
        last_end = std::max(last_end, each.end_ns);
        if (!longest || each.cycles > longest->cycles) longest = &each;
    }
    *clock_mhz = longest->cycles * 1e3 / double(longest->end_ns - longest->start_ns);
    *cycles = double(longest->cycles);
    *first = double(first_end - begin) / double(last_end - begin);
}

template <class Kernel>
void matrix(Kernel kernel, const char* name, int ilp, int work, double flops_per_warp, const std::vector<int>& counts) {
    const int sms = machine.prop.multiProcessorCount, iterations = work / ilp;
    for (int blocks : counts) {
        int lds;
        if (!throttle(kernel, blocks, &lds)) continue;
        const int grid = sms * blocks, warps = grid * kThreads / 32;
        const float ms = median_ms([&] { kernel<<<grid, kThreads, lds>>>(machine.stamps, machine.sink, iterations); });
        double clock, cycles, first;
        read_stamps(warps, &clock, &cycles, &first);
        const double flops = flops_per_warp * iterations * ilp * warps / (ms * 1e-3);
        row("matrix", name, ilp, blocks, lds, iterations * ilp, sms, 0, 0, ms, flops, 0, clock,
            cycles / (iterations * ilp), first);
    }
}

template <int BYTES, int LOADS>
void memory(const std::vector<int>& counts, const std::vector<int>& sms_in_use) {
    for (int sms : sms_in_use)
        for (int blocks : counts) {
            int lds;
            if (!throttle(read<BYTES, LOADS>, blocks, &lds)) continue;
            const int grid = sms * blocks;
            const size_t each = size_t(grid) * kThreads * BYTES * LOADS;
            // Less of the buffer for few SMs: the rate is what is asked for, not a long run.
            const size_t share = machine.buffer_bytes / machine.prop.multiProcessorCount * sms;
            const size_t rounds = std::max<size_t>(1, share / each);
            const float ms = median_ms([&] { read<BYTES, LOADS><<<grid, kThreads, lds>>>(machine.buffer, (unsigned*)machine.sink, rounds); });
            row("read", "", 0, blocks, lds, 0, sms, BYTES, LOADS, ms, 0, double(each) * rounds / (ms * 1e-3), 0, 0, 0);
        }
}

static std::vector<int> range(int from, int to) {
    std::vector<int> all;
    for (int i = from; i <= to; ++i) all.push_back(i);
    return all;
}

#define MATRIX(ilp) matrix(mma_bf16<ilp>, "mma.m16n8k16.bf16", ilp, kMatrixWork / ilp * ilp, 4096, counts)
#define VECTOR(ilp) matrix(fma_f32<ilp>, "fma.f32", ilp, kVectorWork / ilp * ilp, 64, counts)
#define WIDTHS(loads) memory<4, loads>(few, {sms}); memory<8, loads>(few, {sms}); memory<16, loads>(few, {sms})

int main(int argc, char** argv) {
    const bool quick = argc > 1 && !std::strcmp(argv[1], "quick");
    if (quick) repeats = 3;
    CHECK(cudaGetDeviceProperties(&machine.prop, 0));
    CHECK(cudaDriverGetVersion(&machine.driver));
    CHECK(cudaRuntimeGetVersion(&machine.runtime));
    CHECK(cudaDeviceGetAttribute(&machine.nominal_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaEventCreate(&machine.before));
    CHECK(cudaEventCreate(&machine.after));
    const int sms = machine.prop.multiProcessorCount;
    machine.buffer_bytes = std::min<size_t>(size_t(4) << 30, machine.prop.totalGlobalMem / 2);
    CHECK(cudaMalloc(&machine.sink, 256));
    CHECK(cudaMalloc(&machine.stamps, size_t(sms) * 64 * sizeof(Stamp)));
    CHECK(cudaMalloc(&machine.buffer, machine.buffer_bytes));
    CHECK(cudaMemset(machine.buffer, 1, machine.buffer_bytes));
    std::printf("experiment,chip,target,instruction,ilp,waves_per_simd,workgroups_per_cu,threads,lds_bytes,instructions,"
                "cus_in_use,vector_bytes,outstanding,median_ms,flops,bytes_per_second,clock_mhz,cycles_per_instruction,"
                "first_end,nominal_mhz,driver,compiler\n");
    const std::vector<int> counts = quick ? std::vector<int>{1, 2, 4, 5, 8, 16} : range(1, 16);
    const std::vector<int> few = quick ? std::vector<int>{1, 4, 16} : std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16};
    MATRIX(1); MATRIX(2); MATRIX(3); MATRIX(4); MATRIX(5); MATRIX(6); MATRIX(7); MATRIX(8); MATRIX(12); MATRIX(16);
    VECTOR(1); VECTOR(2); VECTOR(3); VECTOR(4); VECTOR(5); VECTOR(6); VECTOR(7); VECTOR(8);
    WIDTHS(1); WIDTHS(2); WIDTHS(3); WIDTHS(4); WIDTHS(6); WIDTHS(8);
    memory<16, 4>({1, 2}, {1, 2, 4, 8, 16, 32, 64, 96});
    return 0;
}
