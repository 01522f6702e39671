import { createStream, openElement } from '@eyrie/element/testing'
import { expect, test } from 'vitest'
import plugin from './element.ts'

const imageResize = plugin['image-resize']

test.each([{ width: 640, height: 360 }, { scale: 0.5 }])('asks for %o and adds nothing else', async size => {
  const element = await openElement(imageResize, { args: size })
  expect(element.size).toEqual(size)
  expect(await element.process(createStream(25).next())).toEqual({})
})

test.each([
  { width: 640, height: 360, scale: 0.5 },
  { width: 640 },
  { width: 0, height: 360 },
  { width: 640.5, height: 360 },
  { scale: 0 },
  {},
])('refuses %o', args => {
  expect(imageResize.args.safeParse(args).success).toBe(false)
})
