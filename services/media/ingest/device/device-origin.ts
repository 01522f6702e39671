import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { GstError } from '../../node-gst/index.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'

const SILENCE_MS = 5_000
const VIDEO4LINUX_MAJOR = 81
const BUSY = 4

/** No more than analysis and live views gain by: many a camera offers more, at a few frames a second. */
const SIZE = 'width=(int)[1,1920],height=(int)[1,1080],framerate=(fraction)[1/1,60/1]'

/** A camera of this machine, through Video4Linux: H.264 where it has it, else JPEG or raw pictures. */
export async function openDevice(path: string): Promise<Origin> {
  await check(path)
  return deviceOrigin(path)
}

/** As `openDevice`, whether or not there is a camera. */
export function deviceOrigin(path: string): Origin {
  return {
    name: path,
    elements: {
      h264: `v4l2src name=origin ! video/x-h264,${SIZE}`,
      any: `v4l2src name=origin ! capsfilter caps="image/jpeg,${SIZE};video/x-raw,${SIZE}"`,
    },
    configure: pipeline => pipeline.set('origin', 'device', path),
    picture: undefined,
    live: true,
    silenceMs: SILENCE_MS,
    hasNoH264: ({ debug }) => /reason not-negotiated/.test(debug ?? ''),
    fault: error => deviceFault(error, path),
  }
}

async function check(path: string): Promise<void> {
  const refuse = (reason: string, cause?: unknown) =>
    new SourceFault(`${path} ${reason}`, { transient: true, cause })
  try {
    const file = await stat(path)
    await access(path, constants.R_OK | constants.W_OK)
    if (file.isCharacterDevice() && file.rdev >> 8 === VIDEO4LINUX_MAJOR) return
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') throw refuse('does not exist: plug the camera in, or name another device', cause)
    if (code === 'EACCES')
      throw refuse('may not be used: put the service into the group video, which may', cause)
    throw refuse(`cannot be used: ${message}`, cause)
  }
  throw refuse('is no camera: name a device of Video4Linux such as /dev/video0')
}

function deviceFault(cause: GstError, path: string): SourceFault {
  const busy = cause.domain === 'gst-resource-error-quark' && cause.code === BUSY
  const reason = busy ? 'is in use by another program: end that one' : `stopped: ${cause.message}`
  return new SourceFault(`${path} ${reason}`, { transient: true, cause })
}
