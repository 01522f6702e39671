import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const imageResize = plugin['image-resize']

describe('image-resize', () => {
  it.each([{ width: 640, height: 360 }, { scale: 0.5 }])(
    'requests %o and leaves frames unchanged',
    async size => {
      const element = await openElement(imageResize, { args: size })
      expect(element.size).toEqual(size)
      expect(await element.process(createStream(25).next())).toEqual({})
    },
  )

  it.each([
    { width: 640, height: 360, scale: 0.5 },
    { width: 640 },
    { width: 0, height: 360 },
    { width: 640.5, height: 360 },
    { scale: 0 },
    {},
  ])('rejects %o', args => {
    expect(imageResize.args.safeParse(args).success).toBe(false)
  })
})
