import { describe, expect, it } from 'vitest'
import { buildDecoderLaunch } from './decoders.ts'

describe('launch string of a decoder', () => {
  it.each([
    ['nvh264dec', 'h264parse'],
    ['openh264dec', 'h264parse'],
    ['nvh265dec', 'h265parse'],
  ])('converts packets for %s, which does not accept the format of MP4', (element, parser) => {
    expect(buildDecoderLaunch(element)).toMatch(new RegExp(`^${parser} ! ${element} name=decoder`))
  })

  it('passes packets to libavcodec as they are, which omits pictures without their references', () => {
    expect(buildDecoderLaunch('avdec_h264')).toBe('avdec_h264 name=decoder output-corrupt=false')
  })
})
