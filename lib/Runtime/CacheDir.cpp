//===- CacheDir.cpp - Where the disk cache lies by default ----------------===//

#include "attn/Runtime/DiskCache.h"

#include <cstdlib>

#include <pwd.h>
#include <unistd.h>

namespace attn::rt {

static std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::string homeDirectory() {
  if (std::string home = environment("HOME"); !home.empty())
    return home;
  struct passwd entry, *found = nullptr;
  char buffer[4096];
  if (::getpwuid_r(::geteuid(), &entry, buffer, sizeof(buffer), &found) == 0 && found)
    return found->pw_dir;
  return "";
}

Expected<std::string> defaultCacheDir(std::string_view flagValue) {
  if (!flagValue.empty())
    return std::string(flagValue);
  if (std::string directory = environment("ATTN_CACHE_DIR"); !directory.empty())
    return directory;
  if (std::string base = environment("XDG_CACHE_HOME"); base.starts_with('/'))
    return base + "/attn";
  if (std::string home = homeDirectory(); !home.empty())
    return home + "/.cache/attn";
  return fail(ErrorCode::Unavailable, "no cache directory: there is no home directory; pass "
                                      "--cache-dir or set ATTN_CACHE_DIR");
}

} // namespace attn::rt
