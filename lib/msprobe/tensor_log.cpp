#include "msprobe/tensor_log.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/containers.h"
#include "base/text.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr std::string_view kDebugModeTitle = "Total captured tensor hash ops: ",
                           kTorchtitanTitle = "Total captured activations: ";
constexpr size_t kLongestHash = 128, kLongestSlot = 256, kLongestName = 4096;

// "torch.Size([2, 3])"
std::optional<Shape> size_in(std::string_view text) {
  constexpr std::string_view kBegin = "torch.Size(", kEnd = ")";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) return std::nullopt;
  return listed_shape(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
}

// NaN and the infinities as a dump.json spells them; nothing for other texts.
std::optional<std::string_view> not_finite(std::string_view text) {
  if (text == "nan" || text == "\"NaN\"") return "NaN";
  if (text == "inf" || text == "\"Infinity\"") return "Infinity";
  if (text == "-inf" || text == "\"-Infinity\"") return "-Infinity";
  return std::nullopt;
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// The end of a part of "LEAF=HASH, LEAF=HASH": the first `stop` from `at` on that is in no quotes, and of a value in no brackets.
size_t end_of_part(std::string_view text, size_t at, char stop, bool bracketed) {
  char quote = 0;
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == stop && depth == 0) {
      return at;
    } else if (bracketed && (c == '[' || c == '{')) {
      ++depth;
    } else if (bracketed && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return text.size();
}

// "[0][1]['mask']" is 0.1.mask, ".values" is values.
std::string slot_of(std::string_view leaf, MsprobeIo io) {
  if (leaf == "<root>") return "0";
  std::string slot;
  size_t parts = 0;
  const bool of_call = io == MsprobeIo::kInput && leaf.starts_with('[');  // the first part: positional or by keyword
  for (size_t at = 0; at < leaf.size();) {
    const bool bracket = leaf[at] == '[';
    if (bracket || leaf[at] == '.') ++at;
    const size_t end =
        bracket ? end_of_part(leaf, at, ']', false) : std::min(leaf.find_first_of("[.", at), leaf.size());
    const std::string_view part = trimmed(leaf.substr(at, end - at), "'\"");
    at = std::max(end + (bracket ? 1 : 0), at);
    if (parts++ == 0 && of_call) continue;
    if (!slot.empty()) slot += '.';
    slot += part;
  }
  return slot;
}

// "aten::add.Tensor" is an add.
std::string_view type_of(std::string_view name) {
  const size_t space = name.rfind("::");
  if (space == std::string_view::npos) return name;
  name.remove_prefix(space + 2);
  return name.substr(0, name.find('.'));
}

class LogReader {
 public:
  LogReader(std::string_view text, TensorLogWriter writer, const DumpJsonLimits& limits)
      : text_(text), writer_(writer), limits_(limits), problems_(text) {}

  Result<DumpJson> run(const std::string& path) {
    result_.framework = "pytorch";
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size());
      if (Status read = line(begin, end); !read) return fail(std::move(read).error().with_path(path));
      begin = end + 1;
    }
    if (Status left = add_output(); !left) return fail(std::move(left).error().with_path(path));
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  void bad(size_t offset, std::string_view what) {
    problems_.add(make_error(ErrorCode::kBadHeader, "{}", what).with_offset(0), offset);
  }

  Status line(size_t begin, size_t end) {
    if (end - begin > limits_.entry) {
      bad(begin, fmt::format("the line has {} bytes", end - begin));
      return {};
    }
    const std::string_view line = trimmed(text_.substr(begin, end - begin), "\r");
    if (line.starts_with('[')) return begin_operator(line, begin);
    const std::string_view field = trimmed(line);
    const size_t colon = field.find(':');
    if (op_name_.empty() || !line.starts_with(' ') || colon == std::string_view::npos) return {};
    const std::string_view key = field.substr(0, colon), value = trimmed(field.substr(colon + 1));
    if (key == "Output hash" || key == "Output hashes") return hashes(value, MsprobeIo::kOutput, begin);
    if (key == "Input hashes") {
      MSDUMP_CHECK_OK(add_output());
      return hashes(value, MsprobeIo::kInput, begin);
    }
    statistic(key, value, begin);
    return {};
  }

  Status begin_operator(std::string_view line, size_t begin) {
    MSDUMP_CHECK_OK(add_output());
    constexpr std::string_view kNumber = "/op_";
    op_name_.clear();
    const size_t close = line.rfind(']'), at = line.rfind(kNumber, close);
    const bool bracketed = close != std::string_view::npos && at != std::string_view::npos;
    const std::string_view name = bracketed ? line.substr(1, close - 1) : "";
    const std::string_view numbered = bracketed ? name.substr(std::min(at - 1 + kNumber.size(), name.size())) : "";
    const size_t end = std::min(numbered.find('_'), numbered.size());
    if (!is_digits(numbered.substr(0, end)) || end + 1 >= numbered.size() || name.size() > kLongestName) {
      bad(begin, fmt::format("{}: not [MODULE/op_NUMBER_NAME]", excerpt(line)));
      return {};
    }
    op_name_ = name;
    op_type_ = type_of(numbered.substr(end + 1));
    ++result_.entries;
    return {};
  }

  void statistic(std::string_view key, std::string_view value, size_t begin) {
    MsprobeTensor& output = output_;
    const auto number = not_finite(value).value_or(value);
    const bool known = key == "L2 norm" || key == "Min" || key == "Max" || key == "Mean" || key == "L1 norm";
    if (known && !is_number(value)) return bad(begin, fmt::format("{} is not a number", excerpt(value)));
    if (key == "Shape") {
      constexpr std::string_view kDtype = ", Dtype: ";
      const size_t dtype = std::min(value.find(kDtype), value.size());
      output.shape = size_in(value.substr(0, dtype));
      if (!output.shape) return bad(begin, "Shape is not torch.Size([..])");
      if (dtype < value.size()) output.dtype_text = value.substr(dtype + kDtype.size());
      output.dtype = dtype_from_qualified_name(output.dtype_text);
    } else if (key == "L2 norm") {
      output.norm = number;
    } else if (key == "Min") {
      output.min = number;
    } else if (key == "Max") {
      output.max = number;
    } else if (key == "Mean") {
      output.mean = number;
    } else if (key == "L1 norm") {
      take_hash(value, output);
    } else {
      return;
    }
    if (!has_output_) output.offset = begin;
    has_output_ = true;
  }

  void take_hash(std::string_view hash, MsprobeTensor& tensor) const {
    if (const auto special = not_finite(hash)) {
      tensor.md5.reset();
      if (!tensor.norm) tensor.norm = *special;  // of any norm
      if (*special == "NaN") return;
    }
    const bool weak = writer_ == TensorLogWriter::kTorchtitan || is_digits(hash);
    const std::string text = hash.size() > kLongestHash ? fmt::format("{:016x}", text_hash(hash)) : std::string(hash);
    tensor.md5 = (weak ? "weak-hash:" : "hash:") + text;
  }

  Status hashes(std::string_view list, MsprobeIo io, size_t begin) {
    const bool named = writer_ == TensorLogWriter::kDebugMode;
    int64_t place = 0;
    for (size_t at = 0; at < list.size(); ++place) {
      const size_t leaf_end = named ? end_of_part(list, at, '=', false) : at;
      const size_t value = std::min(leaf_end + (named ? 1 : 0), list.size());
      const size_t end = end_of_part(list, value, ',', true);
      const std::string_view hash = trimmed(list.substr(value, end - value));
      std::string slot = named ? slot_of(trimmed(list.substr(at, leaf_end - at)), io) : std::to_string(place);
      if (hash.empty() || slot.empty() || slot.size() > kLongestSlot) {
        bad(begin, named ? "not LEAF=HASH, .." : "not HASH, ..");
        return {};
      }
      MsprobeTensor tensor;
      if (io == MsprobeIo::kOutput) tensor = std::exchange(output_, {});
      has_output_ = has_output_ && io != MsprobeIo::kOutput;
      tensor.slot = std::move(slot);
      tensor.io = io;
      tensor.offset = static_cast<size_t>(hash.data() - text_.data());
      take_hash(hash, tensor);
      MSDUMP_CHECK_OK(add(std::move(tensor)));
      at = end + 1;
    }
    return {};
  }

  // Adds an output that has statistics and no hash.
  Status add_output() {
    if (!std::exchange(has_output_, false)) return {};
    output_.io = MsprobeIo::kOutput;
    output_.slot = "0";
    return add(std::exchange(output_, {}));
  }

  Status add(MsprobeTensor tensor) {
    tensor.op_name = op_name_;
    tensor.op_type = op_type_;
    tensor.type = "torch.Tensor";
    tensor.order = result_.entries - 1;
    return add_tensor(std::move(tensor), result_, kept_, limits_.kept);
  }

  std::string_view text_;
  const TensorLogWriter writer_;
  const DumpJsonLimits& limits_;
  JsonProblems problems_;
  DumpJson result_;
  std::string op_name_, op_type_;  // of the operator that is read; empty: none
  MsprobeTensor output_;           // its output that has statistics
  bool has_output_ = false;
  uint64_t kept_ = 0;
};

}  // namespace

std::string_view name_of(TensorLogWriter writer) {
  return writer == TensorLogWriter::kDebugMode ? "PyTorch's DebugMode" : "torchtitan";
}

std::optional<TensorLogWriter> tensor_log_writer(std::string_view line) {
  line = trimmed(line);
  for (const auto& [title, writer] : {std::pair(kDebugModeTitle, TensorLogWriter::kDebugMode),
                                      std::pair(kTorchtitanTitle, TensorLogWriter::kTorchtitan)}) {
    if (line.starts_with(title) && is_digits(line.substr(title.size()))) return writer;
  }
  return std::nullopt;
}

std::optional<int64_t> rank_of_tensor_log(std::string_view file_name) {
  constexpr std::string_view kBegin = "rank_", kEnd = "_activations.log";
  if (!file_name.starts_with(kBegin) || !file_name.ends_with(kEnd)) return std::nullopt;
  if (file_name.size() <= kBegin.size() + kEnd.size()) return std::nullopt;
  const auto rank = file_name.substr(kBegin.size(), file_name.size() - kBegin.size() - kEnd.size());
  return is_digits(rank) ? parse_i64(rank) : std::nullopt;
}

Result<DumpJson> read_tensor_log(const File& file, const DumpJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a log of tensor hashes"));
  const auto writer = tensor_log_writer(text.view().substr(0, text.view().find('\n')));
  if (!writer) {
    return fail(make_error(ErrorCode::kBadHeader, "no log of tensor hashes: the first line is not its title")
                    .with_path(file.path()));
  }
  return LogReader(text.view(), *writer, limits).run(file.path());
}

}  // namespace msdump
