#include "state_change.h"

#include "state.h"

StateChange::StateChange(GstElement *pipeline, std::shared_ptr<Mailbox> mailbox, Executor &control,
                         Taps &taps)
    : pipeline_(pipeline), mailbox_(std::move(mailbox)), control_(control), taps_(taps) {}

void StateChange::request(GstState target, std::shared_ptr<Pending> pending,
                          std::function<void()> afterwards) {
  int holdsToRelease = 0;
  if (target == GST_STATE_NULL) {
    std::swap(holdsToRelease, holds_);
  } else {
    mailbox_->hold();
    holds_++;
  }
  auto request = std::make_shared<Request>();
  request->target = target;
  request->pending = std::move(pending);
  request->afterwards = [mailbox = mailbox_, holdsToRelease, afterwards = std::move(afterwards)] {
    afterwards();
    for (int i = 0; i < holdsToRelease; i++) mailbox->release();
  };
  {
    std::lock_guard lock(mutex_);
    if (current_) {
      finish(*current_,
             Failure::aborted(std::string("the change to ") + stateName(current_->target) +
                              " was superseded by a change to " + stateName(target)));
    }
    current_ = request;
    // Must happen immediately, because the pipeline's thread may be blocked by a tap that waits.
    if (target <= GST_STATE_READY) taps_.setStopped(true);
  }
  control_.post([this, request] { perform(request); });
}

void StateChange::abandon() {
  std::lock_guard lock(mutex_);
  current_ = nullptr;
}

void StateChange::perform(const std::shared_ptr<Request> &request) {
  {
    std::lock_guard lock(mutex_);
    if (request != current_) return;
    request->begun = true;
    taps_.setStopped(request->target <= GST_STATE_READY);
  }
  GstStateChangeReturn result = gst_element_set_state(pipeline_, request->target);
  std::lock_guard lock(mutex_);
  if (result == GST_STATE_CHANGE_ASYNC && !request->reached && !request->failure) {
    request->waiting = true;
  } else if (result == GST_STATE_CHANGE_FAILURE && !request->failure) {
    finish(*request, Failure::of(GST_CORE_ERROR_STATE_CHANGE,
                                 std::string("the pipeline failed to change to ") +
                                     stateName(request->target)));
  } else if (result == GST_STATE_CHANGE_FAILURE || result == GST_STATE_CHANGE_ASYNC) {
    finish(*request, request->reached ? std::nullopt : request->failure);
  } else {
    finish(*request, std::nullopt);
  }
}

void StateChange::onMessage(GstMessage *message) {
  std::lock_guard lock(mutex_);
  if (!current_ || !current_->begun || current_->finished) return;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    if (!current_->failure) current_->failure = Failure::fromMessage(message);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_STATE_CHANGED &&
             GST_MESSAGE_SRC(message) == GST_OBJECT(pipeline_)) {
    GstState state, pending;
    gst_message_parse_state_changed(message, nullptr, &state, &pending);
    current_->reached |= state == current_->target && pending == GST_STATE_VOID_PENDING;
  } else {
    return;
  }
  if (!current_->waiting) return;
  if (current_->reached || current_->failure) {
    finish(*current_, current_->reached ? std::nullopt : current_->failure);
  }
}

void StateChange::finish(Request &request, std::optional<Failure> failure) {
  if (request.finished) return;
  request.finished = true;
  request.pending->resolve(std::move(failure), request.afterwards);
}
