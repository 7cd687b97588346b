// What the user says (name_map_file.h) as a function: of an operator or a tensor of the candidate, which one of the
// reference it is.
//
//   1. a tensor that is named itself; else its operator's partner, with the same io and slot
//   2. an operator that is named itself; else the one that all of its named tensors go to
//   3. a cell mapping renames "Cell.<path>.<Class>" and what is called of it, as msprobe does (msprobe_keys.h)
//   4. an api mapping renames the API of a call: "Functional.softmax.0.forward" by ms_api "Functional.softmax"; of a
//      Primitive the class falls away. Slots that its lists do not name have no partner; nested ones ("0.1") follow their
//      first part. APIs without a rule go by the table that msprobe brings
//
// Names are compared in the spelling of file names ('/', '.' and blanks are '_'). A partner that is not there is the
// caller's business, and so are two candidates of one reference.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "compare/match/name_map_file.h"

namespace msdump {

class NameMap {
 public:
  explicit NameMap(NameMapContent content);
  static Result<NameMap> read(const std::string& path, const NameMapDumps& dumps = {});

  [[nodiscard]] NameMapKind kind() const { return content_.kind; }

  // Nothing: the user says nothing. An empty text: that it has no partner. Thread-safe.
  [[nodiscard]] std::optional<std::string> reference_of(std::string_view op_name) const;
  // The same; an empty op_name: no partner.
  [[nodiscard]] std::optional<TensorName> reference_of(std::string_view op_name, Io io, std::string_view slot) const;

  // Names of candidates that are mapped one by one, as they are written: those that no tensor has are misspelt.
  [[nodiscard]] const std::vector<NamePair>& operators() const { return content_.operators; }
  [[nodiscard]] const std::vector<NamePair>& tensors() const { return content_.tensors; }

 private:
  void take_operators();
  void take_tensors();
  [[nodiscard]] const ApiPair* api_of(std::string_view op_name) const;
  [[nodiscard]] std::optional<std::string> renamed(std::string_view op_name) const;

  NameMapContent content_;
  std::unordered_map<std::string, std::string> operators_;
  std::unordered_map<std::string, TensorName> tensors_;
  std::unordered_map<std::string, size_t> apis_;  // in content_.apis
};

}  // namespace msdump
