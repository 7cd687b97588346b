// What convert reports: its rows as the report writers want them, its warnings and failures as messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "frame/subcommand.h"
#include "report/row_sink.h"

namespace msdump::cli {

[[nodiscard]] std::vector<report::Column> convert_columns();
[[nodiscard]] report::Row convert_row(const ConvertRow& row);
[[nodiscard]] report::Object convert_summary(const ConvertSummary& summary);

class ConvertReport : public ConvertSink {
 public:
  // `sink` may be null: messages only.
  ConvertReport(Session& session, std::unique_ptr<report::RowSink> sink, std::vector<std::string> dumps,
                std::string out);

  void row(const ConvertRow& row) override;
  void warning(const std::string& path, const std::string& tensor, const std::string& text) override;
  void failure(const Error& error) override;
  void finish(const ConvertSummary& summary);

 private:
  // Relative to the dump or to OUT, as machine output has it.
  [[nodiscard]] std::string relative(const std::string& path) const;

  Session& session_;
  std::unique_ptr<report::RowSink> sink_;
  std::vector<std::string> roots_;
  report::Closing closing_;
};

}  // namespace msdump::cli
