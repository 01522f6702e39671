import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface VideoFormat {
  width: number
  height: number
  fps: number
}

/** Encodes raw RGB frames to an MP4 file of H.264 without B-frames and with a keyframe each second. */
export class VideoEncoder {
  readonly #child: ChildProcess
  readonly #done: Promise<void>

  constructor(path: string, { width, height, fps }: VideoFormat, signal?: AbortSignal) {
    // biome-ignore format: a pipeline, an element a line
    this.#child = launch([
      'fdsrc', 'fd=0', '!',
      'rawvideoparse', `width=${width}`, `height=${height}`, 'format=rgb', `framerate=${fps}/1`, '!',
      'videoconvert', '!', 'video/x-raw,format=I420', '!',
      'openh264enc', 'rate-control=quality', 'bitrate=8000000', 'qp-min=18', 'qp-max=30',
      `gop-size=${fps}`, 'complexity=high', '!',
      'h264parse', '!', 'mp4mux', '!', 'filesink', `location=${path}`,
    ], 'pipe', signal)
    this.#done = finished(this.#child, `encoding ${path}`)
    this.#done.catch(() => {}) // told by write and close
    this.#child.stdin!.on('error', () => {}) // a child that died is told by its exit
  }

  async write(rgb: Uint8ClampedArray): Promise<void> {
    const stdin = this.#child.stdin!
    // The bytes must have left before the caller paints the next frame over them.
    const sent = new Promise<void>(resolve => stdin.write(rgb, () => resolve()))
    await Promise.race([sent, this.#done.then(() => Promise.reject(new Error('The encoder ended early.')))])
  }

  async close(): Promise<void> {
    this.#child.stdin!.end()
    await this.#done
  }

  /** Ends one that is not closed: it would wait for frames, and keep the process, for ever. */
  abandon(): void {
    this.#child.kill()
  }
}

/** Joins MP4 files of one format to one, in their order, without encoding again. */
export async function joinVideos(
  parts: readonly string[],
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  // biome-ignore format: a pipeline, a branch a line
  const child = launch([
    'concat', 'name=joined', '!', 'h264parse', '!', 'mp4mux', '!', 'filesink', `location=${path}`,
    ...parts.flatMap(part => ['filesrc', `location=${part}`, '!', 'qtdemux', '!', 'queue', '!', 'joined.']),
  ], 'ignore', signal)
  await finished(child, `joining ${parts.length} parts to ${path}`)
}

function launch(pipeline: string[], stdin: 'pipe' | 'ignore', signal?: AbortSignal): ChildProcess {
  return spawn('gst-launch-1.0', ['-q', ...pipeline], { stdio: [stdin, 'ignore', 'pipe'], signal })
}

async function finished(child: ChildProcess, doing: string): Promise<void> {
  let log = ''
  child.stderr!.on('data', chunk => {
    log += chunk
  })
  const [code, killer] = await once(child, 'close').catch(error => {
    if (error.code === 'ENOENT')
      throw new Error(`gst-launch-1.0 is not installed: apt-get install gstreamer1.0-tools`, { cause: error })
    throw error
  })
  if (code !== 0) throw new Error(`gst-launch-1.0 failed while ${doing} (${code ?? killer}): ${log.trim()}`)
}
