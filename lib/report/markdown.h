// Markdown as CI shows it beside a job: the job summaries of GitHub, and comments and pages of GitLab and Gitee.
//
// Names and messages come from files that nobody has looked at, so none of them can be markup, HTML, a link, a mention
// (@name) or a reference (#12), or end its line or its cell of a table:
//   1. a name or a line of code is a code span; with a backtick, a '|' or nothing printable in it, <code> and entities
//   2. in prose, characters with a meaning have a backslash or are entities, and what makes mentions is a <span> of its own
//   3. control characters and bytes that are not UTF-8 are written as \xNN, and what is longer than kMostMarkdownBytes is cut
// Source: the specification of GitHub Flavored Markdown 0.29; GitLab's references in docs/user/markdown.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/page/page.h"

namespace msdump::report {

inline constexpr size_t kMostMarkdownBytes = 300;  // of one text

[[nodiscard]] std::string markdown_code(std::string_view text);
[[nodiscard]] std::string markdown_text(std::string_view text);

struct MarkdownTable {
  std::vector<std::string> heads;
  std::vector<bool> is_code;  // by column
  std::vector<std::vector<std::string>> rows;
  std::string below;  // what is not in the table
};

// The answer of a page (page.h) with its first causes: heading, sentence, causes and notes. `result`: "failed (exit code
// 1)". `counts`: a sentence.
[[nodiscard]] std::string markdown_summary(const Page& page, std::string_view result, std::string_view counts,
                                           const MarkdownTable& table);

}  // namespace msdump::report
