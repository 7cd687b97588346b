// What a table of the dump (dump.json of msprobe) has of calls beside their tensors; the catalogue lists it apart.
//
// Arguments that are not tensors: factors, axes, flags, names. Overflows: the status register of the device after a call.
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
#include "base/text.h"
#include "dump/layouts/layout.h"
#include "dump/layouts/stored_tensor.h"
#include "dump/names/file_kind.h"
#include "dump/names/identity.h"
#include "tensor/dtype.h"

namespace msdump {

struct CallValue {
  // kGroup: the ranks of a process group, "[0,1]", which is not compared.
  enum class Kind : uint8_t { kAbsent, kNone, kBool, kNumber, kText, kList, kGroup };
  Kind kind = Kind::kAbsent;
  bool is_dtype = false;  // kText: the name of a dtype
  std::string_view text;  // as written: "1e-05", "true", "mean", "[1,null]"; of None empty
};

struct CallArgument {
  std::string_view op_name, slot;
  CallValue value;
  uint32_t table = 0;  // DumpIndex::files()
};

struct CallOverflow {
  std::string_view op_name;
  std::optional<uint64_t> status;  // 0: none; no value: it could not be read
  int64_t order = 0;               // of the call in its table
  uint32_t table = 0;              // DumpIndex::files()
};

// Sidecars: files outside the catalogue that say something about its files. If msdump is given one file of
// dump_tensor_data, or that folder, the dump.json above it is outside, and it alone knows that a float32 was bfloat16.
// One object per folder reads them once, on first use. A sidecar that cannot be read says nothing.

class Sidecars {
 public:
  // `json_outside`: the folder is msprobe's dump_tensor_data, and its dump.json is not in the catalogue.
  explicit Sidecars(std::string folder, bool json_outside = false)
      : folder_(std::move(folder)), json_outside_(json_outside) {}

  // The dtype of the framework's tensor in this file; kUndefined if nothing says it. Thread-safe.
  [[nodiscard]] DType dtype_of(std::string_view file_name) const;

 private:
  void load() const;
  std::string folder_;
  bool json_outside_;
  mutable std::once_flag loaded_;
  mutable std::map<std::string, DType, std::less<>> dtypes_;
};

// A family is one kind of file that holds tensors. To add a kind, write one file that defines a Family and name it in
// family.cpp; no command changes.

class Sidecars;

enum class Claim : uint8_t {
  kNo,
  kByName,     // the name fits: content that does not is a failure
  kByContent,  // the name says nothing against it: `open` decides
};

// Where a file lies, for names that are not enough by themselves.
struct FileContext {
  std::string_view name;           // the real one; lives as long as the catalogue
  std::string_view folder;         // relative to the root of the catalogue
  const FolderIdentity& identity;  // of that folder
  TextArena& arena;                // for texts that are not part of the name
};

// What `open` may use: the real name, the facts of the name, and the files beside it.
struct OpenContext {
  std::string_view name;
  const NameFacts& facts;
  const Sidecars& sidecars;
};

// One tensor of a table: numbers and no elements.
struct TableRow {
  NameFacts facts;  // views into the arena that `list_rows` was given; without an op name those of the file count
  std::optional<Shape> shape;
  std::optional<uint64_t> bytes;
  std::optional<int64_t> step;    // of the row, in a table of several steps; else that of the folder counts
  uint64_t offset = 0;            // of the row in its file, to read its numbers again
  uint32_t order = UINT32_MAX;    // place of the operator in the order of execution, where the table has one
  std::string_view distribution;  // of which larger tensor it is a part, as JSON (msprobe/dump_json.h); empty: of none
  std::string_view data_name;     // the file that holds the elements, where the table says so
};

class TableSink {
 public:
  virtual ~TableSink() = default;
  virtual void row(const TableRow& row) = 0;
  virtual void argument(std::string_view op_name, std::string_view slot, const CallValue& value) = 0;
  virtual void overflow(std::string_view op_name, std::optional<uint64_t> status, int64_t order) = 0;
  virtual void problems(const ProblemList& rows) = 0;  // those that cannot be used
};

class Family {
 public:
  virtual ~Family() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual FileKind kind() const = 0;
  // Judges a file by its name alone and fills in what the name says. Never opens anything.
  [[nodiscard]] virtual Claim claim(const FileContext& file, NameFacts& facts) const = 0;
  // May a file that only its content can judge be of this family?
  [[nodiscard]] virtual bool recognises(std::span<const std::byte> /*head*/, uint64_t /*file_size*/) const {
    return false;
  }
  // Reads headers, not data.
  [[nodiscard]] virtual Result<OpenedFile> open(File file, const OpenContext& context) const;

  // Is the name not enough to list the tensors of the file?
  [[nodiscard]] virtual bool needs_header(std::string_view /*name*/, const NameFacts& facts) const {
    return facts.slot.empty();
  }

  // May the tensors of a file have op names of their own, which its name does not say?
  [[nodiscard]] virtual bool names_tensors(const NameFacts& /*facts*/) const { return false; }

  // False for tables, which are read with `list_rows` and not with `open`.
  [[nodiscard]] virtual bool has_elements() const { return true; }
  // Do the rows say their step, which the folder does not?
  [[nodiscard]] virtual bool rows_have_steps() const { return false; }
  // An error when the table as a whole cannot be used.
  [[nodiscard]] virtual Status list_rows(const File& file, TextArena& arena, TableSink& sink) const;
};

// In the order in which they are tried.
[[nodiscard]] std::span<const Family* const> all_families();

[[nodiscard]] const Family& ascend_family();   // family_ascend.cpp
[[nodiscard]] const Family& npy_family();      // family_npy.cpp
[[nodiscard]] const Family& npz_family();      // family_npz.cpp
[[nodiscard]] const Family& raw_bin_family();  // family_raw_bin.cpp
[[nodiscard]] const Family& raw_family();
[[nodiscard]] const Family& pt_family();  // family_pt.cpp
[[nodiscard]] const Family& pt_checkpoint_family();
[[nodiscard]] const Family& ckpt_family();
[[nodiscard]] const Family& safetensors_family();  // family_checkpoint.cpp
[[nodiscard]] const Family& atb_family();          // family_atb.cpp
[[nodiscard]] const Family& statistic_family();    // family_statistic.cpp
[[nodiscard]] const Family& monitor_family();      // family_monitor.cpp
[[nodiscard]] const Family& dump_json_family();    // family_dump_json.cpp
[[nodiscard]] const Family& debug_json_family();

}  // namespace msdump
