import { type Picture, parsePicture } from '../../gstreamer/picture.ts'
import { ANY_VIDEO, isLinkFailure } from '../../gstreamer/video-caps.ts'
import { isGstError, Pipeline } from '../../node-gst/index.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** A machine that starts many sources at once is slow, and no file is to blame for that: it is tried again. */
const LIMIT_MS = 20_000

/**
 * What a file's video looks like, from its parsed headers: nothing is decoded. Throws a Fault if it has none.
 *
 * `parsebin` keeps to itself what an element complains of while it is being put in. A demuxer that reads from a file by
 * itself, on a thread of its own, may have failed by then, and nobody would hear of it. A queue only pushes, so that the
 * demuxer sees its first byte on the thread that has put it in.
 */
export async function probeFile(path: string): Promise<Picture> {
  const failed = Promise.withResolvers<never>()
  const launch = `filesrc name=origin ! queue ! parsebin ! capsfilter name=video caps="${ANY_VIDEO.join(';')}" ! fakesink`
  const pipeline = new Pipeline(launch, message => {
    if (message.type === 'warning' && isLinkFailure(message.error)) failed.reject(message.error)
  })
  let isLate = false
  const limit = setTimeout(() => {
    isLate = true
    failed.reject(new Error('it takes too long to read'))
  }, LIMIT_MS)
  try {
    pipeline.set('origin', 'location', path)
    await Promise.race([pipeline.setState('paused'), failed.promise])
    const caps = pipeline.caps('video', 'src')
    const picture = caps && parsePicture(caps)
    if (!picture) throw new Error('its size is unknown')
    return picture
  } catch (cause) {
    const unlinked = isGstError(cause) && isLinkFailure(cause)
    const reason = unlinked ? 'there is no video in it' : (cause as Error).message
    throw new SourceFault(`${path} is no video that can be played: ${reason}`, {
      transient: isLate,
      cause,
    })
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}
