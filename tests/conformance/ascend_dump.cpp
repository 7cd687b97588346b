// convert over every Ascend dump file of the conformance data, sound and damaged ones in one run: each tensor must come
// out as the manifest says, each damaged file must cost one failure that says what is wrong, and nothing else.
#include <array>
#include <cctype>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "ascend_manifest.h"
#include "kernels/cpu.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

// What a damaged file must be answered with: the code, and words; besides these, every number of the manifest's message.
struct ReadAnswer {
  std::string_view good_message;          // a part of the manifest's
  std::string_view code;                  // or two, separated by a blank
  std::array<std::string_view, 2> words;  // must stand in our message
  std::string_view aside = "";            // not a fact but advice: its numbers do not count
};

constexpr std::array kAnswers = {
    ReadAnswer{"file is empty", "truncated", {"empty", ""}},
    ReadAnswer{"length is incomplete", "truncated", {"header length", "incomplete"}},
    ReadAnswer{"bytes announced", "truncated", {"announced", "present"}},
    ReadAnswer{"header length past end of file", "truncated bad_header", {"header", ""}},
    ReadAnswer{"header length absurd", "bad_header", {"header length", "past the end"}, "8+len"},
    ReadAnswer{"not a valid protobuf", "bad_protobuf", {"not a valid protobuf", ""}},
    ReadAnswer{"length field is text", "not_a_dump", {"not a dump file", "text"}},
    ReadAnswer{"this is an .npy file", "not_a_dump", {".npy", "not a dump"}},
    ReadAnswer{"not a dump file", "bad_header not_a_dump", {"not a dump file", ""}},
    ReadAnswer{"empty header", "bad_header", {"empty header", "length 0"}},
    ReadAnswer{"needs N bytes", "truncated", {"needs", "present"}},
    ReadAnswer{"is less than the shape needs", "shape_mismatch", {"is less than the shape needs", ""}},
    ReadAnswer{"but shape needs", "shape_mismatch", {"less than the shape needs", ""}},
    ReadAnswer{"shape needs more bytes", "shape_mismatch too_large", {"the shape needs", ""}},
    ReadAnswer{"size past end of file", "truncated", {"needs", "present"}},
    ReadAnswer{"dimension product overflows", "too_large", {"dimension product", "overflows"}, "(wraps to 0 mod 2^64)"},
    ReadAnswer{"unknown data type", "unsupported_dtype", {"unknown data type", ""}},
    ReadAnswer{"unknown format", "unsupported_format", {"unknown format", ""}},
    ReadAnswer{"dimensions", "shape_mismatch", {"needs", "dimensions"}},
    ReadAnswer{"empty tensor (C0 = 0)", "shape_mismatch", {"empty tensor", "C0 = 0"}},
    ReadAnswer{"does not fit C1*C0", "shape_mismatch", {"original C", "does not fit C1*C0"}},
    ReadAnswer{"does not fit", "shape_mismatch", {"original shape", "does not fit"}},
    ReadAnswer{"do not divide", "shape_mismatch", {"groups do not divide N", ""}},
    ReadAnswer{"and no data", "bad_header", {"tensors", "data"}, "of type 0"},
    ReadAnswer{"renamed .npy", "bad_npy", {"dump file", ".npy"}},
};

const ReadAnswer* answer_for(const std::string& good_message) {
  for (const ReadAnswer& answer : kAnswers) {
    if (good_message.find(answer.good_message) != std::string::npos) return &answer;
  }
  return nullptr;
}

std::set<std::string> numbers_in(const std::string& text) {
  std::set<std::string> numbers;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end > i) numbers.insert(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return numbers;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// What is wrong with the failure reported for a damaged file, line by line; empty when nothing is.
std::string judge_failure(const BadFile& bad, const Error& error) {
  std::string problems;
  const std::string said = error.tensor + ": " + error.message;
  std::string facts = bad.good_message;
  if (const ReadAnswer* answer = answer_for(bad.good_message)) {
    const std::string codes = fmt::format(" {} ", answer->code);
    if (!contains(codes, fmt::format(" {} ", code_word(error.code)))) {
      problems += fmt::format("code {} instead of{}; ", code_word(error.code), codes);
    }
    for (const std::string_view word : answer->words) {
      if (!contains(said, word)) problems += fmt::format("does not say '{}'; ", word);
    }
    const size_t aside = answer->aside.empty() ? std::string::npos : facts.find(answer->aside);
    if (aside != std::string::npos) facts.erase(aside, answer->aside.size());
  }
  const std::set<std::string> present = numbers_in(said);
  for (const std::string& number : numbers_in(facts)) {
    if (!present.contains(number)) problems += fmt::format("does not name {}; ", number);
  }
  const size_t label = facts.find("put:");
  if (label != std::string::npos && error.tensor.empty()) problems += "does not name the tensor; ";
  return problems.empty() ? "" : fmt::format("{}: {}said: {} {}", bad.file, problems, code_word(error.code), said);
}

std::string expected_policy(const std::string& policy) {
  if (policy == "nchw") return "converted";
  return policy == "passthrough" ? "kept" : policy;
}

// What is wrong with one converted tensor; empty when nothing is.
std::string judge_tensor(const ExpectedTensor& expected, const fs::path& corpus, const ConvertRun& run,
                         const Files& files) {
  const ConvertRow* row = run.row_of(expected.file, expected.tensor);
  if (row == nullptr) return "no row; ";
  std::string problems;
  if (row->output != expected.output()) problems += fmt::format("row names {}; ", row->output.value_or("no output"));
  if (!row->policy || name_of(*row->policy) != expected_policy(expected.policy)) {
    problems += fmt::format("policy {} instead of {}; ", row->policy ? name_of(*row->policy) : "none", expected.policy);
  }
  if (row->npy_dtype != expected.dtype) problems += fmt::format("row says {}; ", row->npy_dtype.value_or("no dtype"));
  if (row->shape != expected.shape) problems += "row has another shape; ";
  const auto file = files.find(expected.output());
  if (file == files.end()) return problems + fmt::format("no file {}; ", expected.output());
  const NpyText got = parse_npy(file->second);
  const NpyText stored = parse_npy(read_text(corpus / expected.stored));
  if (numpy_word(got.descr()) != expected.dtype) problems += fmt::format("dtype {}; ", got.descr());
  if (got.shape() != expected.shape) problems += fmt::format("shape {}; ", describe(got.shape()));
  if (got.fortran_order()) problems += "Fortran order; ";
  if (sha256_of(got.body) != expected.sha256) problems += "the elements differ by their hash; ";
  // The stored scalars are vectors of one element; the manifest says what they are.
  const bool same_shape = stored.shape() == expected.shape || expected.shape.empty();
  if (!same_shape || got.descr() != stored.descr() || got.body != stored.body)
    problems += "differs from the stored .npy; ";
  return problems;
}

struct Converted {
  ConvertRun run;
  Files files;
};

Converted convert_corpus(const fs::path& corpus, unsigned jobs) {
  const ScratchDir scratch;
  ConvertOptions options;
  options.out = (scratch.path() / "out").string();
  options.format = Format::kNCHW;
  Converted converted;
  converted.run = run_convert({corpus}, options, {.jobs = jobs, .excluded = {(corpus / "expected").string()}});
  converted.files = files_below(options.out);
  return converted;
}

// Lines of all mapping.csv files: folder/hash -> name.
Files long_names(const Files& files) {
  Files names;
  for (const auto& [path, content] : files) {
    const fs::path at(path);
    if (at.filename() != "mapping.csv") continue;
    std::istringstream lines(content);
    for (std::string line; std::getline(lines, line);) {
      const size_t comma = line.find(',');
      names[(at.parent_path() / line.substr(0, comma)).string()] = line.substr(comma + 1);
    }
  }
  return names;
}

void report_problems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) std::cout << "  " << problem << "\n";
  std::cout << std::flush;
  CHECK(problems.empty());
}

}  // namespace

TEST_CASE("every tensor of the Ascend corpus converts to what the manifest says") {
  const auto corpus = corpus_or_skip("ascend-dump");
  if (!corpus) return;
  const AscendManifest manifest = read_ascend_manifest(*corpus);
  const Converted converted = convert_corpus(*corpus, 2);
  REQUIRE_FALSE(converted.run.error);
  std::vector<std::string> problems;
  for (const ExpectedTensor& expected : manifest.tensors) {
    const std::string wrong = judge_tensor(expected, *corpus, converted.run, converted.files);
    if (!wrong.empty()) problems.push_back(fmt::format("{} {}: {}", expected.file, expected.tensor, wrong));
  }
  std::cout << manifest.tensors.size() - problems.size() << " of " << manifest.tensors.size() << " tensors"
            << std::endl;
  report_problems(problems);
}

TEST_CASE("every damaged file of the Ascend corpus is one failure that says what is wrong") {
  const auto corpus = corpus_or_skip("ascend-dump");
  if (!corpus) return;
  const AscendManifest manifest = read_ascend_manifest(*corpus);
  const Converted converted = convert_corpus(*corpus, 2);
  std::multimap<std::string, const Error*> failures;
  for (const Error& error : converted.run.failures) {
    failures.emplace(fs::path(error.path).lexically_relative(*corpus).string(), &error);
  }
  std::vector<std::string> problems;
  for (const BadFile& bad : manifest.bad) {
    const auto [first, last] = failures.equal_range(bad.file);
    const auto count = std::distance(first, last);
    const std::string wrong =
        count == 1 ? judge_failure(bad, *first->second) : fmt::format("{}: {} failures", bad.file, count);
    if (!wrong.empty()) problems.push_back(wrong);
    failures.erase(bad.file);
  }
  std::cout << manifest.bad.size() - problems.size() << " of " << manifest.bad.size() << " damaged files" << std::endl;
  for (const auto& [file, error] : failures)
    problems.push_back(fmt::format("unexpected failure: {}: {}", file, error->message));
  report_problems(problems);
}

TEST_CASE("convert writes the tensors of the Ascend corpus, the names of hashed ones, and nothing else") {
  const auto corpus = corpus_or_skip("ascend-dump");
  if (!corpus) return;
  const AscendManifest manifest = read_ascend_manifest(*corpus);
  const Converted converted = convert_corpus(*corpus, 1);
  const Files names = long_names(converted.files);
  std::set<std::string> expected;
  Files expected_names;
  for (const ExpectedTensor& tensor : manifest.tensors) {
    expected.insert(tensor.output());
    if (!tensor.is_hashed()) continue;
    expected_names[tensor.output()] = tensor.name;
    expected.insert((fs::path(tensor.file).parent_path() / "mapping.csv").string());
  }
  std::set<std::string> written;
  for (const auto& [path, content] : converted.files) written.insert(path);
  CHECK(written == expected);
  CHECK(names == expected_names);
  CHECK(converted.run.summary.written == static_cast<int64_t>(manifest.tensors.size()));
}

TEST_CASE("converting the Ascend corpus gives the same for any number of jobs and on every CPU target") {
  const auto corpus = corpus_or_skip("ascend-dump");
  if (!corpus) return;
  const Converted first = convert_corpus(*corpus, 1);
  for (const unsigned jobs : {2U, 5U}) {
    INFO(jobs << " jobs");
    const Converted other = convert_corpus(*corpus, jobs);
    CHECK(other.run.transcript() == first.run.transcript());
    CHECK((other.files == first.files));
  }
  for (const std::string& target : kernels::available_cpu_targets()) {
    INFO(target);
    REQUIRE(kernels::choose_cpu_target(target));
    const Converted other = convert_corpus(*corpus, 2);
    CHECK(other.run.transcript() == first.run.transcript());
    CHECK((other.files == first.files));
  }
  REQUIRE(kernels::choose_cpu_target(""));
}
