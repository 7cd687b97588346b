// Dumps of two sides for the tests, written below a folder of their own and compared as diff does.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "divergence/dump_diff.h"
#include "support/catch.h"
#include "support/diff_side.h"
#include "support/made_net.h"
#include "support/scratch_dir.h"

namespace msdump {

class DiffedDumps {
 public:
  explicit DiffedDumps(SelectionOptions asked = {}) : asked_(std::move(asked)) {}

  [[nodiscard]] std::filesystem::path side(bool bad) const { return scratch_.path() / (bad ? "bad" : "ref"); }
  [[nodiscard]] const test::ScratchDir& scratch() const { return scratch_; }

  void write_nets(const std::function<void(MadeNet&)>& build, int ranks = 1, int steps = 1) const {
    for (const bool bad : {false, true}) {
      for (int rank = 0; rank < ranks; ++rank) {
        for (int step = 0; step < steps; ++step) {
          MadeNet net({bad, rank, step}, false);
          build(net);
          net.write(side(bad), true);
        }
      }
    }
  }

  [[nodiscard]] std::unique_ptr<DiffSide> open(const std::filesystem::path& path) const {
    return test::open_diff_side(path, {pool_, never_}, asked_);
  }

  [[nodiscard]] DiffResult pair() const {
    auto run = pair_dumps(open(side(true)), open(side(false)), nullptr, {pool_, never_});
    REQUIRE(run);
    return std::move(*run);
  }
  void compare(DiffResult& run, const std::vector<TensorId>& rows, FactStore* facts) const {
    REQUIRE(compare_pairs(run, rows, {}, {}, {pool_, never_, nullptr, facts}));
  }
  [[nodiscard]] DiffResult diff(DiffRules rules = {}) const { return diff(open(side(true)), open(side(false)), rules); }
  [[nodiscard]] DiffResult diff(std::unique_ptr<DiffSide> a, std::unique_ptr<DiffSide> b, DiffRules rules = {}) const {
    auto run = diff_dumps(std::move(a), std::move(b), nullptr, rules, {}, {pool_, never_});
    REQUIRE(run);
    return std::move(*run);
  }

 private:
  const SelectionOptions asked_;
  test::ScratchDir scratch_;
  mutable WorkerPool pool_{2};
  const CancelToken never_;
};

// "Default/Mul-op0: its outputs differ more than its inputs explain", by root.
inline Texts reasons_of_roots(const DiffResult& run) {
  Texts texts;
  for (const Divergence& root : run.divergence.roots)
    texts.push_back(fmt::format("{}: {}", run.op_name(root.op), root.reason));
  return texts;
}

}  // namespace msdump
