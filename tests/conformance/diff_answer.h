// What msdump diff says of two dumps, asked of the whole program: its exit code and its document.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/json.h"

namespace msdump::test {

struct NamedRoot {
  std::string op_name, kind, file;  // file without its folders; empty when no line is known
  std::optional<int64_t> rank, step, line;

  [[nodiscard]] std::string place() const;  // "regress.py:23"; empty
};

// Of an object with op_name, kind, rank, step and source.
[[nodiscard]] NamedRoot root_of(const JsonValue& value);

struct DiffAnswer {
  int exit_code = 0;
  JsonValue document;
  std::string messages;  // of stderr

  [[nodiscard]] std::vector<NamedRoot> roots() const;
  [[nodiscard]] std::string verdict() const;                // over all
  [[nodiscard]] int64_t count(std::string_view key) const;  // in the summary
  // Is it about a tensor that only the candidate has, in all rows of this operator?
  [[nodiscard]] bool only_candidate_has(std::string_view op_name) const;
};

// Fails the test when there is no document.
[[nodiscard]] DiffAnswer ask_diff(const std::filesystem::path& candidate, const std::filesystem::path& reference);

// The same; no value where the document has no rows, because a side holds no tensors.
[[nodiscard]] std::optional<DiffAnswer> try_diff(const std::filesystem::path& candidate,
                                                 const std::filesystem::path& reference);

// "Default/network-Net/Add-op0" and "Default_network-Net_Add-op0" are one operator.
[[nodiscard]] bool same_op_name(const std::string& left, const std::string& right);

}  // namespace msdump::test
