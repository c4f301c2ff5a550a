// The feed experiment on AMD, device side: the same two questions as feed.cu, for one occupancy.
//
// It needs no ROCm headers. One code object an occupancy: LDS_BYTES of LDS are reserved and never used.
//   clang --target=amdgcn-amd-amdhsa -mcpu=gfx950 -nogpulib -O3 -DLDS_BYTES=32768 -o feed.co feed_device.hip.cpp
// feed_host.cpp loads the result and times it.

#ifndef LDS_BYTES
#define LDS_BYTES 0
#endif
#ifndef THREADS
#define THREADS 256
#endif

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef int i32x2 __attribute__((ext_vector_type(2)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef int i32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef unsigned long long u64;

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL extern "C" __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(THREADS, THREADS), visibility("protected")))

// When one wave ran, in ticks of the constant clock and cycles of its own.
struct Stamp {
    u64 start, end, cycles;
};

#if LDS_BYTES
__attribute__((address_space(3), loader_uninitialized)) static int reserved[LDS_BYTES / 4];
#define RESERVE() asm volatile("" ::"v"(reserved))
#else
#define RESERVE()
#endif

static inline void leave(GLOBAL Stamp* stamps, u64 start, u64 cycles) {
    const u64 took = __builtin_readcyclecounter() - cycles;
    const u64 end = __builtin_readsteadycounter();
    const unsigned lane = __builtin_amdgcn_workitem_id_x();
    if (lane % 64) return;
    GLOBAL Stamp* mine = stamps + __builtin_amdgcn_workgroup_id_x() * (THREADS / 64) + lane / 64;
    mine->start = start;
    mine->end = end;
    mine->cycles = took;
}

// Operands that a compiler cannot know: bits of the lane number.
template <class T>
static inline T operand(int salt) {
    union {
        T value;
        int bits[sizeof(T) / 4];
    } made;
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) made.bits[i] = (__builtin_amdgcn_workitem_id_x() * salt + i) & 0x38383838;
    return made.value;
}

#if defined(__gfx950__)
struct F8f6f4_16x16x128 {
    typedef i32x8 Operand;
    static f32x4 step(Operand a, Operand b, f32x4 c) {
        return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, 0, 0, 0);
    }
};
struct F16_16x16x32 {
    typedef f16x8 Operand;
    static f32x4 step(Operand a, Operand b, f32x4 c) { return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0); }
};
#endif
#if defined(__gfx942__)
struct Fp8_16x16x32 {
    typedef long Operand;
    static f32x4 step(Operand a, Operand b, f32x4 c) { return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0); }
};
#endif
#if defined(__gfx942__) || defined(__gfx90a__) || defined(__gfx908__)
struct F16_16x16x16 {
    typedef f16x4 Operand;
    static f32x4 step(Operand a, Operand b, f32x4 c) { return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0); }
};
#endif

template <class Instruction, int ILP>
static inline void chains(GLOBAL Stamp* stamps, GLOBAL float* out, int iterations) {
    RESERVE();
    const u64 start = __builtin_readsteadycounter(), cycles = __builtin_readcyclecounter();
    const typename Instruction::Operand a = operand<typename Instruction::Operand>(3);
    const typename Instruction::Operand b = operand<typename Instruction::Operand>(5);
    f32x4 c[ILP];
    for (int k = 0; k < ILP; ++k) c[k] = f32x4{float(k), 1.0f, 2.0f, 3.0f};
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int k = 0; k < ILP; ++k) c[k] = Instruction::step(a, b, c[k]);
    }
    float sum = 0;
    for (int k = 0; k < ILP; ++k) sum += c[k][0] + c[k][1] + c[k][2] + c[k][3];
    leave(stamps, start, cycles);
    if (sum == 12345.678f) out[0] = sum;
}

template <class Word>
static inline unsigned fold(Word word) {
    unsigned all = 0;
    for (unsigned i = 0; i < sizeof(Word) / 4; ++i) all ^= word[i];
    return all;
}
static inline unsigned fold(int word) { return word; }

// All LOADS are issued before the first is used; then the next LOADS.
template <class Word, int LOADS>
static inline void read(const GLOBAL Word* from, GLOBAL unsigned* out, u64 rounds, unsigned workgroups) {
    RESERVE();
    const u64 threads = u64(workgroups) * THREADS;
    const GLOBAL Word* at = from + u64(__builtin_amdgcn_workgroup_id_x()) * THREADS + __builtin_amdgcn_workitem_id_x();
    unsigned all = 0;
#pragma clang loop unroll(disable)
    for (u64 round = 0; round < rounds; ++round) {
        Word words[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k) words[k] = __builtin_nontemporal_load(at + k * threads);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) all ^= fold(words[k]);
        at += LOADS * threads;
    }
    if (all == 0x12345678u) out[0] = all;
}

#define CHAINS(instruction, ilp)                                                                                   \
    KERNEL void matrix_##instruction##_ilp##ilp(GLOBAL Stamp* stamps, GLOBAL float* out, int iterations) {          \
        chains<instruction, ilp>(stamps, out, iterations);                                                          \
    }
#define EACH_ILP(instruction)                                                                                      \
    CHAINS(instruction, 1) CHAINS(instruction, 2) CHAINS(instruction, 3) CHAINS(instruction, 4)                     \
    CHAINS(instruction, 5) CHAINS(instruction, 6) CHAINS(instruction, 7) CHAINS(instruction, 8)

#define READ(bytes, word, loads)                                                                                   \
    KERNEL void read_##bytes##x##loads(const GLOBAL word* from, GLOBAL unsigned* out, u64 rounds, unsigned groups) { \
        read<word, loads>(from, out, rounds, groups);                                                               \
    }
#define EACH_LOADS(bytes, word) READ(bytes, word, 1) READ(bytes, word, 2) READ(bytes, word, 4) READ(bytes, word, 8)

#if defined(__gfx950__)
EACH_ILP(F8f6f4_16x16x128)
EACH_ILP(F16_16x16x32)
#endif
#if defined(__gfx942__)
EACH_ILP(Fp8_16x16x32)
#endif
#if defined(__gfx942__) || defined(__gfx90a__) || defined(__gfx908__)
EACH_ILP(F16_16x16x16)
#endif
EACH_LOADS(4, int)
EACH_LOADS(8, i32x2)
EACH_LOADS(16, i32x4)
