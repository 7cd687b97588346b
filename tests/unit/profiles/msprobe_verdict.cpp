#include "profiles/msprobe/verdict.h"

#include <limits>

#include "support/catch.h"

namespace msdump {
namespace {

using Strings = std::vector<std::string>;

MsprobeRow row(const std::string& name, std::vector<PythonValue> metrics = {}) {
  MsprobeRow result;
  for (MsprobeRow::Side* side : {&result.target, &result.golden}) {
    *side = {name, "torch.float32", "[2]", "True", "0", {}, "-1"};
    side->statistics.fill(python_float(1.0));
  }
  result.metrics = std::move(metrics);
  return result;
}

// The six metrics of tensors of which two are looked at; the eight of statistics of which one is.
MsprobeRow tensor(const std::string& name, const PythonValue& cosine, const PythonValue& thousandth) {
  std::vector<PythonValue> metrics(6, python_float(0.0));
  metrics[0] = cosine;
  metrics[4] = thousandth;
  return row(name, std::move(metrics));
}
MsprobeRow tensor(const std::string& name) { return tensor(name, python_float(1.0), python_float(1.0)); }
MsprobeRow statistic(const std::string& name, const std::string& norm) {
  std::vector<PythonValue> metrics(8, python_str("0"));
  metrics[7] = python_str(norm);
  return row(name, std::move(metrics));
}

Strings verdicts(std::vector<MsprobeRow> rows, MsprobeMode mode) {
  judge_msprobe_rows(rows, mode);
  Strings all;
  for (const MsprobeRow& judged : rows) all.emplace_back(name_of(judged.verdict));
  return all;
}

const std::string kIn = "T.f.0.forward.input.0", kOut = "T.f.0.forward.output.0", kOut1 = "T.f.0.forward.output.1";

TEST_CASE("equal tensors pass without a message") {
  std::vector<MsprobeRow> rows{tensor(kIn), tensor(kOut)};
  judge_msprobe_rows(rows, MsprobeMode::kTensor);
  CHECK(rows[0].verdict == MsprobeVerdict::kPass);
  CHECK(rows[1].messages.empty());
}

TEST_CASE("a NaN or infinity of the target's extremes is an error, unless the golden dump has one too") {
  const auto extremes = [](const PythonValue& target, const PythonValue& golden, size_t which = 0) {
    MsprobeRow one = tensor(kIn);
    one.target.statistics[which] = target;
    one.golden.statistics[which] = golden;
    return verdicts({one}, MsprobeMode::kTensor)[0];
  };
  const PythonValue inf = python_float(-std::numeric_limits<double>::infinity()), one = python_float(1);
  CHECK(extremes(inf, one) == "error");
  CHECK(extremes(python_str("Nan"), one, 1) == "error");
  CHECK(extremes(inf, python_str("Nan")) == "pass");
  CHECK(extremes(python_str("Nan"), one, 2) == "pass");  // means are not looked at
}

TEST_CASE("of tensors the first output is blamed when the ratio falls from above 0.9 to below 0.1") {
  const auto ratios = [](double in, const PythonValue& out) {
    return verdicts({tensor(kIn, python_float(1), python_float(in)), tensor(kOut), tensor(kOut1, python_float(1), out)},
                    MsprobeMode::kTensor);
  };
  CHECK(ratios(1.0, python_float(0.05)) == Strings{"pass", "error", "pass"});
  CHECK(ratios(1.0, python_float(0.1)) == Strings{"pass", "pass", "pass"});
  CHECK(ratios(0.9, python_float(0.05)) == Strings{"pass", "pass", "pass"});
  CHECK(ratios(1.0, python_str("N/A")) == Strings{"pass", "pass", "pass"});
}

TEST_CASE("of tensors a falling cosine is a warning for the first output") {
  const auto cosines = [](double in, double out) {
    return verdicts({tensor(kIn, python_float(in), python_float(1)), tensor(kOut, python_float(out), python_float(1))},
                    MsprobeMode::kTensor)[1];
  };
  CHECK(cosines(1.0, 0.8) == "warning");
  CHECK(cosines(1.0, 0.95) == "pass");
  CHECK(cosines(0.9, 0.1) == "pass");
}

TEST_CASE("of statistics outputs above 50 % are errors when no input reaches 10 %") {
  const auto norms = [](const std::string& in, const std::string& out) {
    return verdicts({statistic(kIn, in), statistic(kOut, "0"), statistic(kOut1, out)}, MsprobeMode::kStatistics);
  };
  CHECK(norms("0", "51.0%") == Strings{"pass", "warning", "error"});
  CHECK(norms("0", "-51.0%") == Strings{"pass", "pass", "error"});
  CHECK(norms("0", "50.0%") == Strings{"pass", "warning", "pass"});
  CHECK(norms("9.0%", "51.0%") == Strings{"pass", "pass", "error"});
  CHECK(norms("10.0%", "51.0%") == Strings{"pass", "pass", "pass"});
  CHECK(norms("0", "inf") == Strings{"pass", "pass", "error"});
  CHECK(norms("0", "Nan") == Strings{"pass", "pass", "pass"});
  CHECK(norms("0", "11.0%") == Strings{"pass", "warning", "pass"});
  CHECK(norms("0", "10.0%") == Strings{"pass", "pass", "pass"});
  CHECK(norms("1.0%", "11.0%") == Strings{"pass", "warning", "pass"});
  CHECK(norms("2.0%", "11.0%") == Strings{"pass", "pass", "pass"});
}

TEST_CASE("dtypes, shapes, gradients and scalars that differ are errors, each with its message") {
  MsprobeRow other = tensor(kIn);
  other.golden.dtype = "torch.float16";
  other.golden.shape = "[3]";
  other.golden.requires_grad = "False";
  std::vector<MsprobeRow> rows{other};
  judge_msprobe_rows(rows, MsprobeMode::kTensor);
  CHECK(rows[0].verdict == MsprobeVerdict::kError);
  CHECK(rows[0].messages == std::vector<std::string_view>{"error: The Required_Grad of NPU and Bench are inconsistent",
                                                          "error: The dtype of NPU and Bench are inconsistent.",
                                                          "error: The shape of NPU and Bench are inconsistent."});
  MsprobeRow merged = tensor(kIn);
  merged.golden.name = "Module.qkv.forward.0.input.0";
  merged.golden.dtype = "torch.float16";
  CHECK(verdicts({merged}, MsprobeMode::kTensor) == Strings{"pass"});
  MsprobeRow unknown = tensor(kIn);
  unknown.target.dtype = unknown.target.requires_grad = "";
  CHECK(verdicts({unknown}, MsprobeMode::kTensor) == Strings{"pass"});
}

TEST_CASE("a scalar argument of another value is an error, as an input only") {
  const auto scalar = [](const std::string& name) {
    MsprobeRow one = tensor(name, python_str("unsupported"), python_str("unsupported"));
    for (MsprobeRow::Side* side : {&one.target, &one.golden}) {
      side->dtype = "<class 'int'>";
      side->shape = "[]";
    }
    one.target.statistics[0] = {PythonKind::kInt, 2, "2"};
    return one;
  };
  CHECK(verdicts({scalar(kIn), scalar(kOut)}, MsprobeMode::kTensor) == Strings{"error", "pass"});
  MsprobeRow same = scalar(kIn);
  same.golden.statistics[0] = python_float(2.0);
  CHECK(verdicts({same}, MsprobeMode::kTensor) == Strings{"pass"});
}

TEST_CASE("what has no partner passes") {
  MsprobeRow alone = tensor(kIn);
  alone.golden = msprobe_no_side();
  CHECK(verdicts({alone}, MsprobeMode::kTensor) == Strings{"pass"});
}

TEST_CASE("checksums that differ are errors, missing ones warnings") {
  const auto checksums = [](const std::string& target, const std::string& golden) {
    MsprobeRow one = row(kIn);
    one.target.checksum = target;
    one.golden.checksum = golden;
    one.golden.dtype = "another";
    return verdicts({one}, MsprobeMode::kChecksum)[0];
  };
  CHECK(checksums("1", "1") == "pass");
  CHECK(checksums("1", "2") == "error");
  CHECK(checksums("1", "N/A") == "warning");
  CHECK(checksums("Nan", "1") == "warning");
  CHECK(checksums("", "1") == "warning");
  CHECK(checksums("N/A", "N/A") == "pass");
}

TEST_CASE("of some APIs nothing is judged, of some collectives only the outputs") {
  const auto other_dtypes = [](const std::string& api) {
    std::vector<MsprobeRow> rows{tensor("T." + api + ".0.forward.input.0"), tensor("T." + api + ".0.forward.output.0")};
    for (MsprobeRow& one : rows) one.golden.dtype = "torch.float16";
    return verdicts(std::move(rows), MsprobeMode::kTensor);
  };
  CHECK(other_dtypes("add") == Strings{"error", "error"});
  CHECK(other_dtypes("empty") == Strings{"pass", "pass"});
  CHECK(other_dtypes("all_to_all_single") == Strings{"pass", "error"});
}

}  // namespace
}  // namespace msdump
