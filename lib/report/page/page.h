// The page of --report: one HTML file that needs nothing else. A content security policy keeps it from loading anything
// over the network. It opens from file://, prints, and follows the colors of the system.
//
//   plain HTML    the answer, its evidence, counts, the first rows, how the page was made: works without JavaScript
//   data          every row, the data flow and the pictures of the culprits: gzip as base64 (no text from a file
//                 appears in a script), unpacked by the page's script
//   script        the chart (dygraphs, MIT, from the distribution's package at build time), the table of rows, the
//                 neighbourhood of an operator
//
// Every text is escaped on its way into the page; the script puts texts into the document as text, never as markup.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/page_data.h"
#include "report/page/rank_map.h"
#include "report/page/step_charts.h"

namespace msdump::report {

enum class Tone : uint8_t { kGood, kNeutral, kBad };

struct PageFact {
  std::string label, text;
  bool is_code = false;
};

// A dump, in the head of the page.
struct PageDump {
  std::string role, meaning;  // "candidate", "The dump that is in doubt"
  std::string name, facts;    // "npu", "Ascend, bfloat16, 550 tensors"
  std::string path, newest;   // the full path; the time of its newest file
};

// An entry of the glossary.
struct PageWord {
  std::string name, forms, meaning;  // forms: "follow, follows from"
};

struct PageEvidence {
  std::string side, name, verdict, value;  // "in", "input 0", "differ", "0.52"
};

// A box of elements in a tensor of two axes.
struct PageRegion {
  std::array<int64_t, 2> shape = {1, 1}, from = {0, 0}, to = {0, 0};  // from <= index <= to
};

// A cause of the differences: the first of them, or one of several.
struct PageCause {
  std::string title, name, place;  // "First divergence", the operator, "MatMul, rank 0, step 1"
  std::string source, code;        // "net.py:12", the text of the line
  std::vector<PageEvidence> evidence;
  std::string evidence_title = "relative error";  // of its last column
  std::optional<double> measured, expected;       // errors
  std::vector<PageFact> facts;
  std::optional<PageRegion> region = {};  // where its output is wrong
};

struct PageCount {
  std::string key, label;  // "downstream", "follow from it"
  uint64_t number = 0;
  Tone tone = Tone::kNeutral;
};

struct Page {
  std::string command, version;
  std::string heading;         // "bad against good"
  std::string sentence, more;  // the answer, and what follows in smaller letters
  Tone tone = Tone::kNeutral;
  std::vector<PageDump> dumps;
  std::vector<PageCause> causes;
  std::vector<PageCount> counts;    // of all tensors
  std::vector<PageCount> reasons;   // of those that do not agree
  std::optional<RankMap> ranks;     // of several
  std::vector<StepChart> movers;    // of several steps: with which tensors it began
  std::vector<std::string> tokens;  // sentences on the map of tokens, which the script draws; none without a map
  std::vector<PageWord> words;
  std::vector<PageFact> about;     // the command line, the dumps
  std::vector<std::string> notes;  // what the page does not show
  std::string chart_title, rows_title;
  const PageTable* rows = nullptr;
  std::vector<size_t> first_rows;  // in `rows`: those in plain HTML
};

// `data`: gzip as base64 of JSON, see page_data.h.
[[nodiscard]] std::string page_html(const Page& page, std::string_view data);

}  // namespace msdump::report
