import { type Picture, parsePicture } from '../../gstreamer/picture.ts'
import { ANY_VIDEO, isLinkFailure } from '../../gstreamer/video-caps.ts'
import { isGstError, Pipeline } from '../../node-gst/index.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** Generous, because a machine that starts many sources at once is slow. */
const TIMEOUT_MS = 20_000

/**
 * Launch string of a pipeline that finds the video of a file.
 *
 * The queue is required because `parsebin` suppresses the errors of an element while it adds
 * that element. A demuxer that reads the file from its own thread may fail during this time,
 * and the error would be lost. Behind a queue, the demuxer receives its first byte only
 * after it has been added.
 */
const LAUNCH = [
  'filesrc name=origin',
  'queue',
  'parsebin',
  `capsfilter name=video caps="${ANY_VIDEO.join(';')}"`,
  'fakesink',
].join(' ! ')

/**
 * Returns the size and format of a file's video from its headers, without decoding. Throws a
 * `SourceFault` if the file contains no video.
 */
export async function probeFile(path: string): Promise<Picture> {
  const failed = Promise.withResolvers<never>()
  const pipeline = new Pipeline(LAUNCH, message => {
    if (message.type === 'warning' && isLinkFailure(message.error)) failed.reject(message.error)
  })

  let isTimedOut = false
  const timeout = setTimeout(() => {
    isTimedOut = true
    failed.reject(new Error(`reading its headers took more than ${TIMEOUT_MS / 1000} s`))
  }, TIMEOUT_MS)

  try {
    pipeline.set('origin', 'location', path)
    await Promise.race([pipeline.setState('paused'), failed.promise])

    const caps = pipeline.caps('video', 'src')
    const picture = caps && parsePicture(caps)
    if (!picture) throw new Error('its size is unknown')
    return picture
  } catch (cause) {
    const hasNoVideo = isGstError(cause) && isLinkFailure(cause)
    const reason = hasNoVideo ? 'it contains no video' : (cause as Error).message
    throw new SourceFault(`${path} is not a playable video: ${reason}`, {
      transient: isTimedOut,
      cause,
    })
  } finally {
    clearTimeout(timeout)
    await pipeline.dispose()
  }
}
