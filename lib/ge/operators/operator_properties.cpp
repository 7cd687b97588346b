#include "ge/operators/operator_properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/containers.h"
#include "base/text.h"
#include "ge/operators/tables.h"

namespace msdump::ge {
namespace {

constexpr auto kPropertyNames = enum_table<OperatorProperty, std::string_view>(
    "copies_or_fills", "casts", "may_diverge", "adds", "makes_constants", "takes_part", "communicates", "commutes",
    "changes_shape", "sizes_by_values", "optimizer", "updates", "ignores", "divides_by_gradient", "rounds_derivative",
    "optimizer_state");

enum class Match : uint8_t { kExact, kPrefix, kPart, kNoPrefix, kSpelled, kNamePart };
constexpr auto kMatchNames =
    enum_table<Match, std::string_view>("exact", "prefix", "part", "no_prefix", "spelled", "name_part");

struct Word {
  std::string_view text;
  std::vector<uint32_t> slots;
};
struct PropertyRow {
  Match match = Match::kExact;
  std::vector<Word> words;
};
using PropertyRows = std::array<std::vector<PropertyRow>, kPropertyNames.values.size()>;

template <class Table>
size_t index_in(const Table& names, std::string_view name) {
  return static_cast<size_t>(std::find(names.values.begin(), names.values.end(), name) - names.values.begin());
}

Word word_in(std::string_view item) {
  const std::vector<std::string_view> parts = split(item, ':');
  Word word{parts.front(), {}};
  for (size_t i = 1; i < parts.size(); ++i) {
    uint32_t slot = 0;
    std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), slot);
    word.slots.push_back(slot);
  }
  return word;
}

PropertyRows read_properties() {
  PropertyRows rows;
  for (const std::string_view line : split(kPropertiesCsv, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = split(line, ',');
    PropertyRow& row = rows.at(index_in(kPropertyNames, fields[0])).emplace_back();
    row.match = static_cast<Match>(index_in(kMatchNames, fields[1]));
    for (const std::string_view item : split(fields[2], ' ')) row.words.push_back(word_in(item));
  }
  return rows;
}

// A type in the forms that rows compare. Only rows that compare lower case pay for it.
class ComparedType {
 public:
  explicit ComparedType(std::string_view type) : spelled_(type) {}

  [[nodiscard]] bool matches(Match match, std::string_view word) {
    if (match == Match::kSpelled) return spelled_ == word;
    if (lower_.size() != spelled_.size()) {
      lower_ = plain_ = to_lower(spelled_);
      std::erase(plain_, '_');
    }
    switch (match) {
      case Match::kExact: return plain_ == word;
      case Match::kPrefix:
      case Match::kNoPrefix: return plain_.starts_with(word);
      case Match::kPart: return plain_.find(word) != std::string::npos;
      default: return lower_.find(word) != std::string::npos;
    }
  }

 private:
  std::string_view spelled_;
  std::string lower_, plain_;
};

// The word that gives a type its property; null if it has none.
const Word* matching_word(std::string_view type, OperatorProperty property) {
  static const PropertyRows kRows = read_properties();
  ComparedType compared(type);
  for (const PropertyRow& row : kRows[static_cast<size_t>(property)]) {
    const auto word = std::find_if(row.words.begin(), row.words.end(),
                                   [&](const Word& one) { return compared.matches(row.match, one.text); });
    if (word != row.words.end()) return row.match == Match::kNoPrefix ? nullptr : &*word;
  }
  return nullptr;
}

}  // namespace

bool has_property(std::string_view type, OperatorProperty property) { return matching_word(type, property) != nullptr; }

std::span<const uint32_t> property_slots(std::string_view type, OperatorProperty property) {
  const Word* const word = matching_word(type, property);
  return word == nullptr ? std::span<const uint32_t>() : word->slots;
}

}  // namespace msdump::ge
