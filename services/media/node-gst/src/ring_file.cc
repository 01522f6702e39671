#include "ring_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

static constexpr char kJpeg[] = "JPEG";

static std::optional<PackedPicture> packing(const RingShape &shape) {
  if (shape.format == kJpeg) return std::nullopt;
  return PackedPicture(shape.format, shape.width, shape.height);
}

static size_t roundUpToPages(size_t bytes) {
  return (bytes + kRingPage - 1) / kRingPage * kRingPage;
}

RingFile::RingFile(RingShape shape)
    : shape_(std::move(shape)),
      picture_(packing(shape_)),
      payloadSize_(picture_ ? picture_->size() : shape_.payloadLimit),
      stride_(roundUpToPages(kRingPayloadOffset + payloadSize_)),
      bytes_(kRingPage + stride_ * shape_.slots) {
  check();
  create();
}

RingFile::~RingFile() {
  close();
  munmap(memory_, bytes_);
}

void RingFile::check() const {
  auto require = [this](bool holds, const std::string &what) {
    if (!holds) throw std::invalid_argument("ring " + shape_.path + ": " + what);
  };
  require(shape_.slots >= 2, "slots must be at least 2");
  require(shape_.width > 0 && shape_.height > 0, "width and height must be at least 1");
  require(shape_.contentWidth > 0 &&
              uint64_t{shape_.contentX} + shape_.contentWidth <= shape_.width &&
              shape_.contentHeight > 0 &&
              uint64_t{shape_.contentY} + shape_.contentHeight <= shape_.height,
          "content must lie inside width x height");
  if (picture_) {
    require(
        shape_.contentX % picture_->alignmentX() == 0 &&
            shape_.contentY % picture_->alignmentY() == 0,
        "content.x and content.y must be multiples of the chroma subsampling of " + shape_.format);
    require(shape_.fill.size() == picture_->components(),
            "fill must have 1 or " + std::to_string(picture_->components()) + " values for " +
                shape_.format);
  } else {
    require(shape_.contentWidth == shape_.width && shape_.contentHeight == shape_.height,
            "JPEG has no padding");
    require(payloadSize_ > 0, "payloadLimit is required for JPEG");
  }
  require(bytes_ <= shape_.bytesLimit,
          "needs " + std::to_string(bytes_) + " bytes, but the limit is " +
              std::to_string(shape_.bytesLimit) + ": use fewer slots or a smaller view");
}

// Reserves the space before mapping the file, because a write into a hole of a full tmpfs would
// kill the process (SIGBUS).
void RingFile::create() {
  const std::string unpublished = shape_.path + ".new";
  int file = open(unpublished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (file < 0 && errno == EEXIST && unlink(unpublished.c_str()) == 0) {
    file = open(unpublished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  }
  auto fail = [&](const char *what, int reason) {
    if (file >= 0) {
      ::close(file);
      unlink(unpublished.c_str());
    }
    throw std::runtime_error("ring " + shape_.path + ": " + what + ": " + std::strerror(reason));
  };
  if (file < 0) fail("cannot be created", errno);
  if (int reason = posix_fallocate(file, 0, bytes_)) {
    fail(("cannot reserve " + std::to_string(bytes_) +
          " bytes: free some space, or enlarge the file system")
             .c_str(),
         reason);
  }
  struct stat status;
  if (fchmod(file, 0640) != 0 || fstat(file, &status) != 0) fail("cannot set its mode", errno);
  void *memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("cannot be mapped", errno);
  memory_ = static_cast<uint8_t *>(memory);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  initialize();
  if (rename(unpublished.c_str(), shape_.path.c_str()) != 0) {
    int reason = errno;
    munmap(memory_, bytes_);
    fail("cannot be published", reason);
  }
  ::close(file);
}

void RingFile::initialize() {
  RingHeader *h = header();
  h->magic = kRingMagic;
  h->version = kRingVersion;
  h->slots = shape_.slots;
  h->width = shape_.width;
  h->height = shape_.height;
  const char *format = picture_ ? picture_->formatName() : kJpeg;
  std::memcpy(h->format, format, std::min(sizeof h->format, std::strlen(format)));
  h->slotStride = stride_;
  h->payloadSize = payloadSize_;
  h->generation = shape_.generation;
  h->epoch = shape_.epoch;
  h->sourceWidth = shape_.sourceWidth;
  h->sourceHeight = shape_.sourceHeight;
  h->contentX = shape_.contentX;
  h->contentY = shape_.contentY;
  h->contentWidth = shape_.contentWidth;
  h->contentHeight = shape_.contentHeight;
  for (uint32_t i = 0; picture_ && i < shape_.slots; i++) {
    picture_->fill(reinterpret_cast<uint8_t *>(slot(i)) + kRingPayloadOffset, shape_.fill);
  }
}

bool RingFile::waitForGrant(uint64_t n, const std::function<bool()> &cancelled) {
  std::unique_lock lock(mutex_);
  // Readers of a new ring do not know the number with which its frames begin: others may have been
  // numbered before.
  auto isFirst = [&] { return granted_ > 0 && written_ == 0; };
  auto granted = [&] { return !paced_ || n <= granted_ || isFirst(); };
  if (!granted() && !closed_ && !cancelled()) {
    auto start = std::chrono::steady_clock::now();
    changed_.wait(lock, [&] { return granted() || closed_ || cancelled(); });
    waitedNs_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }
  return granted() && !closed_ && !cancelled();
}

void RingFile::wake() {
  std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool RingFile::write(const RingFrame &frame, uint32_t flags,
                     const std::function<size_t(uint8_t *payload)> &place) {
  std::lock_guard lock(writing_);
  if (frame.n <= header()->newest) return false;
  RingSlot *s = slot(frame.n);
  __atomic_store_n(&s->sequence, 2 * frame.n - 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  s->n = frame.n;
  s->pts = frame.pts;
  s->timeUs = frame.timeUs;
  s->flags = flags;
  s->payloadBytes = place(reinterpret_cast<uint8_t *>(s) + kRingPayloadOffset);
  __atomic_store_n(&s->sequence, 2 * frame.n, __ATOMIC_RELEASE);
  __atomic_store_n(&header()->newest, frame.n, __ATOMIC_RELEASE);
  written_++;
  return true;
}

void RingFile::grant(uint64_t n) {
  std::lock_guard lock(mutex_);
  if (n <= granted_) return;
  granted_ = n;
  changed_.notify_all();
}

void RingFile::setPaced(bool paced) {
  std::lock_guard lock(mutex_);
  paced_ = paced;
  changed_.notify_all();
}

void RingFile::close() {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  changed_.notify_all();
  struct stat status;
  // Another ring may have replaced this one at the same path.
  bool isOwnFile = stat(shape_.path.c_str(), &status) == 0 && status.st_dev == device_ &&
                   status.st_ino == inode_;
  if (isOwnFile) unlink(shape_.path.c_str());
}
