import { type Detector, FrameGone, type Inference, type ModelRequest } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { expect, test } from 'vitest'
import plugin from './element.ts'

const view = { width: 416, multiple_of: 32, format: 'BGRP', letterbox: true, fill: 114 } as const
const car = { class: 'car', score: 0.9, bbox: { x: 0.1, y: 0.1, w: 0.2, h: 0.1 } }
const fire = { class: 'fire', score: 0.5, bbox: { x: 0.5, y: 0.5, w: 0.1, h: 0.1 } }

/** An engine's inference that keeps what it was asked for. */
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

test('opens the model as asked, at the size that an image-resize set before it, and reads its view', async () => {
  const { inference, requests } = createInference(async () => [])
  const element = await openElement(plugin.infer, {
    args: { model: 'yolox-nano', hw: 'cpu', mode: 's' },
    size: { width: 640, height: 384 },
    inference,
  })
  expect(requests).toEqual([{ model: 'yolox-nano', hw: 'cpu', mode: 's', size: { width: 640, height: 384 } }])
  expect(element.view).toEqual(view)
})

test('only the model must be named', () => {
  expect(plugin.infer.args.parse({ model: 'yolox-nano' })).toEqual({
    model: 'yolox-nano',
    hw: 'auto',
    mode: 'a',
    score_threshold: 0.3,
    iou_threshold: 0.3,
  })
  expect(plugin.infer.args.safeParse({}).success).toBe(false)
})

test.each([{ score_threshold: -0.1 }, { iou_threshold: 1.1 }, { hw: 'tpu' }, { mode: 'x' }, { top: 5 }])(
  'refuses %o',
  args => {
    expect(plugin.infer.args.safeParse({ model: 'yolox-nano', ...args }).success).toBe(false)
  },
)

test('adds what the model finds to what was found before, with the thresholds given', async () => {
  const { inference } = createInference(async (_frame, { score_threshold, iou_threshold }) =>
    score_threshold === 0.2 && iou_threshold === 0.6 ? [fire] : [],
  )
  const element = await openElement(plugin.infer, {
    args: { model: 'fire', score_threshold: 0.2, iou_threshold: 0.6 },
    inference,
  })
  expect(await element.process(createStream(25).next([car]))).toEqual({ objects: [car, fire] })
})

test('lets the channel know of a frame that is gone', async () => {
  const { inference } = createInference(async frame => {
    throw new FrameGone(frame.n)
  })
  const element = await openElement(plugin.infer, { args: { model: 'fire' }, inference })
  await expect(element.process(createStream(25).next())).rejects.toThrow(FrameGone)
})

test('gives the model back when it is closed', async () => {
  const { inference, open } = createInference(async () => [])
  const element = await openElement(plugin.infer, { args: { model: 'fire' }, inference })
  expect(open()).toBe(1)
  element.close?.()
  expect(open()).toBe(0)
})
