//===- AssignRoles.cpp - Takes a program apart into its roles -------------===//
//
// Part of attn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyLoops.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include <mlir/IR/IRMapping.h>

using namespace mlir;
using namespace attn;

namespace attn {
#define GEN_PASS_DEF_ATTNASSIGNROLES
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

namespace {

enum class Role { Producer, Consumer };

/// Copies what one role does of a program. Both copies run the same loops: their bounds do not
/// depend on tiles.
class RoleCloner {
public:
  RoleCloner(OpBuilder &b, Role role) : b(b), role(role) {}

  void clone(Operation &op, IRMapping &mapping);

private:
  /// Only consumers hold tiles.
  bool holds(Type type) const {
    return role == Role::Consumer || !isa<TileType, SoftmaxStateType, InFlightType>(type);
  }
  bool does(Operation &op) const;
  void clonePass(MailboxPassOp pass, IRMapping &mapping);
  void cloneDraw(NextTileOp draw, IRMapping &mapping);
  void cloneLoop(scf::ForOp loop, IRMapping &mapping);
  void cloneLoop(scf::WhileOp loop, IRMapping &mapping);
  void cloneIf(scf::IfOp ifOp, IRMapping &mapping);
  void cloneRegion(Block &from, Block &to, IRMapping &mapping);
  /// What the role has of values.
  SmallVector<Value> held(ValueRange values, IRMapping &mapping);
  void mapResults(Operation *from, Operation *to, IRMapping &mapping) {
    unsigned next = 0;
    for (Value result : from->getResults())
      if (holds(result.getType()))
        mapping.map(result, to->getResult(next++));
  }

  OpBuilder &b;
  Role role;
};

} // namespace

bool RoleCloner::does(Operation &op) const {
  if (isa<PipeAcquireOp, CopyTileOp, PipeCommitOp>(op))
    return role == Role::Producer;
  if (isa<PipeReleaseOp, BulkStoreWaitOp, TurnsBeginOp, TurnWaitOp, TurnPassOp, TurnsEndOp>(op))
    return role == Role::Consumer;
  return llvm::all_of(op.getOperandTypes(), [&](Type type) { return holds(type); }) &&
         llvm::all_of(op.getResultTypes(), [&](Type type) { return holds(type); });
}

/// The producer writes what the consumers read.
void RoleCloner::clonePass(MailboxPassOp pass, IRMapping &mapping) {
  Value iteration = mapping.lookupOrDefault(pass.getIteration());
  if (role == Role::Consumer) {
    auto get =
        MailboxGetOp::create(b, pass.getLoc(), pass.getResultTypes(), pass.getMailbox(), iteration);
    mapping.map(pass.getPassed(), get.getValues());
    return;
  }
  SmallVector<Value> values;
  for (Value value : pass.getValues())
    values.push_back(mapping.lookupOrDefault(value));
  MailboxPutOp::create(b, pass.getLoc(), pass.getMailbox(), iteration, values);
  mapping.map(pass.getPassed(), values);
}

/// Consumers hear of the next tile by mailbox.
void RoleCloner::cloneDraw(NextTileOp draw, IRMapping &mapping) {
  if (role == Role::Producer)
    b.clone(*draw, mapping);
  else
    mapping.map(draw.getTile(), arith::ConstantIntOp::create(b, draw.getLoc(), 0, 32).getResult());
}

SmallVector<Value> RoleCloner::held(ValueRange values, IRMapping &mapping) {
  SmallVector<Value> found;
  for (Value value : values)
    if (holds(value.getType()))
      found.push_back(mapping.lookupOrDefault(value));
  return found;
}

void RoleCloner::cloneRegion(Block &from, Block &to, IRMapping &mapping) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&to);
  for (Operation &op : from.without_terminator())
    clone(op, mapping);
  Location loc = from.getTerminator()->getLoc();
  if (auto condition = dyn_cast<scf::ConditionOp>(from.getTerminator()))
    scf::ConditionOp::create(b, loc, mapping.lookupOrDefault(condition.getCondition()),
                             held(condition.getArgs(), mapping));
  else
    scf::YieldOp::create(b, loc, held(from.getTerminator()->getOperands(), mapping));
}

void RoleCloner::cloneLoop(scf::ForOp loop, IRMapping &mapping) {
  auto copy = scf::ForOp::create(b, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                                 mapping.lookupOrDefault(loop.getUpperBound()),
                                 mapping.lookupOrDefault(loop.getStep()),
                                 held(loop.getInitArgs(), mapping));
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  // The builder ends the body of a loop without values.
  if (!copy.getBody()->empty())
    copy.getBody()->getTerminator()->erase();
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  unsigned next = 0;
  for (BlockArgument argument : loop.getRegionIterArgs())
    if (holds(argument.getType()))
      mapping.map(argument, copy.getRegionIterArg(next++));
  cloneRegion(*loop.getBody(), *copy.getBody(), mapping);
  mapResults(loop, copy, mapping);
}

void RoleCloner::cloneLoop(scf::WhileOp loop, IRMapping &mapping) {
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    if (holds(type))
      types.push_back(type);
  auto copy = scf::WhileOp::create(b, loop.getLoc(), types, held(loop.getInits(), mapping));
  for (auto [from, to] : llvm::zip(loop->getRegions(), copy->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (BlockArgument argument : from.front().getArguments())
      if (holds(argument.getType()))
        mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    cloneRegion(from.front(), *block, mapping);
  }
  mapResults(loop, copy, mapping);
}

void RoleCloner::cloneIf(scf::IfOp ifOp, IRMapping &mapping) {
  SmallVector<Type> types;
  for (Type type : ifOp.getResultTypes())
    if (holds(type))
      types.push_back(type);
  auto copy =
      scf::IfOp::create(b, ifOp.getLoc(), types, mapping.lookupOrDefault(ifOp.getCondition()),
                        /*addThenBlock=*/true, /*addElseBlock=*/!ifOp.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(ifOp->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    if (!to.front().empty())
      to.front().getTerminator()->erase();
    cloneRegion(from.front(), to.front(), mapping);
  }
  mapResults(ifOp, copy, mapping);
}

void RoleCloner::clone(Operation &op, IRMapping &mapping) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    cloneLoop(loop, mapping);
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    cloneLoop(loop, mapping);
  else if (auto ifOp = dyn_cast<scf::IfOp>(op))
    cloneIf(ifOp, mapping);
  else if (auto pass = dyn_cast<MailboxPassOp>(op))
    clonePass(pass, mapping);
  else if (auto draw = dyn_cast<NextTileOp>(op))
    cloneDraw(draw, mapping);
  else if (does(op))
    b.clone(op, mapping);
}

static void assignRoles(scf::ForallOp forall, ScheduleAttr schedule) {
  // Pipes and mailboxes stay above: both roles use them.
  SmallVector<Operation *> divided;
  for (Operation &op : forall.getBody()->without_terminator())
    if (!isa<PipeCreateOp, MailboxCreateOp>(op))
      divided.push_back(&op);
  OpBuilder b(forall.getTerminator());
  auto roles =
      RolesOp::create(b, forall.getLoc(), schedule.getWarps(), schedule.getProducerRegisters(),
                      schedule.getConsumerRegisters(), schedule.getProducerWarps());
  for (Role role : {Role::Producer, Role::Consumer}) {
    Region &region = role == Role::Producer ? roles.getProducer() : roles.getConsumer();
    b.createBlock(&region);
    RoleCloner cloner(b, role);
    IRMapping mapping;
    for (Operation *op : divided)
      cloner.clone(*op, mapping);
  }
  for (Operation *op : llvm::reverse(divided))
    op->erase();
}

namespace {

struct AssignRoles : attn::impl::AttnAssignRolesBase<AssignRoles> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForallOp forall) {
      if (ScheduleAttr schedule = wgmmaSchedule(forall))
        assignRoles(forall, schedule);
    });
  }
};

} // namespace
