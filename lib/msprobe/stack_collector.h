// Collects call stacks for a StackJson, whatever file they are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "msprobe/stack_json.h"

namespace msdump {

class StackCollector {
 public:
  explicit StackCollector(const StackJsonLimits& limits) : limits_(limits) {}

  // An operator without a name that has this stack, innermost frame first; frames are texts as in stack.json.
  StackJson::Op add_stack(std::span<const std::string_view> frames);
  void add_op(std::string_view name, size_t offset, StackJson::Op stack);
  // too_large beyond the limit. Checked between entries only, which have a limit of their own. The limit also keeps ids within
  // 32 bits.
  [[nodiscard]] Status check_kept() const;
  [[nodiscard]] StackJson& result() { return result_; }

 private:
  uint32_t frame_id(std::string_view text);
  std::string_view keep(std::string_view text);

  static constexpr uint64_t kPerKey = 64;  // the memory of one key in a hash table

  const StackJsonLimits& limits_;
  StackJson result_;
  std::unordered_map<std::string_view, uint32_t> frame_ids_;
  uint64_t kept_ = 0;
};

}  // namespace msdump
