// The feed experiment on AMD, host side: loads the code objects of feed_device.hip.cpp and times them.
//
// Build: hipcc -O3 -std=c++17 -o feed_host feed_host.cpp
// Run:   ./feed_host CHIP_MHZ WAVES:LDS_BYTES:FILE.co ... > feed.csv
// WAVES is how many waves a SIMD are resident with the LDS that this object reserves; the runtime is asked, and
// what it does not admit is left out. One CSV on standard output, the same columns as feed.cu's.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <hip/hip_runtime.h>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        hipError_t status_ = (call);                                                            \
        if (status_ != hipSuccess) {                                                            \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status_)); \
            std::exit(1);                                                                       \
        }                                                                                       \
    } while (0)

constexpr int kThreads = 256, kSimds = 4, kWork = 65536, kRepeats = 7;

struct Stamp {
    unsigned long long start, end, cycles;
};

struct Instruction {
    const char *tag, *name;
    double flops;
};

// Those that some target of feed_device.hip.cpp has; a code object holds its own.
static const Instruction kInstructions[] = {
    {"F8f6f4_16x16x128", "v_mfma_f32_16x16x128_f8f6f4", 65536},
    {"F16_16x16x32", "v_mfma_f32_16x16x32_f16", 16384},
    {"Fp8_16x16x32", "v_mfma_f32_16x16x32_fp8_fp8", 16384},
    {"F16_16x16x16", "v_mfma_f32_16x16x16_f16", 8192},
};

static hipDeviceProp_t prop;
static int driver, runtime, ticks_khz;
static double nominal_mhz;
static hipEvent_t before, after;

template <class Launch>
float median_ms(Launch launch) {
    std::vector<float> times;
    launch();
    CHECK(hipDeviceSynchronize());
    for (int i = 0; i < kRepeats; ++i) {
        CHECK(hipEventRecord(before));
        launch();
        CHECK(hipEventRecord(after));
        CHECK(hipEventSynchronize(after));
        float ms;
        CHECK(hipEventElapsedTime(&ms, before, after));
        times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

static bool resident(hipFunction_t kernel, int waves) {
    int groups = 0;
    CHECK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&groups, kernel, kThreads, 0));
    return groups == waves;  // a workgroup puts one wave on each of the four SIMDs
}

static void row(const char* experiment, const char* instruction, int ilp, int waves, int lds, int work, int cus, int bytes,
                int loads, float ms, double flops, double rate, double clock, double cycles, double first) {
    std::printf("%s,%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.6f,%.6g,%.6g,%.1f,%.4f,%.4f,%.0f,%d,hip %d\n", experiment, prop.name,
                std::string(prop.gcnArchName).substr(0, std::string(prop.gcnArchName).find(':')).c_str(), instruction, ilp,
                waves, waves, kThreads, lds, work, cus, bytes, loads, ms, flops, rate, clock, cycles, first, nominal_mhz,
                driver, runtime);
    std::fflush(stdout);
}

static void matrix(hipModule_t module, int waves, int lds, void* stamps, void* sink) {
    const int cus = prop.multiProcessorCount, grid = cus * waves, count = grid * kSimds;
    for (const Instruction& each : kInstructions)
        for (int ilp = 1; ilp <= 8; ++ilp) {
            hipFunction_t kernel;
            const std::string symbol = std::string("matrix_") + each.tag + "_ilp" + std::to_string(ilp);
            if (hipModuleGetFunction(&kernel, module, symbol.c_str()) != hipSuccess || !resident(kernel, waves)) continue;
            int iterations = kWork / ilp;
            void* args[] = {&stamps, &sink, &iterations};
            const float ms = median_ms([&] { CHECK(hipModuleLaunchKernel(kernel, grid, 1, 1, kThreads, 1, 1, 0, nullptr, args, nullptr)); });
            std::vector<Stamp> seen(count);
            CHECK(hipMemcpy(seen.data(), stamps, count * sizeof(Stamp), hipMemcpyDeviceToHost));
            unsigned long long begin = ~0ull, first_end = ~0ull, last_end = 0;
            const Stamp* longest = &seen[0];
            for (const Stamp& wave : seen) {
                begin = std::min(begin, wave.start);
                first_end = std::min(first_end, wave.end);
                last_end = std::max(last_end, wave.end);
                if (wave.cycles > longest->cycles) longest = &wave;
            }
            const double took_us = double(longest->end - longest->start) / ticks_khz * 1e3;
            row("matrix", each.name, ilp, waves, lds, iterations * ilp, cus, 0, 0, ms,
                each.flops * iterations * ilp * count / (ms * 1e-3), 0, longest->cycles / took_us,
                double(longest->cycles) / (iterations * ilp), double(first_end - begin) / double(last_end - begin));
        }
}

static void memory(hipModule_t module, int waves, int lds, void* buffer, size_t bytes_in_all, void* sink) {
    const int cus = prop.multiProcessorCount;
    for (int bytes : {4, 8, 16})
        for (int loads : {1, 2, 4, 8}) {
            hipFunction_t kernel;
            const std::string symbol = "read_" + std::to_string(bytes) + "x" + std::to_string(loads);
            if (hipModuleGetFunction(&kernel, module, symbol.c_str()) != hipSuccess || !resident(kernel, waves)) continue;
            unsigned grid = cus * waves;
            const size_t each = size_t(grid) * kThreads * bytes * loads;
            unsigned long long rounds = bytes_in_all / each;
            void* args[] = {&buffer, &sink, &rounds, &grid};
            const float ms = median_ms([&] { CHECK(hipModuleLaunchKernel(kernel, grid, 1, 1, kThreads, 1, 1, 0, nullptr, args, nullptr)); });
            row("read", "", 0, waves, lds, 0, cus, bytes, loads, ms, 0, double(each) * rounds / (ms * 1e-3), 0, 0, 0);
        }
}

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: feed_host CHIP_MHZ WAVES:LDS_BYTES:FILE.co ...\n");
        return 2;
    }
    nominal_mhz = std::atof(argv[1]);
    CHECK(hipGetDeviceProperties(&prop, 0));
    CHECK(hipDriverGetVersion(&driver));
    CHECK(hipRuntimeGetVersion(&runtime));
    CHECK(hipDeviceGetAttribute(&ticks_khz, hipDeviceAttributeWallClockRate, 0));
    CHECK(hipEventCreate(&before));
    CHECK(hipEventCreate(&after));
    const size_t bytes = std::min<size_t>(size_t(4) << 30, prop.totalGlobalMem / 2);
    void *stamps, *sink, *buffer;
    CHECK(hipMalloc(&stamps, size_t(prop.multiProcessorCount) * 16 * kSimds * sizeof(Stamp)));
    CHECK(hipMalloc(&sink, 256));
    CHECK(hipMalloc(&buffer, bytes));
    CHECK(hipMemset(buffer, 1, bytes));
    std::printf("experiment,chip,target,instruction,ilp,waves_per_simd,workgroups_per_cu,threads,lds_bytes,instructions,"
                "cus_in_use,vector_bytes,outstanding,median_ms,flops,bytes_per_second,clock_mhz,cycles_per_instruction,"
                "first_end,nominal_mhz,driver,compiler\n");
    for (int i = 2; i < argc; ++i) {
        int waves, lds, at = 0;
        if (std::sscanf(argv[i], "%d:%d:%n", &waves, &lds, &at) != 2 || !at) {
            std::fprintf(stderr, "feed_host: %s is not WAVES:LDS_BYTES:FILE.co\n", argv[i]);
            return 2;
        }
        hipModule_t module;
        CHECK(hipModuleLoad(&module, argv[i] + at));
        matrix(module, waves, lds, stamps, sink);
        memory(module, waves, lds, buffer, bytes, sink);
        CHECK(hipModuleUnload(module));
    }
    return 0;
}
