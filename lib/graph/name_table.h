// Names as keys: '/', '\', '.' and blanks count as '_', and the name of an operator is its scope, its leaf and perhaps
// another number, concatenated. A join has a million names on each side, so nothing here allocates per name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash_slots.h"
#include "graph/op_graph.h"

namespace msdump {

// One name at a time, normalised; views are of the last one.
class NormalName {
 public:
  NormalName() = default;
  explicit NormalName(std::string_view name) { assign(name); }

  void assign(std::string_view name);
  // Of an operator in files: with `number` in place of its own unless that is kNoIndex.
  void assign(const OpGraph& graph, OpId op, uint32_t number);

  [[nodiscard]] std::string_view full() const { return text_; }
  [[nodiscard]] std::string_view leaf() const { return full().substr(leaf_begin_); }

 private:
  std::string text_;
  size_t leaf_begin_ = 0;
};

// Of a normalised name.
[[nodiscard]] inline uint64_t name_hash(std::string_view normal) { return text_hash(normal); }
// Is `normal`, which is normalised, the name `written`?
[[nodiscard]] bool is_name(std::string_view normal, std::string_view written);
[[nodiscard]] bool same_name(std::string_view written, std::string_view other);

}  // namespace msdump
