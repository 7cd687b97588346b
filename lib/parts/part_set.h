// PartSet: all parts of one run, checked to be all, each once, and of one run; their facts as a FactStore.
//
// Holds the bytes of all parts: some 150 bytes a tensor for stats and check, 600 a pair for diff.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parts/fact_store.h"
#include "parts/part_file.h"

namespace msdump {

class PartSet : public FactStore {
 public:
  // In any order. Each error names the part that is not as the others: cut, doubled, of another version, command, run or
  // input, or which ones are missing. `version` is this program's.
  static Result<PartSet> read(const std::vector<std::string>& paths, std::string_view version);

  // Of the first part; `shard` is its own.
  [[nodiscard]] const PartHeader& header() const { return parts_.front().header; }
  [[nodiscard]] size_t facts() const { return facts_.size(); }

  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override;
  void keep(const FactKey&, std::string) override {}

 private:
  struct Part {
    std::string path;
    std::unique_ptr<char[]> bytes;
    PartHeader header;
  };
  Status add(const std::string& path, std::string_view version);
  [[nodiscard]] Status check_alike(const Part& part) const;
  [[nodiscard]] Status check_complete() const;

  std::vector<Part> parts_;
  std::map<uint32_t, size_t> by_index_;                      // of the shard: in `parts_`
  std::vector<std::pair<FactKey, std::string_view>> facts_;  // in ascending order
};

}  // namespace msdump
