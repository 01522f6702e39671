# Debian packages that Eyrie uses, by what they are needed for. Read by setup.sh.

# Decoding, scaling and encoding; the compiler and headers build the GStreamer addon. Cameras by HTTP need libsoup, which
# gstreamer1.0-plugins-good depends on in Debian 12 and 13, and with TLS the authorities that may sign certificates.
run_packages=(
  ca-certificates
  gstreamer1.0-tools
  gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad
  gstreamer1.0-libav
  libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev
  g++
  make
  pkg-config
  python3
)

# Build mediasoup's worker, for live views by WebRTC, where it cannot be downloaded.
worker_packages=(
  flatbuffers-compiler
  libabsl-dev
  libflatbuffers-dev
  libsrtp2-dev
  libssl-dev
  libuv1-dev
  meson
  ninja-build
)

# A browser for the end-to-end tests, an RTSP server for the camera tests, ffmpeg as a second opinion, Postgres and a TURN
# server for tests that start one of their own.
test_packages=(
  chromium
  coturn
  ffmpeg
  git
  gir1.2-gst-plugins-base-1.0
  gir1.2-gst-rtsp-server-1.0
  gstreamer1.0-plugins-ugly
  gstreamer1.0-rtsp
  postgresql
  python3-gi
)
