// FileConverter: all tensors of one input file. One unit of convert's work; called from many threads at once.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "convert/convert.h"
#include "convert/output_name.h"
#include "convert/output_tree.h"
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

class FileConverter {
 public:
  FileConverter(const DumpIndex& index, const Selection& selection, const ConvertOptions& options,
                const ConvertContext& context, OutputTree& tree)
      : index_(index), selection_(selection), options_(options), context_(context), tree_(tree) {}

  // `base` is the name its outputs are built on.
  FileOutcome convert(const IndexedFile& file, const std::string& base);

 private:
  struct Unit;
  void convert_tensor(Unit& unit, StoredTensor& tensor);
  Status write(Unit& unit, const StoredTensor& tensor, const Plan& plan, const OutputName& name, ConvertRow& row);
  Status write_opdebug(Unit& unit, const StoredTensor& tensor, ConvertRow& row);
  // An .npy that needs nothing done to it is left where it is.
  bool leave_alone(Unit& unit, const StoredTensor& tensor, const Plan& plan, ConvertRow& row);
  static void remember_long_name(Unit& unit, const OutputName& name);
  Result<bool> finish_without_writing(const Unit& unit, const std::string& path, uint64_t bytes, ConvertRow& row) const;

  const DumpIndex& index_;
  const Selection& selection_;
  const ConvertOptions& options_;
  const ConvertContext& context_;
  OutputTree& tree_;
};

}  // namespace msdump
