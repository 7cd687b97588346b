// Family: one kind of file that holds tensors, or rows about tensors: how its names are read, and how it is opened.
//
// A new family needs a file that defines it, its declaration here, and its place in all_families() (family.cpp). Its kind
// (names/file_kind.h) has a row in the table of kinds.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/containers.h"
#include "base/error.h"
#include "base/index.h"
#include "base/text.h"
#include "base/text_pool.h"
#include "dump/layouts/layout.h"
#include "dump/layouts/stored_tensor.h"
#include "dump/names/file_kind.h"
#include "dump/names/identity.h"
#include "tensor/dtype.h"

namespace msdump {

// The dtypes that a file outside the catalogue knows. If msdump is given dump_tensor_data or a file of it, the dump.json
// above is outside. Only this file says that a float32 was bfloat16. It is read once, on first use. If it cannot be read,
// the dtypes stay unknown.
class Sidecars {
 public:
  // `json_outside`: the folder is msprobe's dump_tensor_data, and its dump.json is not in the catalogue.
  explicit Sidecars(std::string folder, bool json_outside = false)
      : folder_(std::move(folder)), json_outside_(json_outside) {}

  // The dtype of the framework's tensor in this file; kUndefined if it is unknown. Thread-safe.
  [[nodiscard]] DType dtype_of(std::string_view file_name) const;

 private:
  void load() const;
  std::string folder_;
  bool json_outside_;
  mutable std::once_flag loaded_;
  mutable std::map<std::string, DType, std::less<>> dtypes_;
};

enum class Claim : uint8_t {
  kNo,
  kByName,     // the name fits: a file with other content is a failure
  kByContent,  // the name does not contradict: the content decides
};

// The place of a file, for names that are not enough by themselves.
struct FileContext {
  std::string_view name;           // the real one; lives as long as the catalogue
  std::string_view folder;         // relative to the root of the catalogue
  const FolderIdentity& identity;  // of that folder
  TextArena& arena;                // for texts that are not part of the name
};

struct OpenContext {
  std::string_view name;  // the real one
  const NameFacts& facts;
  const Sidecars& sidecars;
};

// A tensor in a table: numbers and no elements.
struct TableRow {
  NameFacts facts;  // views into the texts of `list_rows`; without an op name, those of the file count
  std::optional<Shape> shape;
  std::optional<uint64_t> bytes;
  std::optional<int64_t> step;    // of the row, in a table of several steps; else the step of the folder counts
  uint64_t offset = 0;            // of the row in its file, to read its numbers again
  uint32_t order = UINT32_MAX;    // place of the operator in the order of execution, if the table has one
  std::string_view distribution;  // place in a global tensor, as JSON (msprobe/dump_json.h); empty: none
  std::string_view data_name;     // the file of the elements, if the table names it
};

// An argument of a call that is no tensor: a factor, an axis, a flag, a name.
struct CallValue {
  // kGroup: the ranks of a process group, "[0,1]", which is not compared.
  enum class Kind : uint8_t { kAbsent, kNone, kBool, kNumber, kText, kList, kGroup };
  Kind kind = Kind::kAbsent;
  bool is_dtype = false;  // kText: the name of a dtype
  std::string_view text;  // as written: "1e-05", "true", "mean", "[1,null]"; empty for None
};

struct CallArgument {
  std::string_view op_name, slot;
  CallValue value;
  Index<struct IndexedFile> table;  // FileId
};

// The overflow register of the device after a call.
struct CallOverflow {
  std::string_view op_name;
  std::optional<uint64_t> status;   // 0: no overflow; none: the register could not be read
  int64_t order = 0;                // of the call in its table
  Index<struct IndexedFile> table;  // FileId
};

class TableSink {
 public:
  virtual ~TableSink() = default;
  virtual void row(const TableRow& row) = 0;
  virtual void argument(std::string_view op_name, std::string_view slot, const CallValue& value) = 0;
  virtual void overflow(std::string_view op_name, std::optional<uint64_t> status, int64_t order) = 0;
  virtual void problems(const ProblemList& rows) = 0;  // rows that cannot be used
};

class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual FileKind kind() const = 0;
  // Judges a file by its name alone, without opening it, and fills `facts` from the name.
  [[nodiscard]] virtual Claim claim(const FileContext& file, NameFacts& facts) const = 0;
  // True if the first bytes may be of this family: by default, if they have the signature of its kind.
  [[nodiscard]] virtual bool recognises(std::span<const std::byte> head, uint64_t file_size) const;
  // Reads headers, not data.
  [[nodiscard]] virtual Result<OpenedFile> open(File file, const OpenContext& context) const;

  // True if the name is not enough to list the tensors of the file.
  [[nodiscard]] virtual bool needs_header(std::string_view /*name*/, const NameFacts& facts) const {
    return facts.slot.empty();
  }

  // True if the tensors of a file may have op names of their own, which its name lacks.
  [[nodiscard]] virtual bool names_tensors(const NameFacts& /*facts*/) const { return false; }

  // False for tables, which are read with `list_rows` and not with `open`.
  [[nodiscard]] virtual bool has_elements() const { return true; }
  // True if the rows say their step.
  [[nodiscard]] virtual bool rows_have_steps() const { return false; }
  // Returns an error if the table as a whole cannot be used.
  [[nodiscard]] virtual Status list_rows(const File& file, TextPool& texts, TableSink& sink) const;
};

// The families, in the order in which they are asked.
[[nodiscard]] std::span<const Family* const> all_families();

[[nodiscard]] const Family& npy_family();  // family_arrays.cpp
[[nodiscard]] const Family& npz_family();
[[nodiscard]] const Family& raw_bin_family();
[[nodiscard]] const Family& raw_family();
[[nodiscard]] const Family& pt_family();  // family_parameters.cpp
[[nodiscard]] const Family& pt_checkpoint_family();
[[nodiscard]] const Family& dcp_family();  // family_dcp.cpp
[[nodiscard]] const Family& safetensors_family();
[[nodiscard]] const Family& ckpt_family();
[[nodiscard]] const Family& ascend_family();  // family_device.cpp
[[nodiscard]] const Family& atb_family();
[[nodiscard]] const Family& statistic_family();  // family_tables.cpp
[[nodiscard]] const Family& monitor_family();
[[nodiscard]] const Family& dump_json_family();
[[nodiscard]] const Family& debug_json_family();
[[nodiscard]] const Family& dump_pkl_family();
[[nodiscard]] const Family& tensor_log_family();

}  // namespace msdump
