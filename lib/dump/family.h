// A family: one kind of file that holds tensors. To add a kind, write one file that defines a Family and name it in
// family.cpp; no command changes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "dump/identity.h"
#include "dump/stored_tensor.h"

namespace msdump {

enum class Claim : uint8_t {
  kNo,
  kByName,     // the name fits: content that does not is a failure
  kByContent,  // the name says nothing against it: `open` decides
};

class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Judges a file by its name alone and fills in what the name says. Never opens anything.
  [[nodiscard]] virtual Claim claim(std::string_view file_name, Identity& identity) const = 0;
  // Reads headers, not data. `file_name` is the real name (the file may be called otherwise on disk).
  [[nodiscard]] virtual Result<OpenedFile> open(File file, std::string_view file_name) const = 0;
  // Could a file that only the content can judge be of this family?
  [[nodiscard]] virtual bool recognises(std::span<const std::byte> head, uint64_t file_size) const = 0;
};

// In the order in which they are asked.
[[nodiscard]] std::span<const Family* const> all_families();

[[nodiscard]] const Family& ascend_family();   // family_ascend.cpp
[[nodiscard]] const Family& npy_family();      // family_npy.cpp
[[nodiscard]] const Family& raw_bin_family();  // family_raw_bin.cpp

}  // namespace msdump
