// OutputTree: the folders under OUT, made when their first file is written, and the mapping.csv of each.
// OutputClaims: which input an output belongs to.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "convert/settings_file.h"
#include "io/cancel.h"
#include "tables/mapping_csv.h"

namespace msdump {

class OutputTree {
 public:
  OutputTree(std::string root, const SettingsFile& settings, const CancelToken& cancel)
      : root_(std::move(root)), settings_(settings), cancel_(cancel) {}

  // Makes OUT and finds out whether files can be made in it, before any work is done.
  Status create_root();
  // Makes `folder` (relative, as it is below the dump) unless it was made before, and before the first the settings of
  // the run. Thread-safe.
  Status create_folder(const std::string& folder);
  [[nodiscard]] std::string path_of(const std::string& relative) const;

  void add_mapping(const std::string& folder, std::string mapped, std::string original);
  // Adds what was collected to the mapping.csv of each folder; names of earlier runs stay.
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

// No two inputs write one output: if several would, the first in the order of inputs gets it, whichever worker asks
// first. Thread-safe.
class OutputClaims {
 public:
  // The turn of one input. Every input takes one, and inputs from 0 on are started in ascending order.
  class Turn {
   public:
    Turn(OutputClaims& claims, int64_t input) : claims_(claims), input_(input) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { end(); }

    // Waits until all inputs before this one have ended their turns; false when the output belongs to another input.
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
