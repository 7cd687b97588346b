// The head of a nano dump, with the places where it can be wrong. Used by dump_builder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/dump_builder.h"

namespace msdump::test {

struct NanoTwist {
  std::optional<uint32_t> input_count;  // instead of the true number
  std::optional<uint32_t> list_bytes;   // of the first input
  std::optional<uint32_t> dims_bytes;   // of the first input's shape
  bool dims_are_cut = false;            // the first input's shape loses its last 4 bytes
  bool has_unknown_record = false;
};

[[nodiscard]] std::string nano_head(const DumpSpec& spec, const NanoTwist& twist = {});
[[nodiscard]] std::string build_nano(const DumpSpec& spec, const NanoTwist& twist = {});

}  // namespace msdump::test
