// Every run of `msprobe compare` in the conformance data whose result is a CSV: the same comparison gives the same rows, texts
// and verdicts, and numbers that differ by at most 1e-6. The runs are those of compare/*/run.json, with their commands; what ran
// under pandas 2 is said in README.md there. Runs that msprobe refused, or ended without a result, are refused here too. Then what an earlier msprobe
// printed on another machine: corpus/compare, with its results of three dumps and its metrics of pairs of arrays.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "io/file.h"
#include "io/json.h"
#include "profiles/msprobe/metrics.h"
#include "profiles/msprobe/result.h"
#include "support/catch.h"
#include "support/gzip.h"
#include "support/other_tool.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Run {
  std::string name;
  std::vector<std::string> arguments;  // of `msprobe compare`
  int64_t exit_status = 0;
  std::map<std::string, fs::path> results;  // by name, without .csv and .gz
  bool has_other_results = false;           // xlsx, json
};

std::optional<Run> read_run(const fs::path& folder) {
  const auto json = parse_json(read_bytes(folder / "run.json"));
  REQUIRE(json);
  Run run{folder.filename().string(), {}, json->find("exit_status")->as_int().value_or(-1), {}, false};
  std::istringstream words(json->find("command")->text);
  for (std::string word; words >> word;) run.arguments.push_back(word);
  const bool compare = run.arguments.size() > 2 && run.arguments[0] == "msprobe" && run.arguments[1] == "compare";
  if (!compare) return std::nullopt;
  run.arguments.erase(run.arguments.begin(), run.arguments.begin() + 2);
  for (const JsonMember& file : json->find("files")->members) {
    fs::path name = file.key;
    if (name.extension() == ".gz") name = name.stem();
    if (name.extension() == ".csv") {
      run.results[name.stem().string()] = folder / file.key;
    } else {
      run.has_other_results = run.has_other_results || name.extension() != ".yaml";
    }
  }
  return run;
}

struct MsprobeComparison {
  std::string target, golden;
  MsprobeCompareOptions options;
};

MsprobeComparison comparison_of(const Run& run, const fs::path& corpus) {
  MsprobeComparison comparison;
  comparison.options.pandas2 = !run.name.starts_with("pt-");
  const auto value = [&](size_t at) {
    const bool given = at + 1 < run.arguments.size() && !run.arguments[at + 1].starts_with('-');
    return given ? (corpus / run.arguments[at + 1]).string() : std::string();
  };
  MsprobeCompareOptions& options = comparison.options;
  for (size_t i = 0; i < run.arguments.size(); ++i) {
    const std::string& argument = run.arguments[i];
    if (argument == "-tp") comparison.target = value(i);
    if (argument == "-gp") comparison.golden = value(i);
    if (argument == "-fm") options.fuzzy = true;
    if (argument == "-cm") options.cell_mapping = value(i);
    if (argument == "-am") options.api_mapping = value(i);
    if (argument == "-dm") options.data_mapping = value(i);
    if (argument == "-lm") options.layer_mapping = value(i);
  }
  return comparison;
}

// The results by name, or why there are none.
Result<std::map<std::string, std::string>> compare(const MsprobeComparison& comparison) {
  WorkerPool pool(2);
  const CancelToken cancel;
  std::map<std::string, std::string> results;
  MSDUMP_TRY(const auto pairs, find_msprobe_pairs(comparison.target, comparison.golden));
  for (const MsprobeJsonPair& pair : pairs) {
    std::string& text = results[pair.result_name];
    const auto sink = [&](std::string_view lines) -> Status {
      text += lines;
      return {};
    };
    MSDUMP_CHECK_OK(write_msprobe_result(pair.target, pair.golden, comparison.options, {pool, cancel}, sink));
  }
  return results;
}

std::string first_difference(const std::string& ours, const std::string& theirs) {
  const auto a = csv_cells(ours), b = csv_cells(theirs);
  for (size_t line = 0; line < std::max(a.size(), b.size()); ++line) {
    if (line >= a.size() || line >= b.size() || a[line].size() != b[line].size())
      return fmt::format("line {}: another number of cells", line + 1);
    for (size_t i = 0; i < a[line].size(); ++i) {
      if (!same_cell(a[line][i], b[line][i]))
        return fmt::format("line {}, {}: {} for {}", line + 1, a.front()[i], a[line][i], b[line][i]);
    }
  }
  return "none";
}

// The fuzzy match of statistics, of which msprobe mixes the columns up.
bool is_mixed_up(const Run& run) {
  const auto has = [&](std::string_view text) { return run.name.find(text) != std::string::npos; };
  return has("fuzzy") && has("stats");
}

std::vector<Run> all_runs(const fs::path& corpus) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(corpus / "compare")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<Run> runs;
  for (const fs::path& folder : folders) {
    if (auto run = read_run(folder)) runs.push_back(std::move(*run));
  }
  return runs;
}

}  // namespace

TEST_CASE("the result CSV of every msprobe compare is written again, with numbers of our own") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t equal = 0;
  std::vector<std::string> problems;
  for (const Run& run : all_runs(*corpus)) {
    if (run.exit_status != 0 || run.results.empty() || run.has_other_results || is_mixed_up(run)) continue;
    const auto ours = compare(comparison_of(run, *corpus));
    if (!ours) {
      problems.push_back(run.name + ": " + ours.error().message);
      continue;
    }
    CHECK(ours->size() == run.results.size());
    for (const auto& [name, path] : run.results) {
      const auto found = ours->find(name);
      const std::string theirs = read_maybe_gzipped(path);
      if (found == ours->end()) {
        problems.push_back(run.name + ": no result called " + name);
      } else if (const std::string other = first_difference(found->second, theirs); other != "none") {
        problems.push_back(run.name + ": " + other);
      } else {
        ++equal;
      }
    }
  }
  std::cout << equal << " result files equal, " << problems.size() << " not" << std::endl;
  for (const auto& problem : problems) UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  CHECK(equal >= 70);
}

TEST_CASE("what msprobe compare refuses, or ends without a result, is refused") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t refused = 0;
  for (const Run& run : all_runs(*corpus)) {
    const bool analysis = std::find(run.arguments.begin(), run.arguments.end(), "-da") != run.arguments.end();
    if (!run.results.empty() || run.has_other_results || analysis || is_mixed_up(run)) continue;
    INFO(run.name);
    const auto ours = compare(comparison_of(run, *corpus));
    REQUIRE_FALSE(ours);
    CHECK(ours.error().code == ErrorCode::kUsage);
    ++refused;
  }
  std::cout << refused << " runs refused" << std::endl;
  CHECK(refused >= 5);
}

TEST_CASE("the results of an earlier msprobe are written again, with numbers of our own") {
  const auto corpus = corpus_or_skip("compare");
  if (!corpus) return;
  size_t equal = 0;
  for (const auto& entry : fs::directory_iterator(*corpus / "msprobe_csv" / "in")) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    const auto ours = compare({(entry.path() / "npu" / "dump.json").string(),
                               (entry.path() / "bench" / "dump.json").string(),
                               {.pandas2 = true}});
    REQUIRE(ours);
    const std::string theirs = read_bytes(*corpus / "msprobe_csv" / (name + ".csv"));
    CHECK(first_difference(ours->at("compare_result"), theirs) == "none");
    ++equal;
  }
  CHECK(equal == 3);
}

// Pairs of which msprobe's numbers are those of its own arithmetic: int8 and int64 that wrap or are rounded, float32 that
// overflows, the real parts of complex numbers, an eps of float32 for a bool, infinities without their sign.
TEST_CASE("metrics of pairs of arrays are those that msprobe printed for them") {
  const auto corpus = corpus_or_skip("compare");
  if (!corpus) return;
  const auto golden = parse_json(read_bytes(*corpus / "golden.json"));
  REQUIRE(golden);
  const std::set<std::string> other_arithmetic = {
      "bool_0d", "complex64", "f32_huge_opposite", "f32_inf_opposite_sign", "i8_0d_wrap", "i64_beyond_2p53"};
  size_t pairs = 0;
  std::set<std::string> different;
  for (const JsonValue& pair : golden->find("cases")->items) {
    const std::string& name = pair.find("name")->text;
    const auto ours = msprobe_metrics((*corpus / pair.find("a")->text).string(),
                                      (*corpus / pair.find("b")->text).string(), CancelToken());
    REQUIRE(ours);
    const auto& theirs = pair.find("reference")->find("msprobe_api")->members;
    for (size_t i = 0; i < ours->size(); ++i) {
      const PythonValue expected = python_value(&theirs[i].value);
      if (same_cell((*ours)[i].text, expected.text)) continue;
      different.insert(name);
      INFO(name << " " << theirs[i].key << " " << (*ours)[i].text << " " << expected.text);
      CHECK(other_arithmetic.contains(name));
    }
    ++pairs;
  }
  std::cout << pairs << " pairs" << std::endl;
  CHECK(pairs >= 42);
  CHECK(different == other_arithmetic);
}
