#pragma once

#include <napi.h>

#include <memory>

#include "branch.h"
#include "numbering.h"
#include "ring_feed.h"
#include "sample_queue.h"

// The objects that methods of `Pipeline` return: `SampleStream`, `RingFeed`, `Numbering` and
// `Branch`.

Napi::Object makeHandle(Napi::Env env, std::shared_ptr<SampleQueue> queue,
                        std::shared_ptr<Mailbox> mailbox, uint32_t callback);
Napi::Object makeHandle(Napi::Env env, std::shared_ptr<RingFeed> feed,
                        std::shared_ptr<Mailbox> mailbox, uint32_t callback);
Napi::Object makeHandle(Napi::Env env, std::shared_ptr<Numbering> numbering);
Napi::Object makeHandle(Napi::Env env, std::shared_ptr<Branch> branch,
                        std::shared_ptr<Graph> graph);

// Returns frames per second, or 0 (unlimited) for null and undefined. Throws a TypeError for
// invalid values.
double parseRate(const Napi::Value &rate);
