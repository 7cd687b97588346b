// NameMap: the user's mapping (compare/match/rename/name_map_file.h). It gives the operator or tensor of the reference for
// one of the candidate.
//
//   1. a tensor named in the file; else its operator's partner, with the same io and slot
//   2. an operator named in the file; else the one that all of its named tensors go to
//   3. a cell mapping renames "Cell.<path>.<Class>" and its calls, as msprobe does
//      (compare/match/msprobe/msprobe_keys.h), and PyTorch's "Module.<path>.<Class>" likewise
//   4. an api mapping renames the API of a call: "Functional.softmax.0.forward" by ms_api "Functional.softmax"; a
//      Primitive loses its class. Slots that are not in its lists have no partner; nested slots ("0.1") follow their
//      first part. APIs without a rule use msprobe's own table
//   5. path rules map nothing: they rename the candidate's operators before these are paired
//
// Names are compared in the spelling of file names ('/', '.' and blanks are '_'). The caller checks that a partner exists
// and that no two candidates have the same one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compare/match/msprobe/msprobe_keys.h"
#include "compare/match/rename/name_map_file.h"
#include "graph/join/dump_operators.h"

namespace msdump {

// Wrappers, such as PyTorch's DistributedDataParallel, keep a network in their member `module`. So msprobe writes
// Module.module.blocks.0.. for a module that is Module.blocks.0.. without a wrapper.
//
// The number of wrappers around the modules of a dump; 0 if one of them is not in any, or there are no modules.
[[nodiscard]] size_t wrappers_of(const std::vector<SequencedOp>& operators);

// The name of a module without its outermost wrappers; any other name as it is.
[[nodiscard]] std::string without_wrappers(std::string_view name, size_t wrappers);

class NameMap {
 public:
  explicit NameMap(NameMapContent content);
  static Result<NameMap> read(const std::string& path, const NameMapDumps& dumps = {});

  [[nodiscard]] NameMapKind kind() const { return content_.kind; }

  // No value: not mapped. An empty text: mapped to no partner. Thread-safe.
  [[nodiscard]] std::optional<std::string> reference_of(std::string_view op_name) const;
  // Likewise; an empty op_name: no partner.
  [[nodiscard]] std::optional<TensorName> reference_of(std::string_view op_name, Io io, std::string_view slot) const;

  // True if it renames parts of names. Operators are then paired under their new names, and nothing is mapped.
  [[nodiscard]] bool renames() const { return content_.kind == NameMapKind::kPaths; }
  [[nodiscard]] std::string path_renamed(std::string_view op_name) const { return renamed_by(content_.paths, op_name); }

  // The names that the file lists, as written: a name that no tensor has is misspelt.
  [[nodiscard]] const std::vector<NamePair>& operators() const { return content_.operators; }
  [[nodiscard]] const std::vector<NamePair>& tensors() const { return content_.tensors; }

 private:
  [[nodiscard]] const ApiPair* api_of(std::string_view op_name) const;
  [[nodiscard]] std::optional<std::string> renamed(std::string_view op_name) const;

  NameMapContent content_;
  MsprobeCells cells_;
  std::unordered_map<std::string, std::string> operators_;
  std::unordered_map<std::string, TensorName> tensors_;
  std::unordered_map<std::string, size_t> apis_;  // in content_.apis
};

}  // namespace msdump
