#include "graph/name_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr std::array<unsigned char, 256> make_normal() {
  std::array<unsigned char, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<unsigned char>(i);
  for (const char c : {'/', '\\', '.', ' '}) table[static_cast<unsigned char>(c)] = '_';
  return table;
}
constexpr std::array<unsigned char, 256> kNormal = make_normal();

}  // namespace

NameHash& NameHash::add(std::string_view piece) {
  for (const char c : piece) state_ = (state_ ^ kNormal[static_cast<unsigned char>(c)]) * 0x0000'0100'0000'01B3;
  return *this;
}

NameHash& NameHash::add_number(uint64_t number) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return add({text, static_cast<size_t>(end - text)});
}

uint64_t FileName::hash_leaf() const {
  NameHash hash;
  hash.add(prefix);
  if (number) hash.add_number(*number);
  return hash.add(suffix).value();
}

uint64_t FileName::hash_full() const {
  NameHash hash;
  if (!scope.empty()) hash.add(scope).add("_");
  hash.add(prefix);
  if (number) hash.add_number(*number);
  return hash.add(suffix).value();
}

std::string FileName::leaf() const {
  std::string text(prefix);
  if (number) text += std::to_string(*number);
  text += suffix;
  normalise_op_name(text);
  return text;
}

std::string FileName::full() const {
  if (scope.empty()) return leaf();
  std::string text(scope);
  normalise_op_name(text);
  return text + "_" + leaf();
}

FileName file_name_of(const OpGraph& graph, OpId op, uint32_t number) {
  const std::string_view leaf = graph.leaf(op);
  const auto numbered = split_number(leaf);
  if (!numbered) return {graph.scope(op), leaf, std::nullopt, {}};
  const std::string_view prefix = leaf.substr(0, numbered->prefix.size() + 3);
  if (number != kNoIndex) return {graph.scope(op), prefix, number, {}};
  return {graph.scope(op), leaf, std::nullopt, {}};
}

void HashIndex::close() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.hash != b.hash ? a.hash < b.hash : a.value < b.value; });
  buckets_.assign((size_t{1} << kBucketBits) + 1, static_cast<uint32_t>(entries_.size()));
  for (size_t i = entries_.size(); i-- > 0;)
    buckets_[entries_[i].hash >> (64 - kBucketBits)] = static_cast<uint32_t>(i);
  for (size_t bucket = buckets_.size() - 1; bucket-- > 0;)
    buckets_[bucket] = std::min(buckets_[bucket], buckets_[bucket + 1]);
}

std::pair<const HashIndex::Entry*, const HashIndex::Entry*> HashIndex::equal(uint64_t hash) const {
  const size_t bucket = hash >> (64 - kBucketBits);
  const Entry* const begin = entries_.data() + buckets_[bucket];
  const Entry* const end = entries_.data() + buckets_[bucket + 1];
  const auto less = [](const Entry& entry, uint64_t value) { return entry.hash < value; };
  const Entry* const first = std::lower_bound(begin, end, hash, less);
  const Entry* last = first;
  while (last != end && last->hash == hash) ++last;
  return {first, last};
}

}  // namespace msdump
