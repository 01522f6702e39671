# Debian packages by purpose. Sourced by setup.sh; management reads the list parser_packages.

# Whether a package is installed, for one architecture or for several.
is_installed() { [[ " $(dpkg-query -W -f '${db:Status-Status} ' "$1" 2>/dev/null) " == *' installed '* ]]; }

# Decoding, scaling and encoding, the compiler and headers for the GStreamer addon, and fonts for
# reports as PDF files. HTTP cameras need libsoup, a dependency of gstreamer1.0-plugins-good in
# Debian 12 and 13, and ca-certificates for TLS. Plugins in Python need numpy.
run_packages=(
  ca-certificates
  fonts-dejavu-core
  fonts-droid-fallback
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
  python3-numpy
)

# Parse what cameras send, as patterns of package names. The setup upgrades installed ones, and
# management reports versions older than in the package lists of the machine.
parser_packages=(
  'gstreamer1.0-*'
  'libgstreamer*'
  'libavcodec[0-9]*'
  'libavformat[0-9]*'
  'libavutil[0-9]*'
  'libswscale[0-9]*'
  'libopenh264-*'
  'libsoup*'
)

# To build the mediasoup worker, for live views by WebRTC, if it cannot be downloaded.
worker_tools=(
  flatbuffers-compiler
  meson
  ninja-build
)
worker_libraries=(
  libabsl-dev
  libflatbuffers-dev
  libsrtp2-dev
  libssl-dev
  libuv1-dev
)
worker_packages=("${worker_tools[@]}" "${worker_libraries[@]}")

# For the tests: a browser, an RTSP server, ffmpeg to verify media files, Postgres, a TURN server, a
# reverse proxy, an MQTT broker, the types of Python, and the programs that the guides use.
test_packages=(
  chromium-headless-shell
  coturn
  curl
  ffmpeg
  git
  gir1.2-gst-plugins-base-1.0
  gir1.2-gst-rtsp-server-1.0
  gstreamer1.0-plugins-ugly
  gstreamer1.0-rtsp
  jq
  mosquitto
  mypy
  nginx-light
  poppler-utils
  postgresql
  python3-gi
)
