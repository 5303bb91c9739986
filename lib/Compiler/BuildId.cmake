# Writes OUTPUT, which defines attn::compilerBuildId(): VERSION and a digest of the files
# named in LIST.
file(STRINGS ${LIST} sources)
set(digests "")
foreach(source IN LISTS sources)
  file(SHA256 ${source} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT}
"#include \"attn/Compiler/Compiler.h\"

#include <llvm/Config/llvm-config.h>

std::string attn::compilerBuildId() {
  return \"attn ${VERSION} (${digest}), LLVM \" LLVM_VERSION_STRING;
}
")
