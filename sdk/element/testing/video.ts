import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Frame, Picture } from '../frame.ts'
import { createPicture, createStream } from './stream.ts'

export interface VideoOptions {
  /** Size and format of the pictures. They are stretched to this size. The width must be divisible by 8. */
  view: { width: number; height: number; format: Exclude<ViewSpec['format'], 'JPEG'> }
  /** Frames per second, 25 by default. Frames of the video are dropped or repeated. */
  fps?: number
}

/**
 * Decodes a video, and yields its frames and pictures for `runElement`. It runs `gst-launch-1.0` of GStreamer, which every
 * appliance has (Debian: gstreamer1.0-tools and gstreamer1.0-plugins-good, gstreamer1.0-libav).
 */
export async function* readVideo(
  path: string,
  { view, fps = 25 }: VideoOptions,
): AsyncGenerator<{ frame: Frame; picture: Picture }> {
  const { width, height, format } = view
  if (width % 8 !== 0) throw new Error(`the width of the view is ${width}, which is not divisible by 8`)

  const caps = `video/x-raw,format=${format},width=${width},height=${height},framerate=${fps}/1`
  const elements = ['decodebin', 'videorate', 'videoconvert', 'videoscale add-borders=false', caps, 'fdsink']
  const pipeline = elements.flatMap(element => ['!', ...element.split(' ')])
  const decoder = spawn('gst-launch-1.0', ['-q', 'filesrc', `location=${resolve(path)}`, ...pipeline], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let problem = ''
  decoder.stderr.setEncoding('utf8').on('data', (text: string) => {
    problem += text
  })
  const ended = new Promise<number | null>((done, fail) => {
    decoder.once('error', cause =>
      fail(new Error(`gst-launch-1.0 cannot be run: ${cause.message}`, { cause })),
    )
    decoder.once('close', done)
  })
  ended.catch(() => {})

  const stream = createStream(fps)
  const bytes = createPicture(view).data.length
  let received = Buffer.alloc(0)
  try {
    for await (const chunk of decoder.stdout) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      for (; received.length >= bytes; received = received.subarray(bytes))
        yield {
          frame: stream.next(),
          picture: createPicture(view, new Uint8Array(received.subarray(0, bytes))),
        }
    }
    if ((await ended) !== 0) throw new Error(`${path} cannot be decoded: ${problem.trim().split('\n')[0]}`)
  } finally {
    decoder.kill()
  }
}
