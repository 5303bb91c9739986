//===- TuneProgress.cpp - How far a search is -----------------------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneProgress.h"

#include <llvm/Support/Process.h>

using namespace attn;

TuneProgress::TuneProgress() : isTerminal(llvm::sys::Process::StandardErrIsDisplayed()) {}

void TuneProgress::begin(size_t count, double budgetSeconds) {
  total = count;
  budget = budgetSeconds;
  start = std::chrono::steady_clock::now();
}

double TuneProgress::secondsSinceBegin() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double TuneProgress::secondsLeft() const {
  double spent = secondsSinceBegin();
  double each = done > 0 ? spent / static_cast<double>(done) : 0;
  double wanted = each * static_cast<double>(total > done ? total - done : 0);
  return std::max(0.0, std::min(wanted, budget - spent));
}

void TuneProgress::clear() {
  // To the start of the line, and what is on it away.
  if (hasBar)
    llvm::errs() << "\r\033[K";
  hasBar = false;
}

void TuneProgress::note(const std::string &text) {
  clear();
  llvm::errs() << "attnc tune: " << text << "\n";
}

void TuneProgress::step(const std::string &what, const TrialResult &result, double bestUs,
                        double defaultUs) {
  ++done;
  total = std::max(total, done);
  std::string best = llvm::formatv("best {0:F1} us, default {1:F1} us", bestUs, defaultUs);
  if (isTerminal) {
    constexpr size_t kWidth = 24;
    size_t filled = kWidth * done / total;
    int64_t left = static_cast<int64_t>(secondsLeft());
    clear();
    llvm::errs() << "[" << std::string(filled, '#') << std::string(kWidth - filled, '-') << "] "
                 << done << "/" << total << "  " << best << "  " << left / 60 << "m"
                 << llvm::format_decimal(left % 60, 2) << "s left";
    hasBar = true;
    return;
  }
  std::string outcome = result.passed() ? llvm::formatv("{0:F1} us", result.medianUs).str()
                                        : toText(result.status).str() + ": " + result.detail;
  llvm::errs() << llvm::formatv("attnc tune: {0}/{1} {2}: {3} ({4}, {5:F0} s left)\n", done, total,
                                what, outcome, best, secondsLeft());
}
