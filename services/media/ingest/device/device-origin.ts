import { constants, type Stats } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isNotNegotiated } from '../../gstreamer/video-caps.ts'
import type { GstError } from '../../node-gst/index.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** A camera that sends no picture for this time is considered lost, and is opened again. */
const SILENCE_MS = 5_000
/** Major device number of Video4Linux devices (Linux kernel, `admin-guide/devices.txt`). */
const VIDEO4LINUX_MAJOR = 81
/** GST_RESOURCE_ERROR_BUSY. */
const BUSY = 4

/**
 * At their highest resolutions, many cameras send only a few frames per second, so the
 * resolution is limited.
 */
const CAPTURE_LIMITS = 'width=(int)[1,1920],height=(int)[1,1080],framerate=(fraction)[1/1,60/1]'

/**
 * Opens a Video4Linux camera of this machine. Throws a `SourceFault` if the device is missing,
 * inaccessible or no camera.
 */
export async function openDevice(path: string): Promise<Origin> {
  await assertIsCamera(path)
  return createDeviceOrigin(path)
}

/**
 * Describes how a camera is read, without checking the device. H.264 is preferred to
 * JPEG and raw pictures.
 */
export function createDeviceOrigin(path: string): Origin {
  return {
    name: path,
    elements: {
      h264: `v4l2src name=origin ! video/x-h264,${CAPTURE_LIMITS}`,
      any: `v4l2src name=origin ! capsfilter caps="image/jpeg,${CAPTURE_LIMITS};video/x-raw,${CAPTURE_LIMITS}"`,
    },
    configure: pipeline => pipeline.set('origin', 'device', path),
    picture: undefined,
    isLive: true,
    silenceMs: SILENCE_MS,
    hasNoH264: isNotNegotiated,
    explainError: error => createDeviceFault(error, path),
  }
}

async function assertIsCamera(path: string): Promise<void> {
  const file = await readStatus(path)
  if (file.isCharacterDevice() && getMajor(file.rdev) === VIDEO4LINUX_MAJOR) return
  const reason = `${path} is not a camera: specify a Video4Linux device such as /dev/video0`
  throw new SourceFault(reason, { transient: true })
}

/** Returns the major number of a Linux device number: bits 8 to 19 (makedev(3)). */
const getMajor = (deviceNumber: number) => (deviceNumber >> 8) & 0xfff

async function readStatus(path: string): Promise<Stats> {
  try {
    const file = await stat(path)
    await access(path, constants.R_OK | constants.W_OK)
    return file
  } catch (cause) {
    const reason = explainAccessError(cause as NodeJS.ErrnoException)
    throw new SourceFault(`${path} ${reason}`, { transient: true, cause })
  }
}

function explainAccessError({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'does not exist: connect the camera, or specify another device'
    case 'EACCES':
      return "is not accessible: add the service's user to the group video"
    default:
      return `cannot be used: ${message}`
  }
}

function createDeviceFault(cause: GstError, path: string): SourceFault {
  const isBusy = cause.domain === 'gst-resource-error-quark' && cause.code === BUSY
  const reason = isBusy
    ? 'is in use by another program: stop that program'
    : `stopped: ${cause.message}`
  return new SourceFault(`${path} ${reason}`, { transient: true, cause })
}
