// Names as keys without copies: '/', '\', '.' and blanks count as '_', and the name of an operator is its scope, its leaf
// and perhaps another number, one behind the other. A million of them on each side of a join.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

// Hash of a normalised name that is put together from pieces.
class NameHash {
 public:
  NameHash& add(std::string_view piece);
  NameHash& add_number(uint64_t number);
  [[nodiscard]] uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xCBF2'9CE4'8422'2325;
};

// The name of an operator in files: with `number` in place of its own unless that is kNoIndex.
struct FileName {
  std::string_view scope, prefix;  // "Default/conv1-Conv2d", "Conv2D-op"
  std::optional<uint64_t> number;
  std::string_view suffix;

  [[nodiscard]] uint64_t hash_full() const;
  [[nodiscard]] uint64_t hash_leaf() const;
  [[nodiscard]] std::string full() const;  // normalised
  [[nodiscard]] std::string leaf() const;
};
[[nodiscard]] FileName file_name_of(const OpGraph& graph, OpId op, uint32_t number);

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
  static constexpr unsigned kBucketBits = 16;
  std::vector<Entry> entries_;
  std::vector<uint32_t> buckets_;  // by the leading bits: where their entries begin
};

}  // namespace msdump
