// What convert reports: its rows for the report writers, its warnings and failures as messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "convert/convert.h"
#include "frame/subcommand.h"
#include "io/dir_walk.h"
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
  Session& session_;
  std::unique_ptr<report::RowSink> sink_;
  RelativePaths relative_;  // to the dump or to OUT, as machine output has it
  report::Closing closing_;
};

}  // namespace msdump::cli
