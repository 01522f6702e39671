import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame, Picture } from '../frame.ts'
import { createPicture, createStream } from './stream.ts'

export interface VideoOptions {
  /**
   * Size and format of the pictures. They are stretched to this size. The width must be divisible
   * by 8.
   */
  view: { width: number; height: number; format: Exclude<ViewSpec['format'], 'JPEG'> }
  /** Frames per second, 25 by default. Frames of the video are dropped or repeated. */
  fps?: number
}

/**
 * Decodes a video, and yields its frames and pictures for `runElement`. It runs `gst-launch-1.0` of
 * GStreamer, which every appliance has (Debian: gstreamer1.0-tools and gstreamer1.0-plugins-good,
 * gstreamer1.0-libav).
 */
export async function* readVideo(
  path: string,
  { view, fps = 25 }: VideoOptions,
): AsyncGenerator<{ frame: Frame; picture: Picture }> {
  if (view.width % 8 !== 0) {
    throw new Error(`the width of the view is ${view.width}, which is not divisible by 8`)
  }

  const decoder = startDecoder(path, view, fps)
  const stream = createStream(fps)
  const pictureBytes = createPicture(view).data.length
  try {
    for await (const data of splitChunks(decoder.output, pictureBytes)) {
      yield { frame: stream.next(), picture: createPicture(view, data) }
    }
    await decoder.assertSucceeded()
  } finally {
    decoder.stop()
  }
}

interface Decoder {
  /** The bytes of all pictures, one after the other. */
  output: AsyncIterable<Buffer>
  /** Waits for the end. Rejects with the reason if the video could not be decoded completely. */
  assertSucceeded(): Promise<void>
  stop(): void
}

function startDecoder(
  path: string,
  { width, height, format }: VideoOptions['view'],
  fps: number,
): Decoder {
  const caps = `video/x-raw,format=${format},width=${width},height=${height},framerate=${fps}/1`
  const elements = [
    'decodebin',
    'videorate',
    'videoconvert',
    'videoscale add-borders=false',
    caps,
    'fdsink',
  ]
  const pipeline = elements.flatMap(element => ['!', ...element.split(' ')])
  const decoder = spawn(
    'gst-launch-1.0',
    ['-q', 'filesrc', `location=${resolve(path)}`, ...pipeline],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )

  let errors = ''
  decoder.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number | null>()
  decoder.once('close', end)
  decoder.once('error', cause =>
    fail(new Error(`gst-launch-1.0 cannot be run: ${cause.message}`, { cause })),
  )
  // `assertSucceeded` reports the failure, but only after the output has been read.
  ended.catch(() => {})

  return {
    output: decoder.stdout,
    async assertSucceeded() {
      if ((await ended) !== 0) {
        throw new Error(`${path} cannot be decoded: ${errors.trim().split('\n')[0]}`)
      }
    },
    stop: () => void decoder.kill(),
  }
}

/** Yields copies of consecutive parts of equal size. An incomplete part at the end is omitted. */
async function* splitChunks(
  chunks: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Uint8Array> {
  let received = Buffer.alloc(0)
  for await (const chunk of chunks) {
    received = Buffer.concat([received, chunk])
    while (received.length >= size) {
      yield new Uint8Array(received.subarray(0, size))
      received = received.subarray(size)
    }
  }
}
