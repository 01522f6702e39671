#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

// Runs blocking tasks on its own thread, in order.
class Executor {
 public:
  using Task = std::function<void()>;

  Executor();
  ~Executor();

  // May be called from any thread. Tasks posted after `stop` are dropped.
  void post(Task task);
  // Finishes the posted tasks and ends the thread. May be called repeatedly, but not by a task.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};
