//===- CacheCommand.cpp - attnc cache -------------------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include <ctime>

using namespace attn;
using llvm::formatv;
using llvm::json::Object;

namespace {

struct CacheCommandFlags {
  std::string cacheDir;
  uint64_t maxBytes = rt::DiskCacheOptions().maxBytes;
  bool json = false;
};

/// What a command prints, either way.
struct CacheAnswer {
  std::string text;
  Object json;
  bool isGood = true;
};

} // namespace

static CommandSyntax makeSyntax(CacheCommandFlags &flags) {
  return {"attnc cache ls|stat|verify|prune|clear [flags]",
          "Looks after the kernel cache on disk. `ls` lists entries, last used first; `verify` "
          "reads them all;\n`prune` removes bad entries, then the least recently used ones above "
          "--max-bytes; `clear` removes all.",
          {textFlag("cache-dir", "DIR",
                    "kernel cache (default: $ATTN_CACHE_DIR, $XDG_CACHE_HOME/attn, ~/.cache/attn)",
                    flags.cacheDir),
           numberFlag("max-bytes", "bytes that prune leaves (default: 1073741824)", flags.maxBytes,
                      0, INT64_MAX),
           switchFlag("json", "print JSON", flags.json)},
          "",
          "attnc cache prune --max-bytes 100000000"};
}

static std::string timeText(std::chrono::system_clock::time_point time) {
  std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts;
  char text[32];
  size_t length = gmtime_r(&seconds, &parts)
                      ? std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)
                      : 0;
  return {text, length};
}

static rt::Expected<CacheAnswer> list(const rt::DiskCache &cache) {
  auto entries = cache.list();
  if (!entries)
    return rt::fail(entries.error());
  CacheAnswer answer;
  llvm::json::Array items;
  for (const rt::CacheEntry &entry : *entries) {
    std::string used = timeText(entry.lastUse);
    answer.text += formatv("{0} {1,10} {2}\n", entry.key, entry.bytes, used);
    items.push_back(Object{{"key", entry.key},
                           {"path", entry.path},
                           {"bytes", static_cast<int64_t>(entry.bytes)},
                           {"last_use", used}});
  }
  answer.json = Object{{"entries", std::move(items)}};
  return answer;
}

static rt::Expected<CacheAnswer> stat(const rt::DiskCache &cache) {
  auto stat = cache.stat();
  if (!stat)
    return rt::fail(stat.error());
  CacheAnswer answer;
  answer.text = formatv("directory  {0}\nentries    {1}\nbytes      {2} of {3}\naliases    {4}\n"
                        "locks      {5}\nunfinished {6}\n",
                        cache.directory(), stat->entries, stat->bytes, stat->maxBytes,
                        stat->aliases, stat->locks, stat->temporaries);
  answer.json = Object{{"directory", cache.directory()},
                       {"entries", static_cast<int64_t>(stat->entries)},
                       {"bytes", static_cast<int64_t>(stat->bytes)},
                       {"max_bytes", static_cast<int64_t>(stat->maxBytes)},
                       {"aliases", static_cast<int64_t>(stat->aliases)},
                       {"locks", static_cast<int64_t>(stat->locks)},
                       {"unfinished", static_cast<int64_t>(stat->temporaries)}};
  return answer;
}

static rt::Expected<CacheAnswer> verify(const rt::DiskCache &cache) {
  auto report = cache.verify();
  if (!report)
    return rt::fail(report.error());
  CacheAnswer answer;
  llvm::json::Array bad;
  for (const auto &[path, what] : report->bad) {
    answer.text += path + ": " + what + "\n";
    bad.push_back(Object{{"path", path}, {"problem", what}});
  }
  answer.text += formatv("{0} good, {1} bad\n", report->good, report->bad.size());
  answer.isGood = report->bad.empty();
  answer.json = Object{{"good", static_cast<int64_t>(report->good)}, {"bad", std::move(bad)}};
  return answer;
}

static rt::Expected<CacheAnswer> removed(const rt::Expected<rt::PruneReport> &report) {
  if (!report)
    return rt::fail(report.error());
  CacheAnswer answer;
  answer.text = formatv("removed {0} files, {1} bytes\n", report->files, report->bytes);
  for (const std::string &path : report->kept)
    answer.text += "cannot remove " + path + "\n";
  answer.isGood = report->kept.empty();
  answer.json = Object{{"removed", static_cast<int64_t>(report->files)},
                       {"bytes", static_cast<int64_t>(report->bytes)},
                       {"kept", llvm::json::Array(report->kept)}};
  return answer;
}

static rt::Expected<CacheAnswer> runAction(const std::string &action, rt::DiskCache &cache,
                                           const CacheCommandFlags &flags) {
  if (action == "ls")
    return list(cache);
  if (action == "stat")
    return stat(cache);
  if (action == "verify")
    return verify(cache);
  if (action == "prune")
    return removed(cache.prune(flags.maxBytes, /*removeBad=*/true));
  if (action == "clear")
    return removed(cache.clear());
  llvm::SmallVector<llvm::StringRef> actions{"ls", "stat", "verify", "prune", "clear"};
  return rt::fail(rt::ErrorCode::BadInput, "unknown action '" + action + "': expected one of " +
                                               llvm::join(actions, ", ") +
                                               didYouMean(action, actions));
}

int attn::cacheCommand(Words arguments) {
  CacheCommandFlags flags;
  CommandSyntax syntax = makeSyntax(flags);
  ParsedWords parsed;
  if (std::optional<int> code = parseOrExit(syntax, arguments, parsed))
    return *code;
  if (parsed.words.size() != 1)
    return reportError({rt::ErrorCode::BadInput,
                        formatv("expected one action, ls, stat, verify, prune or clear, got {0}",
                                parsed.words.size())});
  rt::Expected<std::string> directory = rt::defaultCacheDir(flags.cacheDir);
  if (!directory)
    return reportError(directory.error());
  rt::DiskCacheOptions options;
  options.directory = *directory;
  rt::DiskCache cache(std::move(options));
  rt::Expected<CacheAnswer> answer = runAction(parsed.words[0], cache, flags);
  if (!answer)
    return reportError(answer.error());
  if (flags.json)
    printJson(std::move(answer->json));
  else
    llvm::outs() << answer->text;
  return answer->isGood ? 0 : 2;
}
