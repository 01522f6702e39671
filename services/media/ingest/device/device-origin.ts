import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { GstError } from '../../node-gst/index.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'

const SILENCE_MS = 5_000
const VIDEO4LINUX_MAJOR = 81
const BUSY = 4

/** Limits the resolution: many cameras offer more than analysis and live views need, at a few frames per second. */
const MODE = 'width=(int)[1,1920],height=(int)[1,1080],framerate=(fraction)[1/1,60/1]'

/** Opens a Video4Linux camera of this machine: H.264 if it has it, else JPEG or raw pictures. */
export async function openDevice(path: string): Promise<Origin> {
  await assertIsCamera(path)
  return createDeviceOrigin(path)
}

/** Like `openDevice`, without checking the device. */
export function createDeviceOrigin(path: string): Origin {
  return {
    name: path,
    elements: {
      h264: `v4l2src name=origin ! video/x-h264,${MODE}`,
      any: `v4l2src name=origin ! capsfilter caps="image/jpeg,${MODE};video/x-raw,${MODE}"`,
    },
    configure: pipeline => pipeline.set('origin', 'device', path),
    picture: undefined,
    live: true,
    silenceMs: SILENCE_MS,
    hasNoH264: ({ debug }) => /reason not-negotiated/.test(debug ?? ''),
    fault: error => createDeviceFault(error, path),
  }
}

async function assertIsCamera(path: string): Promise<void> {
  const createFault = (reason: string, cause?: unknown) =>
    new SourceFault(`${path} ${reason}`, { transient: true, cause })
  try {
    const file = await stat(path)
    await access(path, constants.R_OK | constants.W_OK)
    if (file.isCharacterDevice() && file.rdev >> 8 === VIDEO4LINUX_MAJOR) return
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw createFault('does not exist: connect the camera, or specify another device', cause)
    if (code === 'EACCES')
      throw createFault("is not accessible: add the service's user to the group video", cause)
    throw createFault(`cannot be used: ${message}`, cause)
  }
  throw createFault('is not a camera: specify a Video4Linux device such as /dev/video0')
}

function createDeviceFault(cause: GstError, path: string): SourceFault {
  const isBusy = cause.domain === 'gst-resource-error-quark' && cause.code === BUSY
  const reason = isBusy ? 'is in use by another program: stop that program' : `stopped: ${cause.message}`
  return new SourceFault(`${path} ${reason}`, { transient: true, cause })
}
