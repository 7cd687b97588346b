#include "support/convert_run.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "support/catch.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

class RecordingSink final : public ConvertSink {
 public:
  explicit RecordingSink(ConvertRun& run) : run_(run) {}
  void row(const ConvertRow& row) override { run_.rows.push_back(row); }
  void warning(const std::string& path, const std::string& tensor, const std::string& text) override {
    run_.warnings.push_back({path, tensor, text});
  }
  void failure(const Error& error) override { run_.failures.push_back(error); }

 private:
  ConvertRun& run_;
};

std::string or_none(const std::optional<std::string>& text) { return text.value_or("none"); }

// The text between two marks, the marks not included.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t to = text.find(end, from + begin.size());
  return text.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

const ConvertRow* ConvertRun::row_of(const std::string& input, const std::string& tensor) const {
  for (const ConvertRow& row : rows) {
    if (row.input == input && row.tensor == tensor) return &row;
  }
  return nullptr;
}

std::string ConvertRun::transcript() const {
  std::string text;
  for (const ConvertRow& row : rows) {
    text += fmt::format("{} {} -> {} {} {} {} {} {} {} {}\n", row.input, row.tensor, or_none(row.output),
                        or_none(row.from_format), or_none(row.to_format), or_none(row.dtype), or_none(row.npy_dtype),
                        row.shape ? describe(*row.shape) : "none", row.policy ? name_of(*row.policy) : "none",
                        name_of(row.status));
  }
  for (const Warning& warning : warnings)
    text += fmt::format("warning {} {} {}\n", warning.path, warning.tensor, warning.text);
  for (const Error& failure : failures) {
    text += fmt::format("failure {} {} {} {} {}\n", code_word(failure.code), failure.path, failure.tensor,
                        failure.offset.value_or(0), failure.message);
  }
  text += fmt::format("{} inputs {} tensors {} written {} skipped {} kept {} failed {} ignored {} in {} out\n",
                      summary.inputs, summary.tensors, summary.written, summary.skipped, summary.kept, summary.failed,
                      summary.ignored, summary.bytes_in, summary.bytes_out);
  return text;
}

ConvertRun run_convert(const std::vector<fs::path>& paths, const ConvertOptions& options, const RunOptions& run) {
  ConvertRun result;
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.string());
  auto index = DumpIndex::build(names, {run.excluded, nullptr});
  auto selection = Selection::compile(run.selection);
  if (!index || !selection) {
    result.error = index ? selection.error() : index.error();
    return result;
  }
  WorkerPool pool(run.jobs);
  const CancelToken never;
  RecordingSink sink(result);
  const ConvertContext context{pool, run.cancel != nullptr ? *run.cancel : never, sink, run.progress, run.facts};
  auto summary = convert(*index, *selection, options, context);
  if (summary) {
    result.summary = *summary;
  } else {
    result.error = summary.error();
  }
  return result;
}

std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == kConvertSettingsName) continue;
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
  }
  return files;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string NpyText::descr() const { return between(header, "'descr': '", "'"); }

std::vector<int64_t> NpyText::shape() const {
  std::vector<int64_t> dims;
  std::istringstream text(between(header, "'shape': (", ")"));
  for (std::string part; std::getline(text, part, ',');) {
    if (part.find_first_not_of(' ') != std::string::npos) dims.push_back(std::stoll(part));
  }
  return dims;
}

bool NpyText::fortran_order() const { return header.find("'fortran_order': True") != std::string::npos; }

NpyText parse_npy(const std::string& file) {
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(file.at(at))); };
  REQUIRE(file.substr(0, 6) == "\x93NUMPY");
  REQUIRE(byte(6) == 1);
  const size_t begin = 10, end = begin + byte(8) + 256 * byte(9);
  REQUIRE(end <= file.size());
  CHECK(end % 64 == 0);
  CHECK(file.at(end - 1) == '\n');
  return {file.substr(begin, end - begin), file.substr(end)};
}

std::string numpy_word(const std::string& descr) {
  static const std::map<std::string, std::string> kWords = {
      {"|b1", "bool"},    {"|i1", "int8"},    {"|u1", "uint8"},     {"<i2", "int16"},      {"<u2", "uint16"},
      {"<i4", "int32"},   {"<u4", "uint32"},  {"<i8", "int64"},     {"<u8", "uint64"},     {"<f2", "float16"},
      {"<f4", "float32"}, {"<f8", "float64"}, {"<c8", "complex64"}, {"<c16", "complex128"}};
  const auto found = kWords.find(descr);
  return found == kWords.end() ? "unknown descr " + descr : found->second;
}

}  // namespace msdump::test
