#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

// One thread that does what may take long, in order.
class Executor {
 public:
  using Task = std::function<void()>;

  Executor();
  ~Executor();

  // From any thread. Dropped after `stop`.
  void post(Task task);
  // Finishes what has been posted and ends the thread. May be called more than once, not by a task.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};
