// Names as keys: '/', '\', '.' and blanks count as '_', and the name of an operator is its scope, its leaf and perhaps
// another number, one behind the other. A million of them on each side of a join, so that nothing here allocates by
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Values by hash; several may share one. Built once, then read.
class HashIndex {
 public:
  struct Entry {
    uint64_t hash;
    uint32_t value;
  };
  void reserve(size_t count) { entries_.reserve(count); }
  void add(uint64_t hash, uint32_t value) { entries_.push_back({hash, value}); }
  void close();  // sorts: by hash, then value
  [[nodiscard]] std::pair<const Entry*, const Entry*> equal(uint64_t hash) const;

 private:
  unsigned shift_ = 63;  // what is left of a hash is a bucket
  std::vector<Entry> entries_;
  std::vector<uint32_t> buckets_;  // where their entries begin; one more
};

}  // namespace msdump
