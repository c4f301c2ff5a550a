// Asks the driver of this machine's GPU for the occupancy of every kernel of a cubin, as CSV on standard output.
//
//   g++ -O1 -I/usr/local/cuda/include -fno-exceptions -o build/nvidia_driver_check tools/nvidia_driver_check.cpp -ldl
//   build/nvidia_driver_check tests/data/nvidia/driver_check.cubin > tests/data/nvidia/h200_driver_check.csv
//
// Nothing is launched. Questions are drawn by a fixed generator, 120 a kernel; the driver is opened at run time.

#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void *driver;

template <typename Call>
Call *entry(const char *name, Call *) {
  void *found = dlsym(driver, name);
  if (!found) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(1);
  }
  return reinterpret_cast<Call *>(found);
}
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define DRIVER(name) entry(TEXT(name), static_cast<decltype(&name)>(nullptr))

void check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS) {
    fprintf(stderr, "%s: error %d\n", what, static_cast<int>(result));
    exit(1);
  }
}

uint32_t state = 20260101;
int draw(int below) {
  state = state * 1664525u + 1013904223u;
  return static_cast<int>((state >> 8) % static_cast<uint32_t>(below));
}

const int BLOCKS[] = {1, 31, 32, 33, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 704, 768, 896, 1024};
const int DYNAMIC[] = {0, 0, 0, 1, 100, 1024, 3000, 4096, 8192, 12000, 16384, 30000, 49152, 65536, 80000, 98304,
                       114688, 131072, 163840, 200000};
const int CARVEOUTS[] = {-1, -1, -1, 0, 10, 25, 33, 50, 75, 90, 100};
constexpr int QUESTIONS = 120, MOST = 256;

template <int N>
int one_of(const int (&values)[N]) {
  return values[draw(N)];
}

}  // namespace

int main(int count, char **words) {
  if (count != 2) {
    fprintf(stderr, "usage: %s CUBIN > CSV\n", words[0]);
    return 2;
  }
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "no driver: %s\n", dlerror());
    return 1;
  }
  auto attribute = DRIVER(cuFuncGetAttribute);
  auto set = DRIVER(cuFuncSetAttribute);
  auto occupancy = DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  CUdevice device;
  CUcontext context;
  CUmodule module;
  char gpu[256];
  int version = 0, optin = 0;
  check(DRIVER(cuInit)(0), "cuInit");
  check(DRIVER(cuDeviceGet)(&device, 0), "cuDeviceGet");
  check(DRIVER(cuDeviceGetName)(gpu, sizeof gpu, device), "cuDeviceGetName");
  check(DRIVER(cuDriverGetVersion)(&version), "cuDriverGetVersion");
  check(DRIVER(cuDeviceGetAttribute)(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device), "opt-in");
  check(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
  check(DRIVER(cuModuleLoad)(&module, words[1]), "cuModuleLoad");
  unsigned kernels = 0;
  check(DRIVER(cuModuleGetFunctionCount)(&kernels, module), "cuModuleGetFunctionCount");
  CUfunction functions[MOST];
  kernels = kernels < MOST ? kernels : MOST;
  check(DRIVER(cuModuleEnumerateFunctions)(functions, kernels, module), "cuModuleEnumerateFunctions");

  fprintf(stderr, "%s, driver %d, %u kernels\n", gpu, version, kernels);
  printf("# %s, CUDA driver %d\n", gpu, version);
  printf("kernel,regs,static_smem,local,max_threads,block,dyn_smem,carveout_pct,blocks_per_sm,error\n");
  for (unsigned i = 0; i < kernels; i++) {
    CUfunction function = functions[i];
    const char *name = nullptr;
    int regs = 0, shared = 0, local = 0, threads = 0;
    check(DRIVER(cuFuncGetName)(&name, function), "cuFuncGetName");
    check(attribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, function), "registers");
    check(attribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function), "shared");
    check(attribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function), "local");
    check(attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), "threads");
    // the most that can be given at launch, so that the questions below are about fit and not about permission
    if (CUresult refused = set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, optin - shared))
      fprintf(stderr, "%s: opting in to %d bytes: error %d\n", name, optin - shared, static_cast<int>(refused));
    for (int question = 0; question < QUESTIONS; question++) {
      int block = one_of(BLOCKS), dynamic = one_of(DYNAMIC), carveout = one_of(CARVEOUTS), blocks = -1;
      check(set(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout), "carve-out");
      int error = static_cast<int>(occupancy(&blocks, function, block, static_cast<size_t>(dynamic)));
      printf("%s,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", name, regs, shared, local, threads, block, dynamic, carveout,
             error ? 0 : blocks, error);
    }
  }
  return 0;
}
