import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface VideoFormat {
  width: number
  height: number
  fps: number
}

/** Encodes raw RGB frames as H.264 in an MP4 file, with one keyframe per second and no B-frames. */
export class VideoEncoder {
  readonly #child: ChildProcess
  readonly #done: Promise<void>

  constructor(path: string, { width, height, fps }: VideoFormat, signal?: AbortSignal) {
    // biome-ignore format: one pipeline element per line
    this.#child = startPipeline([
      'fdsrc', 'fd=0', '!',
      'rawvideoparse', `width=${width}`, `height=${height}`, 'format=rgb', `framerate=${fps}/1`, '!',
      'videoconvert', '!', 'video/x-raw,format=I420', '!',
      'openh264enc', 'rate-control=quality', 'bitrate=8000000', 'qp-min=18', 'qp-max=30',
      `gop-size=${fps}`, 'complexity=high', '!',
      'h264parse', '!', 'mp4mux', '!', 'filesink', `location=${path}`,
    ], 'pipe', signal)
    this.#done = waitForExit(this.#child, `encoding ${path}`)
    // Failures are reported by write() and close().
    this.#done.catch(() => {})
    this.#child.stdin!.on('error', () => {})
  }

  /** Writes one frame. The buffer may be reused when the promise resolves. */
  async write(rgb: Uint8ClampedArray): Promise<void> {
    const stdin = this.#child.stdin!
    const sent = new Promise<void>(resolve => stdin.write(rgb, () => resolve()))
    await Promise.race([
      sent,
      this.#done.then(() => Promise.reject(new Error('encoder exited before the last frame'))),
    ])
  }

  /** Completes the file. Rejects if the encoder failed. */
  async close(): Promise<void> {
    this.#child.stdin!.end()
    await this.#done
  }

  /**
   * Ends the process of an encoder that has not been closed, which would wait for frames forever.
   */
  kill(): void {
    this.#child.kill()
  }
}

/** Concatenates MP4 files of the same format without re-encoding. */
export async function joinVideos(
  parts: readonly string[],
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  // biome-ignore format: one pipeline branch per line
  const child = startPipeline([
    'concat', 'name=joined', '!', 'h264parse', '!', 'mp4mux', '!', 'filesink', `location=${path}`,
    ...parts.flatMap(part => ['filesrc', `location=${part}`, '!', 'qtdemux', '!', 'queue', '!', 'joined.']),
  ], 'ignore', signal)
  await waitForExit(child, `joining ${parts.length} parts to ${path}`)
}

function startPipeline(
  pipeline: string[],
  stdin: 'pipe' | 'ignore',
  signal?: AbortSignal,
): ChildProcess {
  return spawn('gst-launch-1.0', ['-q', ...pipeline], { stdio: [stdin, 'ignore', 'pipe'], signal })
}

/** Waits for the end of a pipeline. Throws an `Error` with its messages if it has failed. */
async function waitForExit(child: ChildProcess, action: string): Promise<void> {
  let log = ''
  child.stderr!.on('data', chunk => {
    log += chunk
  })
  const [code, killedBy] = await once(child, 'close').catch(error => {
    if (error.code !== 'ENOENT') throw error
    const problem = 'gst-launch-1.0 is not installed: run apt-get install gstreamer1.0-tools'
    throw new Error(problem, { cause: error })
  })
  if (code === 0) return
  throw new Error(`gst-launch-1.0 failed while ${action} (${code ?? killedBy}): ${log.trim()}`)
}
