import { expect, it } from 'vitest'
import type { OnvifProfile } from '../onvif/onvif-device.ts'
import { selectSubStream } from './sub-stream.ts'

const profile = (
  width: number | undefined,
  height: number | undefined,
  more: Partial<OnvifProfile> = {},
) => ({
  name: `${width}×${height}`,
  profile: 's' as const,
  codec: 'h264',
  width,
  height,
  fps: 25,
  url: `rtsp://camera/${width}`,
  snapshotUrl: undefined,
  videoSource: 'camera1',
  ...more,
})
const main = profile(1920, 1080)

it('the sub stream is the smaller stream of the camera that is closest to 640×360', () => {
  const profiles = [main, profile(1280, 720), profile(352, 240), profile(704, 576)]
  expect(selectSubStream(main, profiles)?.name).toBe('704×576')
  expect(selectSubStream(main, [main, profile(1280, 720)])?.name).toBe('1280×720')
})

it.each([
  ['that is not smaller', profile(1920, 1080, { url: 'rtsp://camera/copy' })],
  ['of another camera of the device', profile(640, 360, { videoSource: 'camera2' })],
  ['in JPEG', profile(640, 360, { codec: 'jpeg' })],
  ['of unknown size', profile(undefined, undefined)],
])('a stream %s is not a sub stream', (_, other) => {
  expect(selectSubStream(main, [main, other])).toBeUndefined()
})
