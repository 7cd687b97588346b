#include "report/page/page_data.h"

#include <fmt/format.h>

#include "report/json_text.h"

namespace msdump::report {

std::string page_json(const PageData& data) {
  std::string text = "{\"kind\":";
  append_json_string(text, data.kind);
  text += ",\"command\":";
  append_json(text, list_of(data.command));
  text += fmt::format(",\"all\":{},\"rows\":", data.all);
  data.rows->append_json(text);
  text += ",\"points\":";
  if (data.points == nullptr) {
    text += "null";
  } else {
    data.points->append_json(text);
  }
  text += ",\"edges\":[";
  for (size_t i = 0; i < data.edges.size(); ++i) {
    const PageEdge& edge = data.edges[i];
    text += fmt::format("{}{},{},{},{}", i == 0 ? "" : ",", edge.from, edge.to,
                        edge.row ? std::to_string(*edge.row) : "null", edge.gap ? 1 : 0);
  }
  text += "],\"causes\":";
  append_json(text, data.causes);
  text += ",\"pictures\":";
  append_json(text, data.pictures);
  return text + "}";
}

}  // namespace msdump::report
