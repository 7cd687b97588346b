# The page of --report as text in the program: the files of lib/report/page, and dygraphs from the distribution's package
# libjs-dygraphs, whose licence the page names.
set(folder "${CMAKE_CURRENT_SOURCE_DIR}/report/page")
find_file(MSDUMP_DYGRAPHS_JS dygraph.min.js PATHS /usr/share/javascript/dygraphs REQUIRED
  DOC "dygraphs 2, minified" NO_CMAKE_FIND_ROOT_PATH)
find_file(MSDUMP_DYGRAPHS_CSS dygraph.min.css PATHS /usr/share/javascript/dygraphs REQUIRED NO_CMAKE_FIND_ROOT_PATH)
find_file(MSDUMP_DYGRAPHS_LICENCE copyright PATHS /usr/share/doc/libjs-dygraphs REQUIRED NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(MSDUMP_DYGRAPHS_JS MSDUMP_DYGRAPHS_CSS MSDUMP_DYGRAPHS_LICENCE)

# The variable of that name in the caller's scope: a file without the address of its source map, which a browser would ask for.
function(msdump_read_part name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX REPLACE "\n?(//|/\\*)# sourceMappingURL=[^\n]*" "" text "${text}")
  set(${name} "${text}" PARENT_SCOPE)
endfunction()

msdump_read_part(msdump_page_skeleton "${folder}/page.html")
msdump_read_part(msdump_page_style "${folder}/page.css")
msdump_read_part(msdump_chart_script "${MSDUMP_DYGRAPHS_JS}")
msdump_read_part(msdump_chart_style "${MSDUMP_DYGRAPHS_CSS}")
msdump_read_part(msdump_chart_licence "${MSDUMP_DYGRAPHS_LICENCE}")
string(REPLACE "--" "- -" msdump_chart_licence "${msdump_chart_licence}")  # it stands in a comment

# One script, in the order in which the files need each other.
set(msdump_page_script "\"use strict\";\n(() => {\n")
foreach(part IN ITEMS data state view chart table detail pictures flow main)
  msdump_read_part(text "${folder}/js/${part}.js")
  string(APPEND msdump_page_script "${text}")
endforeach()
string(APPEND msdump_page_script "})();\n")
string(SHA256 msdump_page_script_hash "${msdump_page_script}")
string(SHA256 msdump_chart_script_hash "${msdump_chart_script}")
configure_file("${folder}/page_parts.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp" @ONLY)
