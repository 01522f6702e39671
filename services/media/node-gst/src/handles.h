#pragma once

#include <napi.h>

#include <memory>

#include "branch.h"
#include "numbering.h"
#include "ring_feed.h"
#include "sample_queue.h"

// The small objects that a `Pipeline` gives out: `SampleStream`, `RingFeed`, `Numbering`, `Branch`.

Napi::Object handleOf(Napi::Env env, std::shared_ptr<SampleQueue> queue, std::shared_ptr<Mailbox> mailbox,
                      uint32_t callback);
Napi::Object handleOf(Napi::Env env, std::shared_ptr<RingFeed> feed, std::shared_ptr<Mailbox> mailbox,
                      uint32_t callback);
Napi::Object handleOf(Napi::Env env, std::shared_ptr<Numbering> numbering);
Napi::Object handleOf(Napi::Env env, std::shared_ptr<Branch> branch, std::shared_ptr<Graph> graph);

// Frames a second; 0 for null or undefined, which mean all. Throws a TypeError otherwise.
double readRate(const Napi::Value &rate);
