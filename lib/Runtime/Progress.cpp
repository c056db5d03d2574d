//===- Progress.cpp - A line on the terminal for what takes long ----------===//
//
// Part of the fad project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fad/Runtime/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fad;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// A terminal is told of no more than a day.
static constexpr double kMaxSeconds = 86400;
/// The time between two states of the line.
static constexpr std::chrono::milliseconds kInterval(200);

namespace {
struct Step {
  const ProgressStep *owner;
  std::thread::id thread;
  std::string what;
};

/// The steps of the process, and the line that shows them.
class Display {
public:
  explicit Display(Seconds delay) : delay(delay) {}

  void begin(const ProgressStep *owner, std::string what);
  void update(const ProgressStep *owner, StringRef what);
  void end(const ProgressStep *owner);
  void hide();
  /// Removes the line for good: the process ends.
  void close();

private:
  /// Draws the line from time to time, in a thread of its own.
  void watch();
  void draw();
  void erase();

  const Seconds delay;
  std::mutex mutex;
  /// Whether there are steps; `watch` waits for it.
  std::condition_variable hasSteps;
  SmallVector<Step> steps;
  /// When the first of the steps began.
  Clock::time_point start;
  bool isWatched = false, isWaiting = false, isShown = false, isClosed = false;
};
} // namespace

/// Null where nothing is shown. It is not destroyed: threads may take steps
/// while the process ends.
static std::atomic<Display *> display{nullptr};

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

/// Writes `text` to the terminal, past the buffers of streams.
static void writeToTerminal(StringRef text) {
  while (!text.empty()) {
    ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text = text.drop_front(written);
  }
}

static size_t getColumns() {
  winsize size;
  bool isKnown = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return isKnown && size.ws_col ? size.ws_col : 80;
}

/// `text` for a terminal: names in programs may be any bytes.
static std::string makePrintable(StringRef text) {
  std::string printable = text.str();
  for (char &c : printable)
    if (!llvm::isPrint(c))
      c = '?';
  return printable;
}

void Display::draw() {
  if (isClosed)
    return;
  std::string text = "fad: ";
  llvm::ListSeparator separator(": ");
  for (const Step &step : steps)
    if (step.thread == steps.front().thread)
      text += (StringRef(separator) + makePrintable(step.what)).str();
  auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start);
  std::string time = ", " + std::to_string(seconds.count()) + " s";
  // In the last column, some terminals begin the next line.
  size_t columns = getColumns();
  if (columns <= time.size())
    return;
  text.resize(std::min(text.size(), columns - 1 - time.size()));
  writeToTerminal("\r" + text + time + "\x1b[K");
  isShown = true;
}

void Display::erase() {
  if (isShown)
    writeToTerminal("\r\x1b[K");
  isShown = false;
}

void Display::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    isWaiting = true;
    hasSteps.wait(lock, [&] { return !steps.empty(); });
    isWaiting = false;
    auto wait =
        std::chrono::ceil<Clock::duration>(delay) - (Clock::now() - start);
    if (wait <= wait.zero()) {
      draw();
      wait = kInterval;
    }
    lock.unlock();
    std::this_thread::sleep_for(wait);
    lock.lock();
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Display::begin(const ProgressStep *owner, std::string what) {
  std::lock_guard<std::mutex> lock(mutex);
  if (steps.empty())
    start = Clock::now();
  steps.push_back({owner, std::this_thread::get_id(), std::move(what)});
  if (delay == delay.zero())
    return draw();
  if (!isWatched) {
    isWatched = true;
    // Signals are for the threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { watch(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (isWaiting)
    hasSteps.notify_one();
}

void Display::update(const ProgressStep *owner, StringRef what) {
  std::lock_guard<std::mutex> lock(mutex);
  auto *step = llvm::find_if(
      steps, [&](const Step &step) { return step.owner == owner; });
  if (step == steps.end())
    return;
  step->what = what.str();
  if (delay == delay.zero())
    draw();
}

void Display::end(const ProgressStep *owner) {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::erase_if(steps, [&](const Step &step) { return step.owner == owner; });
  if (steps.empty())
    erase();
}

void Display::hide() {
  std::lock_guard<std::mutex> lock(mutex);
  erase();
}

void Display::close() {
  // Another thread that draws is done soon. A signal handler that calls `exit`
  // may have stopped this one while it drew: then the line stays.
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  for (int i = 0; i < 10 && !lock.try_lock(); ++i)
    std::this_thread::sleep_for(kInterval / 20);
  if (!lock)
    return;
  erase();
  isClosed = true;
}

ProgressStep::ProgressStep(StringRef what, StringRef name) {
  Display *shown = display;
  isCounted = shown != nullptr;
  if (shown)
    shown->begin(this, (what + (name.empty() ? "" : " ") + name).str());
}

ProgressStep::~ProgressStep() {
  if (Display *shown = display; shown && isCounted)
    shown->end(this);
}

void ProgressStep::update(StringRef what) {
  if (Display *shown = display; shown && isCounted)
    shown->update(this, what);
}

void fad::hideProgress() {
  if (Display *shown = display)
    shown->hide();
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// Whether the standard error stream is a terminal that can erase a line.
static bool hasTerminal() {
  const char *type = std::getenv("TERM");
  return isatty(STDERR_FILENO) && type && *type && StringRef(type) != "dumb";
}

llvm::Error fad::showProgress(StringRef setting) {
  double seconds = 1;
  if (setting == "off")
    return llvm::Error::success();
  if (!setting.empty() && (setting.getAsDouble(seconds) || !(seconds >= 0) ||
                           !(seconds <= kMaxSeconds)))
    return llvm::createStringError(
        "'" + setting +
        "', which is neither off nor a number of seconds from 0 to 86400");
  if (!hasTerminal() || display)
    return llvm::Error::success();
  display = new Display(Seconds(seconds));
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit([] {
      if (Display *shown = display)
        shown->close();
    });
    // The line is that of the process that was forked. Its thread does not
    // survive in the other, and may have held the lock.
    pthread_atfork(nullptr, nullptr, [] { display = nullptr; });
  });
  return llvm::Error::success();
}

llvm::Error fad::showProgress() {
  const char *setting = std::getenv("FAD_PROGRESS");
  llvm::Error error = showProgress(setting ? setting : "");
  if (!error)
    return error;
  return llvm::createStringError("FAD_PROGRESS is " +
                                 llvm::toString(std::move(error)) +
                                 "; nothing is shown");
}
