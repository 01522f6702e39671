import { type Detector, FrameDroppedError, type Inference, type ModelRequest } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const view = { width: 416, multiple_of: 32, format: 'BGRP', letterbox: true, fill: 114 } as const
const car = { class: 'car', score: 0.9, bbox: { x: 0.1, y: 0.1, w: 0.2, h: 0.1 } }
const fire = { class: 'fire', score: 0.5, bbox: { x: 0.5, y: 0.5, w: 0.1, h: 0.1 } }
const smoke = { ...fire, class: 'smoke', score: 0.15 }

const nothing = { objects: [], lowScoreObjects: [] }

/** A fake inference that records requests and counts open detectors. */
function createInference(detect: Detector['detect']) {
  const requests: ModelRequest[] = []
  let open = 0
  const inference: Inference = {
    async open(request) {
      requests.push(request)
      open += 1
      return {
        view,
        detect,
        close() {
          open -= 1
        },
      }
    },
  }
  return { inference, requests, open: () => open }
}

describe('infer', () => {
  it('opens the model at the size set by a preceding image-resize and uses its view', async () => {
    const { inference, requests } = createInference(async () => nothing)
    const element = await openElement(plugin.infer, {
      args: { model: 'yolox-nano', hw: 'cpu', mode: 's' },
      size: { width: 640, height: 384 },
      inference,
    })
    expect(requests).toEqual([
      { model: 'yolox-nano', hw: 'cpu', mode: 's', size: { width: 640, height: 384 } },
    ])
    expect(element.view).toEqual(view)
  })

  it('requires the model only, and leaves the thresholds to the card of the model', () => {
    expect(plugin.infer.args.parse({ model: 'yolox-nano' })).toEqual({
      model: 'yolox-nano',
      hw: 'auto',
      mode: 'a',
    })
    expect(plugin.infer.args.safeParse({}).success).toBe(false)
  })

  it.each([
    { score_threshold: -0.1 },
    { iou_threshold: 1.1 },
    { hw: 'tpu' },
    { mode: 'x' },
    { top: 5 },
  ])('rejects %o', args => {
    expect(plugin.infer.args.safeParse({ model: 'yolox-nano', ...args }).success).toBe(false)
  })

  it('appends what the detector finds with its thresholds to the objects and low-score objects of the frame', async () => {
    const { inference } = createInference(
      async (_frame, { score_threshold: scoreThreshold, iou_threshold: iouThreshold }) =>
        scoreThreshold === 0.2 && iouThreshold === 0.6
          ? { objects: [fire], lowScoreObjects: [smoke] }
          : nothing,
    )
    const element = await openElement(plugin.infer, {
      args: { model: 'fire', score_threshold: 0.2, iou_threshold: 0.6 },
      inference,
    })
    const shadow = { ...car, score: 0.2 }
    expect(
      await element.process(createStream(25).next([car], { lowScoreObjects: [shadow] })),
    ).toEqual({
      objects: [car, fire],
      lowScoreObjects: [shadow, smoke],
    })
  })

  it('passes a FrameDroppedError on to the channel', async () => {
    const { inference } = createInference(async frame => {
      throw new FrameDroppedError(frame.n)
    })
    const element = await openElement(plugin.infer, { args: { model: 'fire' }, inference })
    await expect(element.process(createStream(25).next())).rejects.toThrow(FrameDroppedError)
  })

  it('closes the detector', async () => {
    const { inference, open } = createInference(async () => nothing)
    const element = await openElement(plugin.infer, { args: { model: 'fire' }, inference })
    expect(open()).toBe(1)
    element.close?.()
    expect(open()).toBe(0)
  })
})
