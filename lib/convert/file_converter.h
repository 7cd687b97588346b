// FileConverter: all tensors of one input file. One unit of convert's work; called from many threads at once.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "convert/convert.h"
#include "convert/output_name.h"
#include "convert/output_tree.h"
#include "convert/settings_file.h"
#include "dump/index/dump_index.h"

namespace msdump {

struct TensorWarning {
  std::string tensor, text;
};

struct LongName {
  std::string folder, mapped, original;
};

// What became of one input file.
struct FileOutcome {
  std::string path;
  bool not_a_dump = false;  // the content says so, and the name never claimed otherwise
  bool interrupted = false;
  std::vector<ConvertRow> rows;
  std::vector<Error> failures;
  std::vector<TensorWarning> warnings;
  std::vector<LongName> long_names;
  uint64_t bytes_in = 0, bytes_out = 0;
};

// What FileConverter needs to know about an input besides its file.
struct ConvertInput {
  const IndexedFile* file = nullptr;
  std::string base;    // the name its outputs are built on
  std::string note;    // why that is not the name in mapping.csv
  int64_t number = 0;  // in the order of the inputs
};

class FileConverter {
 public:
  // `contested`: outputs of two inputs may have one name.
  FileConverter(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                const ConvertContext& context, OutputTree& tree, const SettingsFile& settings, bool contested)
      : index_(index),
        selection_(selection),
        options_(options),
        context_(context),
        tree_(tree),
        settings_(settings),
        contested_(contested) {}

  FileOutcome convert(const ConvertInput& input);
  // Takes the outputs of an input that another process converts.
  void claim(const ConvertInput& input);

 private:
  struct Unit;
  enum class Claim : uint8_t { kOwn, kWithoutOpName, kTaken };

  [[nodiscard]] bool is_wanted(const IndexedFile& file, const StoredTensor& tensor) const;
  [[nodiscard]] Result<Plan> plan_for(const Unit& unit, const StoredTensor& tensor) const;
  [[nodiscard]] Plan with_known_shape(const Unit& unit, const StoredTensor& tensor, Plan plan) const;
  [[nodiscard]] OutputName name_for(const Unit& unit, const StoredTensor& tensor, const Plan& plan, Claim claim) const;
  // By tensor, in the turn of the input.
  [[nodiscard]] std::vector<Claim> claim_names(const Unit& unit, OutputClaims::Turn& turn) const;
  [[nodiscard]] Claim claim_name(const Unit& unit, const StoredTensor& tensor, OutputClaims::Turn& turn) const;

  void convert_tensor(Unit& unit, const StoredTensor& tensor, Claim claim);
  Status write_array(Unit& unit, const StoredTensor& tensor, Claim claim, ConvertRow& row);
  Status write(Unit& unit, const StoredTensor& tensor, const Plan& plan, const OutputName& name, ConvertRow& row);
  Status write_opdebug(Unit& unit, const StoredTensor& tensor, ConvertRow& row);
  static void count_bytes(Unit& unit, const StoredTensor& tensor, uint64_t written);
  static void remember_long_name(Unit& unit, const OutputName& name);
  // An array of `bytes`, which begins with `header`.
  struct Expected {
    const std::string& path;
    std::string_view header;
    uint64_t bytes = 0;
  };
  [[nodiscard]] bool is_up_to_date(const Unit& unit, const Expected& expected) const;
  Result<bool> finish_without_writing(Unit& unit, const StoredTensor& tensor, const Expected& expected,
                                      ConvertRow& row) const;

  const DumpIndex& index_;
  const Selection& selection_;
  const ConvertOptions& options_;
  const ConvertContext& context_;
  OutputTree& tree_;
  const SettingsFile& settings_;
  const bool contested_;
  OutputClaims claims_;
};

}  // namespace msdump
