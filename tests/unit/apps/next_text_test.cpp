#include "next/next_text.h"

#include "report/json.h"
#include "support/catch.h"

namespace msdump::cli {
namespace {

using Open = Suspect::Open;

std::string json_of(const report::Object& object) {
  std::string text;
  report::append_json(text, object);
  return text;
}

// The line of an answer that begins with the word, without it.
std::string line_of(const NextPlan& plan, const std::string& head) {
  const std::string text = "\n" + next_text({plan, 1, "config\n", ""});
  const size_t at = text.find("\n" + head);
  if (at == std::string::npos) return {};
  const size_t begin = at + 11;
  return text.substr(begin, text.find('\n', begin) - begin);
}

NextPlan asked_plan() {
  NextPlan plan;
  plan.state = PlanState::kAsked;
  plan.question = "why?";
  plan.outcomes = {"if a: b", "if c: d"};
  return plan;
}

Suspect suspect_named(const std::string& name, Open open = Open::kBefore) {
  Suspect suspect;
  suspect.op_name = name;
  suspect.open = open;
  suspect.reason = "it differs";
  return suspect;
}

TEST_CASE("what is to be dumped: five names, five steps and five ranks are shown, and how many more there are") {
  NextPlan plan = asked_plan();
  DumpRequest& request = plan.candidate;
  CHECK(line_of(plan, "dump") == "tensors of everything");
  request.list = {"a"};
  request.steps = {3};
  CHECK(line_of(plan, "dump") == "tensors of a; step 3");
  request.list = {"a", "b", "c", "d", "e"};
  request.steps = {0, 1, 2, 3, 4};
  request.ranks = {0, 1};
  CHECK(line_of(plan, "dump") == "tensors of a, b, c, d, e; steps 0, 1, 2, 3, 4; ranks 0, 1");
  request.list.emplace_back("f");
  CHECK(line_of(plan, "dump").starts_with("tensors of a, b, c, d, e and 1 more; "));
  request.list.emplace_back("g");
  request.steps.push_back(5);
  CHECK(line_of(plan, "dump") == "tensors of a, b, c, d, e and 2 more; steps 0, 1, 2, 3, 4, ...; ranks 0, 1");
  request = {};
  request.scope = {"a", "b"};
  CHECK(line_of(plan, "dump") == "tensors from a to b");
  request.statistics = true;
  request.scope.clear();
  CHECK(line_of(plan, "dump") == "statistics of everything");
  request = {};
  request.overflow = true;
  CHECK(line_of(plan, "dump") == "tensors of the operators that overflow");
}

TEST_CASE("the size is said with two digits of its share, and not where it is not known") {
  NextPlan plan = asked_plan();
  plan.size = {1, 2048, 0, false};
  CHECK(line_of(plan, "size") == "2.0 KiB of 1 tensor per step and rank");
  for (const auto& [all, share] :
       {std::pair(uint64_t{2048}, "100"), {20480, "10"}, {2048 * 16, "6.2"}, {2048 * 300, "0.33"}}) {
    plan.size.of_all = all;
    CHECK(line_of(plan, "size") ==
          "2.0 KiB of 1 tensor per step and rank, " + std::string(share) + " % of a full dump");
  }
  plan.size.tensors = 2;
  plan.size.at_least = true;
  CHECK(line_of(plan, "size") == "at least 2.0 KiB of 2 tensors per step and rank, 0.33 % of a full dump");
  plan.candidate.statistics = true;
  CHECK(line_of(plan, "size").empty());
  plan.candidate.statistics = false;
  plan.candidate.overflow = true;
  CHECK(line_of(plan, "size").empty());
  CHECK(json_of(next_document({plan, 1, "c", ""})).find("\"estimate\":null") != std::string::npos);
}

TEST_CASE("five suspects are shown, with their line and place, and how many more there are") {
  NextPlan plan;
  plan.state = PlanState::kPinned;
  const SourceFrame frame{.file = "/home/net.py", .code = {}, .line = 7, .end_line = 7};
  plan.suspects.assign(5, suspect_named("a", Open::kPinned));
  plan.suspects[0].frame = &frame;
  plan.suspects[0].place = {1, 2, 0};
  plan.suspects[1] = suspect_named("");
  plan.suspects[1].parameter = "fc.weight";
  plan.suspects[2].op_name.clear();
  const std::string five =
      "pinned    a (net.py:7), rank 1, step 2: it differs\n"
      "suspect   fc.weight: it differs\n"
      "pinned    an operator: it differs\n"
      "pinned    a: it differs\n"
      "pinned    a: it differs\n";
  CHECK(next_text({plan, 1, {}, {}}) == five);
  plan.suspects.push_back(suspect_named("b"));
  plan.suspects.push_back(suspect_named("b"));
  CHECK(next_text({plan, 1, {}, {}}) == five + "          and 2 more; --json has all\n");
  CHECK(next_text({NextPlan{}, 1, {}, {}}) == "nothing   no operator stands out: no further dump is asked for\n");
}

TEST_CASE("a suspect is pinned only where the search ends, and a parameter is named with the operator that reads it") {
  NextPlan plan = asked_plan();
  plan.suspects = {suspect_named("a"), suspect_named("b", Open::kPinned)};
  CHECK(next_text({plan, 1, {}, {}}).starts_with("suspect   a: it differs\nsuspect   b: it differs\n"));
  plan.state = PlanState::kPinned;
  plan.suspects = {suspect_named("a", Open::kPinned)};
  plan.suspects[0].parameter = "w";
  for (const std::string_view kind : {"parameter", "input"}) {
    plan.suspects[0].kind = kind;
    CHECK(next_text({plan, 1, {}, {}}) == "pinned    " + std::string(kind) + " w, read by a: it differs\n");
  }
  plan.suspects[0].kind = "nan";
  CHECK(next_text({plan, 1, {}, {}}) == "pinned    a: it differs\n");
  plan.suspects[0].kind = "input";
  plan.suspects[0].parameter.clear();
  CHECK(next_text({plan, 1, {}, {}}) == "pinned    a: it differs\n");
}

TEST_CASE("an operator that only reads what is wrong is shown as such, pinned in the first dump or asked about") {
  NextPlan plan;
  plan.state = PlanState::kPinned;
  plan.suspects = {suspect_named("a", Open::kPinned)};
  plan.suspects[0].only_reads = true;
  const std::string pinned = "pinned    a: it differs\n", entered = "          it only reads what enters the network; ";
  CHECK(next_text({plan, 1, {}, {}}).starts_with(pinned + entered));
  CHECK(next_text({plan, 2, {}, {}}) == pinned);
  plan.suspects[0].parameter = "w";
  CHECK(next_text({plan, 1, {}, {}}) == pinned);
  plan.suspects[0].open = Open::kBefore;
  CHECK(next_text({plan, 2, {}, {}}) ==
        "suspect   a: it differs\n          it only reads what is wrong: the next dump has what makes that\n");
}

TEST_CASE("configurations are printed, once if both are the same, or the paths that they were written to") {
  NextPlan plan = asked_plan();
  plan.candidate.overflow = true;
  const std::string head =
      "question  why?\n"
      "dump      tensors of the operators that overflow\n"
      "          if a: b\n"
      "          if c: d\n";
  CHECK(next_text({plan, 1, "one\n", ""}) == head + "\none\n");
  CHECK(next_text({plan, 1, "one\n", "one\n"}) == head + "\none\n");
  CHECK(next_text({plan, 1, "one\n", "two\n"}) == head + "\ncandidate:\none\n\nreference:\ntwo\n");
  CHECK(next_text({plan, 1, "one\n", "two\n", {"/a.json", "/b.json"}}) ==
        head + "written   /a.json\nwritten   /b.json\n");
}

TEST_CASE("the document has the configuration and the estimate of what is asked, and what is pinned") {
  NextPlan plan = asked_plan();
  plan.candidate.kind = ConfigKind::kAcl;
  plan.size = {2, 30, 400, true};
  CHECK(json_of(next_document({plan, 3, "c", "r", {"/c.json"}})) ==
        R"({"state":"asked","rounds":3,"pinned":[],"nothing":null,"question":"why?","outcomes":["if a: b","if c: d"],)"
        R"("configuration":{"kind":"acl","candidate":"c","reference":"r"},)"
        R"("estimate":{"tensors":2,"bytes":30,"at_least":true,"full_bytes":400},"written":["/c.json"]})");
  CHECK(json_of(next_document({plan, 1, "c", ""})).find(R"("reference":null)") != std::string::npos);
  plan = {};
  plan.state = PlanState::kPinned;
  plan.suspects = {suspect_named("a", Open::kPinned), suspect_named("b")};
  CHECK(json_of(next_document({plan, 1, {}, {}})) ==
        R"({"state":"pinned","rounds":1,"pinned":[{"state":"pinned","kind":null,"rank":null,"step":null,"op_name":"a",)"
        R"("op_type":null,"parameter":null,"source":null,"reason":"it differs","only_reads":false,"candidates":[]}],)"
        R"("nothing":null,"question":null,"outcomes":[],"configuration":null,"estimate":null,"written":[]})");
}

TEST_CASE("a row has what is known of a suspect and of what may be to blame instead") {
  Suspect suspect = suspect_named("a", Open::kNotDumped);
  const SourceFrame frame{.file = "net.py", .code = "y = x", .line = 7, .end_line = 7};
  suspect.op_type = "Mul";
  suspect.parameter = "w";
  suspect.kind = "value";
  suspect.place = {1, 2, 0};
  suspect.frame = &frame;
  suspect.only_reads = true;
  suspect.others = {{"b", nullptr}, {"", &frame}};
  std::string text;
  report::append_json(text, suspect_rows().row(suspect));
  CHECK(text ==
        R"({"state":"not_dumped","kind":"value","rank":1,"step":2,"op_name":"a","op_type":"Mul","parameter":"w",)"
        R"("source":{"file":"net.py","line":7,"code":"y = x"},"reason":"it differs","only_reads":true,"candidates":[)"
        R"({"op_name":"b","source":null},{"op_name":null,"source":{"file":"net.py","line":7,"code":"y = x"}}]})");
}

TEST_CASE("tables have the columns of a suspect") {
  std::string keys;
  for (const report::Column& column : next_columns({})) keys += std::string(column.key) + " ";
  CHECK(keys == "state kind rank step op_name op_type source.file source.line reason ");
}

}  // namespace
}  // namespace msdump::cli
