{
  "targets": [
    {
      "target_name": "node_gst",
      "sources": [
        "src/addon.cc",
        "src/app_src.cc",
        "src/branch.cc",
        "src/bus.cc",
        "src/executor.cc",
        "src/failure.cc",
        "src/graph.cc",
        "src/handles.cc",
        "src/mailbox.cc",
        "src/numbering.cc",
        "src/packed_picture.cc",
        "src/pending.cc",
        "src/pipeline.cc",
        "src/property.cc",
        "src/query.cc",
        "src/redirect_guard.cc",
        "src/ring.cc",
        "src/ring_feed.cc",
        "src/ring_file.cc",
        "src/rtp_packet.cc",
        "src/sample.cc",
        "src/sample_queue.cc",
        "src/shared_context.cc",
        "src/state_change.cc",
        "src/tap.cc",
        "src/time_filler.cc",
        "src/timeline.cc",
        "src/value.cc"
      ],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": [
        "NAPI_VERSION=9",
        "NAPI_CPP_EXCEPTIONS",
        "NODE_ADDON_API_CPP_EXCEPTIONS_ALL",
        "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"
      ],
      "cflags_cc!": ["-fno-exceptions", "-std=gnu++20", "-std=gnu++17"],
      "cflags_cc": [
        "-std=c++17",
        "-O2",
        "-Wall",
        "-Wextra",
        "<!@(pkg-config --cflags gstreamer-1.0 gstreamer-app-1.0 gstreamer-rtsp-1.0 gstreamer-video-1.0 | sed 's/-I/-isystem /g')"
      ],
      "libraries": ["<!@(pkg-config --libs gstreamer-1.0 gstreamer-app-1.0 gstreamer-rtsp-1.0 gstreamer-video-1.0)"]
    }
  ]
}
