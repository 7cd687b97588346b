// How a kernel's source is compiled once per SIMD target. Internal to lib/kernels: include it before any Highway header.
//
// The recipe, as transpose_block.cpp shows it:
//   1. include this header;
//   2. #define HWY_TARGET_INCLUDE "kernels/<the file itself>" and include hwy/foreach_target.h, then hwy/highway.h;
//   3. the kernel between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE, in namespace HWY_NAMESPACE, left out for
//      HWY_SCALAR and HWY_EMU128 (MSDUMP_HAS_VECTORS is 0 there): the portable code is ours, not Highway's emulation;
//      helpers in an unnamed namespace, since all kernels share the namespaces N_AVX2, N_NEON, ...;
//   4. under HWY_ONCE: HWY_EXPORT, and a caller that asks portable_forced() before HWY_DYNAMIC_DISPATCH.
#pragma once

// The vectors of SVE have no size at compile time and cannot be put into arrays; every SVE machine runs the NEON form.
// Defined here so that all kernels, and cpu.cpp, agree on the list of targets. The names are Highway's and are expanded
// after its headers have defined them.
#ifdef HWY_DISABLED_TARGETS
#error "include kernels/dispatch.h before the headers of Highway"
#endif
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#define MSDUMP_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

namespace msdump::kernels {

// True after choose_cpu_target("scalar"). A flag of our own, because Highway never goes below what the compiler may
// assume (NEON on every aarch64).
[[nodiscard]] bool portable_forced();

}  // namespace msdump::kernels
