// Whether the tests run under AddressSanitizer or ThreadSanitizer, where each step costs several times as much and memory is
// laid out in another way: some tests are smaller there, some are left out.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MSDUMP_UNDER_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MSDUMP_UNDER_SANITIZER
#endif
#endif

namespace msdump::test {

#ifdef MSDUMP_UNDER_SANITIZER
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

}  // namespace msdump::test
