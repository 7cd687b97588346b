#include "report/page/page.h"

#include <limits>
#include <string>

#include "report/page/page_data.h"
#include "report/page/page_parts.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

PageTable names_and_errors() {
  return PageTable({{"op_name", "op name"},
                    {"error", "error", PageColumn::Kind::kNumber},
                    {"hidden", "hidden", PageColumn::Kind::kText, false}});
}

void add_row(PageTable& table, Value name, Value error) {
  Row row;
  row.add("op_name", std::move(name)).add("error", std::move(error)).add("hidden", "h");
  table.add(table.cells_of(row));
}

std::string json_of(const PageTable& table) {
  std::string text;
  table.append_json(text);
  return text;
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr std::string_view kHostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{data}}";

TEST_CASE("a table has each text once, and a cell without text is the first of them") {
  PageTable table = names_and_errors();
  add_row(table, "a", 0.123456789);
  add_row(table, "b", nullptr);
  add_row(table, "a", 7);
  add_row(table, nullptr, std::numeric_limits<double>::infinity());
  CHECK(table.rows() == 4);
  CHECK(
      json_of(table) ==
      R"({"count":4,"columns":[{"key":"op_name","title":"op name","shown":true,"words":["","a","b"],"cells":[1,2,1,0]},)"
      R"({"key":"error","title":"error","shown":true,"numbers":[0.12346,null,7,"inf"]},)"
      R"({"key":"hidden","title":"hidden","shown":false,"words":["","h"],"cells":[1,1,1,1]}]})");
  CHECK(table.text(0, 0) == "a");
  CHECK(table.text(3, 0) == "");
  CHECK(table.text(1, 1) == "");
  CHECK(table.text(3, 1) == "inf");
}

TEST_CASE("a column may be made of the row, and lists are shown as JSON") {
  PageColumn made{"shape", "shape"};
  made.value = [](const Row& row) { return *row.find("a"); };
  PageTable table({made});
  Row row;
  row.add("a", List{2, 3});
  table.add(table.cells_of(row));
  CHECK(table.text(0, 0) == "[2,3]");
}

TEST_CASE("a text of any length takes a bounded part of a page") {
  PageTable table = names_and_errors();
  add_row(table, std::string(1 << 20, 'x'), 1);
  CHECK(table.text(0, 0) == std::string(kMostPageText, 'x') + "...");
  add_row(table, std::string(kMostPageText, 'y'), 1);
  CHECK(table.text(1, 0) == std::string(kMostPageText, 'y'));
}

TEST_CASE("numbers of a page have five digits") {
  CHECK(short_number(1.0 / 3) == "0.33333");
  CHECK(short_number(0.1F) == "0.1");
  CHECK(short_number(1e-30) == "1e-30");
  CHECK(short_number(123456789) == "123456789");
  CHECK(short_number(std::numeric_limits<double>::quiet_NaN()) == "\"nan\"");
  CHECK(short_number(-std::numeric_limits<double>::infinity()) == "\"-inf\"");
  CHECK(short_number("text") == "null");
}

Page hostile_page(const PageTable& table) {
  const std::string text(kHostile);
  Page page;
  page.command = "diff";
  page.version = "1";
  page.heading = page.sentence = page.chart_title = page.rows_title = text;
  page.causes = {{text, text, text, text, text, {{text, text, text, text}}, text, 1.0, 2.0, {{text, text, true}}},
                 {text, text, text, text, text, {}, text, {}, {}, {}}};
  page.more = text;
  page.dumps = {{text, text, text, text, text, text}};
  page.words = {{text, text, text}};
  page.counts = page.reasons = {{text, text, 3}};
  page.about = {{text, text}};
  page.notes = {text};
  page.rows = &table;
  page.first_rows = {0};
  return page;
}

TEST_CASE("no text of a page becomes markup") {
  PageTable table = names_and_errors();
  add_row(table, kHostile, 1);
  Page plain;
  plain.command = "diff";
  plain.rows = &table;
  const std::string page = page_html(hostile_page(table), "DATA"), empty = page_html(plain, "DATA");
  CHECK(count_of(page, "<script") == count_of(empty, "<script"));
  CHECK(count_of(page, "</script") == count_of(empty, "</script"));
  CHECK(count_of(page, "<img") == 0);
  CHECK(count_of(page, "onerror=alert(2)&gt;") > 25);
  CHECK(count_of(page, "\"'&{{") == 0);
  CHECK(count_of(page, "DATA") == count_of(empty, "DATA"));
}

TEST_CASE("control characters and bytes that are not UTF-8 are visible in a page") {
  PageTable table = names_and_errors();
  add_row(table, "a\x01\xFF", 1);
  Page page;
  page.rows = &table;
  page.first_rows = {0};
  page.sentence = "b\x1b\xFE";
  const std::string html = page_html(page, "");
  CHECK(html.find("a\\x01\\xff") != std::string::npos);
  CHECK(html.find("b\\x1b\\xfe") != std::string::npos);
}

TEST_CASE("no text of a page can turn the order of what is read") {
  const std::string turning =
      "a\xE2\x80\xAE"
      "b";  // U+202E
  Page page = hostile_page(names_and_errors());
  PageTable table = names_and_errors();
  add_row(table, turning, 1);
  page.rows = &table;
  page.heading = page.sentence = turning;
  for (PageCause& cause : page.causes) cause.title = cause.name = cause.place = cause.source = cause.code = turning;
  page.notes = {turning};
  const std::string html = page_html(page, "");
  CHECK(html.find("\xE2\x80\xAE") == std::string::npos);
  CHECK(count_of(html, "a\\xe2\\x80\\xaeb") > 10);
}

TEST_CASE("the data of a page are JSON with the names as they are") {
  PageTable table = names_and_errors();
  add_row(table, kHostile, 1);
  PageData data;
  data.kind = "diff";
  data.command = {"msdump", "a b"};
  data.all = 9;
  data.rows = &table;
  data.edges = {{1, 2, 0, false}, {2, 3, std::nullopt, true}};
  const std::string json = page_json(data);
  CHECK(json.starts_with(R"({"kind":"diff","command":["msdump","a b"],"all":9,"rows":{"count":1,)"));
  CHECK(json.ends_with(
      R"("points":null,"classes":[],"dumps":[],"flow":true,"edges":[1,2,0,0,2,3,null,1],"causes":[],"pictures":[],"tokens":null})"));
  data.classes = {{"noise", "rounding", "noise", 3}};
  data.dumps = {{"candidate", {"a b"}, "a_at", true, false}};
  data.has_flow = false;
  CHECK(page_json(data).find(R"("classes":[{"key":"noise","style":"rounding","text":"noise","count":3}],)"
                             R"("dumps":[{"role":"candidate","paths":["a b"],"at":"a_at","several":["rank"]}],)"
                             R"("flow":false,)") != std::string::npos);
  data.points = &table;
  CHECK(page_json(data).find(R"("points":{"count":1)") != std::string::npos);
}

TEST_CASE("measured and expected errors are bars only where both are known") {
  PageTable table = names_and_errors();
  Page page;
  page.rows = &table;
  page.causes = {PageCause()};
  page.causes[0].measured = 0.5;
  CHECK(page_html(page, "").find("class=\"gauge\"") == std::string::npos);
  page.causes[0].expected = 0.001;
  CHECK(page_html(page, "").find("class=\"gauge\"") != std::string::npos);
  page.causes[0].expected = 0;
  CHECK(page_html(page, "").find("class=\"gauge\"") == std::string::npos);
}

TEST_CASE("bars of errors are linear, and a factor too large for bars is said in words") {
  PageTable table = names_and_errors();
  Page page;
  page.rows = &table;
  page.causes = {PageCause()};
  const auto shown = [&](double measured, double expected) {
    page.causes[0].measured = measured;
    page.causes[0].expected = expected;
    return page_html(page, "");
  };
  const std::string drawn = shown(0.5, 0.05);
  CHECK(drawn.find("class=\"bar measured\" style=\"--wide:70.0%\"") != std::string::npos);
  CHECK(drawn.find("class=\"bar expected\" style=\"--wide:7.0%\"") != std::string::npos);
  CHECK(shown(0.05, 0.5).find("class=\"bar measured\" style=\"--wide:7.0%\"") != std::string::npos);
  const std::string words = shown(0.519, 0.0001);
  CHECK(words.find("class=\"bar") == std::string::npos);
  CHECK(words.find("<b>5200 times</b> what is expected") != std::string::npos);
  CHECK(shown(1e300, 1e-300).find("class=\"gauge\"") == std::string::npos);
}

TEST_CASE("a page says which dumps it is about and what its words mean, and has no empty list of either") {
  PageTable table = names_and_errors();
  Page page;
  page.rows = &table;
  CHECK(page_html(page, "").find("<dl class=\"dumps\">") == std::string::npos);
  CHECK(page_html(page, "").find("<details class=\"words\">") == std::string::npos);
  page.dumps = {{"candidate", "in doubt", "npu", "Ascend", "/d/npu", ""}};
  page.words = {{"noise", "rounding", "Harmless."}};
  const std::string html = page_html(page, "");
  CHECK(html.find("<dt>candidate</dt><dd><b>npu</b> <span>Ascend</span> <span class=\"quiet\">in doubt</span><br>"
                  "<code>/d/npu</code></dd>") != std::string::npos);
  CHECK(html.find("<dt>noise</dt><dd>Harmless. <span class=\"quiet\">Also: rounding.</span></dd>") !=
        std::string::npos);
}

TEST_CASE("no part of a page closes the element that it is in, or asks for a file") {
  for (const std::string_view script : {kPageScript, kChartScript}) {
    CHECK(script.find("</script") == std::string_view::npos);
    CHECK(script.find("<!--") == std::string_view::npos);
    CHECK(script.find("sourceMappingURL") == std::string_view::npos);
  }
  for (const std::string_view style : {kPageStyle, kChartStyle}) {
    CHECK(style.find("</style") == std::string_view::npos);
    CHECK(style.find("url(") == std::string_view::npos);
    CHECK(style.find("sourceMappingURL") == std::string_view::npos);
  }
  CHECK(kChartLicence.find("--") == std::string_view::npos);
  CHECK(kChartLicence.find("Permission is hereby granted") != std::string_view::npos);
  CHECK(kPageScript.find("innerHTML") == std::string_view::npos);
}

}  // namespace
}  // namespace msdump::report
