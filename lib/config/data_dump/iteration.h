// The steps of a dump as MindSpore's "iteration" names them: "all", or items between '|', each a step or a range a-b.
//
// Only digits, '-' and '|' are accepted at the start of a run. Items are parsed when a step is looked up: an item that
// is neither a step nor a range then silently matches nothing; MindSpore 1.3 ended the process.
// Source: reference/dump-layouts-and-statistics.md 5, reference/verified-on-real-mindspore.md 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace msdump {

struct IterationItem {
  enum class Kind : uint8_t {
    kRange,     // a step is a range of one
    kBackward,  // "8-5"
    kEmpty,     // "", "5-", "-5"
    kDashes,    // "1-2-3"
    kTooLarge,  // beyond 64 bits
  };
  std::string_view text;
  size_t at = 0;  // in the whole text
  Kind kind = Kind::kRange;
  uint64_t first = 0, last = 0;  // of kRange and kBackward

  [[nodiscard]] bool selects() const { return kind == Kind::kRange; }
  // MindSpore 1.3 to 1.4 read the numbers with a function that throws.
  [[nodiscard]] bool ends_old_process() const { return kind == Kind::kEmpty || kind == Kind::kTooLarge; }
};

struct Iteration {
  bool all = false;
  bool accepted = true;  // at the start of a run
  std::vector<IterationItem> items;

  // Does any item select a step, when steps count from `initial`?
  [[nodiscard]] bool selects_any(uint64_t initial = 0) const;
  // The number of steps; no value for all steps or more than 64 bits can count.
  [[nodiscard]] std::optional<uint64_t> count(uint64_t initial = 0) const;
};

[[nodiscard]] Iteration parse_iteration(std::string_view text);

}  // namespace msdump
