# Writes OUTPUT, which defines attn::models(): the names and texts of the files listed in LIST.
file(STRINGS ${LIST} files)
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"json(${text})json\"},\n")
endforeach()
file(WRITE ${OUTPUT}
"#include \"Models.h\"

const std::vector<attn::Model> &attn::models() {
  static const std::vector<Model> all = {
${rows}  };
  return all;
}
")
