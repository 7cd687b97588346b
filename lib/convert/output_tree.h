// The files that convert writes: their names, folders, mapping.csv, and the settings that they were made with.
//
// Names: `B` is the name of the input file, io the section, k the slot.
//
//   -f F, npy     B.io.k.2x3x4.npy ("scalar" for a scalar)      no -f   B.io.k.npy
//   -f F, bin     B.io.k.2_3_4.dtype.F.bin                      no -f   B.io.k.COUNT.dtype.DEVICEFORMAT.bin
//   -f F, msnpy   B'.io.k.F.npy                                 no -f   B'.io.k.DEVICEFORMAT.npy
//   --naming mindspore   B.io.k.F.dtype.npy
//   buffers and spaces   B.l1buffer.k.bin, B.space.k.bin        overflow records   B.output.k.json
//
// A parameter has its own name in place of io.k. B' is B with the last component of the operator's full name as its second
// field, if B has five fields. A name of 255 bytes or more becomes its hash and its suffix, and mapping.csv in the same
// folder keeps the name. docs/formats/tensors.md has the names of msaccucmp.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "dump/layouts/stored_tensor.h"
#include "format/plan.h"
#include "io/run_context.h"
#include "tables/mapping_csv.h"

namespace msdump {

enum class OutputType : uint8_t { kNpy, kBin, kMsnpy };
enum class Naming : uint8_t { kMsaccucmp, kMindspore };

struct NameRequest {
  std::string input_name;  // B, without folder
  std::string op_name;     // full scope name in the file; may be empty
  OutputType type = OutputType::kNpy;
  Naming naming = Naming::kMsaccucmp;
  bool format_given = false;
};

struct OutputName {
  std::string name;                     // of the file; never contains '/' and never is "." or ".."
  std::optional<std::string> original;  // the name, if it was too long
};

[[nodiscard]] OutputName output_name(const NameRequest& request, const StoredTensor& tensor, const Plan& plan);
[[nodiscard]] OutputName opdebug_output_name(const std::string& input_name, const StoredTensor& tensor);
// The name of a converted .npy: only its fields for format and dtype change.
[[nodiscard]] OutputName npy_output_name(const std::string& input_name, const Plan& plan);

// True for sections of bytes that are no tensors.
[[nodiscard]] bool is_byte_section(Io io);

// SettingsFile: OUT/.msdump-convert.json, the options that the arrays in OUT were made with.
//
// Names of arrays do not show all options: two host formats can give one shape. So --resume keeps an array only if the file
// has the same options and is older than the array. A run with other options replaces the file, so that earlier arrays are
// made anew. A run with the same options leaves it, so shards share it.
struct ConvertOptions;

class SettingsFile {
 public:
  // Reads the file; `write` writes it.
  explicit SettingsFile(const ConvertOptions& options);

  // True if an array of this time was made with these options.
  [[nodiscard]] bool covers(int64_t mtime_ns) const { return since_ && mtime_ns > *since_; }

  // Writes these options, if the file has others. OUT exists, and no array of this run is in it yet.
  [[nodiscard]] Status write(const CancelToken& cancel) const;

  // Removes the file if another run replaced it since `write`: arrays of both runs in OUT are newer than the file.
  void end() const;

 private:
  std::string path_, folder_, text_;
  std::optional<int64_t> since_;  // time of a file with the same options
};

// OutputTree: the folders under OUT, made for their first file, and the mapping.csv of each.
class OutputTree {
 public:
  OutputTree(std::string root, const SettingsFile& settings, const CancelToken& cancel)
      : root_(std::move(root)), settings_(settings), cancel_(cancel) {}

  // Makes OUT, and a file in it for a moment: an OUT that cannot be written is an error before any work is done.
  Status create_root();
  // Makes `folder` (relative to OUT) if it is missing. The first call also writes the settings of the run. Thread-safe.
  Status create_folder(const std::string& folder);
  [[nodiscard]] std::string path_of(const std::string& relative) const;

  void add_mapping(const std::string& folder, std::string mapped, std::string original);
  // Adds the mappings to the mapping.csv of each folder; names of earlier runs stay.
  [[nodiscard]] std::vector<Error> write_mappings() const;

 private:
  std::string root_;
  const SettingsFile& settings_;
  const CancelToken& cancel_;
  bool has_settings_ = false;
  std::mutex mutex_;
  std::set<std::string> made_;
  std::map<std::string, NameMapping> mappings_;
};

// OutputClaims: gives an output that several inputs would write to the first of them, in the order of inputs. Thread-safe.
class OutputClaims {
 public:
  // The turn of one input. Every input takes one, and inputs from 0 on are started in ascending order.
  class Turn {
   public:
    Turn(OutputClaims& claims, int64_t input) : claims_(claims), input_(input) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { end(); }

    // Waits until all inputs before this one have ended their turns. Returns false if the output belongs to another input.
    bool claim(const std::string& output);
    void end();

   private:
    OutputClaims& claims_;
    const int64_t input_;
    bool ended_ = false;
  };

 private:
  std::mutex mutex_;
  std::condition_variable advanced_;
  int64_t next_ = 0;
  std::set<int64_t> ended_;  // of those after `next_`
  std::unordered_set<std::string> taken_;
};

}  // namespace msdump
