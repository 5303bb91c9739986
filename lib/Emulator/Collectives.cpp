//===- Collectives.cpp - Threads that execute an instruction together -===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Emulator/Machine.h"

using namespace attn::emu;
using llvm::BitVector;
using llvm::Twine;

void CollectiveUnit::reportElsewhere(Thread &thread, const Meeting &meeting) {
  unsigned arrived = meeting.members.count() - meeting.missing;
  for (const Lane &lane : meeting.lanes)
    if (lane.thread)
      return thread.report(
          ReportKind::DivergentCollective,
          Twine(arrived) + " other threads, one of them lane " + Twine(lane.thread->lane()) +
              " of warp " + Twine(lane.thread->index() / kLanes) + ", wait for this one at " +
              meeting.site->text() + "; all members execute a collective together");
}

/// A new meeting of lanes that have not exited and wait in no other.
CollectiveUnit::Meeting *CollectiveUnit::open(Thread &thread, const BitVector &members) {
  for (const std::unique_ptr<Meeting> &other : meetings)
    if (other->members.anyCommon(members)) {
      reportElsewhere(thread, *other);
      return nullptr;
    }
  if (gone.anyCommon(members)) {
    BitVector missing = gone;
    missing &= members;
    thread.report(ReportKind::DivergentCollective,
                  "lane " + Twine(missing.find_first() % kLanes) +
                      " has to execute this too, but has returned from the kernel");
    return nullptr;
  }
  if (spare.empty())
    spare.push_back(std::make_unique<Meeting>());
  meetings.push_back(spare.pop_back_val());
  Meeting &meeting = *meetings.back();
  meeting.site = &thread.site();
  meeting.members = members;
  meeting.lanes.assign(members.size(), Lane());
  meeting.missing = members.count();
  return &meeting;
}

void CollectiveUnit::arrive(Thread &thread, unsigned lane, const BitVector &members,
                            const std::byte *args, std::byte *results, Execute execute) {
  if (!members.test(lane))
    return thread.report(ReportKind::BadOperand,
                         "the member mask does not hold the executing lane " + Twine(lane));
  Meeting *meeting = nullptr;
  for (const std::unique_ptr<Meeting> &other : meetings)
    if (other->members.test(lane))
      meeting = other.get();
  if (!meeting)
    meeting = open(thread, members);
  else if (meeting->site != &thread.site() || meeting->members != members)
    return reportElsewhere(thread, *meeting);
  if (!meeting)
    return;
  meeting->lanes[lane] = {&thread, args, results};
  if (--meeting->missing > 0) {
    thread.state = Thread::State::Collective;
    return thread.suspend();
  }
  execute(meeting->lanes);
  for (const Lane &member : meeting->lanes)
    if (member.thread)
      member.thread->state = Thread::State::Ready;
  auto *it = llvm::find_if(meetings, [&](const auto &other) { return other.get() == meeting; });
  spare.push_back(std::move(*it));
  meetings.erase(it);
}

void CollectiveUnit::exited(Thread &thread, unsigned lane, unsigned numLanes) {
  gone.resize(numLanes);
  gone.set(lane);
  for (const std::unique_ptr<Meeting> &meeting : meetings)
    if (meeting->members.test(lane))
      return reportElsewhere(thread, *meeting);
}
