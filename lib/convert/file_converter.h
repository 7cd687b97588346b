// Writes one tensor: reads its bytes, unpacks, moves and widens the elements as the plan says, and writes the array.
//
// Small tensors are one read and one write. Large ones go through in windows (format/window.h) that the workers share, so
// that memory is bounded by windows x workers, whatever the size of the tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "convert/convert.h"
#include "convert/output_tree.h"
#include "dump/elements/stored_elements.h"
#include "dump/index/dump_index.h"
#include "format/plan.h"
#include "io/run_context.h"
#include "parts/facts.h"

namespace msdump {

// `header` comes before the elements (empty for raw output). Returns the size of the file. `path` appears only if the
// whole tensor was read, the input did not change meanwhile, and everything was written.
Result<uint64_t> write_tensor(const PlannedTensor& source, const std::string& header, const std::string& path,
                              const RunContext& context);

// Bytes that `write_tensor` writes after the header.
[[nodiscard]] uint64_t output_bytes(const Plan& plan);

// FileConverter: all tensors of one input file. One unit of convert's work; called from many threads at once.

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

// The list of what became of a file, for a part of a run (parts/fact_codec.h).

void fields(auto& visit, FieldsOf<ConvertRow> auto& value) {
  MSDUMP_FIELDS(input, tensor, output, from_format, to_format, dtype, npy_dtype, shape, policy, status);
}
void fields(auto& visit, FieldsOf<TensorWarning> auto& value) { MSDUMP_FIELDS(tensor, text); }
void fields(auto& visit, FieldsOf<LongName> auto& value) { MSDUMP_FIELDS(folder, mapped, original); }
void fields(auto& visit, FieldsOf<FileOutcome> auto& value) {
  MSDUMP_FIELDS(path, not_a_dump, interrupted, rows, failures, warnings, long_names, bytes_in, bytes_out);
}

}  // namespace msdump
