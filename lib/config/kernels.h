// The items of "kernels", by which dump_mode 1 selects operators of a data_dump.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "io/json.h"

namespace msdump {

// A fault that neither C++'s ECMAScript grammar nor Python's accepts: "the bracket '[' is not closed". Empty if at least one
// of them reads the expression. MindSpore ends the process over such a fault, msprobe drops the list.
[[nodiscard]] std::string regex_fault(std::string_view expression);

// An item of the list. MindSpore removes the quotes (from 2.3 on also the blanks) of its JSON text, so a backslash arrives
// doubled:
//
//   1. name-regex(RE)           2.3 and later: ECMAScript, matches the whole full name
//   2. with '/' or "-op"        a full name, equal to the operator's
//   3. anything else            a type, 2.0 and later: any part of the name's last component without -opN, in any case;
//                               earlier: a full name, which no operator has
struct KernelItem {
  enum class Kind : uint8_t { kBlank, kFullName, kType, kRegex, kNoText };
  Kind kind = Kind::kNoText;
  std::string text;        // as MindSpore has it; for a regex, what is in the brackets
  bool has_blank = false;  // in the file
  std::string fault;       // of a regex
};
[[nodiscard]] KernelItem parse_kernel(const JsonValue& item);
[[nodiscard]] std::vector<KernelItem> parse_kernels(const JsonValue& list);

enum class KernelReach : uint8_t {
  kMay,         // an operator may have that name
  kNever,       // no operator can have that name
  kEverything,  // selects every operator
  kSkipped,     // the item is skipped
  kEnds,        // the process ends: the expression cannot be read
};
[[nodiscard]] KernelReach reach_of(const KernelItem& item, const Version& version);

// The part of an operator's name that types match: "Conv2D" of "Default/conv1-Conv2d/Conv2D-op3".
[[nodiscard]] std::string_view kernel_type_in(std::string_view full_name);

// Selects operators such as "Default/conv1-Conv2d/Conv2D-op3". An expression that RE2 cannot read matches nothing. From 2.3
// on, no items at all or only blank ones select everything.
class KernelFilter {
 public:
  KernelFilter(const std::vector<KernelItem>& items, const Version& version);
  KernelFilter(KernelFilter&&) noexcept;
  KernelFilter& operator=(KernelFilter&&) noexcept;
  ~KernelFilter();

  // The index of the first item that selects the operator; -1 if none does.
  [[nodiscard]] int match(std::string_view full_name) const;
  // Sets chose[i] for each item i that selects it; items that are set already are not tested.
  void mark_choosing(std::string_view full_name, std::vector<bool>& chose) const;

 private:
  struct Item;
  struct Subject;
  [[nodiscard]] static Subject subject_of(std::string_view full_name);
  std::vector<Item> items_;
};

}  // namespace msdump
