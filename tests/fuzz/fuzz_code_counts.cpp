// Bytes become elements of one type, chosen by the first byte; count_codes on every CPU target against its definition,
// in two pieces cut where the second byte says. The elements have the exact size: a load beyond it is the sanitizer's.
#include <array>
#include <cstring>
#include <memory>

#include "fuzz_file.h"
#include "kernels/cpu.h"
#include "kernels/reduce/reduce.h"

namespace {

using namespace msdump;
using namespace msdump::kernels;

constexpr std::array kTypes = {DType::kFloat16,    DType::kBfloat16,     DType::kFloat32, DType::kFloat64,
                               DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kHifloat8};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const CodeRule rule = *code_rule(kTypes[data[0] % kTypes.size()], DType::kUndefined);
  const size_t count = (size - 2) / rule.bytes, cut = count * data[1] / 256;
  const auto elements = std::make_unique<std::byte[]>(count * rule.bytes);
  std::memcpy(elements.get(), data + 2, count * rule.bytes);
  CodeCounts expected;
  count_codes_reference(rule, elements.get(), static_cast<int64_t>(count), expected);
  for (const std::string& target : available_cpu_targets()) {
    fuzz::require(choose_cpu_target(target).has_value(), "a CPU target that is there can be chosen");
    CodeCounts actual;
    count_codes(rule, elements.get(), static_cast<int64_t>(cut), actual);
    count_codes(rule, elements.get() + cut * rule.bytes, static_cast<int64_t>(count - cut), actual);
    fuzz::require(actual == expected, "every CPU counts alike");
  }
  return 0;
}
