// The options of a command, each declared once as a row: names, value, help, what it excludes, and whether a shard takes
// it. The parser, -h and --help, the manual pages, completions, hints, --shard and merge read these rows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace msdump::cli {

// Headings of --help.
inline constexpr std::string_view kInputGroup = "Input";
inline constexpr std::string_view kSelectionGroup = "Selection";
inline constexpr std::string_view kOutputGroup = "Output";
inline constexpr std::string_view kGeneralGroup = "General";
inline constexpr std::string_view kOtherGroup = "Options";

inline constexpr std::string_view kFirstVersion = "0.1";

// Who takes an option when `--shard I/N` and `msdump merge` divide a run.
enum class OptionUse : uint8_t {
  kWork,      // the shards: it decides what is computed, and the part records it
  kOutput,    // merge: the form and the target of the result
  kWholeRun,  // neither: the run cannot be divided
  kShard,     // the shard alone: --shard, --resume, and --out, which is the part
  kGeneral,   // each run for itself: -j, -v
};

// A word of another tool that is refused with an explanation.
struct RefusedWord {
  std::string word, message, hint;
};
// The texts of a value that is one of several words, regardless of case.
struct ChoiceText {
  std::string noun;  // "output type", for messages
  std::vector<RefusedWord> refused = {};
  std::string hint = {};  // for an unknown word; empty: the accepted words
};

struct Option;

// Another option, by a long name without dashes, and why it does or does not go with this one: the hint of the message.
struct OptionRule {
  std::string_view name, reason = {};
};

// The value of an option and the variable that it sets.
class OptionValue {
 public:
  enum class Kind : uint8_t { kFlag, kCount, kOne, kOptional, kRepeated, kArguments };
  using Take = std::function<void(const Option& option, const std::vector<std::string>& typed)>;

  static OptionValue flag(bool& target) { return {Kind::kFlag, "", &target}; }
  static OptionValue flag(std::function<void()> chosen);
  // How often the flag is given.
  static OptionValue count(int& target) { return {Kind::kCount, "", &target}; }
  static OptionValue text(std::string& target, std::string name);
  static OptionValue text(std::function<void(const std::string&)> take, std::string name);
  // Its value may be missing, which is an empty text.
  static OptionValue optional_text(std::function<void(const std::string&)> take, std::string name);
  // May be repeated; `delimiter` separates several values in one.
  static OptionValue texts(std::vector<std::string>& target, std::string name, char delimiter = '\0');
  static OptionValue texts(Take take, std::string name);
  // Arguments that are not options, any number of them.
  static OptionValue arguments(std::vector<std::string>& target);
  // A whole number from `least` to `most`, without sign, exponent or leading zero.
  static OptionValue number(uint32_t& target, uint32_t least, uint32_t most);
  static OptionValue word(std::vector<std::string> words, ChoiceText text, std::function<void(size_t)> chosen);
  template <class Enum, class Target>
  static OptionValue choice(Target& target, const std::vector<std::pair<std::string, Enum>>& choices,
                            const ChoiceText& text) {
    std::vector<std::string> words;
    for (const std::pair<std::string, Enum>& choice : choices) words.push_back(choice.first);
    return word(std::move(words), text, [&target, choices](size_t i) { target = choices[i].second; });
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_flag() const { return kind_ == Kind::kFlag || kind_ == Kind::kCount; }
  // "PATH"; empty for a flag and for a choice.
  [[nodiscard]] const std::string& name() const { return name_; }
  // The accepted words of a choice.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] char delimiter() const { return delimiter_; }

  // For the parser.
  using Target = std::variant<bool*, int*, std::function<void()>, Take>;
  [[nodiscard]] const Target& target() const { return target_; }

 private:
  OptionValue(Kind kind, std::string name, Target target)
      : kind_(kind), name_(std::move(name)), target_(std::move(target)) {}

  Kind kind_;
  std::string name_;
  Target target_;
  std::vector<std::string> words_;
  char delimiter_ = '\0';
};

struct Option {
  std::string names;  // "-j,--jobs"; a name without dashes is that of arguments
  // The names that other tools have for it, separated by blanks ("html page"). The hint for one of them names this option.
  std::string_view other_names = {};
  bool is_common = false;  // listed by the short -h, too
  OptionValue value;
  // The words that a shell completes, if the value is no choice: any other value may be typed, too.
  std::vector<std::string> suggestions = {};
  std::string_view group = {};  // a heading of --help, which does not list an option without
  std::string help = {};
  std::string otherwise = {};      // what applies without the option: "auto"
  std::string_view variable = {};  // the environment variable that stands for the option
  OptionUse use = OptionUse::kWork;
  // Excluding is mutual. Options that a command does not have are ignored.
  std::vector<OptionRule> excludes = {}, needs = {};
  std::string_view since = kFirstVersion;  // the version that added it; help names later ones

  std::vector<std::string> typed = {};  // set by the parser

  [[nodiscard]] bool is_given() const { return !typed.empty(); }
  // False if its only value is an empty text, which stands for none.
  [[nodiscard]] bool has_effect() const;
  [[nodiscard]] bool is_argument() const { return !names.starts_with('-'); }
  // "d"
  [[nodiscard]] std::vector<std::string> letters() const;
  // "dump", "dump_file"; without dashes.
  [[nodiscard]] std::vector<std::string> long_names() const;
  // The first long name, else the name of arguments: "dump", "PATH".
  [[nodiscard]] std::string key() const;
  // "--dump", as messages spell it.
  [[nodiscard]] std::string spelling() const;
  // The words that a shell completes: those of a choice, else `suggestions`.
  [[nodiscard]] const std::vector<std::string>& completions() const;
  // True if `name` is one of its long names or of its other names.
  [[nodiscard]] bool is_called(std::string_view name) const;
};

class OptionTable {
 public:
  void add(Option option) { options_.push_back(std::move(option)); }
  void add(std::vector<Option> options);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  [[nodiscard]] std::vector<Option>& options() { return options_; }
  // The option with this long name (without dashes), or the arguments of this name. Null if there is none.
  [[nodiscard]] const Option* find(std::string_view name) const;
  [[nodiscard]] bool is_given(std::string_view name) const;
  // The groups in the order of their first options.
  [[nodiscard]] std::vector<std::string_view> groups() const;

 private:
  std::vector<Option> options_;
};

}  // namespace msdump::cli
