#include "graph/name_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr char normal(char c) { return c == '/' || c == '\\' || c == '.' || c == ' ' ? '_' : c; }

// A loop without a branch for each byte, which compilers turn into vector code.
void append_normal(std::string& text, std::string_view name) {
  const size_t begin = text.size();
  text.resize(begin + name.size());
  char* const to = text.data() + begin;
  for (size_t i = 0; i < name.size(); ++i) to[i] = normal(name[i]);
}

void append_number(std::string& text, uint32_t number) {
  std::array<char, 16> digits;
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace

void NormalName::assign(std::string_view name) {
  text_.clear();
  leaf_begin_ = 0;
  append_normal(text_, name);
}

void NormalName::assign(const OpGraph& graph, OpId op, uint32_t number) {
  const Origin& origin = graph.origin(op);
  const IrNode& node = origin.graph.nodes[op - origin.first_operator];
  const std::string_view scope = origin.graph.scope(node), leaf = origin.graph.text(node.leaf);
  text_.clear();
  append_normal(text_, scope);
  if (!scope.empty()) text_ += '_';
  leaf_begin_ = text_.size();
  const auto numbered = number == kNoIndex ? std::nullopt : split_number(leaf);
  if (!numbered) return append_normal(text_, leaf);
  append_normal(text_, leaf.substr(0, numbered->prefix.size() + kNumberMark.size()));
  append_number(text_, number);
}

bool is_name(std::string_view name, std::string_view written) {
  if (name == written) return true;
  return std::equal(name.begin(), name.end(), written.begin(), written.end(),
                    [](char x, char y) { return x == normal(y); });
}

bool same_name(std::string_view a, std::string_view b) {
  if (a == b) return true;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return normal(x) == normal(y); });
}

// Into as many buckets as there are entries, by the leading bits; what is left to sort is a few neighbours.
void HashIndex::close() {
  const auto bits = static_cast<unsigned>(std::bit_width(entries_.size() | 1));
  shift_ = 64 - bits;
  buckets_.assign((size_t{1} << bits) + 1, 0);
  for (const Entry& entry : entries_) ++buckets_[(entry.hash >> shift_) + 1];
  for (size_t i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
  std::vector<uint32_t> next(buckets_.begin(), buckets_.end() - 1);
  std::vector<Entry> sorted(entries_.size());
  for (const Entry& entry : entries_) sorted[next[entry.hash >> shift_]++] = entry;
  entries_ = std::move(sorted);
  const auto less = [](const Entry& a, const Entry& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.value < b.value;
  };
  for (size_t i = 0; i + 1 < buckets_.size(); ++i)
    std::sort(entries_.begin() + buckets_[i], entries_.begin() + buckets_[i + 1], less);
}

std::pair<const HashIndex::Entry*, const HashIndex::Entry*> HashIndex::equal(uint64_t hash) const {
  if (buckets_.empty()) return {nullptr, nullptr};
  const size_t bucket = hash >> shift_;
  const Entry* const begin = entries_.data() + buckets_[bucket];
  const Entry* const end = entries_.data() + buckets_[bucket + 1];
  const Entry* const first =
      std::lower_bound(begin, end, hash, [](const Entry& entry, uint64_t value) { return entry.hash < value; });
  const Entry* last = first;
  while (last != end && last->hash == hash) ++last;
  return {first, last};
}

}  // namespace msdump
