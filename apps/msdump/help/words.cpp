#include "help/words.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "help/help.h"

namespace msdump::cli {
namespace {

constexpr std::array kWords = {
    // Two sides.
    Word{"candidate", "Dumps", "The dump that is in doubt: the first argument of diff.", "bad", "diff.md"},
    Word{"reference", "",
         "The dump of what it should be: the second argument of diff, --ref of next. Relative errors are relative to "
         "it.",
         "good, golden", "diff.md"},
    Word{"dump", "",
         "The files that a framework wrote of a run: tensors, or statistics of tensors, mostly of every operator. Any "
         "level "
         "of its tree will do: the root, a rank, a step, a file.",
         "", "info.md"},
    Word{"operator", "",
         "A node of the graph that ran: a kernel of MindSpore, a call or module of PyTorch. Its name is the full scope "
         "name "
         "if that is known, else the name that the file carries.",
         "op", "info.md#ls"},
    Word{"rank", "", "A process of a distributed run, mostly one device. Never the number of dimensions of a tensor.",
         "ranks"},
    Word{"step", "", "An iteration of the training, as the dump numbers it.", "iteration, steps"},
    Word{"graph", "", "A graph that MindSpore compiled; a script may have several, numbered from 0.", "graphs"},
    Word{"slot", "", "The number of an input or output of an operator, from 0; msprobe has names, too: weight.",
         "slots"},
    Word{"IR", "",
         "The program that MindSpore wrote beside the dump: its operators, what they read, and their lines in the "
         "script. "
         "Found by itself, or named with --ir.",
         "", "map-ir.md"},
    Word{"source line", "",
         "The line of the script that an operator comes from. 'One of several calls' means that the framework gives "
         "several calls the same line, and this need not be the one.",
         "line, one of several", "blame.md#lines"},
    Word{"statistics", "",
         "Max, min, mean and L2 norm of a tensor, dumped instead of its elements. Of two statistics an error can only "
         "be "
         "estimated.",
         "", "stats.md"},
    // Verdicts.
    Word{"verdict", "Verdicts of diff",
         "What the values and the tolerance alone say of a tensor: same, close, differ, nan, shape, dtype, unmatched, "
         "empty or skipped. It never depends on which operator is to blame.",
         "", "diff.md"},
    Word{"same", "", "All elements are equal: -0 equals +0, and NaN lies in equal places."},
    Word{"close", "", "Elements differ, all within the tolerance (--rtol, --atol)."},
    Word{"differ", "", "At least one element differs by more than the tolerance.", "differs"},
    Word{"nan", "", "NaN or an infinity lies in places where the other side has a number.", "not finite, inf"},
    Word{"tolerance", "",
         "How far elements a and b may differ: atol + rtol |b|. The default depends on the coarser dtype of the two.",
         "rtol, atol", "diff.md"},
    Word{"unmatched", "",
         "Only one side has this tensor. Harmless for what a compiler inserted or fused; the reason says so.", "alone"},
    Word{"skipped", "",
         "Not compared, for a reason that the row names: for example, a value inside operators that are one on the "
         "other "
         "side. Harmless, and no difference."},
    // Blame.
    Word{
        "error", "How diff blames",
        "The root mean square of the differences of a tensor, over that of the reference: 0.001 is a thousandth of the "
        "values.",
        "relative error, measured error, relative_l2", "blame.md#estimated"},
    Word{"expected error", "",
         "What the errors of an operator's inputs and the rounding of its kind lead to. An operator whose error is no "
         "larger did nothing wrong.",
         "expected", "blame.md#estimated"},
    Word{
        "cause", "",
        "The operator, parameter or input that makes a difference, and does not only hand it on. JSON calls it a root: "
        "first_divergence.",
        "root, roots, culprit, first divergence", "blame.md"},
    Word{"evidence", "",
         "What shows that a root is one: the errors that go in and those that come out, an argument or a constant that "
         "differs, its result computed again.",
         "decided_by", "blame.md"},
    Word{"asked", "",
         "Evidence: the operator was asked something else: another type, argument, constant, parameter or input, or "
         "only one side has it. The two graphs show it.",
         "", "blame.md#asked"},
    Word{"computed", "", "Evidence: it computes something else than its own inputs lead to; msdump computed it again.",
         "", "recompute.md"},
    Word{"handed on", "",
         "Evidence: it reads something else than what the operator before it wrote: an overwritten buffer, an update "
         "in place.",
         "handed_on", "blame.md#handed-on"},
    Word{"estimate", "",
         "Evidence, the weakest kind: its error is larger than what its inputs and rounding lead to, as the similar "
         "operators show it.",
         "", "blame.md#estimated"},
    Word{"confidence", "",
         "The share of the roots of this rule that were right, counted in ten networks with known faults; a rule "
         "without a "
         "count has the share of its kind. It is 0.95 at most, and says nothing of the size of the error.",
         "", "blame.md#confidence"},
    Word{"similar operators", "",
         "The other operators of the same type in the two dumps. What a device does everywhere (float16, another order "
         "of "
         "sums) is in all of them, and accuses none.",
         "siblings", "blame.md#estimated"},
    Word{"score", "",
         "How many standard deviations the error of an operator lies above that of its similar operators. The limit "
         "grows "
         "with the number of operators.",
         "", "blame.md#estimated"},
    Word{"gain", "", "By how much an operator makes the error of an input larger (above 1) or smaller.",
         "amplification", "blame.md#estimated"},
    Word{"loss scale", "",
         "A factor on all gradients of one side, as mixed precision uses it. diff divides it out, and says so.", "",
         "blame.md#estimated"},
    Word{"recompute", "",
         "Compute an operator again from its own dumped inputs, and compare with its dumped output: that shows a wrong "
         "kernel "
         "without any reference.",
         "recomputed, alone", "recompute.md"},
    // Explanations.
    Word{"explained", "Why a tensor differs",
         "The reason for a difference that is no cause: noise, downstream, unwritten, random, fused, inert or "
         "elsewhere.",
         "", "blame.md#when-nothing-stands-out"},
    Word{"noise", "",
         "The error is what its inputs and the arithmetic lead to: rounding. Harmless. Two devices never agree to the "
         "last "
         "bit.",
         "rounding"},
    Word{"downstream", "", "It depends on a root: it will agree once that is right.", "follow, follows from"},
    Word{"unwritten", "",
         "Nothing reads the tensor, and its kernel may never have written it: old memory. Harmless; it never counts "
         "for the "
         "exit code."},
    Word{"random", "", "It depends on random numbers that the two runs drew differently. Fix the seed to compare it.",
         "draws"},
    Word{"fused", "",
         "The tensor lies inside an operator that is one on the other side, where it never exists. Harmless."},
    Word{"inert", "", "One side writes the same mathematics in another way, and all that follows agrees. Harmless."},
    Word{"elsewhere", "", "The other side has no such rank or step."},
    Word{"unexplained", "",
         "A difference that is not of a cause, and that could not be judged. JSON counts those of causes with these, "
         "and so does the exit code of --fail-on unexplained."},
    Word{"unjudged", "",
         "No model could say whether the error is expected, for example because no input was dumped. --explain OP has "
         "the "
         "reason.",
         "not judged, could not be judged", "blame.md#when-nothing-stands-out"},
    // Ranks.
    Word{"local tensor", "Several ranks", "The part, or the copy, of a tensor that one rank holds.",
         "shard of a tensor", "parallel.md"},
    Word{"global tensor", "",
         "The tensor that the ranks hold together. Runs over different numbers of ranks are compared by their global "
         "tensors.",
         "whole", "parallel.md"},
    Word{"placement", "",
         "How the local tensors of the ranks make the global one: copies, parts along an axis, terms of a sum. diff "
         "finds "
         "it from the values; --layout gives it.",
         "layout, replicated, sharded, partial", "parallel.md#what-a-row-says"},
    Word{"replica", "", "A tensor that several ranks should have equal, such as a weight in data-parallel training.",
         "replicas, copy", "check.md"},
    Word{"collective", "", "An operation of several ranks: AllReduce, AllGather, Broadcast.", "collectives",
         "check.md"},
    Word{"shard", "",
         "A share of the work: --shard I/N does the I-th of N, on a machine of its own, and msdump merge makes one "
         "result "
         "of all parts.",
         "part, merge", "cluster.md"},
    // One dump, and files.
    Word{"finding", "One dump", "What a rule of check says of a tensor, a file or a rank: error, warning or note.",
         "findings, rule, severity", "check.md"},
    Word{"overflow", "",
         "A result too large for its dtype. A device records it in a file of its own (Opdebug), which check joins to "
         "the "
         "operator.",
         "saturation", "check.md"},
    Word{"dead", "", "All elements are zero, or one value, where a network that learns has many.", "constant, all zero",
         "check.md"},
    Word{"device format", "",
         "The order of elements that a kernel of an NPU wants (NC1HWC0, FRACTAL_NZ). convert -f NCHW writes arrays as "
         "people index them.",
         "format, host format", "convert.md"},
    Word{"baseline", "", "A file of differences that were accepted: only new ones count.", "accepted", "diff.md"},
};

std::vector<std::string_view> forms_of(const Word& word) {
  std::vector<std::string_view> forms;
  for (std::string_view form : split(word.forms, ',')) {
    if (form.starts_with(' ')) form.remove_prefix(1);
    if (!form.empty()) forms.push_back(form);
  }
  return forms;
}

// "noise (also: rounding)"
std::string heading_of(const Word& word) {
  return word.forms.empty() ? std::string(word.name) : fmt::format("{} (also: {})", word.name, word.forms);
}

}  // namespace

std::span<const Word> words() { return kWords; }

// A form may be the name of another word, which comes first.
const Word* find_word(std::string_view name) {
  const std::string wanted = to_lower(name);
  for (const Word& word : kWords) {
    if (to_lower(word.name) == wanted) return &word;
  }
  for (const Word& word : kWords) {
    for (const std::string_view form : forms_of(word)) {
      if (to_lower(form) == wanted) return &word;
    }
  }
  return nullptr;
}

std::optional<std::string> nearest_word(std::string_view name) {
  std::vector<std::string> known;
  for (const Word& word : kWords) {
    known.push_back(to_lower(word.name));
    for (const std::string_view form : forms_of(word)) known.push_back(to_lower(form));
  }
  return closest_match(to_lower(name), known);
}

std::vector<report::PageWord> page_words(std::initializer_list<std::string_view> names) {
  std::vector<report::PageWord> page;
  for (const std::string_view name : names) {
    if (const Word* const word = find_word(name))
      page.push_back({std::string(word->name), std::string(word->forms), std::string(word->meaning)});
  }
  return page;
}

std::string first_clause_of_word(std::string_view name) {
  const Word* const word = find_word(name);
  return word == nullptr ? std::string() : std::string(word->meaning.substr(0, word->meaning.find_first_of(":.")));
}

std::string word_text(const Word& word, size_t width) {
  std::string text = wrapped(heading_of(word), 0, width) + "  " + wrapped(word.meaning, 2, width);
  if (!word.document.empty()) text += fmt::format("  docs/{}\n", word.document);
  return text;
}

std::string words_text(size_t width) {
  std::string text = "The words of msdump's output; msdump help WORD explains one.\n";
  for (const Word& word : kWords) {
    if (!word.topic.empty()) text += fmt::format("\n{}:\n", word.topic);
    text += fmt::format("  {:<17} {}", word.name, wrapped(word.meaning, 20, width));
  }
  return text;
}

std::string words_document() {
  std::string text =
      "# The words of the output\n\n`msdump help words` prints them, `msdump help WORD` one of them. This page is made "
      "of the "
      "same table.\n";
  for (const Word& word : kWords) {
    if (!word.topic.empty()) text += fmt::format("\n## {}\n\n| | |\n|---|---|\n", word.topic);
    const std::string more =
        word.document.empty()
            ? ""
            : fmt::format(" [{}]({})", word.document.substr(0, word.document.find('#')), word.document);
    const std::string forms = word.forms.empty() ? "" : fmt::format(" (also: {})", word.forms);
    std::string meaning(word.meaning);
    for (size_t at = 0; (at = meaning.find('|', at)) != std::string::npos; at += 2) meaning.insert(at, 1, '\\');
    text += fmt::format("| **{}**{} | {}{} |\n", word.name, forms, meaning, more);
  }
  return text;
}

}  // namespace msdump::cli
