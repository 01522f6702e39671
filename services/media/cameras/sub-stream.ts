import type { OnvifProfile } from '../onvif/onvif-device.ts'

/** The size that suits most models. */
const PREFERRED_PIXELS = 640 * 360
/** Codecs that are sent continuously with few bits. */
const VIDEO_CODECS = ['h264', 'h265']

/**
 * Selects a smaller stream of the same camera for the analysis: H.264 or H.265, with a size close
 * to 640×360. Returns undefined if the device offers none.
 */
export function selectSubStream(
  main: OnvifProfile,
  profiles: readonly OnvifProfile[],
): OnvifProfile | undefined {
  const isCandidate = (profile: OnvifProfile) =>
    profile.videoSource === main.videoSource &&
    VIDEO_CODECS.includes(profile.codec ?? '') &&
    countPixels(profile) < countPixels(main)
  const [nearest] = profiles
    .filter(isCandidate)
    .toSorted((a, b) => compareToPreferred(a) - compareToPreferred(b))
  return nearest
}

/** Unknown sizes count as infinite, so that they are not smaller than another one. */
const countPixels = ({ width, height }: OnvifProfile) =>
  width && height ? width * height : Number.POSITIVE_INFINITY

const compareToPreferred = (profile: OnvifProfile) =>
  Math.abs(Math.log(countPixels(profile) / PREFERRED_PIXELS))
