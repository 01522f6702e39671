import { parsePicture } from '../gstreamer/picture.ts'
import type { Sample } from '../node-gst/index.ts'
import type { AccessUnit } from '../stream/fmp4.ts'
import type { VideoTrack } from '../stream/sample-entry.ts'

/** Told what an H.264 encoder makes. */
export interface EncodedListener {
  track(track: VideoTrack): void
  unit(unit: AccessUnit): void
}

/** Hands on what came out of an encoder; `frameTicks` is how long a picture is shown, in 90 kHz ticks. */
export function forwardEncoded(sample: Sample, frameTicks: number, listener: EncodedListener): void {
  const picture = sample.caps && parsePicture(sample.caps)
  const avcC = sample.caps?.fields.codec_data
  if (picture && avcC instanceof Uint8Array) listener.track({ ...picture, avcC })
  const { pts, dts, keyframe, data } = sample
  if (pts === null) return
  listener.unit({ pts, dts: dts ?? pts, duration: frameTicks, keyframe, data })
}
