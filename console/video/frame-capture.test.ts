import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { captureFrame } from './frame-capture.ts'

describe('captured frame', () => {
  it('is closed even if its listener throws, because decoders have few frames', () => {
    let openFrames = 0
    vi.stubGlobal('HTMLMediaElement', { HAVE_CURRENT_DATA: 2 })
    vi.stubGlobal(
      'VideoFrame',
      class {
        timestamp = 40_000
        constructor() {
          openFrames += 1
        }
        close() {
          openFrames -= 1
        }
      },
    )
    onTestFinished(() => void vi.unstubAllGlobals())

    const video = { readyState: 4 } as HTMLVideoElement
    const failToDraw = () => {
      expect(openFrames).toBe(1)
      throw new Error('failed to draw')
    }
    expect(() => captureFrame(video, 0, failToDraw)).toThrow('failed to draw')
    expect(openFrames).toBe(0)
  })
})
